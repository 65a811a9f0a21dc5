//! Rendezvous: every node scores for a key, and the highest has it.

use super::RingNode;
use super::hash::Hasher;
use super::recipe::Score;

/// The nodes, with what is hashed of them.
pub(super) struct Highest {
    score: Score,
    hasher: Hasher,
    /// For each node the texts that stand before the key.
    texts: Vec<Vec<String>>,
    /// For each node its rank among the names, for ties.
    ranks: Vec<usize>,
}

impl Highest {
    pub(super) fn new(nodes: &[RingNode], score: Score, hasher: Hasher) -> Self {
        let texts = nodes.iter().map(|node| match score {
            Score::Name => vec![format!("{}-", node.name)],
            Score::NameByWeight => (0..node.weight).map(|i| format!("{}-{i}", node.name)).collect(),
        });
        let rank = |node: &RingNode| nodes.iter().filter(|other| other.name < node.name).count();
        Self { score, hasher, texts: texts.collect(), ranks: nodes.iter().map(rank).collect() }
    }

    /// The node that scores highest for `key` among those that `may` have it.
    pub(super) fn node(&self, key: &[u8], may: impl Fn(usize) -> bool) -> Option<usize> {
        let nodes = self.texts.iter().zip(&self.ranks).enumerate().filter(|(node, _)| may(*node));
        let scored = nodes.map(|(node, (texts, rank))| {
            let hashes = texts.iter().map(|text| self.hasher.of(&[text.as_bytes(), key]));
            let tie = match self.score {
                Score::Name => *rank,
                Score::NameByWeight => usize::MAX - node,
            };
            (hashes.max().unwrap_or(0) & 0xffff_ffff, tie, node)
        });
        scored.max().map(|(.., node)| node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::hash::{Dialect, KeyHash};

    #[test]
    fn of_equal_scores_the_greater_name_or_the_first_listed_has_the_key() {
        let hasher = Hasher { hash: KeyHash::Crc, dialect: Dialect::Plain };
        let hash = |name: &str| hasher.of(&[format!("{name}-k").as_bytes()]);
        // Fifteen bits: among a thousand names some are equal.
        let name = |i: u32| format!("{:010}", i.wrapping_mul(2_654_435_761));
        let names: Vec<String> = (0..1000).map(name).collect();
        let twin = |name: &String| names.iter().find(|n| *n > name && hash(n) == hash(name));
        let (less, greater) = names.iter().find_map(|n| Some((n, twin(n)?))).expect("a pair");
        let nodes = [greater, less].map(|name| RingNode { name: name.clone(), weight: 1 });
        assert_eq!(Highest::new(&nodes, Score::Name, hasher).node(b"k", |_| true), Some(0));
        let nodes = [less, greater].map(|name| RingNode { name: name.clone(), weight: 1 });
        assert_eq!(Highest::new(&nodes, Score::Name, hasher).node(b"k", |_| true), Some(1));

        let nodes = ["a", "a"].map(|name| RingNode { name: name.into(), weight: 1 });
        assert_eq!(Highest::new(&nodes, Score::NameByWeight, hasher).node(b"k", |_| true), Some(0));
    }
}
