//! What the families share: keys of a chosen server, measuring, waiting for a state with a ceiling.

use std::sync::{LazyLock, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::{Duration, Instant};

use mcpool::{BackOff, Client, ClientBuilder, DownAfter, NodeState, ServerStatus};

/// How far beyond its deadline a call may end: a second, which means that it did not hang, or so many
/// milliseconds as `MCPOOL_OVERSHOOT_MS` says. On a quiet machine 50 hold.
pub(crate) static OVERSHOOT: LazyLock<Duration> = LazyLock::new(|| {
    let ms = std::env::var("MCPOOL_OVERSHOOT_MS").unwrap_or_else(|_| "1000".to_owned());
    Duration::from_millis(ms.parse().expect("MCPOOL_OVERSHOOT_MS is a whole number"))
});
/// What takes longer than this hangs.
pub(crate) const HANG: Duration = Duration::from_secs(20);
/// Between two looks at something that tells nobody when it changes.
const LOOK: Duration = Duration::from_millis(2);

static MACHINE: RwLock<()> = RwLock::new(());

/// Held by a test that measures time to the millisecond: none that keeps the processors busy runs beside it.
pub(crate) fn quiet() -> RwLockReadGuard<'static, ()> {
    MACHINE.read().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Held by a test that keeps the processors busy.
pub(crate) fn busy() -> RwLockWriteGuard<'static, ()> {
    MACHINE.write().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Settings under which a server is never taken out, so that each call meets the fault itself.
pub(crate) fn patient<S: Into<mcpool::ServerList>>(servers: S) -> ClientBuilder {
    Client::builder().servers(servers).down_after(DownAfter::new(1000, Duration::from_secs(10)))
}

/// Settings under which the first failure takes a server out, for a short while.
pub(crate) fn hasty<S: Into<mcpool::ServerList>>(servers: S) -> ClientBuilder {
    Client::builder()
        .servers(servers)
        .down_after(DownAfter::new(1, Duration::from_secs(10)))
        .back_off(BackOff::new(Duration::from_millis(50), Duration::from_millis(200)))
}

/// Keys that live on the server of this name, all beginning with `word`.
pub(crate) fn keys_on(client: &Client, server: &str, word: &str) -> impl Iterator<Item = String> {
    (0..)
        .map(move |i| format!("{word}{i}"))
        .filter(move |key| client.server_for(key).expect("a legal key") == server)
}

/// One such key.
pub(crate) fn key_on(client: &Client, server: &str, word: &str) -> String {
    keys_on(client, server, word).next().expect("keys do not end")
}

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

/// A snapshot of one server.
pub(crate) fn status(client: &Client, server: &str) -> ServerStatus {
    let servers = client.status().servers;
    servers.into_iter().find(|s| s.name == server).expect("a server of this client")
}

pub(crate) fn state(client: &Client, server: &str) -> NodeState {
    status(client, server).state
}
