//! Faults around servers that die, are silent, or come back.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mcpool::testing::{Event, Fault, TestServer, When};
use mcpool::{
    BackOff, CasOutcome, CasToken, Client, ClientBuilder, DownAfter, Error, ErrorKind, Failover,
    NodeState, ServerList, Ttl,
};

use crate::support::blackhole::blackhole;
use crate::support::memcached::Memcached;
use crate::support::over::Over;
use crate::support::script::{Peer, Script};

/// A call that takes this much longer than its deadline hangs; a busy machine needs some of it.
const SLACK: Duration = Duration::from_secs(2);
/// Whoever waits that long for a state waits in vain.
const PATIENCE: Duration = Duration::from_secs(20);

fn settings(servers: impl Into<ServerList>) -> ClientBuilder {
    Client::builder().servers(servers).min_connections(0)
}

fn start() -> TestServer {
    TestServer::start().expect("a server")
}

/// An address where nobody listens.
fn refusing() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").to_string()
}

/// Keys that live on this server.
fn keys_of<'c>(client: &'c Client, address: &'c str) -> impl Iterator<Item = String> + 'c {
    let keys = (0..).map(|n| format!("key{n}"));
    keys.filter(move |key| client.server_for(key).expect("a legal key") == address)
}

fn state(client: &Client, address: &str) -> NodeState {
    let status = client.status();
    status.servers.iter().find(|s| s.address == address).expect("a server").state
}

fn until(what: &str, reached: impl Fn() -> bool) {
    let started = Instant::now();
    while !reached() {
        assert!(started.elapsed() < PATIENCE, "{what} never came");
        std::thread::yield_now();
    }
}

fn timed<T>(call: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    (call(), started.elapsed())
}

/// One call of each kind, with its error.
fn every_call(client: &Client, token: &CasToken) -> Vec<(&'static str, Option<Error>)> {
    let ttl = Ttl::NEVER;
    vec![
        ("get", client.get::<String>("k").err()),
        ("gets", client.gets::<String>("k").err()),
        ("get_many", client.get_many::<String, _>(["k", "l"]).into_result().err()),
        ("get_raw", client.get_raw("k").err()),
        ("get_and_touch", client.get_and_touch::<String>("k", ttl).err()),
        ("set", client.set("k", "v", ttl).err()),
        ("set_many", client.set_many([("k", 1)], ttl).into_result().err()),
        ("add", client.add("k", "v", ttl).err()),
        ("replace", client.replace("k", "v", ttl).err()),
        ("cas", client.cas("k", "v", ttl, token).err()),
        ("append", client.append("k", "v").err()),
        ("prepend", client.prepend("k", "v").err()),
        ("touch", client.touch("k", ttl).err()),
        ("delete", client.delete("k").err()),
        ("delete_many", client.delete_many(["k"]).into_result().err()),
        ("incr", client.incr("k", 1).err()),
        ("decr", client.decr("k", 1).err()),
        ("incr_or_init", client.incr_or_init("k", 1, 1, ttl).err()),
        ("counter", client.counter("k").err()),
        ("stats", client.stats().into_result().err()),
        ("version", client.version().into_result().err()),
        ("flush_all", client.flush_all(Duration::ZERO).into_result().err()),
        ("dump_keys", client.dump_keys().into_result().err()),
    ]
}

#[test]
fn f033_a_dead_server_is_connected_to_a_handful_of_times_and_not_by_every_call() {
    let (live, dead) = (start(), refusing());
    let client = settings([live.address(), dead.clone()]).build().expect("a client");
    let keys: Vec<_> = keys_of(&client, &dead).take(1000).collect();
    let (outcomes, took) =
        timed(|| keys.iter().map(|k| client.get::<String>(k)).collect::<Vec<_>>());
    assert!(outcomes.into_iter().all(|o| o.expect("the live one says so").is_none()));
    let status = client.status();
    let server = status.servers.iter().find(|s| s.name == dead).expect("it");
    // Three to find out, then one for each back-off of 160 ms at the shortest.
    let most = 4 + took.as_millis() / 160;
    assert!(
        u128::from(server.failed_dials) <= most,
        "{} connects in {took:?}",
        server.failed_dials
    );
    assert!(server.turned_away >= 990);
}

#[test]
fn f034_f035_a_server_that_falls_silent_costs_its_callers_a_deadline_at_most_with_the_alive_check_too()
 {
    for alive_check in [false, true] {
        let silent = Memcached::start();
        let live = start();
        let client = settings([silent.address(), live.address()])
            .alive_check(alive_check)
            .timeout(Duration::from_millis(600))
            .build()
            .expect("a client");
        let address = silent.address();
        let keys: Vec<_> = keys_of(&client, &address).take(40).collect();
        client.set(&keys[0], "v", Ttl::NEVER).expect("stored");
        if alive_check {
            // Waiting is the only way to be idle for the check.
            std::thread::sleep(Duration::from_millis(1010));
        }
        silent.pause();
        for key in &keys {
            let (outcome, took) = timed(|| client.get::<String>(key));
            assert_eq!(outcome.expect("the live one says so"), None);
            assert!(took < Duration::from_millis(600) + SLACK, "{took:?}");
        }
        assert_eq!(state(&client, &address), NodeState::Down, "later calls skip it");
        silent.resume();
    }
}

#[test]
fn f036_a_restart_costs_no_failed_call_although_every_pooled_socket_is_stale() {
    let mut server = Memcached::start();
    let client = settings(server.address())
        .initial_connections(10)
        .timeout(PATIENCE)
        .build()
        .expect("a client");
    client.warm_up().into_result().expect("ten connections");
    server.restart_on_same_port();
    for n in 0..20 {
        assert_eq!(client.get::<String>(format!("k{n}")).expect("read"), None);
    }
    for n in 0..20 {
        client.set(format!("k{n}"), "v", Ttl::NEVER).expect("stored");
    }
    assert!(client.status().servers[0].failures <= 1, "the others are dropped unasked");
}

#[test]
fn f037_a_single_dead_server_costs_a_fraction_of_a_second_with_default_settings() {
    let hole = blackhole();
    for (address, most) in
        [(refusing(), Duration::ZERO), (hole.address(), Duration::from_millis(500))]
    {
        let client = Client::new(address).expect("a client");
        let (got, took) = timed(|| client.get::<String>("k"));
        assert!(got.expect_err("nobody is there").is_server_down());
        assert!(took < most + SLACK, "get took {took:?}");
        let (set, took) = timed(|| client.set("k", "v", Ttl::NEVER));
        assert!(set.expect_err("nobody is there").is_server_down());
        assert!(took < most + SLACK, "set took {took:?}");
    }
}

#[test]
fn f038_without_a_server_every_call_comes_back_with_an_error_that_names_it() {
    let server = start();
    let address = server.address();
    let client = settings(address.clone()).build().expect("a client");
    client.set("k", "v", Ttl::NEVER).expect("stored");
    let token = client.gets::<String>("k").expect("read").expect("a hit").cas;
    server.stop();
    for (call, error) in every_call(&client, &token) {
        let error = error.unwrap_or_else(|| panic!("{call} cannot have worked"));
        assert!(error.is_server_down(), "{call}: {error}");
        assert_eq!(error.server(), Some(address.as_str()), "{call}: {error}");
    }
}

#[test]
fn f039_probes_of_a_dead_server_are_made_in_the_background_and_hold_no_caller() {
    let (hole, live) = (blackhole(), start());
    let client = settings([hole.address(), live.address()])
        .back_off(BackOff::new(Duration::from_millis(100), Duration::from_millis(100)))
        .build()
        .expect("a client");
    let address = hole.address();
    let keys: Vec<_> = keys_of(&client, &address).take(50).collect();
    until("its death", || {
        client.get::<String>(&keys[0]).expect("the live one says so");
        state(&client, &address) == NodeState::Down
    });
    let probed = || client.status().servers[0].failed_dials;
    let before = probed();
    let turned_away = client.status().servers[0].turned_away;
    let mut calls = 0;
    while probed() < before + 3 {
        for key in &keys {
            assert_eq!(client.get::<String>(key).expect("the live one says so"), None);
            calls += 1;
        }
    }
    let server = &client.status().servers[0];
    assert_eq!(server.turned_away - turned_away, calls, "no caller connected to it");
}

#[test]
fn f040_f041_with_every_server_down_errors_are_typed_and_lenient_answers_stay_the_same() {
    let servers = [start(), start()];
    let addresses = [servers[0].address(), servers[1].address()];
    let strict = settings(addresses.clone()).build().expect("a client");
    let lenient = settings(addresses).errors_as_misses(true).build().expect("a client");
    lenient.set("k", "v", Ttl::NEVER).expect("stored");
    let token = lenient.gets::<String>("k").expect("read").expect("a hit").cas;
    servers.iter().for_each(TestServer::stop);
    for _ in 0..50 {
        for (call, error) in every_call(&strict, &token) {
            let error = error.unwrap_or_else(|| panic!("{call} cannot have worked"));
            assert!(error.is_server_down(), "{call}: {error}");
        }
        assert_eq!(lenient.get::<String>("k").expect("a miss"), None);
        assert_eq!(lenient.get_many::<String, _>(["a", "b"]).iter().count(), 0);
        lenient.set("k", "v", Ttl::NEVER).expect("as if stored");
        assert!(!lenient.add("k", "v", Ttl::NEVER).expect("not stored"));
        assert!(!lenient.delete("k").expect("not there"));
        assert_eq!(lenient.incr("k", 1).expect("a miss"), None);
        assert_eq!(
            lenient.cas("k", "v", Ttl::NEVER, &token).expect("missing"),
            CasOutcome::Missing
        );
    }
}

#[test]
fn f042_a_server_that_comes_back_gets_its_keys_back_and_no_more_probes() {
    let (returning, live) = (start(), start());
    let client = settings([returning.address(), live.address()])
        .back_off(BackOff::new(Duration::from_millis(20), Duration::from_millis(50)))
        .build()
        .expect("a client");
    let address = returning.address();
    let keys: Vec<_> = keys_of(&client, &address).take(20).collect();
    returning.stop();
    until("its death", || {
        client.set(&keys[0], "v", Ttl::NEVER).is_ok() && state(&client, &address) == NodeState::Down
    });
    returning.restart().expect("the same port");
    until("its return", || state(&client, &address) == NodeState::Up);
    returning.clear_events();
    for key in &keys {
        client.set(key, "v", Ttl::NEVER).expect("stored");
        assert!(returning.item(key).is_some(), "{key} came home");
    }
    let probes = returning.commands().iter().filter(|c| c.starts_with("get")).count();
    assert_eq!(probes, 0);
}

#[test]
fn f043_with_four_of_five_servers_dead_every_key_finds_the_living_one() {
    let live = start();
    let mut addresses: Vec<_> = (0..4).map(|_| refusing()).collect();
    addresses.insert(2, live.address());
    let client = settings(addresses).timeout(PATIENCE).build().expect("a client");
    for n in 0..1000 {
        let key = format!("k{n}");
        client.set(&key, &n, Ttl::NEVER).expect("stored");
        assert_eq!(client.get::<i32>(&key).expect("read"), Some(n));
        assert!(live.item(&key).is_some());
    }
}

#[test]
fn f044_a_stale_connection_says_nothing_against_a_restarted_server() {
    let mut restarted = Memcached::start();
    let other = Memcached::start();
    let client = settings([restarted.address(), other.address()])
        .timeout(PATIENCE)
        .build()
        .expect("a client");
    let address = restarted.address();
    let keys: Vec<_> = keys_of(&client, &address).take(5).collect();
    client.set(&keys[0], "v", Ttl::NEVER).expect("stored");
    restarted.restart_on_same_port();
    for key in &keys {
        client.set(key, "v", Ttl::NEVER).expect("stored");
        assert_eq!(client.get::<String>(key).expect("read").as_deref(), Some("v"));
    }
    let status = client.status();
    assert_eq!(state(&client, &address), NodeState::Up);
    assert_eq!(status.servers.iter().map(|s| s.failovers).sum::<u64>(), 0, "no key moved");
}

#[test]
fn f045_a_connection_that_timed_out_is_never_used_again() {
    let mut server = Memcached::start();
    let client = settings(server.address())
        .max_connections(1)
        .timeout(Duration::from_millis(300))
        .down_after(DownAfter::new(1000, Duration::from_secs(10)))
        .build()
        .expect("a client");
    client.set("k", "v", Ttl::NEVER).expect("stored");
    server.pause();
    for _ in 0..3 {
        assert!(client.get::<String>("k").expect_err("it is stopped").is_timeout());
    }
    assert_eq!(client.status().servers[0].connections, 0);
    server.restart_on_same_port();
    let patient = client.with_timeout(PATIENCE).expect("a handle");
    for _ in 0..5 {
        assert_eq!(patient.get::<String>("k").expect("read"), None);
    }
}

#[test]
fn f046_the_deadline_counts_the_wait_for_a_connection() {
    let server = Memcached::start();
    let timeout = Duration::from_millis(300);
    let client =
        settings(server.address()).max_connections(4).timeout(timeout).build().expect("a client");
    server.pause();
    std::thread::scope(|scope| {
        for _ in 0..200 {
            scope.spawn(|| {
                let (outcome, took) = timed(|| client.get::<String>("k"));
                assert!(outcome.expect_err("it is stopped").may_retry());
                assert!(took < timeout + SLACK, "{took:?}");
            });
        }
    });
    server.resume();
}

#[test]
fn f048_a_client_is_built_whichever_of_its_servers_are_down() {
    let live = start();
    for (servers, works) in [
        ([live.address(), refusing()], true),
        ([refusing(), live.address()], true),
        ([refusing(), refusing()], false),
    ] {
        let client =
            Client::builder().servers(servers).min_connections(2).build().expect("a client");
        for n in 0..20 {
            let outcome = client.set(format!("k{n}"), "v", Ttl::NEVER);
            assert_eq!(outcome.is_ok(), works, "{outcome:?}");
        }
    }
}

#[test]
fn f049_a_reset_in_the_middle_of_a_large_value_is_an_error_at_once_and_the_next_store_works() {
    let server = start();
    let client = settings(server.address()).timeout(PATIENCE).build().expect("a client");
    let value = vec![7_u8; 1 << 20];
    let resetting = Script::start(|peer: &mut Peer| {
        if peer.number <= 2 {
            // Read a little of the value; what is left unread makes the close a reset.
            peer.line();
            return;
        }
        while peer.line().is_some() {
            peer.take((1 << 20) + 2);
            peer.send("STORED\r\n");
        }
    });
    let broken = settings(resetting.address()).timeout(PATIENCE).build().expect("a client");
    let (outcome, took) = timed(|| broken.set("k", &value[..1 << 20], Ttl::NEVER));
    assert_eq!(outcome.expect_err("two resets").kind(), ErrorKind::ConnectionLost);
    assert!(took < SLACK, "{took:?}");
    broken.set("k", &value, Ttl::NEVER).expect("stored");
    client.set("k", "v", Ttl::NEVER).expect("stored");
}

#[test]
fn f050_calls_work_again_within_a_back_off_of_the_servers_return() {
    let server = start();
    let client = settings(server.address())
        .back_off(BackOff::new(Duration::from_millis(50), Duration::from_millis(100)))
        .timeout(Duration::from_millis(300))
        .build()
        .expect("a client");
    server.fault(Fault::Hang, When::always());
    until("its death", || {
        client.get::<String>("k").is_err() && state(&client, &server.address()) == NodeState::Down
    });
    server.clear_faults();
    let (_, took) = timed(|| until("an answer", || client.get::<String>("k").is_ok()));
    assert!(took < Duration::from_millis(100) + SLACK, "{took:?}");
}

#[test]
fn f052_a_server_killed_under_eight_threads_makes_errors_and_no_panic_and_each_round_recovers() {
    let mut server = Memcached::start();
    let client = settings(server.address())
        .back_off(BackOff::new(Duration::from_millis(10), Duration::from_millis(50)))
        .build()
        .expect("a client");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for t in 0..8 {
            let (client, over) = (&client, &over);
            scope.spawn(move || {
                while !over.load(Ordering::SeqCst) {
                    let key = format!("k{t}");
                    if client.set(&key, &key, Ttl::NEVER).is_ok() {
                        if let Ok(Some(value)) = client.get::<String>(&key) {
                            assert_eq!(value, key);
                        }
                    }
                }
            });
        }
        let _over = Over(&over);
        for _ in 0..20 {
            server.kill();
            server.restart_on_same_port();
            until("an answer", || client.get::<String>("k").is_ok());
        }
    });
}

#[test]
fn f053_f054_without_failover_no_key_ever_moves_and_no_old_value_comes_back() {
    let a = Memcached::start();
    let b = start();
    let client = settings([a.address(), b.address()])
        .failover(Failover::Off)
        .timeout(Duration::from_millis(400))
        .back_off(BackOff::new(Duration::from_millis(20), Duration::from_millis(50)))
        .build()
        .expect("a client");
    let address = a.address();
    let key = keys_of(&client, &address).next().expect("a key");
    client.set(&key, &1, Ttl::NEVER).expect("stored");
    a.pause();
    assert!(client.set(&key, &2, Ttl::NEVER).is_err(), "an error and not a store elsewhere");
    assert!(client.get::<u32>(&key).is_err());
    assert!(b.item(&key).is_none());
    a.resume();
    until("its return", || client.get::<u32>(&key).is_ok());
    assert!(b.item(&key).is_none());
}

#[test]
fn f053_with_failback_off_a_returned_server_shows_its_old_values_only_when_told_to() {
    let (a, b) = (start(), start());
    let client = settings([a.address(), b.address()])
        .failback(false)
        .back_off(BackOff::new(Duration::from_millis(20), Duration::from_millis(50)))
        .build()
        .expect("a client");
    let address = a.address();
    let key = keys_of(&client, &address).next().expect("a key");
    client.set(&key, &1, Ttl::NEVER).expect("stored on a");
    a.stop();
    until("its death", || {
        client.set(&key, &2, Ttl::NEVER).is_ok() && state(&client, &address) == NodeState::Out
    });
    a.listen().expect("the same port, with its memory");
    for _ in 0..20 {
        assert_eq!(client.get::<u32>(&key).expect("read"), Some(2), "the newer value stays");
    }
    // What the guide says: empty it, then let it back in.
    Client::new(address.clone())
        .expect("a client")
        .flush_all(Duration::ZERO)
        .into_result()
        .expect("emptied");
    assert!(client.restore(&address));
    assert_eq!(client.get::<u32>(&key).expect("read"), None);
}

#[test]
fn f056_after_a_restart_the_server_is_not_stormed() {
    let server = start();
    let client = settings(server.address()).max_connections(16).build().expect("a client");
    let connects =
        |events: &[Event]| events.iter().filter(|e| matches!(e, Event::Connected { .. })).count();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    let _ = client.get::<String>("k");
                    std::thread::yield_now();
                }
            });
        }
        let _over = Over(&over);
        until("load", || client.status().servers[0].exchanges > 1000);
        server.stop();
        until("its death", || state(&client, &server.address()) == NodeState::Down);
        let before = client.status().servers[0].failed_dials;
        let (_, took) = timed(|| {
            until("three probes", || client.status().servers[0].failed_dials >= before + 3);
        });
        assert!(took >= Duration::from_millis(300), "three probes within {took:?} is no back-off");
        server.clear_events();
        server.restart().expect("the same port");
        let served = client.status().servers[0].exchanges;
        until("load", || client.status().servers[0].exchanges > served + 1000);
    });
    assert!(
        connects(&server.events()) <= 17,
        "{} connects after the return",
        connects(&server.events())
    );
}

#[test]
fn f057_a_name_that_does_not_resolve_is_a_dead_server_and_named_in_its_errors() {
    let live = start();
    let servers = ["no-such-host.invalid:11211".to_owned(), live.address()];
    let client = settings(servers.clone()).timeout(PATIENCE).build().expect("a client");
    for n in 0..100 {
        let key = format!("k{n}");
        client.set(&key, &n, Ttl::NEVER).expect("stored");
        assert_eq!(client.get::<i32>(&key).expect("read"), Some(n));
    }
    let strict =
        settings(servers).failover(Failover::Off).timeout(PATIENCE).build().expect("a client");
    let key = keys_of(&strict, "no-such-host.invalid:11211").next().expect("a key");
    let error = strict.get::<String>(&key).expect_err("it has no address");
    assert!(
        error.is_server_down() && error.to_string().contains("no-such-host.invalid"),
        "{error}"
    );
}
