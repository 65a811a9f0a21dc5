//! Runs requests for keys: chooses the node, goes on to another when one fails, fans out over several.
//!
//! `failover` holds the rules and knows no socket; `single` runs one key's request, `fanout` those of
//! many keys or of every node.

mod failover;
mod fanout;
mod single;

use std::sync::Arc;
use std::time::{Duration, Instant};

pub use failover::Failover;
pub(crate) use fanout::{Part, Shape};

use crate::error::{Error, ErrorKind};
use crate::pool::NodePool;
use crate::protocol::{Refusal, Reply, Verb};
use crate::ring::Ring;
use crate::time::{Attempt, Deadline, Share};

/// The nodes of a client and the rules by which keys find them.
#[derive(Debug)]
pub(crate) struct Router {
    nodes: Vec<Arc<NodePool>>,
    ring: Ring,
    failover: Failover,
    attempt_timeout: Option<Duration>,
}

/// Where a request wants to go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    /// What is hashed: the key as sent, or the one it is routed by.
    pub(crate) place: &'a [u8],
    /// A hash given in its stead.
    pub(crate) hash: Option<i32>,
    /// The one node that may answer: a cas token's, or an admin call's.
    pub(crate) only: Option<usize>,
}

/// The time of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) started: Instant,
    pub(crate) deadline: Deadline,
}

/// A reply that is no refusal, and where it came from.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    pub(crate) node: usize,
    /// Whether another node answered than the key's own.
    pub(crate) substituted: bool,
}

/// The error of a request that ran out of time between two attempts, or before the first.
fn out_of_time() -> Error {
    Error::new(ErrorKind::Timeout, "the deadline passed")
}

impl Router {
    pub(crate) fn new(
        nodes: Vec<Arc<NodePool>>,
        ring: Ring,
        failover: Failover,
        attempt_timeout: Option<Duration>,
    ) -> Self {
        Self { nodes, ring, failover, attempt_timeout }
    }

    pub(crate) fn nodes(&self) -> &[Arc<NodePool>] {
        &self.nodes
    }

    /// The name of a node, for results and errors.
    pub(crate) fn name(&self, node: usize) -> Arc<str> {
        self.nodes.get(node).map_or_else(|| "?".into(), |n| n.name().clone())
    }

    /// A node's reply as an answer; its "no" as an error that names it.
    #[inline]
    fn answer(&self, reply: Reply, node: usize, substituted: bool) -> Result<Answer, Error> {
        match reply {
            Reply::Refused(refusal) => Err(self.refused(refusal, node)),
            reply => Ok(Answer { reply, node, substituted }),
        }
    }

    #[cold]
    fn refused(&self, refusal: Refusal, node: usize) -> Error {
        Error::from(refusal).with_server(&self.name(node))
    }

    /// The node that a key belongs to while every node is up.
    pub(crate) fn home(&self, target: &Target<'_>) -> usize {
        target.only.unwrap_or_else(|| self.ring.primary(target.place, target.hash))
    }

    /// The homes of many keys.
    fn homes(&self, targets: &[Target<'_>]) -> Vec<usize> {
        let mut homes = self.ring.primaries(targets.iter().map(|t| (t.place, t.hash)));
        for (home, target) in homes.iter_mut().zip(targets) {
            *home = target.only.unwrap_or(*home);
        }
        homes
    }

    /// The node that a request may use when it has left its home and so many others behind.
    fn candidate(&self, target: &Target<'_>, tried: usize) -> Option<usize> {
        if !self.has_candidate(target, tried) {
            return None;
        }
        self.ring.candidates(target.place, target.hash).nth(tried)
    }

    /// Whether [`Self::candidate`] has such a node; every request has its home.
    fn has_candidate(&self, target: &Target<'_>, tried: usize) -> bool {
        tried == 0
            || target.only.is_none()
                && self.failover == Failover::NextServer
                && tried < self.nodes.len()
    }

    /// The part of the call's time that one node may use, so that another can still be tried.
    fn attempt(&self, verb: Verb, has_next: bool, call: Deadline) -> Attempt {
        let share = match self.attempt_timeout {
            _ if !has_next => Share::All,
            Some(share) => Share::Fixed(share),
            None => Share::Half,
        };
        Attempt { share, moves: verb.is_repeatable(), ..Attempt::only(call) }
    }
}
