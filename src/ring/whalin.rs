//! The four placements of Whalin's Java client: three over buckets, one over a ring.

use std::collections::BTreeMap;

use super::buckets::Buckets;
use super::points::Points;
use super::{Layout, RingNode, hash, untried};

/// How often a key is hashed again in search of a node not tried yet.
///
/// The longest search that ended in the original took 7000 tries (OLD_COMPAT, eleven servers); many there never
/// end.
const MAX_TRIES: u32 = 10_000;

pub(super) struct Whalin {
    hash: fn(&[u8], &[u8]) -> i64,
    table: Table,
}

enum Table {
    Buckets(Buckets),
    Ring(Points),
}

impl Whalin {
    pub(super) fn native(nodes: &[RingNode<'_>]) -> Self {
        Self { hash: hash::native, table: Table::Buckets(Buckets::new(nodes)) }
    }

    pub(super) fn old_compat(nodes: &[RingNode<'_>]) -> Self {
        Self { hash: hash::old_compat, table: Table::Buckets(Buckets::new(nodes)) }
    }

    pub(super) fn new_compat(nodes: &[RingNode<'_>]) -> Self {
        Self { hash: hash::new_compat, table: Table::Buckets(Buckets::new(nodes)) }
    }

    pub(super) fn consistent(nodes: &[RingNode<'_>]) -> Self {
        Self { hash: hash::md5, table: Table::Ring(points(nodes)) }
    }

    fn node(&self, hash: i64) -> usize {
        match &self.table {
            Table::Buckets(buckets) => buckets.node(hash),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "of a negative hash given by the caller, too, the low 32 bits count"
            )]
            Table::Ring(points) => points.node(hash as u32),
        }
    }
}

impl Layout for Whalin {
    fn primary(&self, key: &[u8], hash: Option<i32>) -> usize {
        self.node(hash.map_or_else(|| (self.hash)(b"", key), i64::from))
    }

    /// The key's text decides, also when its first node came from a hash given by the caller.
    fn next(&self, key: &[u8], _hash: Option<i32>, tried: &[bool]) -> Option<usize> {
        let mut decimal = itoa::Buffer::new();
        (0..MAX_TRIES)
            .map(|t| self.node((self.hash)(decimal.format(t).as_bytes(), key)))
            .find(|node| untried(tried, *node))
    }
}

/// Of two equal points the later node's stands.
pub(super) fn points(nodes: &[RingNode<'_>]) -> Points {
    let total: u64 = nodes.iter().map(|node| u64::from(node.weight)).sum();
    let mut map = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        // Whole numbers of this size divide as the original's floating point does, rounded down.
        let steps = (40 * nodes.len() as u64 * u64::from(node.weight) / total).max(1);
        for step in 0..steps {
            let text = format!("{}-{step}", node.name);
            for point in hash::md5_words(b"", text.as_bytes()) {
                map.insert(point, index);
            }
        }
    }
    map.into()
}
