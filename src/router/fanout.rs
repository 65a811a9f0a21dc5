//! Requests of many keys: grouped by node, all nodes working at once, each key with its own outcome.

use std::time::Instant;

use super::failover::{Next, next};
use super::{Answer, Router, Target, Timing, out_of_time};
use crate::error::{Error, Fate, Phase};
use crate::pool::{self, Fleet, Outcome, PoolError};
use crate::protocol::{Batch, Reply, Verb};

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
        let mut due: Vec<usize> = (0..targets.len()).collect();
        let mut fleet = Fleet::new();
        run.launch(&mut due, &mut fleet);
        while !fleet.is_empty() {
            for ((node, items), outcome) in fleet.drive(None) {
                run.ended(node, &items, outcome, &mut due);
            }
            run.launch(&mut due, &mut fleet);
        }
        run.outcomes.into_iter().map(|o| o.unwrap_or_else(|| Err(out_of_time()))).collect()
    }
}

impl<'r, 'a, S: Shape<'a>> Run<'r, 'a, S> {
    /// Starts a batch for each node that items are due for, unless it has one under way: those items stay due.
    fn launch(&mut self, due: &mut Vec<usize>, fleet: &mut Fleet<'r, 'a, (usize, Vec<usize>)>) {
        let router = self.router;
        while !due.is_empty() {
            // What goes out again keeps its order: of two stores of one key the later has to stay.
            due.sort_unstable();
            let (held, free) = self.hold(std::mem::take(due), fleet.purposes());
            for (node, items) in self.group(&free, Instant::now(), due) {
                let has_next = items.iter().any(|item| self.has_next(*item));
                let attempt = router.attempt(self.shape.verb(), has_next, self.timing.deadline);
                if let Some(pool) = router.nodes.get(node) {
                    fleet.begin(pool, self.shape.batch(&items), attempt, (node, items));
                }
            }
            // Some nodes may have turned their items away; those may go on to others at once.
            let is_all = due.is_empty();
            due.extend(held);
            if is_all {
                return;
            }
        }
    }

    /// Parts the items whose node has a batch under way from the others.
    fn hold(&self, due: Vec<usize>, busy: &[(usize, Vec<usize>)]) -> (Vec<usize>, Vec<usize>) {
        if busy.is_empty() {
            return (Vec::new(), due);
        }
        let is_held = |item: &usize| {
            let node = self.node_of(*item);
            busy.iter().any(|(busy, _)| Some(*busy) == node)
        };
        due.into_iter().partition(is_held)
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
        let mut error = error.unwrap_or_else(|| PoolError::Net(pool::in_doubt(true)));
        let [unsent_verdict, doubt_verdict] = [false, true].map(|sent| {
            if let PoolError::Net(e) = &mut error {
                e.sent = sent;
            }
            self.verdict(&error)
        });
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
