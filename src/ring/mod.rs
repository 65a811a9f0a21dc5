//! Which node a key lives on, and which come next when that one fails: pure arithmetic.
//!
//! A [`Placement`] is data: a `recipe`, a hash and a form of names. [`Ring`] is what the recipe makes of the
//! servers: `buckets`, `points` or `highest`, with the rules of `retry`. `candidates` is the order of trial.

mod buckets;
mod candidates;
mod hash;
mod highest;
mod named;
mod names;
mod placement;
mod points;
mod recipe;
mod retry;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod recorded;

use std::fmt;

use buckets::Buckets;
pub(crate) use candidates::Candidates;
use hash::Hasher;
pub use hash::KeyHash;
use highest::Highest;
pub use named::PlacementError;
pub use names::NameForm;
pub use placement::Placement;
use points::Continuum;
use recipe::{Retry, Take};

use crate::types::Server;

/// One server as a placement sees it.
#[derive(Debug, Clone)]
pub(crate) struct RingNode {
    /// The text that is hashed to the node's points.
    pub name: String,
    pub weight: u32,
}

/// Maps keys to nodes, which are known by their index in the list the ring was made from.
pub(crate) struct Ring {
    placement: Placement,
    nodes: usize,
    hasher: Hasher,
    table: Table,
    retry: Retry,
}

/// What a recipe has made of the nodes.
enum Table {
    Buckets(Buckets, Take),
    Ring(Continuum),
    Highest(Highest),
}

impl Ring {
    /// The ring of these servers, each under its own name or one in the placement's form.
    ///
    /// # Errors
    /// As [`Self::new`], and when a server has no name and the form of names needs to know more of it.
    pub(crate) fn of(placement: Placement, servers: &[Server]) -> Result<Self, RingError> {
        let node = |server: &Server| {
            let name = placement.names().of(server)?;
            Ok(RingNode { name, weight: server.weight() })
        };
        Self::new(placement, &servers.iter().map(node).collect::<Result<Vec<_>, _>>()?)
    }

    /// # Errors
    /// When there is no node, one of weight 0, or a ring would have no points or too many.
    pub(crate) fn new(placement: Placement, nodes: &[RingNode]) -> Result<Self, RingError> {
        if nodes.is_empty() {
            return Err(RingError::NoNode);
        }
        if let Some(node) = nodes.iter().find(|node| node.weight == 0) {
            return Err(RingError::WeightZero { name: node.name.clone() });
        }
        let recipe = placement.recipe();
        let hasher = Hasher { hash: placement.hash(), dialect: recipe.dialect };
        let table = match recipe.table {
            recipe::Table::Modulo { take, buckets } => {
                Table::Buckets(Buckets::new(nodes, buckets), take)
            }
            recipe::Table::Ring { plain, weighted, find } => {
                let mut points = if nodes.iter().any(|n| n.weight > 1) { weighted } else { plain };
                points.count = placement.points().map_or(points.count, u32::from);
                Table::Ring(Continuum::new(nodes, points, find, hasher)?)
            }
            recipe::Table::Highest(score) => Table::Highest(Highest::new(nodes, score, hasher)),
        };
        Ok(Self { placement, nodes: nodes.len(), hasher, table, retry: recipe.retry })
    }

    /// The node a key lives on; `hash` takes the place of the key's own.
    pub(crate) fn primary(&self, key: &[u8], hash: Option<i32>) -> usize {
        match (&self.table, self.nodes) {
            (_, 1) => 0,
            (Table::Highest(highest), _) => highest.node(&scored(key, hash), |_| true).unwrap_or(0),
            _ => self.node(self.hash(key, hash)),
        }
    }

    /// As [`Self::primary`], for many keys at once.
    pub(crate) fn primaries<'k>(
        &self,
        keys: impl ExactSizeIterator<Item = (&'k [u8], Option<i32>)> + Clone,
    ) -> Vec<usize> {
        let is_hashed = self.nodes > 1
            && !matches!(self.table, Table::Highest(_))
            && keys.clone().all(|(_, given)| given.is_none());
        if !is_hashed {
            return keys.map(|(key, given)| self.primary(key, given)).collect();
        }
        let mut nodes = Vec::with_capacity(keys.len());
        let texts = keys.map(|(key, _)| key);
        self.hasher.of_each(texts, |hash| nodes.push(self.node(self.take(hash))));
        nodes
    }

    /// Every node once, in the order in which a call should try them.
    pub(crate) fn candidates<'a>(&'a self, key: &'a [u8], hash: Option<i32>) -> Candidates<'a> {
        Candidates::new(self, key, hash)
    }

    /// What the table takes of a hash.
    fn take(&self, hash: u64) -> u64 {
        match &self.table {
            Table::Buckets(_, take) => take.of(hash),
            Table::Ring(_) | Table::Highest(_) => Take::Low.of(hash),
        }
    }

    /// What the table takes of the key's hash; a given one is taken whole, but for its sign.
    fn hash(&self, key: &[u8], given: Option<i32>) -> u64 {
        match (given, &self.table) {
            (None, _) => self.take(self.hasher.of(&[key])),
            (Some(hash), Table::Buckets(_, Take::Distance)) => hash.unsigned_abs().into(),
            (Some(hash), _) => u32::from_ne_bytes(hash.to_ne_bytes()).into(),
        }
    }

    /// The node that a hash leads to, of which the table has taken its part.
    fn node(&self, hash: u64) -> usize {
        match &self.table {
            Table::Buckets(buckets, _) => buckets.node(hash),
            Table::Ring(continuum) => continuum.node(hash),
            Table::Highest(_) => 0,
        }
    }
}

/// What is scored: the key, or the decimal text of a hash given in its place.
fn scored(key: &[u8], hash: Option<i32>) -> std::borrow::Cow<'_, [u8]> {
    match hash {
        None => key.into(),
        Some(hash) => hash.to_string().into_bytes().into(),
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
    NoPoint,
    TooManyPoints,
    NeedsName { server: String, form: NameForm },
}

impl fmt::Display for RingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNode => f.write_str("no server is given"),
            Self::WeightZero { name } => write!(f, "the weight of server {name} is 0"),
            Self::NoPoint => f.write_str("no server has a point on the ring"),
            Self::TooManyPoints => {
                f.write_str("the weights make a ring of too many points; smaller ones in the same proportion serve")
            }
            Self::NeedsName { server, form } => write!(
                f,
                "the placement needs a name for {server} in the form `{form}`, which takes its IP address; give it one with `?name=`"
            ),
        }
    }
}

impl std::error::Error for RingError {}
