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
const PENALTY: u32 = 500;
/// Above this score nobody yields for a while.
const TOO_MUCH: u32 = 2500;
/// How many microseconds that is at first, and at most.
const REST: (u64, u64) = (50_000, 2_000_000);
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
    /// When the last long yield that was counted ended, in microseconds since `born`.
    long_until: AtomicU64,
    /// Until when nobody yields, in the same, and how long the next such time is.
    rest_until: AtomicU64,
    rest: AtomicU64,
    /// What exchanges took of late, in nanoseconds.
    round_trip: AtomicU64,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            born: Instant::now(),
            score: AtomicU32::new(0),
            long_until: AtomicU64::new(0),
            rest_until: AtomicU64::new(0),
            rest: AtomicU64::new(REST.0),
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
        if self.rests(self.since_birth(now)) {
            return None;
        }
        let (mut before, mut long) = (now, None);
        let mut found = None;
        for _ in 0..YIELDS {
            thread::yield_now();
            found = look();
            let now = Instant::now();
            long = (now.saturating_duration_since(before) > LONG).then_some(before);
            before = now;
            // Where others have hard work to do, a few more would take a call beyond its deadline.
            if found.is_some() || long.is_some() {
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

    /// Counts a wait that has ended now, with a yield that was long since then, or without one.
    fn judge(&self, long: Option<Instant>, now: Instant) {
        let score = self.score.load(Relaxed);
        let Some(since) = long else {
            match score {
                0 => {}
                1 => {
                    self.score.store(0, Relaxed);
                    self.rest.store(REST.0, Relaxed);
                }
                score => self.score.store(score - 1, Relaxed),
            }
            return;
        };
        let (since, now) = (self.since_birth(since), self.since_birth(now));
        // What held several up at once is one thing, and says no more than once.
        if since < self.long_until.load(Relaxed) || self.rests(now) {
            return;
        }
        self.long_until.store(now, Relaxed);
        let score = score.saturating_add(PENALTY);
        if score <= TOO_MUCH {
            self.score.store(score, Relaxed);
            return;
        }
        let rest = self.rest.load(Relaxed);
        self.rest.store((rest * 2).min(REST.1), Relaxed);
        self.rest_until.store(now.saturating_add(rest), Relaxed);
        self.score.store(TOO_MUCH / 2, Relaxed);
    }

    /// Whether nobody yields then.
    fn rests(&self, now: u64) -> bool {
        now < self.rest_until.load(Relaxed)
    }

    /// Microseconds.
    fn since_birth(&self, now: Instant) -> u64 {
        let age = now.saturating_duration_since(self.born).as_micros();
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

    /// A patience at whose birth all times of a test begin, in milliseconds.
    fn newborn() -> (Patience, impl Fn(u64) -> Instant) {
        let patience = Patience::default();
        let born = patience.born;
        (patience, move |ms| born + Duration::from_millis(ms))
    }

    fn rests(patience: &Patience, now: Instant) -> bool {
        patience.rests(patience.since_birth(now))
    }

    /// Long yields of two milliseconds one after the other, from `ms` until yielding ends.
    fn overload(patience: &Patience, at: impl Fn(u64) -> Instant, ms: u64) -> u64 {
        let end = |n: u64| ms + 2 * n;
        let enough = (1..100).find(|n| {
            patience.judge(Some(at(end(n - 1))), at(end(*n)));
            rests(patience, at(end(*n)))
        });
        end(enough.expect("it ends"))
    }

    #[test]
    fn long_yields_end_yielding_for_all_for_a_while_that_gets_longer() {
        let (patience, at) = newborn();
        let end = overload(&patience, &at, 0);
        assert!((4..=20).contains(&end), "not the first, and not many: {end}");
        assert!(rests(&patience, at(end + 49)) && !rests(&patience, at(end + 51)));
        let end = overload(&patience, &at, end + 60);
        assert!(rests(&patience, at(end + 99)) && !rests(&patience, at(end + 101)));
    }

    #[test]
    fn one_thing_that_holds_everybody_up_counts_once() {
        let (patience, at) = newborn();
        // A hundred callers come back one after the other from yields that began together.
        (0..100).for_each(|n| patience.judge(Some(at(n / 10)), at(20 + n / 10)));
        assert!(!rests(&patience, at(30)));
        let end = overload(&patience, &at, 100);
        (0..100).for_each(|_| patience.judge(Some(at(end - 3)), at(end + 1)));
        assert!(!rests(&patience, at(end + 51)), "nor does it make the rest longer");
    }

    #[test]
    fn long_yields_are_forgotten_when_most_waits_do_without_and_so_is_how_long_the_rest_was() {
        let (patience, at) = newborn();
        for n in 1..50 {
            patience.judge(Some(at(10 * n)), at(10 * n + 5));
            (0..1000).for_each(|_| patience.judge(None, at(10 * n + 6)));
            assert!(!rests(&patience, at(10 * n + 7)));
        }
        let end = overload(&patience, &at, 1000);
        (0..10_000).for_each(|_| patience.judge(None, at(end + 60)));
        let end = overload(&patience, &at, end + 70);
        assert!(!rests(&patience, at(end + 51)), "as short as the first");
    }
}
