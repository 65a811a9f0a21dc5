//! Requests of many keys: grouped by node, all nodes working at once, each key with its own outcome.

use std::collections::BTreeMap;
use std::time::Instant;

use super::failover::{Next, next};
use super::{Answer, Router, Target, Timing};
use crate::error::{Error, ErrorKind, Fate};
use crate::pool::{InFlight, PoolError, drive};
use crate::protocol::{Batch, Reply, Verb};

/// How the requests of one node are put together and its replies taken apart.
pub(crate) trait Shape<'a> {
    fn verb(&self) -> Verb;

    /// The batch for these items, which live on one node.
    fn batch(&self, items: &[usize]) -> Batch<'a>;

    /// One reply for each of these items, from the replies of their batch; `None` is in doubt.
    fn unpack(&self, items: &[usize], replies: Vec<Option<Reply>>) -> Vec<Option<Reply>>;
}

/// Where one item stands.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    /// Candidates that were tried and left.
    tried: usize,
    /// Whether the present candidate had its second attempt.
    again: bool,
    /// Whether an attempt may have been carried out without a reply.
    unknown: bool,
}

/// One run over many items.
struct Run<'r, 'a, S> {
    router: &'r Router,
    targets: &'r [Target<'a>],
    shape: &'r S,
    timing: Timing,
    progress: Vec<Progress>,
    outcomes: Vec<Option<Result<Answer, Error>>>,
}

impl Router {
    /// Runs the requests of all items and gives each its outcome, in the order of `targets`.
    ///
    /// Ends by the deadline; what has no reply by then has an error.
    pub(crate) fn fan_out<'a, S: Shape<'a>>(
        &self,
        targets: &[Target<'a>],
        shape: &S,
        timing: Timing,
    ) -> Vec<Result<Answer, Error>> {
        let mut run = Run {
            router: self,
            targets,
            shape,
            timing,
            progress: vec![Progress::default(); targets.len()],
            outcomes: targets.iter().map(|_| None).collect(),
        };
        let mut pending: Vec<usize> = (0..targets.len()).collect();
        while !pending.is_empty() {
            pending = run.round(&pending);
        }
        run.outcomes.into_iter().map(|o| o.unwrap_or_else(|| Err(out_of_time()))).collect()
    }
}

impl<'a, S: Shape<'a>> Run<'_, 'a, S> {
    /// One attempt for every pending item; returns those that need another.
    fn round(&mut self, pending: &[usize]) -> Vec<usize> {
        let now = Instant::now();
        let mut left = Vec::new();
        let groups = self.group(pending, now, &mut left);
        let has_next = groups.values().flatten().any(|i| self.has_next(*i));
        let deadline =
            self.router.attempt(self.shape.verb(), has_next, self.timing.deadline, now);
        let mut flights = Vec::with_capacity(groups.len());
        let mut waiting = Vec::new();
        for (node, items) in groups {
            let Some(pool) = self.router.nodes.get(node) else { continue };
            match pool.try_begin(self.shape.batch(&items), deadline, now) {
                Ok(Ok(flight)) => flights.push((node, items, flight)),
                Ok(Err(batch)) => waiting.push((node, items, batch)),
                Err(error) => self.failed(node, &items, error, &mut left),
            }
        }
        // Whoever waits for a connection holds none, so that callers never wait for each other in a circle.
        let mut waiting = waiting.into_iter();
        if flights.is_empty() {
            if let Some((node, items, batch)) = waiting.next() {
                if let Some(pool) = self.router.nodes.get(node) {
                    match pool.begin(batch, deadline, now) {
                        Ok(flight) => flights.push((node, items, flight)),
                        Err(error) => self.failed(node, &items, error, &mut left),
                    }
                }
            }
        }
        left.extend(waiting.flat_map(|(_, items, _)| items));
        let (keys, mut flights) = split(flights);
        drive(&mut flights, deadline, now);
        for ((node, items), flight) in keys.into_iter().zip(flights) {
            match flight.into_outcome() {
                Ok(replies) => self.answered(node, &items, replies),
                Err(error) => self.failed(node, &items, error, &mut left),
            }
        }
        left
    }

    /// The items of each node that may be asked now; others get their error, or move on.
    fn group(
        &mut self,
        pending: &[usize],
        now: Instant,
        left: &mut Vec<usize>,
    ) -> BTreeMap<usize, Vec<usize>> {
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &item in pending {
            let node = self.node_of(item);
            match node {
                Some(node) if !self.timing.deadline.passed(now) => groups.entry(node).or_default().push(item),
                _ => self.set(item, Err(out_of_time())),
            }
        }
        groups.retain(|node, items| {
            let Some(pool) = self.router.nodes.get(*node) else { return false };
            match pool.admit(now) {
                Ok(()) => true,
                Err(error) => {
                    self.failed(*node, items, error, left);
                    false
                }
            }
        });
        groups
    }

    fn node_of(&self, item: usize) -> Option<usize> {
        let tried = self.progress.get(item)?.tried;
        self.router.candidate(self.targets.get(item)?, tried)
    }

    fn has_next(&self, item: usize) -> bool {
        match (self.targets.get(item), self.progress.get(item)) {
            (Some(target), Some(p)) => self.router.has_candidate(target, p.tried + 1),
            _ => false,
        }
    }

    fn answered(&mut self, node: usize, items: &[usize], replies: Vec<Option<Reply>>) {
        let replies = self.shape.unpack(items, replies);
        for (&item, reply) in items.iter().zip(replies) {
            let substituted = self.progress.get(item).is_some_and(|p| p.tried > 0);
            let outcome = match reply {
                Some(reply) => Ok(Answer { reply, node, substituted }),
                None => Err(Error::from(crate::pool::in_doubt()).with_server(&self.router.name(node))),
            };
            self.set(item, outcome);
        }
    }

    /// Lets the rules decide what becomes of the items of a failed batch.
    fn failed(&mut self, node: usize, items: &[usize], error: PoolError, left: &mut Vec<usize>) {
        let name = self.router.name(node);
        let unknown = error.fate() == Fate::Unknown;
        let verb = self.shape.verb();
        let steps = [next(verb, &error, false), next(verb, &error, true)];
        let error = Error::from(error).with_server(&name);
        let (mut retries, mut failovers) = (0, 0);
        for &item in items {
            let Some(p) = self.progress.get_mut(item) else { continue };
            p.unknown |= unknown;
            let step = steps[usize::from(p.again)];
            let moved = match step {
                Next::SameNode => {
                    p.again = true;
                    retries += 1;
                    true
                }
                Next::NextNode if self.has_next(item) => {
                    if let Some(p) = self.progress.get_mut(item) {
                        *p = Progress { tried: p.tried + 1, again: false, ..*p };
                    }
                    failovers += 1;
                    true
                }
                _ => false,
            };
            if moved {
                left.push(item);
            } else {
                self.set(item, Err(error.clone()));
            }
        }
        if let Some(node) = self.router.nodes.get(node) {
            node.stats().retries.add(retries);
            node.stats().failovers.add(failovers);
        }
    }

    fn set(&mut self, item: usize, outcome: Result<Answer, Error>) {
        let unknown = self.progress.get(item).is_some_and(|p| p.unknown);
        let outcome = outcome.map_err(|e| if unknown { e.with_fate(Fate::Unknown) } else { e });
        if let Some(slot) = self.outcomes.get_mut(item) {
            *slot = Some(outcome);
        }
    }
}

type Flight<'p, 'b> = (usize, Vec<usize>, InFlight<'p, 'b>);

/// The items of each flight apart from the flights, which are driven as a slice.
fn split<'p, 'b>(flights: Vec<Flight<'p, 'b>>) -> (Vec<(usize, Vec<usize>)>, Vec<InFlight<'p, 'b>>) {
    flights.into_iter().map(|(node, items, flight)| ((node, items), flight)).unzip()
}

fn out_of_time() -> Error {
    Error::new(ErrorKind::Timeout, "the deadline passed")
}
