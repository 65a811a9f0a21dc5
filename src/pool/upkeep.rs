//! What maintenance does to one node: trim, top up to the minimum, probe when it is down.

use std::time::Instant;

use super::error::PoolError;
use super::flight::{Fleet, Outcome};
use super::lease::{IDLE_CHECK, Live, asking_for_nobody};
use super::line::Use;
use super::node::NodePool;
use crate::health::{Failure, Gate};
use crate::time::{Attempt, Deadline, Steps};

impl NodePool {
    /// One pass: closes what is idle or old, then opens up to the minimum while the node answers.
    pub(super) fn tend(&self, now: Instant) {
        self.discard_all(self.line.take_idle(|live, stay| self.is_surplus(live, stay, now)));
        self.discard_dead(now);
        self.open_up_to(self.config.min_connections);
    }

    /// Looks at what has been idle for a while, and closes what the server closed.
    fn discard_dead(&self, now: Instant) {
        let long_idle = |live: &Live| now.saturating_duration_since(live.used) >= IDLE_CHECK;
        // Out of the line, since a look is a system call.
        for live in self.line.take_idle(|live, _| long_idle(live)) {
            let fit = live.connection.is_quiet();
            let gone = if fit { self.line.give_back(live, Use::Alone) } else { Some(live) };
            self.discard_all(gone.into_iter().collect());
        }
    }

    /// Opens connections until `want` are open; stops at the first failure.
    pub(super) fn open_up_to(&self, want: u32) {
        let now = Instant::now();
        // A failure was counted where it happened; the next pass tries again.
        let time = self.config.connect_timeout.saturating_mul(want.max(1));
        let _ = self.open_within(want, Deadline::after(now, time));
    }

    /// Opens what the settings ask for at the start, and says how many connections that took.
    pub(crate) fn warm_up(&self, deadline: Deadline) -> Result<usize, PoolError> {
        self.admit(Instant::now())?;
        let want = self.config.initial_connections.max(self.config.min_connections);
        self.open_within(want, deadline)
    }

    fn open_within(&self, want: u32, deadline: Deadline) -> Result<usize, PoolError> {
        let want = usize::try_from(want).unwrap_or(usize::MAX);
        let steps = Steps { connect: deadline, exchange: deadline };
        let mut opened = 0;
        while self.health.is_up() && self.line.dial_below(want) {
            self.dial(steps, Use::Alone)?.finish(Instant::now());
            opened += 1;
        }
        Ok(opened)
    }

    /// When the next probe is due, if the node is down.
    pub(super) fn next_probe(&self) -> Option<Instant> {
        self.health.next_probe()
    }

    /// Begins to ask a down node for a key that nobody stores, once its back-off is over.
    pub(super) fn begin_probe<'p, T>(
        &'p self,
        now: Instant,
        probes: &mut Fleet<'p, 'static, T>,
        purpose: T,
    ) {
        if self.health.gate(now, true) == Gate::Probe {
            let deadline = Deadline::after(now, self.config.connect_timeout);
            probes.begin(self, asking_for_nobody(), Attempt::only(deadline), purpose);
        }
    }

    /// Counts what came of it; an answer was counted when it came.
    pub(super) fn end_probe(&self, outcome: &Outcome) {
        if outcome.error.is_some() && self.health.next_probe().is_some() {
            let now = Instant::now();
            self.blame.put_text(now, "no answer to a probe");
            self.note(self.health.failed(now, Failure::Silence));
        }
    }
}
