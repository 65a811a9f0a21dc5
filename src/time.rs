//! Deadlines: one moment per call, spent across all its steps.

use std::time::{Duration, Instant};

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
