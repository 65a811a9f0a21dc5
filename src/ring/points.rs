//! The sorted points of a ring, and the walk along them.

use std::collections::BTreeMap;

/// Points in ascending order, and beside each the node it belongs to. Not empty.
pub(super) struct Points {
    points: Vec<u32>,
    nodes: Vec<usize>,
}

impl Points {
    /// The node of the first point at or after `hash`.
    pub(super) fn node(&self, hash: u32) -> usize {
        // There is a first, since a ring has points.
        self.walk(hash).next().unwrap_or(0)
    }

    /// The nodes of all points once around, from the first point at or after `hash`.
    pub(super) fn walk(&self, hash: u32) -> impl Iterator<Item = usize> {
        let start = self.points.partition_point(|point| *point < hash);
        let (before, after) = self.nodes.split_at(start);
        after.iter().chain(before).copied()
    }
}

impl From<BTreeMap<u32, usize>> for Points {
    fn from(map: BTreeMap<u32, usize>) -> Self {
        let (points, nodes) = map.into_iter().unzip();
        Self { points, nodes }
    }
}

#[cfg(test)]
impl Points {
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, usize)> {
        self.points.iter().copied().zip(self.nodes.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_belongs_to_the_next_point_and_the_last_ones_to_the_first() {
        let ring = Points::from(BTreeMap::from([(10, 0), (20, 1), (30, 2)]));
        let nodes = [0, 10, 11, 20, 30, 31, u32::MAX].map(|hash| ring.node(hash));
        assert_eq!(nodes, [0, 0, 1, 1, 2, 0, 0]);
        assert_eq!(ring.walk(11).collect::<Vec<_>>(), [1, 2, 0]);
    }
}
