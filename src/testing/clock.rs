//! The server's own clock, which a test may move.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::lock;

/// A test server's clock; clones show and move the same time.
///
/// It starts with the real time and runs with it. Expiry, `flush_all` with a delay and the times in `stats` obey it;
/// the pauses of a [`Fault`](super::Fault) do not.
///
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
/// let server = mcpool::testing::TestServer::start()?;
/// let clock = server.clock();
/// clock.freeze();
/// clock.set(UNIX_EPOCH + Duration::from_secs(2_000_000_000));
/// clock.advance(Duration::from_secs(5));
/// assert_eq!(clock.now(), UNIX_EPOCH + Duration::from_secs(2_000_000_005));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Clock(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    base: SystemTime,
    /// When `base` was the time; none while the clock stands still.
    since: Option<Instant>,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(State { base: SystemTime::now(), since: Some(Instant::now()) })))
    }

    /// The time that the server sees.
    #[must_use]
    pub fn now(&self) -> SystemTime {
        lock(&self.0).now()
    }

    /// Moves the clock forward; a time beyond what the system can express leaves it where it is.
    pub fn advance(&self, by: Duration) {
        let mut state = lock(&self.0);
        let now = state.now();
        state.move_to(now.checked_add(by).unwrap_or(now));
    }

    /// Sets the time, forward or backward.
    pub fn set(&self, time: SystemTime) {
        lock(&self.0).move_to(time);
    }

    /// Stops the clock: from now on only [`advance`](Self::advance) and [`set`](Self::set) move it.
    pub fn freeze(&self) {
        let mut state = lock(&self.0);
        state.base = state.now();
        state.since = None;
    }

    /// Lets a frozen clock run again.
    pub fn run(&self) {
        let mut state = lock(&self.0);
        state.base = state.now();
        state.since = Some(Instant::now());
    }

    /// The time since 1970, which is what the protocol speaks of.
    pub(super) fn unix(&self) -> Duration {
        self.now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}

impl State {
    fn now(&self) -> SystemTime {
        let run = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        self.base.checked_add(run).unwrap_or(self.base)
    }

    fn move_to(&mut self, time: SystemTime) {
        self.base = time;
        self.since = self.since.map(|_| Instant::now());
    }
}
