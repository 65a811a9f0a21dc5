//! How long callers wait in which way: a few yields before they sleep, and when they ask for one more connection.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// Yields before a caller goes to sleep: to be woken costs more than to come by again a few times.
const YIELDS: u32 = 16;
/// A yield that takes longer than this went to somebody's hard work: it costs the caller more than sleep would.
const LONG: Duration = Duration::from_millis(1);
/// What a long yield adds to the score, of which a wait without one takes 1 away.
const PENALTY: u32 = 16;
/// Above this score nobody yields for a while.
const TOO_MUCH: u32 = 1000;
/// How long that is at first, and at most.
const REST: (u32, u32) = (50, 2000);
/// A thread that yielded in vain twice in a row sleeps at once the next time, after a third time in vain the next 3 times,
/// and so on, at most so often.
const MOST_SKIPPED: u32 = 15;
/// The least time after which the first in line asks for one more connection.
const LEAST: Duration = Duration::from_millis(1);

thread_local! {
    /// How often this thread goes to sleep at once, and how often it will after the next yields in vain.
    static SKIPS: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
}

/// What a node's callers have learned of waiting.
#[derive(Debug)]
pub(super) struct Patience {
    born: Instant,
    score: AtomicU32,
    /// Milliseconds since `born` until which nobody yields, and how long the next such time is.
    rest_until: AtomicU64,
    rest: AtomicU32,
    /// What exchanges took of late, in nanoseconds.
    round_trip: AtomicU64,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            born: Instant::now(),
            score: AtomicU32::new(0),
            rest_until: AtomicU64::new(0),
            rest: AtomicU32::new(REST.0),
            round_trip: AtomicU64::new(0),
        }
    }
}

impl Patience {
    /// Looks for something a few times, letting other threads go first; `None` when it is better to sleep.
    pub(super) fn yields<T>(&self, now: Instant, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        let (skips, next) = SKIPS.get();
        if skips > 0 {
            SKIPS.set((skips - 1, next));
            return None;
        }
        if self.since_birth(now) < self.rest_until.load(Relaxed) {
            return None;
        }
        let (mut before, mut long) = (now, 0);
        let mut found = None;
        for _ in 0..YIELDS {
            thread::yield_now();
            found = look();
            let now = Instant::now();
            long = u32::from(now.saturating_duration_since(before) > LONG);
            before = now;
            // Where others have hard work to do, a few more would take a call beyond its deadline.
            if found.is_some() || long > 0 {
                break;
            }
        }
        self.judge(long, before);
        let next = match found {
            Some(_) => (0, 0),
            None => (next, (next * 2 + 1).min(MOST_SKIPPED)),
        };
        SKIPS.set(next);
        found
    }

    /// Notes how long an exchange took.
    pub(super) fn learn(&self, took: Duration) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let known = self.round_trip.load(Relaxed);
        let mean = if known == 0 { took } else { known - known / 8 + took / 8 };
        self.round_trip.store(mean, Relaxed);
    }

    /// After how long the first in line asks for one more connection.
    pub(super) fn limit(&self) -> Duration {
        LEAST.max(Duration::from_nanos(self.round_trip.load(Relaxed)) * 2)
    }

    fn judge(&self, long: u32, now: Instant) {
        let score = self.score.load(Relaxed);
        if long == 0 {
            if score > 0 {
                self.score.store(score - 1, Relaxed);
            }
            return;
        }
        let score = score.saturating_add(long * PENALTY);
        if score <= TOO_MUCH {
            self.score.store(score, Relaxed);
            return;
        }
        let rest = self.rest.load(Relaxed);
        self.rest.store((rest * 2).min(REST.1), Relaxed);
        self.rest_until.store(self.since_birth(now) + u64::from(rest), Relaxed);
        self.score.store(TOO_MUCH / 2, Relaxed);
    }

    fn since_birth(&self, now: Instant) -> u64 {
        let age = now.saturating_duration_since(self.born).as_millis();
        u64::try_from(age).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_in_line_waits_for_two_round_trips_such_as_they_are_of_late() {
        let patience = Patience::default();
        assert_eq!(patience.limit(), LEAST);
        patience.learn(Duration::from_micros(50));
        assert_eq!(patience.limit(), LEAST);
        (0..100).for_each(|_| patience.learn(Duration::from_millis(5)));
        let limit = patience.limit().as_micros();
        assert!((9_900..=10_000).contains(&limit), "{limit}");
    }

    #[test]
    fn what_has_come_is_found_and_a_thread_that_yields_in_vain_again_and_again_sleeps_at_once() {
        let patience = Patience::default();
        let looks = |found: bool| {
            let mut looks = 0;
            patience.yields(Instant::now(), || {
                looks += 1;
                found.then_some(())
            });
            looks
        };
        // On a machine that has other work to do, a few looks are enough.
        let many = 1..=YIELDS;
        assert_eq!(looks(true), 1);
        assert!(many.contains(&looks(false)));
        assert!(many.contains(&looks(false)));
        assert_eq!(looks(false), 0);
        assert!(many.contains(&looks(false)));
        assert_eq!([looks(false), looks(false), looks(false), looks(true)], [0, 0, 0, 1]);
        assert!(many.contains(&looks(false)), "and what it found sets it right");
    }

    #[test]
    fn long_yields_end_yielding_for_all_for_a_while_that_gets_longer() {
        let patience = Patience::default();
        let now = Instant::now();
        let at = |ms| now + Duration::from_millis(ms);
        let rests = |now| patience.since_birth(now) < patience.rest_until.load(Relaxed);
        patience.judge(TOO_MUCH / PENALTY, now);
        assert!(!rests(at(1)), "not yet too much");
        patience.judge(1, now);
        assert!(rests(at(49)) && !rests(at(51)));
        patience.judge(TOO_MUCH / 2 / PENALTY + 1, at(60));
        assert!(rests(at(159)) && !rests(at(162)));
        (0..TOO_MUCH).for_each(|_| patience.judge(0, at(200)));
        assert_eq!(patience.score.load(Relaxed), 0, "clean waits forget");
    }
}
