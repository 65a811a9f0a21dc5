//! Deadlines: one moment per call, spent across all its steps.

mod jitter;

use std::time::{Duration, Instant};

pub(crate) use jitter::Jitter;

/// The moment by which a call has to have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    /// The moment `after` from `now`; far in the future when that cannot be expressed.
    pub(crate) fn after(now: Instant, after: Duration) -> Self {
        const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365);
        Self(now.checked_add(after).unwrap_or(now + FAR))
    }

    /// What is left at `now`; zero once it has passed.
    pub(crate) fn left(self, now: Instant) -> Duration {
        self.0.saturating_duration_since(now)
    }

    pub(crate) fn passed(self, now: Instant) -> bool {
        now >= self.0
    }

    /// The moment itself, for waiting on a condition variable.
    pub(crate) fn instant(self) -> Instant {
        self.0
    }
}

/// The time that one attempt at a node may take out of a call's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attempt {
    /// The end of the call. Waiting for other callers may last until then: no other node would help.
    pub(crate) call: Deadline,
    /// How much one node may use of what is left.
    pub(crate) share: Share,
    /// Whether that holds for the exchange too; else only for connecting, after which no other node may be asked.
    pub(crate) moves: bool,
}

/// A part of the time that is left.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Share {
    All,
    Half,
    Fixed(Duration),
}

/// The ends of an attempt's steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Steps {
    pub(crate) connect: Deadline,
    pub(crate) exchange: Deadline,
}

impl Attempt {
    /// The only attempt.
    pub(crate) fn only(call: Deadline) -> Self {
        Self { call, share: Share::All, moves: false }
    }

    /// The steps of an attempt whose turn comes at `now`.
    pub(crate) fn starting(&self, now: Instant) -> Steps {
        let share = match self.share {
            Share::All => self.call,
            Share::Half => Deadline::after(now, self.call.left(now) / 2),
            Share::Fixed(share) => self.call.min(Deadline::after(now, share)),
        };
        Steps { connect: share, exchange: if self.moves { share } else { self.call } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_leaves_time_for_the_next_where_there_may_be_one() {
        let now = Instant::now();
        let at = |ms| Deadline::after(now, Duration::from_millis(ms));
        let attempt = Attempt { call: at(600), share: Share::Half, moves: true };
        let steps = attempt.starting(now);
        assert_eq!((steps.connect, steps.exchange), (at(300), at(300)));
        let steps = Attempt { moves: false, ..attempt }.starting(now);
        assert_eq!((steps.connect, steps.exchange), (at(300), at(600)));
        let share = Share::Fixed(Duration::from_millis(700));
        let steps = Attempt { share, ..attempt }.starting(now);
        assert_eq!((steps.connect, steps.exchange), (at(600), at(600)));
        let steps = Attempt::only(at(600)).starting(now);
        assert_eq!((steps.connect, steps.exchange), (at(600), at(600)));
    }
}
