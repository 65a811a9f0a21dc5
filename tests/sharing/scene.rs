//! A server and a client whose one connection is busy, behind which callers gather.

use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use mcpool::testing::{Event, Fault, TestServer, When};
use mcpool::{Client, ClientBuilder, DownAfter, Result, Ttl};

/// Long enough that only a hang uses it up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// A deadline that passes while a reply is held back, and not before the call has been sent.
pub(crate) const BRIEF: Duration = Duration::from_secs(2);

pub(crate) fn settings(server: &TestServer) -> ClientBuilder {
    Client::builder()
        .servers(server.address())
        .max_connections(1)
        .timeout(PATIENCE)
        .connect_timeout(Duration::from_secs(5))
        .down_after(DownAfter::new(1000, Duration::from_secs(10)))
}

pub(crate) fn until(what: &str, reached: impl Fn() -> bool) {
    let started = Instant::now();
    while !reached() {
        assert!(started.elapsed() < PATIENCE, "never: {what}");
        thread::yield_now();
    }
}

/// A server and a client whose one connection is kept busy by a first call, behind which others gather.
pub(crate) struct Scene {
    pub(crate) server: TestServer,
    pub(crate) client: Client,
}

impl Scene {
    pub(crate) fn new(change: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Self {
        let server = TestServer::start().expect("a port");
        let client = change(settings(&server)).build().expect("a client");
        client.set("n", &1, Ttl::NEVER).expect("stored");
        server.clear_events();
        Self { server, client }
    }

    /// Keeps the connection busy; what `faults` adds strikes the calls behind this one.
    pub(crate) fn occupy<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        faults: impl FnOnce(&TestServer),
    ) -> ScopedJoinHandle<'s, Result<bool>> {
        self.server.fault(Fault::Late(PATIENCE), When::next(1).verb("touch"));
        faults(&self.server);
        let first = scope.spawn(|| self.client.touch("first", Ttl::NEVER));
        let asked = |events: &[Event]| events.iter().any(|e| is_command(e, "touch first 0"));
        assert!(self.server.wait_for(asked, PATIENCE), "the first call is under way");
        first
    }

    /// Lets the first call have its answer.
    pub(crate) fn release<T>(&self, first: ScopedJoinHandle<'_, T>) -> T {
        self.server.hurry();
        done(first)
    }

    /// Starts a call that waits behind the others.
    pub(crate) fn gather<'s, T: Send + 's>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        call: impl FnOnce(&'s Client) -> T + Send + 's,
    ) -> ScopedJoinHandle<'s, T> {
        let before = self.waiting();
        let handle = scope.spawn(move || call(&self.client));
        until("the call waits", || self.waiting() > before);
        handle
    }

    pub(crate) fn waiting(&self) -> usize {
        self.client.status().servers[0].waiting
    }

    pub(crate) fn connects(&self) -> usize {
        self.server.events().iter().filter(|e| matches!(e, Event::Connected { .. })).count()
    }
}

pub(crate) fn is_command(event: &Event, text: &str) -> bool {
    matches!(event, Event::Command { line, .. } if line == text)
}

pub(crate) fn done<T>(handle: ScopedJoinHandle<'_, T>) -> T {
    handle.join().expect("no panic")
}
