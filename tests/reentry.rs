//! The program's own code uses the client while the client runs it: in an observer, a logger, a value being stored.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use log::{LevelFilter, Log, Metadata, Record};
use mcpool::testing::{Fault, TestServer, When};
use mcpool::{Client, ErrorKind, Ttl};
use serde::{Serialize, Serializer};

use support::clients::{hasty, passive};
use support::events::asked;
use support::watch::{HANG, until};

/// Counts, and stores the sum when its thread ends.
struct Tally(Client, u64);

impl Drop for Tally {
    fn drop(&mut self) {
        let Self(client, n) = self;
        client.set("tally", n, Ttl::NEVER).expect("stored");
        assert_eq!(client.get::<u64>("tally").expect("read"), Some(*n));
        assert_eq!(client.get_raw("tally").expect("read").expect("there").bytes, b"3");
        assert_eq!(client.get_many::<u64, _>(["tally"]).iter().count(), 1);
        assert_eq!(client.incr("tally", 1).expect("counted"), Some(4));
    }
}

thread_local! {
    static TALLY: RefCell<Option<Tally>> = const { RefCell::new(None) };
}

#[test]
fn the_destructor_of_a_thread_local_may_use_the_client() {
    let server = TestServer::start().unwrap();
    let client = Client::new(server.address()).unwrap();
    let flushed = client.clone();
    // A panic there would end the whole process.
    let thread = std::thread::spawn(move || {
        TALLY.with_borrow_mut(|tally| *tally = Some(Tally(client.clone(), 3)));
        client.set("other", "v", Ttl::NEVER).unwrap();
    });
    thread.join().unwrap();
    assert_eq!(flushed.get::<u64>("tally").unwrap(), Some(4));
}

#[test]
fn an_observer_may_use_the_client_and_is_not_told_of_its_own_calls() {
    let server = TestServer::start().unwrap();
    let (own, heard) = (Arc::<OnceLock<Client>>::default(), Arc::new(Mutex::new(Vec::new())));
    let (client, ear) = (own.clone(), heard.clone());
    let settings = passive(server.address()).observer(move |error| {
        ear.lock().unwrap().push(error.kind());
        let client = client.get().unwrap();
        // Fails as the call did that it is told of.
        assert!(client.incr("failures", 1).is_err());
        assert!(client.get_many::<u32, _>(["a"]).into_result().is_err());
        assert!(client.version().into_result().is_err());
        client.restore_all();
        _ = client.status();
    });
    let client = settings.build().unwrap();
    own.set(client.clone()).unwrap();
    server.stop();
    for _ in 0..3 {
        client.get::<u32>("k").unwrap_err();
    }
    assert_eq!(*heard.lock().unwrap(), [ErrorKind::ServerDown; 3]);
    assert_eq!(client.status().failed_calls, 3 * 4, "all are counted");
    client.close();
    client.get::<u32>("k").unwrap_err();
    assert_eq!(heard.lock().unwrap().last(), Some(&ErrorKind::Closed));
}

/// Stores each line that is logged.
struct Logger;

static CACHE: OnceLock<Client> = OnceLock::new();
/// How many lines it has stored, or tried to.
static LOGGED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static LOGGING: Cell<bool> = const { Cell::new(false) };
    /// The client that a value uses while it is being stored.
    static INNER: RefCell<Option<Client>> = const { RefCell::new(None) };
}

impl Log for Logger {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let Some(client) = CACHE.get() else { return };
        // Its own calls log too.
        if LOGGING.replace(true) {
            return;
        }
        _ = client.set("log", &record.args().to_string(), Ttl::NEVER);
        _ = client.get_many::<String, _>(["a", "b"]);
        _ = client.status();
        client.restore_all();
        LOGGED.fetch_add(1, Ordering::SeqCst);
        LOGGING.set(false);
    }

    fn flush(&self) {}
}

#[test]
fn a_logger_may_use_the_client_whatever_is_logged() {
    log::set_logger(&Logger).unwrap();
    log::set_max_level(LevelFilter::Trace);
    let servers = [TestServer::start().unwrap(), TestServer::start().unwrap()];
    let client = hasty(servers.each_ref().map(TestServer::address))
        .maintenance_interval(Duration::from_millis(5))
        .build()
        .unwrap();
    CACHE.set(client.clone()).unwrap();
    for _ in 0..10 {
        servers[0].stop();
        for n in 0..50 {
            client.set(format!("k{n}"), "v", Ttl::NEVER).expect("the other server has it");
        }
        servers[0].restart().unwrap();
        until("both answer", || client.version().into_result().is_ok());
    }
    assert!(LOGGED.load(Ordering::SeqCst) > 10, "hardly anything was logged");
}

/// A value that stores another one while it is being stored.
struct Nested;

impl Serialize for Nested {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let client = INNER.with_borrow(Clone::clone).expect("set");
        client.set("inner", "in", Ttl::NEVER).expect("a connection is free");
        serializer.serialize_str("out")
    }
}

#[test]
fn a_value_whose_storing_uses_the_client_finds_a_connection_free() {
    let server = TestServer::start().unwrap();
    let client = passive(server.address()).max_connections(1).build().unwrap();
    INNER.set(Some(client.clone()));
    client.set("outer", &Nested, Ttl::NEVER).unwrap();
    client.set_many([("a", Nested), ("b", Nested)], Ttl::NEVER).into_result().unwrap();
    INNER.set(None);
    let found = client.get_many::<String, _>(["outer", "inner", "a", "b"]).into_result().unwrap();
    let found: Vec<_> = found.iter().map(|(_, value)| value.as_deref().unwrap()).collect();
    assert_eq!(found, ["out", "in", "out", "out"]);
}

#[test]
fn a_close_lets_a_call_for_many_keys_end_as_it_would_have() {
    let server = TestServer::start().unwrap();
    server.fault(Fault::Late(HANG), When::always().verb("get"));
    let client = passive(server.address()).build().unwrap();
    std::thread::scope(|scope| {
        let keys = (0..1000).map(|n| format!("k{n}"));
        let call = scope.spawn(|| client.get_many::<String, _>(keys).into_result());
        assert!(server.wait_for(|events| asked(events, "get") > 0, HANG), "it is under way");
        client.close();
        server.clear_faults();
        let found = call.join().unwrap().expect("no part of it failed");
        assert_eq!(found.len(), 1000);
    });
    assert_eq!(client.status().servers[0].connections, 0);
}
