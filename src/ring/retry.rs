//! Where a key goes whose nodes have failed so far: the search of each client.

use super::recipe::{Retry, Take};
use super::{Ring, Table, scored, untried};

impl Ring {
    /// The next node for a key whose earlier ones are marked in `tried`; `None` when the placement knows no more.
    pub(super) fn next(&self, key: &[u8], hash: Option<i32>, tried: &[bool]) -> Option<usize> {
        let found = match self.retry {
            Retry::Next => None,
            Retry::Prefixed { tries } => return self.prefixed(key, tries, tried),
            Retry::Added { from, tries } => {
                let nodes = u32::try_from(self.nodes).unwrap_or(u32::MAX);
                let numbers = (from..u32::MAX).take(tries.unwrap_or(nodes) as usize);
                self.added(key, hash, numbers, tried)
            }
            Retry::Chained { tries } => self.chained(key, hash, tries, tried),
        };
        found.or_else(|| self.onward(key, hash, tried))
    }

    /// On along the table.
    fn onward(&self, key: &[u8], hash: Option<i32>, tried: &[bool]) -> Option<usize> {
        match &self.table {
            Table::Buckets(..) => {
                let home = self.node(self.hash(key, hash));
                (home..self.nodes).chain(0..home).find(|node| untried(tried, *node))
            }
            Table::Ring(ring) => ring.walk(self.hash(key, hash)).find(|node| untried(tried, *node)),
            Table::Highest(nodes) => nodes.node(&scored(key, hash), |node| untried(tried, node)),
        }
    }

    /// The key's text decides, also when its first node came from a hash given by the caller.
    fn prefixed(&self, key: &[u8], tries: u32, tried: &[bool]) -> Option<usize> {
        let mut decimal = itoa::Buffer::new();
        (0..tries)
            .map(|t| self.node(self.take(self.hasher.of(&[decimal.format(t).as_bytes(), key]))))
            .find(|node| untried(tried, *node))
    }

    fn added(
        &self,
        key: &[u8],
        given: Option<i32>,
        mut numbers: impl Iterator<Item = u32>,
        tried: &[bool],
    ) -> Option<usize> {
        let mut decimal = itoa::Buffer::new();
        let mut hash = self.hash(key, given);
        numbers.find_map(|t| {
            let step = self.hasher.of(&[decimal.format(t).as_bytes(), key]);
            hash = Take::Low.of(hash.wrapping_add(self.take(step)));
            let node = self.node(hash);
            untried(tried, node).then_some(node)
        })
    }

    fn chained(&self, key: &[u8], given: Option<i32>, tries: u32, tried: &[bool]) -> Option<usize> {
        let (mut last, mut number) = (itoa::Buffer::new(), itoa::Buffer::new());
        let mut hash = self.hash(key, given);
        (0..tries)
            .map(|t| {
                let text = [last.format(hash).as_bytes(), number.format(t).as_bytes()];
                hash = self.take(self.hasher.of(&text));
                self.node(hash)
            })
            .find(|node| untried(tried, *node))
    }
}
