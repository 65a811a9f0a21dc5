//! How many connections the callers of the moment use: few callers one each, many on a short way one, else some.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// So many callers at once get a connection each: travelling together saves them less than the wait costs.
const FEW: usize = 4;
/// An exchange that is faster than this is mostly work, of the client and of the server; the larger the trains, the less of it.
const NEAR: Duration = Duration::from_micros(150);
/// How much of what was is forgotten each time: a part in so many.
const MEMORY: u32 = 64;

/// What is known of a node's callers and of the way to it.
#[derive(Debug)]
pub(crate) struct Crowd {
    /// Up to how many callers are given one each.
    few: usize,
    /// How many connections more callers use when the way is short, and when it is not or not known.
    near: usize,
    far: usize,
    /// The most callers at once of late, in parts of `MEMORY`.
    peak: AtomicU32,
    /// The fastest exchange of a train of late, in nanoseconds; 0 before the first.
    fastest: AtomicU64,
}

impl Crowd {
    /// Callers who are to share `target` connections when they are many, on a machine with so many processors.
    ///
    /// On a short way the server, or what else keeps it near, needs processors, too: half of them are left to it.
    pub(super) fn new(target: usize, processors: usize) -> Self {
        let near = target.min(processors / 2).max(1);
        Self { few: FEW, near, ..Self::always(target) }
    }

    /// Callers who share `target` connections, however many they are and however long the way is.
    pub(super) fn always(target: usize) -> Self {
        let (peak, fastest) = (AtomicU32::new(0), AtomicU64::new(0));
        Self { few: 0, near: target, far: target, peak, fastest }
    }

    /// Notes how many call at once.
    pub(super) fn met(&self, callers: usize) {
        let callers = u32::try_from(callers).unwrap_or(u32::MAX).saturating_mul(MEMORY);
        if callers > self.peak.load(Relaxed) {
            self.peak.store(callers, Relaxed);
        }
    }

    /// Notes that a connection is taken, for one or for many.
    pub(super) fn departed(&self) {
        let peak = self.peak.load(Relaxed);
        self.peak.store(peak - peak / MEMORY, Relaxed);
    }

    /// Notes how long the exchange of a train took.
    pub(super) fn learn(&self, took: Duration) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX).max(1);
        let known = self.fastest.load(Relaxed);
        let grown = known.saturating_add(known / u64::from(MEMORY));
        let fastest = if known == 0 { took } else { took.min(grown) };
        self.fastest.store(fastest, Relaxed);
    }

    /// How many connections may be used by those who share.
    pub(super) fn connections(&self) -> usize {
        let callers = self.peak.load(Relaxed).div_ceil(MEMORY);
        if usize::try_from(callers).is_ok_and(|callers| callers <= self.few) {
            return self.far.max(self.few);
        }
        let way = Duration::from_nanos(self.fastest.load(Relaxed));
        if way.is_zero() || way >= NEAR { self.far } else { self.near }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a machine with two processors.
    fn crowd(callers: usize, took: Option<Duration>) -> Crowd {
        let crowd = Crowd::new(2, 2);
        crowd.met(callers);
        took.into_iter().for_each(|took| crowd.learn(took));
        crowd
    }

    #[test]
    fn up_to_four_callers_have_a_connection_each_and_more_share_the_target() {
        assert_eq!([1, 3, 4, 5, 100].map(|n| crowd(n, None).connections()), [4, 4, 4, 2, 2]);
        let many = Crowd::new(9, 2);
        assert_eq!(many.connections(), 9);
    }

    #[test]
    fn on_a_short_way_a_crowd_shares_half_as_many_connections_as_there_are_processors() {
        let (short, long) = (Duration::from_micros(50), Duration::from_millis(1));
        assert_eq!(crowd(100, Some(short)).connections(), 1);
        assert_eq!(crowd(100, Some(long)).connections(), 2);
        assert_eq!(crowd(4, Some(short)).connections(), 4);
        let connections = |processors| {
            let crowd = Crowd::new(3, processors);
            crowd.met(100);
            crowd.learn(short);
            crowd.connections()
        };
        assert_eq!([1, 2, 4, 8, 64].map(connections), [1, 1, 2, 3, 3]);
    }

    #[test]
    fn the_way_is_as_short_as_the_fastest_exchange_until_that_is_long_ago() {
        let crowd = crowd(100, Some(Duration::from_micros(50)));
        crowd.learn(Duration::from_secs(1));
        assert_eq!(crowd.connections(), 1, "somebody else had the processors");
        (0..100).for_each(|_| crowd.learn(Duration::from_secs(1)));
        assert_eq!(crowd.connections(), 2);
        crowd.learn(Duration::from_micros(50));
        assert_eq!(crowd.connections(), 1);
    }

    #[test]
    fn a_crowd_is_forgotten_after_some_calls_of_few() {
        let crowd = crowd(100, None);
        (0..10).for_each(|_| crowd.departed());
        assert_eq!(crowd.connections(), 2);
        (0..300).for_each(|_| {
            crowd.met(1);
            crowd.departed();
        });
        assert_eq!(crowd.connections(), 4);
    }
}
