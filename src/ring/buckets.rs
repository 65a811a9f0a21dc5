//! The list of buckets behind the modulo placements: every node repeated by its weight.

use super::RingNode;
use super::recipe;

/// Buckets are adjacent, so only where each node's buckets end is kept.
pub(super) struct Buckets {
    /// Empty when each node has one bucket.
    ends: Vec<u64>,
    count: u64,
    /// The nodes in the order of their buckets; empty when that is their own.
    order: Vec<usize>,
}

impl Buckets {
    /// `nodes` has at least one, each of weight 1 or more.
    pub(super) fn new(nodes: &[RingNode], kind: recipe::Buckets) -> Self {
        let mut order: Vec<_> = nodes.iter().enumerate().collect();
        if kind == recipe::Buckets::Sorted {
            order.sort_by_key(|(_, node)| (node.name.len(), &node.name));
        }
        let mut count = 0;
        let ends = order.iter().map(|(_, node)| {
            count += if kind == recipe::Buckets::Even { 1 } else { u64::from(node.weight) };
            count
        });
        let mut ends: Vec<_> = ends.collect();
        let mut order: Vec<_> = order.into_iter().map(|(node, _)| node).collect();
        if count == nodes.len() as u64 {
            ends.clear();
        }
        if order.is_sorted() {
            order.clear();
        }
        Self { ends, count, order }
    }

    /// The node of the bucket `hash % count`.
    pub(super) fn node(&self, hash: u64) -> usize {
        let bucket = match (u32::try_from(hash), u32::try_from(self.count)) {
            // Narrow division is several times as fast.
            (Ok(hash), Ok(count)) => u64::from(hash % count),
            _ => hash % self.count,
        };
        let place = match self.ends.is_empty() {
            // Below the number of nodes, and so a `usize`.
            true => usize::try_from(bucket).unwrap_or(0),
            false => self.ends.partition_point(|end| *end <= bucket),
        };
        self.order.get(place).copied().unwrap_or(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buckets<const N: usize>(weights: [u32; N], kind: recipe::Buckets) -> Buckets {
        let nodes = weights.map(|weight| RingNode { name: format!("n{}", weight * 9), weight });
        Buckets::new(&nodes, kind)
    }

    #[test]
    fn each_node_has_as_many_adjacent_buckets_as_its_weight() {
        let weighted = buckets([1, 2, 3, 4], recipe::Buckets::Weighted);
        let list: Vec<usize> = (0..12).map(|hash| weighted.node(hash)).collect();
        assert_eq!(list, [0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 0, 1]);
    }

    #[test]
    fn weights_that_do_not_count_leave_one_bucket_each() {
        let even = buckets([1, 2, 3], recipe::Buckets::Even);
        let list: Vec<usize> = (0..7).map(|hash| even.node(hash)).collect();
        assert_eq!(list, [0, 1, 2, 0, 1, 2, 0]);
    }

    #[test]
    fn sorted_buckets_go_by_name_and_shorter_names_come_first() {
        // n18, n9, n27
        let sorted = buckets([2, 1, 3], recipe::Buckets::Sorted);
        let list: Vec<usize> = (0..6).map(|hash| sorted.node(hash)).collect();
        assert_eq!(list, [1, 0, 0, 2, 2, 2]);
    }

    #[test]
    fn all_64_bits_of_a_hash_count() {
        assert_eq!(buckets([1, 1, 1], recipe::Buckets::Weighted).node(u64::MAX), 0);
        assert_eq!(buckets([1, 1, 1], recipe::Buckets::Weighted).node((1 << 32) + 1), 2);
    }
}
