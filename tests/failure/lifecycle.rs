//! What maintenance does between build and end: opens, tops up, trims, replaces, probes, and survives what it meets.

use std::sync::{Mutex, Once, PoisonError};
use std::thread;
use std::time::Duration;

use log::{LevelFilter, Log, Metadata, Record};
use mcpool::testing::{Event, Fault, TestServer, When};
use mcpool::{Client, ClientBuilder, ErrorKind, NodeState, Ttl};

use super::common::{OVERSHOOT, quiet};
use crate::support::blackhole::blackhole;
use crate::support::clients::{hasty, state, status, steady};
use crate::support::watch::{HANG, timed, until};

/// A client whose maintenance never rests.
fn tended(server: &TestServer) -> ClientBuilder {
    steady(server.address()).maintenance_interval(Duration::from_millis(10))
}

#[test]
fn building_connects_to_nothing_by_itself_and_initial_connections_come_in_the_background() {
    let server = TestServer::start().expect("a port");
    let client = steady(server.address())
        .initial_connections(5)
        .maintenance_interval(Duration::from_secs(60))
        .build()
        .expect("settings");
    until("all are open", || status(&client, &server.address()).idle == 5);
    until("the server has seen them", || server.connections() == 5);
    let none = steady(server.address())
        .initial_connections(5)
        .maintenance_interval(Duration::ZERO)
        .build()
        .expect("settings");
    assert_eq!(status(&none, &server.address()).dials, 0);
    assert_eq!(none.warm_up().into_result().expect("opened"), [(server.address(), 5)]);
    assert_eq!(status(&none, &server.address()).idle, 5);
}

#[test]
fn maintenance_keeps_the_minimum_open_also_after_the_server_closed_them() {
    let server = TestServer::start().expect("a port");
    let address = server.address();
    let client = tended(&server).min_connections(3).build().expect("settings");
    until("the minimum is open", || status(&client, &address).idle == 3);
    server.close_connections();
    client.get::<String>("k").expect("on a fresh connection");
    until("the minimum is open again", || server.connections() == 3);
    until("and ready", || status(&client, &address).idle == 3);
}

#[test]
fn what_is_idle_above_the_minimum_is_closed() {
    let server = TestServer::start().expect("a port");
    let address = server.address();
    let client = tended(&server)
        .initial_connections(6)
        .min_connections(2)
        .max_idle(Duration::from_millis(50))
        .build()
        .expect("settings");
    let opened = |events: &[Event]| {
        events.iter().filter(|e| matches!(e, Event::Connected { .. })).count() == 6
    };
    assert!(server.wait_for(opened, HANG), "the initial ones are opened");
    until("the surplus is closed", || server.connections() == 2);
    until("the others are idle", || status(&client, &address).idle == 2);
}

#[test]
fn what_the_server_closed_while_it_lay_idle_is_closed_though_nobody_calls() {
    let server = TestServer::start().expect("a port");
    let address = server.address();
    let client = tended(&server).min_connections(0).build().expect("settings");
    client.get::<String>("k").expect("read");
    server.close_connections();
    until("it is noticed", || status(&client, &address).connections == 0);
}

#[test]
fn connections_that_are_too_old_are_replaced_though_nobody_calls() {
    let server = TestServer::start().expect("a port");
    let client = tended(&server)
        .min_connections(2)
        .max_lifetime(Duration::from_millis(60))
        .build()
        .expect("settings");
    until("they were replaced three times", || status(&client, &server.address()).dials >= 8);
    assert!(status(&client, &server.address()).connections <= 2);
    until("the old ones are closed", || server.connections() <= 2);
}

#[test]
fn an_idle_socket_answers_for_itself_where_the_alive_check_is_on() {
    let server = TestServer::start().expect("a port");
    let client = steady(server.address())
        .alive_check(true)
        .maintenance_interval(Duration::ZERO)
        .build()
        .expect("settings");
    client.set("k", "v", Ttl::NEVER).expect("stored");
    server.clear_events();
    client.get::<String>("k").expect("read");
    assert_eq!(server.commands(), ["get k"], "not one that was just used");
    // Waiting is the only way to be idle.
    thread::sleep(Duration::from_millis(1_010));
    server.clear_events();
    client.get::<String>("k").expect("read");
    assert_eq!(server.commands(), ["get mcpool:alive", "get k"]);
}

#[test]
fn an_alive_check_that_a_short_deadline_ended_says_nothing_of_the_other_sockets() {
    const SOCKETS: usize = 6;
    let server = TestServer::start().expect("a port");
    let client = steady(server.address())
        .alive_check(true)
        .min_connections(6)
        .maintenance_interval(Duration::ZERO)
        .build()
        .expect("settings");
    client.warm_up().into_result().expect("opened");
    // Waiting is the only way to be idle.
    thread::sleep(Duration::from_millis(1_010));
    server.fault(Fault::Late(HANG), When::next(1));
    // Half of it, which the check gets, is not enough to call the server silent.
    let hurried = client.with_timeout(Duration::from_millis(300)).expect("a time");
    assert_eq!(hurried.get::<String>("k").expect("another socket serves"), None);
    for _ in 0..SOCKETS {
        client.get::<String>("k").expect("read");
    }
    let status = status(&client, &server.address());
    assert_eq!((status.dials, status.connections), (SOCKETS as u64, SOCKETS - 1), "{status:?}");
}

type Hook = Box<dyn FnMut() + Send>;

/// What the program's logger does when the maintenance thread logs something about a server.
static HOOKS: Mutex<Vec<(String, Hook)>> = Mutex::new(Vec::new());

struct Logger;

impl Log for Logger {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let text = record.args().to_string();
        let mut hooks = HOOKS.lock().unwrap_or_else(PoisonError::into_inner);
        let hook = hooks.iter_mut().find(|(address, _)| text.starts_with(address));
        if let (Some((_, hook)), Some("mcpool-maintenance")) = (hook, thread::current().name()) {
            hook();
        }
    }

    fn flush(&self) {}
}

fn on_maintenance_log(server: &str, hook: impl FnMut() + Send + 'static) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Logger).expect("the first logger");
        log::set_max_level(LevelFilter::Trace);
    });
    HOOKS.lock().unwrap_or_else(PoisonError::into_inner).push((server.to_owned(), Box::new(hook)));
}

#[test]
fn maintenance_survives_a_logger_that_panics() {
    let server = TestServer::start().expect("a port");
    let address = server.address();
    let (panics, panicked) = crossbeam_channel::unbounded();
    on_maintenance_log(&address, move || {
        panics.send(()).expect("the test listens");
        panic!("a bug in the program's logger");
    });
    let client = hasty(&*address).build().expect("settings");
    client.set("k", "v", Ttl::NEVER).expect("stored");
    server.stop();
    client.get::<String>("k").expect_err("nobody is there");
    until("it is down", || state(&client, &address) == NodeState::Down);
    for _ in 0..3 {
        panicked.recv_timeout(HANG).expect("probes fail, and that is logged");
    }
    server.listen().expect("the same port");
    until("it is probed all the same", || state(&client, &address) == NodeState::Up);
}

#[test]
fn the_last_handle_may_be_dropped_by_the_maintenance_thread_itself() {
    let server = TestServer::start().expect("a port");
    let address = server.address();
    let client = hasty(&*address).build().expect("settings");
    server.stop();
    let (drops, dropped) = crossbeam_channel::bounded(1);
    let mut last = Some(client.clone());
    on_maintenance_log(&address, move || {
        if let Some(client) = last.take() {
            drop(client);
            drops.send(()).expect("the test listens");
        }
    });
    client.get::<String>("k").expect_err("nobody is there");
    drop(client);
    dropped.recv_timeout(HANG).expect("the drop comes back");
}

#[test]
fn closing_and_dropping_wait_for_nobody() {
    let _quiet = quiet();
    let hole = blackhole();
    // Maintenance is connecting, a call is too, and neither gets anywhere.
    let client = steady(hole.address())
        .initial_connections(2)
        .maintenance_interval(Duration::from_millis(1))
        .connect_timeout(Duration::from_secs(2))
        .build()
        .expect("settings");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| client.get::<String>("k"));
        until("a call is under way", || status(&client, &hole.address()).connections == 2);
        let ((), took) = timed(|| client.close());
        assert!(took <= *OVERSHOOT, "close took {took:?}");
        waiting.join().expect("no panic").expect_err("nobody accepts");
    });
    client.close();
    assert_eq!(client.get::<String>("k").expect_err("closed").kind(), ErrorKind::Closed);
    let other = Client::new(hole.address()).expect("settings");
    let ((), took) = timed(|| drop((client, other)));
    assert!(took <= *OVERSHOOT, "drop took {took:?}");
}

#[test]
fn close_ends_what_waits_at_once_and_every_later_call() {
    let server = TestServer::start().expect("a port");
    let address = server.address();
    let client = steady(&*address).max_connections(1).build().expect("settings");
    server.fault(Fault::Late(HANG), When::next(1));
    thread::scope(|scope| {
        let holder = scope.spawn(|| client.get::<String>("k"));
        assert!(server.wait_for(|e| e.iter().any(|e| matches!(e, Event::Command { .. })), HANG));
        let waiter = scope.spawn(|| client.get::<String>("k"));
        until("it waits", || status(&client, &address).waiting == 1);
        client.close();
        let error = waiter.join().expect("no panic").expect_err("closed");
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
        server.clear_faults();
        assert_eq!(holder.join().expect("no panic").expect("it was under way"), None);
    });
    until("its connection is closed", || server.connections() == 0);
    let many = client.get_many::<String, _>(["a", "b"]);
    assert!(many.failures().all(|(_, e)| e.kind() == ErrorKind::Closed), "{many:?}");
    let version = client.version().into_result().expect_err("closed");
    assert_eq!(version.kind(), ErrorKind::Closed);
    client.close();
}

#[test]
fn dropping_the_last_handle_closes_the_connections() {
    let server = TestServer::start().expect("a port");
    let client = tended(&server).min_connections(3).build().expect("settings");
    let handle = client.with_timeout(Duration::from_secs(2)).expect("a time");
    until("the minimum is open", || server.connections() == 3);
    drop(client);
    handle.set("k", "v", Ttl::NEVER).expect("the other handle works");
    thread::spawn(move || drop(handle)).join().expect("dropped on another thread");
    until("they are closed", || server.connections() == 0);
}
