//! What maintenance does to one node: trim, top up to the minimum, probe when it is down.

use std::time::Instant;

use super::node::{NodePool, answers};
use crate::health::{Failure, Gate};
use crate::time::Deadline;

impl NodePool {
    /// One pass: closes what is idle or old, then opens up to the minimum while the node answers.
    pub(super) fn tend(&self, now: Instant) {
        self.discard_all(self.line.take_idle(|live, stay| self.is_surplus(live, stay, now)));
        self.open_up_to(self.config.min_connections);
    }

    /// Opens connections until `want` are open; stops at the first failure.
    pub(crate) fn open_up_to(&self, want: u32) -> usize {
        let want = usize::try_from(want).unwrap_or(usize::MAX);
        let mut opened = 0;
        while self.health.is_up() && self.line.dial_below(want) {
            let now = Instant::now();
            match self.dial(Deadline::after(now, self.config.connect_timeout)) {
                Ok(lease) => lease.finish(now),
                Err(_) => break,
            }
            opened += 1;
        }
        opened
    }

    /// When the next probe is due, if the node is down.
    pub(super) fn next_probe(&self) -> Option<Instant> {
        self.health.next_probe()
    }

    /// Asks a down node for its version once its back-off is over.
    pub(super) fn probe(&self, now: Instant) {
        if self.health.is_up() || self.health.gate(now, true) != Gate::Probe {
            return;
        }
        let deadline = Deadline::after(now, self.config.connect_timeout);
        // A dial that fails has already been counted.
        let Ok(mut lease) = self.lease(deadline, now) else { return };
        let alive = lease.connection().is_some_and(|c| answers(c, deadline, now));
        if alive {
            lease.finish(now);
            self.note(self.health.succeeded(Instant::now()));
        } else {
            drop(lease);
            self.note(self.health.failed(Instant::now(), Failure::Silence));
        }
    }
}
