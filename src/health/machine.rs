//! The states of one node and what moves it between them; no clock of its own, no lock.
//!
//! - *Up* until `down_after` failures lie within its time; any success forgets them. *Suspect* is up with a failure
//!   that still counts: calls go on as before.
//! - *Down* until the back-off is over. Then one caller is let through to probe. Its success, as any sign of life,
//!   means up; its failure means down again, for twice as long. When it reports nothing, the next may probe after a while.
//! - *Out* instead of down when there is no failback: until restored.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::rules::Rules;
use super::{Failure, Gate, NodeState, Transition};
use crate::time::{Deadline, Jitter};

#[derive(Debug)]
pub(super) struct Machine {
    rules: Rules,
    jitter: Jitter,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    /// The failures that may still count, oldest first; fewer than it takes to go down.
    Up {
        failures: VecDeque<Instant>,
    },
    /// While probing, `until` is when another may probe.
    Down {
        until: Instant,
        back_off: Duration,
        probing: bool,
    },
    Out,
}

/// How long a probe has the node to itself, unless pauses are shorter: longer than it should take, else a slow one would
/// soon have company.
const PROBE_LEASE: Duration = Duration::from_secs(2);

const UP: Phase = Phase::Up { failures: VecDeque::new() };

impl Machine {
    pub(super) fn new(rules: Rules, seed: u64) -> Self {
        Self { rules, jitter: Jitter::new(seed), phase: UP }
    }

    /// Whether it is up and nothing counts against it.
    pub(super) fn is_clear(&self) -> bool {
        matches!(&self.phase, Phase::Up { failures } if failures.is_empty())
    }

    pub(super) fn is_up(&self) -> bool {
        matches!(self.phase, Phase::Up { .. })
    }

    pub(super) fn gate(&mut self, now: Instant, may_probe: bool) -> Gate {
        match &mut self.phase {
            Phase::Up { .. } => Gate::Up,
            Phase::Out => Gate::Down { until: None },
            Phase::Down { until, probing, .. } if may_probe && *until <= now => {
                *until = now + PROBE_LEASE.min(self.rules.back_off().max());
                *probing = true;
                Gate::Probe
            }
            Phase::Down { until, .. } => Gate::Down { until: Some(*until) },
        }
    }

    pub(super) fn succeeded(&mut self) -> Option<Transition> {
        match &mut self.phase {
            Phase::Up { failures } => {
                failures.clear();
                None
            }
            Phase::Down { .. } => self.restore(),
            Phase::Out => None,
        }
    }

    pub(super) fn failed(&mut self, now: Instant, failure: Failure) -> Option<Transition> {
        match &mut self.phase {
            Phase::Up { failures } => {
                let down_after = self.rules.down_after;
                failures.retain(|at| counts(*at, now, down_after.within()));
                failures.push_back(now);
                if failures.len() < down_after.failures() as usize {
                    return None;
                }
                let until = match self.rules.out_when_down() {
                    true => {
                        self.phase = Phase::Out;
                        None
                    }
                    false => Some(self.back_off(now, self.rules.back_off().first())),
                };
                Some(Transition::WentDown { until, failure })
            }
            Phase::Down { back_off, probing: true, .. } => {
                let doubled = back_off.saturating_mul(2);
                self.back_off(now, doubled);
                None
            }
            // A call that began while the node was up tells nothing new.
            Phase::Down { .. } | Phase::Out => None,
        }
    }

    pub(super) fn restore(&mut self) -> Option<Transition> {
        if self.is_up() {
            return None;
        }
        self.phase = UP;
        Some(Transition::CameUp)
    }

    pub(super) fn next_probe(&self) -> Option<Instant> {
        match self.phase {
            Phase::Down { until, .. } => Some(until),
            Phase::Up { .. } | Phase::Out => None,
        }
    }

    pub(super) fn state(&self, now: Instant) -> NodeState {
        let within = self.rules.down_after.within();
        match &self.phase {
            Phase::Up { failures } if failures.iter().any(|at| counts(*at, now, within)) => {
                NodeState::Suspect
            }
            Phase::Up { .. } => NodeState::Up,
            Phase::Down { .. } => NodeState::Down,
            Phase::Out => NodeState::Out,
        }
    }

    /// Leaves the node alone for about `time`; returns until when.
    fn back_off(&mut self, now: Instant, time: Duration) -> Instant {
        let max = self.rules.back_off().max();
        let back_off = time.min(max);
        let until = Deadline::after(now, self.jitter.spread(back_off, max)).instant();
        self.phase = Phase::Down { until, back_off, probing: false };
        until
    }
}

fn counts(failure: Instant, now: Instant, within: Duration) -> bool {
    now.saturating_duration_since(failure) <= within
}
