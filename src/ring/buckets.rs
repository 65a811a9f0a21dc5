//! The list of buckets behind the modulo placements: every node repeated by its weight.

use super::RingNode;

/// Buckets are adjacent in node order, so only where each node's buckets end is kept.
pub(super) struct Buckets {
    /// Empty when each node has one bucket.
    ends: Vec<u64>,
    count: u64,
}

impl Buckets {
    /// `nodes` has at least one, each of weight 1 or more, which counts if `weights` says so.
    pub(super) fn new(nodes: &[RingNode], weights: bool) -> Self {
        let mut count = 0;
        let mut ends: Vec<_> = nodes
            .iter()
            .map(|node| {
                count += if weights { u64::from(node.weight) } else { 1 };
                count
            })
            .collect();
        if count == nodes.len() as u64 {
            ends.clear();
        }
        Self { ends, count }
    }

    /// The node of the bucket `hash % count`.
    pub(super) fn node(&self, hash: u64) -> usize {
        let bucket = match (u32::try_from(hash), u32::try_from(self.count)) {
            // Narrow division is several times as fast.
            (Ok(hash), Ok(count)) => u64::from(hash % count),
            _ => hash % self.count,
        };
        match self.ends.is_empty() {
            // Below the number of nodes, and so a `usize`.
            true => usize::try_from(bucket).unwrap_or(0),
            false => self.ends.partition_point(|end| *end <= bucket),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buckets<const N: usize>(weights: [u32; N], counted: bool) -> Buckets {
        let nodes = weights.map(|weight| RingNode { name: "n".into(), weight });
        Buckets::new(&nodes, counted)
    }

    #[test]
    fn each_node_has_as_many_adjacent_buckets_as_its_weight() {
        let weighted = buckets([1, 2, 3, 4], true);
        let list: Vec<usize> = (0..12).map(|hash| weighted.node(hash)).collect();
        assert_eq!(list, [0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 0, 1]);
    }

    #[test]
    fn weights_that_do_not_count_leave_one_bucket_each() {
        let even = buckets([1, 2, 3], false);
        let list: Vec<usize> = (0..7).map(|hash| even.node(hash)).collect();
        assert_eq!(list, [0, 1, 2, 0, 1, 2, 0]);
    }

    #[test]
    fn all_64_bits_of_a_hash_count() {
        assert_eq!(buckets([1, 1, 1], true).node(u64::MAX), 0);
        assert_eq!(buckets([1, 1, 1], true).node((1 << 32) + 1), 2);
    }
}
