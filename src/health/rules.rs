//! When a server counts as down and how long it is left alone: the settings.

use std::time::Duration;

/// How many failures within what time make a server count as down; 3 within 10 s unless set.
///
/// Failures are attempts to connect that failed, connections lost before their first answer, and time-outs in which
/// the server was silent for 200 ms or more. An answer of any kind clears the count.
///
/// ```
/// use std::time::Duration;
/// let strict = mcpool::DownAfter::new(1, Duration::from_secs(10));
/// assert_eq!(mcpool::DownAfter::default().failures(), 3);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DownAfter {
    failures: u32,
    within: Duration,
}

impl DownAfter {
    /// `failures` are taken as 1 when 0, and as 1000 when more.
    pub fn new(failures: u32, within: Duration) -> Self {
        Self { failures: failures.clamp(1, 1000), within }
    }

    /// The number of failures; 3 unless set.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// The time within which they have to fall; 10 s unless set.
    pub fn within(&self) -> Duration {
        self.within
    }
}

impl Default for DownAfter {
    fn default() -> Self {
        Self::new(3, Duration::from_secs(10))
    }
}

/// How long a server that is down is left alone before it is probed; 200 ms at first and 2 s at most unless set.
///
/// The time doubles with each probe that fails, and is jittered by up to a fifth, never beyond the longest. A server
/// that is the only one is probed after 500 ms at the latest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackOff {
    first: Duration,
    max: Duration,
}

impl BackOff {
    /// A `max` shorter than `first` is taken as `first`.
    pub fn new(first: Duration, max: Duration) -> Self {
        Self { first, max: max.max(first) }
    }

    /// The time before the first probe; 200 ms unless set.
    pub fn first(&self) -> Duration {
        self.first
    }

    /// The longest time before a probe; 2 s unless set.
    pub fn max(&self) -> Duration {
        self.max
    }
}

impl Default for BackOff {
    fn default() -> Self {
        Self::new(Duration::from_millis(200), Duration::from_secs(2))
    }
}

/// All that a node's health goes by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    pub down_after: DownAfter,
    pub back_off: BackOff,
    /// Whether a node that answers a probe is used again; when not, it is out until restored, and not probed.
    pub failback: bool,
    /// Whether the node is the only one: probed soon, and never out.
    pub lone: bool,
}

impl Rules {
    const LONE_MAX: Duration = Duration::from_millis(500);

    /// The back-off with what holds for a lone node.
    pub(super) fn back_off(&self) -> BackOff {
        let BackOff { first, max } = self.back_off;
        match self.lone {
            true => BackOff { first: first.min(Self::LONE_MAX), max: max.min(Self::LONE_MAX) },
            false => self.back_off,
        }
    }

    pub(super) fn out_when_down(&self) -> bool {
        !self.failback && !self.lone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_as_documented() {
        let (down_after, back_off) = (DownAfter::default(), BackOff::default());
        assert_eq!((down_after.failures(), down_after.within()), (3, Duration::from_secs(10)));
        let expected = (Duration::from_millis(200), Duration::from_secs(2));
        assert_eq!((back_off.first(), back_off.max()), expected);
    }

    #[test]
    fn settings_out_of_range_are_moved_into_it() {
        let second = Duration::from_secs(1);
        assert_eq!(DownAfter::new(0, second).failures(), 1);
        assert_eq!(DownAfter::new(u32::MAX, second).failures(), 1000);
        assert_eq!(BackOff::new(second, Duration::ZERO).max(), second);
    }
}
