//! Time in tests: measured, waited for, and the ceilings that mean "it did not hang".

use std::thread;
use std::time::{Duration, Instant};

/// What takes longer than this hangs.
pub(crate) const HANG: Duration = Duration::from_secs(20);
/// How far beyond its deadline a call may end on a busy machine; what takes longer hangs. How exact deadlines are is
/// measured where nothing else runs.
pub(crate) const SLACK: Duration = Duration::from_secs(5);
/// Between two looks at something that tells nobody when it changes.
const LOOK: Duration = Duration::from_millis(1);

/// The result and how long it took.
pub(crate) fn timed<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = run();
    (result, start.elapsed())
}

/// Waits until `seen`; panics with `what` when that takes so long that it will not happen.
pub(crate) fn until(what: &str, mut seen: impl FnMut() -> bool) {
    let start = Instant::now();
    while !seen() {
        assert!(start.elapsed() < HANG, "not within {HANG:?}: {what}");
        thread::sleep(LOOK);
    }
}
