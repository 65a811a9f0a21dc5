//! Which node a key lives on, and which come next when that one fails: pure arithmetic.
//!
//! A placement is one [`Layout`] in a file of its own (`whalin`, `ketama`), made in [`Ring::new`].
//! The rest is shared: `hash`, the tables `buckets` and `points`, and `candidates`, the order of trial.

mod buckets;
mod candidates;
mod hash;
mod ketama;
mod placement;
mod points;
mod whalin;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod recorded;

use std::fmt;

pub(crate) use candidates::Candidates;
use ketama::Ketama;
pub use placement::{Placement, PlacementError};
use whalin::Whalin;

/// One server as a placement sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RingNode<'a> {
    /// The text that is hashed to the node's points.
    pub name: &'a str,
    pub weight: u32,
}

/// Maps keys to nodes, which are known by their index in the list the ring was made from.
pub(crate) struct Ring {
    placement: Placement,
    nodes: usize,
    layout: Box<dyn Layout>,
}

/// What a placement has to say. The keys it is asked about have at least two nodes to go to.
trait Layout: Send + Sync {
    /// The node of `key`, or of `hash` when the caller has given one.
    fn primary(&self, key: &[u8], hash: Option<i32>) -> usize;

    /// The next node for a key whose earlier ones are marked in `tried`; `None` when the placement knows no more.
    fn next(&self, key: &[u8], hash: Option<i32>, tried: &[bool]) -> Option<usize>;
}

impl Ring {
    /// # Errors
    /// When there is no node, or one of weight 0.
    pub(crate) fn new(placement: Placement, nodes: &[RingNode<'_>]) -> Result<Self, RingError> {
        if nodes.is_empty() {
            return Err(RingError::NoNode);
        }
        if let Some(node) = nodes.iter().find(|node| node.weight == 0) {
            return Err(RingError::WeightZero { name: node.name.to_owned() });
        }
        let layout: Box<dyn Layout> = match placement {
            Placement::Consistent => Box::new(Whalin::consistent(nodes)),
            Placement::Native => Box::new(Whalin::native(nodes)),
            Placement::OldCompat => Box::new(Whalin::old_compat(nodes)),
            Placement::NewCompat => Box::new(Whalin::new_compat(nodes)),
            Placement::Ketama => Box::new(Ketama::new(nodes)),
        };
        Ok(Self { placement, nodes: nodes.len(), layout })
    }

    /// The node a key lives on; `hash` takes the place of the key's own.
    pub(crate) fn primary(&self, key: &[u8], hash: Option<i32>) -> usize {
        match self.nodes {
            1 => 0,
            _ => self.layout.primary(key, hash),
        }
    }

    /// Every node once, in the order in which a call should try them.
    pub(crate) fn candidates<'a>(&'a self, key: &'a [u8], hash: Option<i32>) -> Candidates<'a> {
        Candidates::new(self, key, hash)
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring")
            .field("placement", &self.placement)
            .field("nodes", &self.nodes)
            .finish_non_exhaustive()
    }
}

fn untried(tried: &[bool], node: usize) -> bool {
    tried.get(node) == Some(&false)
}

/// Nodes from which no ring can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RingError {
    NoNode,
    WeightZero { name: String },
}

impl fmt::Display for RingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNode => f.write_str("no server is given"),
            Self::WeightZero { name } => write!(f, "the weight of server {name} is 0"),
        }
    }
}

impl std::error::Error for RingError {}
