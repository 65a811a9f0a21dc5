//! The list of buckets behind the modulo placements: every node repeated by its weight.

use super::RingNode;

/// Buckets are adjacent in node order, so only where each node's buckets end is kept.
pub(super) struct Buckets {
    ends: Vec<u64>,
    count: u64,
}

impl Buckets {
    /// `nodes` has at least one, each of weight 1 or more.
    pub(super) fn new(nodes: &[RingNode<'_>]) -> Self {
        let mut count = 0;
        let ends = nodes.iter().map(|node| {
            count += u64::from(node.weight);
            count
        });
        Self { ends: ends.collect(), count }
    }

    /// The node of the bucket `|hash % count|`.
    pub(super) fn node(&self, hash: i64) -> usize {
        let bucket = hash.unsigned_abs() % self.count;
        self.ends.partition_point(|end| *end <= bucket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_node_has_as_many_adjacent_buckets_as_its_weight() {
        let nodes = [1, 2, 3, 4].map(|weight| RingNode { name: "n", weight });
        let buckets = Buckets::new(&nodes);
        let list: Vec<usize> = (0..12).map(|hash| buckets.node(hash)).collect();
        assert_eq!(list, [0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 0, 1]);
    }

    #[test]
    fn the_sign_of_a_hash_does_not_matter() {
        let nodes = [1, 1, 1].map(|weight| RingNode { name: "n", weight });
        let buckets = Buckets::new(&nodes);
        assert_eq!([-1, -2, -3, i64::MIN].map(|hash| buckets.node(hash)), [1, 2, 0, 2]);
    }
}
