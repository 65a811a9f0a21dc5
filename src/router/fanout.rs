//! Requests of many keys: grouped by node, all nodes working at once, each key with its own outcome.

use std::time::{Duration, Instant};

use super::failover::{Next, next};
use super::{Answer, Router, Target, Timing, out_of_time};
use crate::error::{Error, Fate, Phase};
use crate::pool::{self, InFlight, Outcome, PoolError, drive, drive_for};
use crate::protocol::{Batch, Reply, Verb};
use crate::time::{Attempt, Deadline};

/// While some batches are under way and others wait for a connection, those are looked at again after this.
const PAUSE: Duration = Duration::from_millis(2);

/// How the requests of one node are put together and its replies taken apart.
pub(crate) trait Shape<'a> {
    fn verb(&self) -> Verb;

    /// The batch for these items, which live on one node.
    fn batch(&self, items: &[usize]) -> Batch<'a>;

    /// Gives each of these items its part in the replies of their batch, of which so many requests were sent.
    fn unpack(
        &self,
        items: &[usize],
        replies: Vec<Option<Reply>>,
        sent: usize,
        give: impl FnMut(usize, Part),
    );
}

/// One item's part in the outcome of a batch.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Reply(Reply),
    /// No reply, and the request did not leave whole.
    Unsent,
    /// No reply, but the request may have been carried out.
    InDoubt,
    /// No reply since another key's value ended the exchange, which has its outcome now: to be asked again.
    Aside,
}

impl Part {
    /// The part of the request at place `at` of its batch, of which the first `sent` left whole.
    pub(crate) fn of(reply: Option<Reply>, at: usize, sent: usize) -> Self {
        match reply {
            Some(reply) => Self::Reply(reply),
            None if at < sent => Self::InDoubt,
            None => Self::Unsent,
        }
    }
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

/// What the rules say of a failed attempt.
#[derive(Debug, Clone, Copy)]
struct Verdict {
    /// For an item's first and its second attempt at the node.
    steps: [Next; 2],
    fate: Fate,
}

/// One run over many items.
struct Run<'r, 'a, S> {
    router: &'r Router,
    targets: &'r [Target<'a>],
    /// The first candidate of each.
    homes: Vec<usize>,
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
            homes: self.homes(targets),
            shape,
            timing,
            progress: vec![Progress::default(); targets.len()],
            outcomes: targets.iter().map(|_| None).collect(),
        };
        let mut pending: Vec<usize> = (0..targets.len()).collect();
        while !pending.is_empty() {
            pending = run.round(&pending);
            // What goes out again keeps its order: of two stores of one key the later has to stay.
            pending.sort_unstable();
        }
        run.outcomes.into_iter().map(|o| o.unwrap_or_else(|| Err(out_of_time()))).collect()
    }
}

impl<'r, 'a, S: Shape<'a>> Run<'r, 'a, S> {
    /// One attempt for every pending item; returns those that need another.
    fn round(&mut self, pending: &[usize]) -> Vec<usize> {
        let now = Instant::now();
        let mut left = Vec::new();
        let groups = self.group(pending, now, &mut left);
        let has_next = groups.iter().flat_map(|(_, items)| items).any(|i| self.has_next(*i));
        let attempt = self.router.attempt(self.shape.verb(), has_next, self.timing.deadline);
        let mut open = Open::default();
        let mut waiting = Vec::new();
        for (others, (node, items)) in (0..groups.len()).rev().zip(groups) {
            // A node that cannot be connected to must leave time for those behind it.
            let attempt = Attempt { others: u32::try_from(others).unwrap_or(u32::MAX), ..attempt };
            let start = Start { node, batch: self.shape.batch(&items), items };
            waiting.extend(self.start(start, attempt, &mut open, &mut left));
        }
        let now = Instant::now();
        let deadline = attempt.starting(now).exchange;
        while !waiting.is_empty() && !deadline.passed(Instant::now()) {
            let pause = deadline.min(Deadline::after(Instant::now(), PAUSE));
            if !drive_for(&mut open.flights, pause, now) {
                // Whoever waits for a connection holds none, so that callers never wait for each other in a circle.
                self.wait_and_start(waiting.remove(0), attempt, &mut open, &mut left);
            }
            // Others may have given a connection back meanwhile.
            for start in std::mem::take(&mut waiting) {
                waiting.extend(self.start(start, attempt, &mut open, &mut left));
            }
        }
        left.extend(waiting.into_iter().flat_map(|start| start.items));
        drive(&mut open.flights, deadline, now);
        for ((node, items), flight) in open.groups.into_iter().zip(open.flights) {
            self.ended(node, &items, flight.into_outcome(), &mut left);
        }
        left
    }

    /// Sends a node's batch if a connection can be had without waiting for another caller; else gives it back.
    fn start<'b>(
        &mut self,
        start: Start<'b>,
        attempt: Attempt,
        open: &mut Open<'r, 'b>,
        left: &mut Vec<usize>,
    ) -> Option<Start<'b>> {
        let router = self.router;
        let Start { node, items, batch } = start;
        match router.nodes.get(node)?.try_begin(batch, attempt, Instant::now()) {
            Ok(Ok(flight)) => open.add(node, items, flight),
            Ok(Err(batch)) => return Some(Start { node, items, batch }),
            Err(error) => self.refused(node, &items, error, left),
        }
        None
    }

    /// Waits for a connection and sends a node's batch.
    fn wait_and_start<'b>(
        &mut self,
        start: Start<'b>,
        attempt: Attempt,
        open: &mut Open<'r, 'b>,
        left: &mut Vec<usize>,
    ) {
        let router = self.router;
        let Some(pool) = router.nodes.get(start.node) else { return };
        match pool.begin(start.batch, attempt, Instant::now()) {
            Ok(flight) => open.add(start.node, start.items, flight),
            Err(error) => self.refused(start.node, &start.items, error, left),
        }
    }

    /// The items of each node that may be asked now; others get their error, or move on.
    fn group(
        &mut self,
        pending: &[usize],
        now: Instant,
        left: &mut Vec<usize>,
    ) -> Vec<(usize, Vec<usize>)> {
        let router = self.router;
        let is_late = self.timing.deadline.passed(now);
        let share = pending.len() / router.nodes.len().max(1);
        let mut groups: Vec<Vec<usize>> =
            router.nodes.iter().map(|_| Vec::with_capacity(share)).collect();
        for &item in pending {
            let node = self.node_of(item);
            match (node, node.and_then(|node| groups.get_mut(node))) {
                (_, Some(group)) if !is_late => group.push(item),
                // What its home did wrong, if anything, says more than the time.
                (Some(node), Some(_)) => {
                    let late = out_of_time().with_phase(Phase::Prepare);
                    self.blame(item, late.with_server(&router.name(node)));
                }
                _ => self.blame(item, out_of_time()),
            }
        }
        let mut admitted = Vec::new();
        for (node, (pool, items)) in router.nodes.iter().zip(groups).enumerate() {
            if items.is_empty() {
                continue;
            }
            match pool.admit(now) {
                Ok(()) => admitted.push((node, items)),
                Err(error) => self.refused(node, &items, error, left),
            }
        }
        admitted
    }

    fn node_of(&self, item: usize) -> Option<usize> {
        match self.progress.get(item)?.tried {
            0 => self.homes.get(item).copied(),
            tried => self.router.candidate(self.targets.get(item)?, tried),
        }
    }

    fn has_next(&self, item: usize) -> bool {
        match (self.targets.get(item), self.progress.get(item)) {
            (Some(target), Some(p)) => self.router.has_candidate(target, p.tried + 1),
            _ => false,
        }
    }

    /// Gives the items of a batch their replies; those without one get what the rules say.
    fn ended(&mut self, node: usize, items: &[usize], outcome: Outcome, left: &mut Vec<usize>) {
        let Outcome { replies, sent, error } = outcome;
        let (mut unsent, mut in_doubt) = (Vec::new(), Vec::new());
        self.shape.unpack(items, replies, sent, |item, part| match part {
            Part::Reply(reply) => {
                let substituted = self.progress.get(item).is_some_and(|p| p.tried > 0);
                self.set(item, self.router.answer(reply, node, substituted));
            }
            Part::Unsent => unsent.push(item),
            Part::InDoubt => in_doubt.push(item),
            // No attempt of its own: each such exchange settles a key.
            Part::Aside => left.push(item),
        });
        if unsent.is_empty() && in_doubt.is_empty() {
            return;
        }
        let mut error = error.unwrap_or_else(|| pool::in_doubt(true));
        error.sent = false;
        let mut error = PoolError::Net(error);
        let unsent_verdict = self.verdict(&error);
        if let PoolError::Net(e) = &mut error {
            e.sent = true;
        }
        let doubt_verdict = self.verdict(&error);
        let error = Error::from(error);
        self.failed(node, &unsent, unsent_verdict, &error, left);
        self.failed(node, &in_doubt, doubt_verdict, &error, left);
    }

    /// What the rules say of a failure, for items at their first and at their second attempt.
    fn verdict(&self, error: &PoolError) -> Verdict {
        let verb = self.shape.verb();
        Verdict { steps: [next(verb, error, false), next(verb, error, true)], fate: error.fate() }
    }

    /// Ends the attempt of items whose node could not be asked.
    fn refused(&mut self, node: usize, items: &[usize], error: PoolError, left: &mut Vec<usize>) {
        let verdict = self.verdict(&error);
        self.failed(node, items, verdict, &error.into(), left);
    }

    /// Lets the rules decide what becomes of the items of a failed batch.
    fn failed(
        &mut self,
        node: usize,
        items: &[usize],
        verdict: Verdict,
        error: &Error,
        left: &mut Vec<usize>,
    ) {
        if items.is_empty() {
            return;
        }
        let error = error.clone().with_fate(verdict.fate).with_server(&self.router.name(node));
        let (mut retries, mut failovers) = (0, 0);
        for &item in items {
            let Some(p) = self.progress.get_mut(item) else { continue };
            p.unknown |= verdict.fate == Fate::Unknown;
            let step = verdict.steps[usize::from(p.again)];
            let moved = match step {
                Next::Repeat => {
                    p.again = true;
                    retries += 1;
                    true
                }
                Next::MoveOn if self.has_next(item) => {
                    if let Some(p) = self.progress.get_mut(item) {
                        *p = Progress { tried: p.tried + 1, again: false, ..*p };
                    }
                    failovers += 1;
                    true
                }
                _ => false,
            };
            self.blame(item, error.clone());
            if moved {
                left.push(item);
            }
        }
        if let Some(node) = self.router.nodes.get(node) {
            node.stats().retries.add(retries);
            node.stats().failovers.add(failovers);
        }
    }

    /// Notes a failure of an attempt; the first one stays, as for a single key.
    fn blame(&mut self, item: usize, error: Error) {
        let first = match self.outcomes.get_mut(item).and_then(Option::take) {
            Some(Err(first)) => first,
            _ => error,
        };
        self.set(item, Err(first));
    }

    fn set(&mut self, item: usize, outcome: Result<Answer, Error>) {
        let unknown = self.progress.get(item).is_some_and(|p| p.unknown);
        let outcome = outcome.map_err(|e| if unknown { e.with_fate(Fate::Unknown) } else { e });
        if let Some(slot) = self.outcomes.get_mut(item) {
            *slot = Some(outcome);
        }
    }
}

/// A node's batch that is to be sent.
struct Start<'b> {
    node: usize,
    items: Vec<usize>,
    batch: Batch<'b>,
}

/// The batches under way, with the node and the items of each.
#[derive(Default)]
struct Open<'p, 'b> {
    groups: Vec<(usize, Vec<usize>)>,
    flights: Vec<InFlight<'p, 'b>>,
}

impl<'p, 'b> Open<'p, 'b> {
    fn add(&mut self, node: usize, items: Vec<usize>, flight: InFlight<'p, 'b>) {
        self.groups.push((node, items));
        self.flights.push(flight);
    }
}
