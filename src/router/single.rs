//! One key's request: its home node, then whatever the failover policy allows.

use std::time::Instant;

use super::failover::{Next, next};
use super::{Answer, Router, Target, Timing, out_of_time};
use crate::error::{Error, Fate, Phase};
use crate::pool::PoolError;
use crate::protocol::{Batch, Reply, Verb};

/// An attempt that failed at one node.
struct Failed {
    error: PoolError,
    /// Whether the rules let the request go to another node.
    goes_on: bool,
}

impl Router {
    /// Runs the one request of `batch` for the key at `target`.
    ///
    /// # Errors
    /// The refusal of the node that answered; else the home node's error, marked as possibly applied if any
    /// attempt may have been.
    pub(crate) fn run(
        &self,
        verb: Verb,
        target: &Target<'_>,
        batch: &mut Batch<'_>,
        timing: Timing,
    ) -> Result<Answer, Error> {
        let home = self.home(target);
        // What came before, encoding a large value for one, is no time of the server's.
        let timing = Timing { started: Instant::now(), ..timing };
        if timing.deadline.passed(timing.started) {
            return Err(out_of_time().with_phase(Phase::Prepare).with_server(&self.name(home)));
        }
        let mut fate = Fate::NotApplied;
        match self.run_on(home, verb, self.has_candidate(target, 1), batch, timing, &mut fate) {
            Ok(reply) => self.answer(reply, home, false).map_err(|e| e.with_fate(fate)),
            Err(failed) => self.go_on(verb, target, batch, timing, failed, fate),
        }
    }

    /// Tries the other candidates in turn.
    #[cold]
    fn go_on(
        &self,
        verb: Verb,
        target: &Target<'_>,
        batch: &mut Batch<'_>,
        timing: Timing,
        failed: Failed,
        mut fate: Fate,
    ) -> Result<Answer, Error> {
        let home = self.home(target);
        let mut goes_on = failed.goes_on;
        let mut tried = 1;
        while goes_on && !timing.deadline.passed(Instant::now()) {
            let Some(node) = self.candidate(target, tried) else { break };
            if let (1, Some(home)) = (tried, self.nodes.get(home)) {
                home.stats().failovers.one();
            }
            tried += 1;
            let timing = Timing { started: Instant::now(), ..timing };
            let has_next = self.has_candidate(target, tried);
            match self.run_on(node, verb, has_next, batch, timing, &mut fate) {
                Ok(reply) => {
                    return self.answer(reply, node, true).map_err(|e| e.with_fate(fate));
                }
                Err(other) => goes_on = other.goes_on,
            }
        }
        Err(Error::from(failed.error).with_server(&self.name(home)).with_fate(fate))
    }

    /// Runs the request on one node, a second time on a fresh connection where the rules allow it.
    ///
    /// `fate` becomes unknown with any attempt that may have been carried out, whatever follows it.
    fn run_on(
        &self,
        node: usize,
        verb: Verb,
        has_next: bool,
        batch: &mut Batch<'_>,
        timing: Timing,
        fate: &mut Fate,
    ) -> Result<Reply, Failed> {
        let Some(node) = self.nodes.get(node) else {
            return Err(Failed { error: PoolError::Closed, goes_on: false });
        };
        let mut now = timing.started;
        let attempt = self.attempt(verb, has_next, timing.deadline);
        let mut again = false;
        loop {
            let error = match node.admit(now).and_then(|()| node.exchange(batch, attempt, now)) {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            now = Instant::now();
            if error.fate() == Fate::Unknown {
                *fate = Fate::Unknown;
            }
            match next(verb, &error, again) {
                Next::Repeat if !timing.deadline.passed(now) => {
                    node.stats().retries.one();
                    again = true;
                }
                step => return Err(Failed { error, goes_on: step != Next::GiveUp }),
            }
        }
    }
}
