//! What the families share: how exact deadlines have to be, and who may keep the processors busy meanwhile.

use std::sync::{LazyLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use crate::support::watch::SLACK;

/// How far beyond its deadline a call may end: so far that it did not hang, or so many milliseconds as
/// `MCPOOL_OVERSHOOT_MS` says. On a quiet machine 50 hold.
pub(crate) static OVERSHOOT: LazyLock<Duration> = LazyLock::new(|| {
    let set = std::env::var("MCPOOL_OVERSHOOT_MS").ok();
    set.map_or(SLACK, |ms| {
        Duration::from_millis(ms.parse().expect("MCPOOL_OVERSHOOT_MS is a whole number"))
    })
});

static MACHINE: RwLock<()> = RwLock::new(());

/// Held by a test that measures time to the millisecond: none that keeps the processors busy runs beside it.
pub(crate) fn quiet() -> RwLockReadGuard<'static, ()> {
    MACHINE.read().unwrap_or_else(PoisonError::into_inner)
}

/// Held by a test that keeps the processors busy.
pub(crate) fn busy() -> RwLockWriteGuard<'static, ()> {
    MACHINE.write().unwrap_or_else(PoisonError::into_inner)
}
