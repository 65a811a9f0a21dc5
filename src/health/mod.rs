//! Whether a node is worth trying: one lock-free look while it is up, a state machine behind it.

mod machine;
mod rules;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

use machine::Machine;
use parking_lot::Mutex;
pub(crate) use rules::Rules;
pub use rules::{BackOff, DownAfter};

/// The health of one node.
///
/// All failures count that are reported, so report only failed dials, hang-ups on fresh connections and silences, once for
/// each exchange.
#[derive(Debug)]
pub(crate) struct Health {
    /// What the machine last said: `CLEAR`, `SUSPECT` or `DOWN`. Written under the lock; readers need no order,
    /// since a call that still sees the old word merely tries the node once more.
    flag: AtomicU8,
    machine: Mutex<Machine>,
}

const CLEAR: u8 = 0;
const SUSPECT: u8 = 1;
const DOWN: u8 = 2;

/// What a call may do with the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Use it.
    Up,
    /// Use it, and report how that went: nobody else may until then.
    Probe,
    /// Leave it alone: until a probe is due, or until it is restored.
    Down { until: Option<Instant> },
}

/// What counts against a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It could not be connected to, or hung up before its first answer.
    Dial,
    /// It left a request unanswered.
    Silence,
}

/// A change that a report made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transition {
    /// `until` is `None` when it will stay so until restored; `failure` is the last that counted.
    WentDown {
        until: Option<Instant>,
        failure: Failure,
    },
    CameUp,
}

/// How a client sees one of its servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NodeState {
    /// In use, and nothing recent counts against it.
    Up,
    /// In use, but a recent attempt to connect or a request failed, and nothing has succeeded since.
    Suspect,
    /// Not used until a probe succeeds.
    Down,
    /// Not used until restored, since failback is off.
    Out,
}

impl Health {
    /// Starts as up; `seed` spreads the back-offs of different clients.
    pub(crate) fn new(rules: Rules, seed: u64) -> Self {
        Self { flag: AtomicU8::new(CLEAR), machine: Mutex::new(Machine::new(rules, seed)) }
    }

    /// Whether calls may use the node as usual; suspect counts as up. One relaxed load.
    pub(crate) fn is_up(&self) -> bool {
        self.flag.load(Ordering::Relaxed) != DOWN
    }

    /// Whether nothing counts against the node. One relaxed load.
    pub(crate) fn is_clear(&self) -> bool {
        self.flag.load(Ordering::Relaxed) == CLEAR
    }

    /// Asks to use the node. With `may_probe` one caller at a time is let through to a node whose back-off is over.
    pub(crate) fn gate(&self, now: Instant, may_probe: bool) -> Gate {
        if self.is_up() {
            return Gate::Up;
        }
        self.update(|machine| machine.gate(now, may_probe))
    }

    /// The node has answered. One relaxed load when nothing counted against it.
    pub(crate) fn succeeded(&self) -> Option<Transition> {
        if self.flag.load(Ordering::Relaxed) == CLEAR {
            return None;
        }
        self.update(Machine::succeeded)
    }

    /// The node could not be connected to, or was silent.
    pub(crate) fn failed(&self, now: Instant, failure: Failure) -> Option<Transition> {
        self.update(|machine| machine.failed(now, failure))
    }

    /// Puts a node that is down or out back into use, as if new.
    pub(crate) fn restore(&self) -> Option<Transition> {
        self.update(Machine::restore)
    }

    /// When a probe is due; `None` unless the node is down.
    pub(crate) fn next_probe(&self) -> Option<Instant> {
        self.machine.lock().next_probe()
    }

    pub(crate) fn state(&self, now: Instant) -> NodeState {
        self.machine.lock().state(now)
    }

    fn update<T>(&self, step: impl FnOnce(&mut Machine) -> T) -> T {
        let mut machine = self.machine.lock();
        let result = step(&mut machine);
        let flag = match (machine.is_up(), machine.is_clear()) {
            (true, true) => CLEAR,
            (true, false) => SUSPECT,
            (false, _) => DOWN,
        };
        self.flag.store(flag, Ordering::Relaxed);
        result
    }
}

impl fmt::Display for NodeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Up => "up",
            Self::Suspect => "suspect",
            Self::Down => "down",
            Self::Out => "out",
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Dial => "could not connect",
            Self::Silence => "no answer",
        })
    }
}
