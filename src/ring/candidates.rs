//! The order in which the nodes are tried for one key.

use super::{Ring, untried};

/// Every node once, the key's own first; each is looked for only when asked for.
pub(crate) struct Candidates<'a> {
    ring: &'a Ring,
    key: &'a [u8],
    hash: Option<i32>,
    left: usize,
    first: Option<usize>,
    /// By node; empty, and so not allocated, before the second is asked for: most calls end with the first.
    tried: Vec<bool>,
    /// Whether the placement still finds nodes; when not, the rest comes in list order.
    searching: bool,
}

impl<'a> Candidates<'a> {
    pub(super) fn new(ring: &'a Ring, key: &'a [u8], hash: Option<i32>) -> Self {
        let left = ring.nodes;
        Self { ring, key, hash, left, first: None, tried: Vec::new(), searching: true }
    }
}

impl Iterator for Candidates<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let Some(first) = self.first else {
            self.first = Some(self.ring.primary(self.key, self.hash));
            return self.first;
        };
        if self.tried.is_empty() {
            self.tried = (0..self.ring.nodes).map(|node| node == first).collect();
        }
        // Which one the last is needs no search.
        self.searching &= self.left > 0;
        let found = match self.searching {
            true => self.ring.next(self.key, self.hash, &self.tried),
            false => None,
        };
        self.searching = found.is_some();
        let node = found.or_else(|| self.tried.iter().position(|tried| !tried))?;
        debug_assert!(untried(&self.tried, node), "a node comes once");
        if let Some(tried) = self.tried.get_mut(node) {
            *tried = true;
        }
        Some(node)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}
