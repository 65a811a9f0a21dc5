//! Faults around servers that refuse, swallow connections or fall silent.

use std::time::{Duration, Instant};

use mcpool::testing::TestServer;
use mcpool::{BackOff, CasOutcome, Client, Error, Failover, NodeState, Ttl};

use crate::support::blackhole::blackhole;
use crate::support::calls::every_call;
use crate::support::clients::{key_on, keys_on, passive, patient, state, status};
use crate::support::memcached::Memcached;
use crate::support::ports::refusing;
use crate::support::watch::{SLACK, timed, until};

fn start() -> TestServer {
    TestServer::start().expect("a server")
}

#[test]
fn f033_a_dead_server_is_connected_to_a_handful_of_times_and_not_by_every_call() {
    let (live, dead) = (start(), refusing());
    let client = passive([live.address(), dead.clone()]).build().expect("a client");
    let keys: Vec<_> = keys_on(&client, &dead, "key").take(1000).collect();
    let started = Instant::now();
    for key in &keys {
        assert_eq!(client.get::<String>(key).expect("the live one says so"), None);
    }
    let server = status(&client, &dead);
    let took = started.elapsed();
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
    /// What one server may have of a call's time.
    const SHARE: Duration = Duration::from_millis(300);
    for alive_check in [false, true] {
        let silent = Memcached::start();
        let live = start();
        let client = passive([silent.address(), live.address()])
            .alive_check(alive_check)
            .connect_timeout(SHARE)
            .attempt_timeout(SHARE)
            .build()
            .expect("a client");
        let address = silent.address();
        let keys: Vec<_> = keys_on(&client, &address, "key").take(40).collect();
        client.set(&keys[0], "v", Ttl::NEVER).expect("stored");
        if alive_check {
            // Waiting is the only way to be idle for the check.
            std::thread::sleep(Duration::from_millis(1010));
        }
        silent.pause();
        for key in &keys {
            let (outcome, took) = timed(|| client.get::<String>(key));
            assert_eq!(outcome.expect("the live one says so"), None);
            assert!(took < SHARE + SLACK, "{took:?}");
        }
        assert_eq!(state(&client, &address), NodeState::Down, "later calls skip it");
        silent.resume();
    }
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
    let client = passive(address.clone()).build().expect("a client");
    client.set("k", "v", Ttl::NEVER).expect("stored");
    let token = client.gets::<String>("k").expect("read").expect("a hit").cas;
    server.stop();
    // The first finds the open connection closed, and cannot make another.
    client.get::<String>("k").expect_err("nobody is there");
    for (call, errors) in every_call(&client, "k", &token) {
        assert!(!errors.is_empty(), "{call} cannot have worked");
        for error in errors {
            assert!(error.is_server_down(), "{call}: {error}");
            assert_eq!(error.server(), Some(address.as_str()), "{call}: {error}");
        }
    }
}

#[test]
fn f039_probes_of_a_dead_server_are_made_in_the_background_and_hold_no_caller() {
    let (hole, live) = (blackhole(), start());
    let client = passive([hole.address(), live.address()])
        .connect_timeout(Duration::from_millis(250))
        .back_off(BackOff::new(Duration::from_millis(100), Duration::from_millis(100)))
        .build()
        .expect("a client");
    let address = hole.address();
    let keys: Vec<_> = keys_on(&client, &address, "key").take(50).collect();
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
    let strict = passive(addresses.clone()).build().expect("a client");
    let lenient = passive(addresses).errors_as_misses(true).build().expect("a client");
    lenient.set("k", "v", Ttl::NEVER).expect("stored");
    let token = lenient.gets::<String>("k").expect("read").expect("a hit").cas;
    servers.iter().for_each(TestServer::stop);
    for _ in 0..50 {
        for (call, errors) in every_call(&strict, "k", &token) {
            assert!(!errors.is_empty(), "{call} cannot have worked");
            assert!(errors.iter().all(Error::is_server_down), "{call}: {errors:?}");
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
fn f043_with_four_of_five_servers_dead_every_key_finds_the_living_one() {
    let live = start();
    let mut addresses: Vec<_> = (0..4).map(|_| refusing()).collect();
    addresses.insert(2, live.address());
    let client = passive(addresses).build().expect("a client");
    for n in 0..1000 {
        let key = format!("k{n}");
        client.set(&key, &n, Ttl::NEVER).expect("stored");
        assert_eq!(client.get::<i32>(&key).expect("read"), Some(n));
        assert!(live.item(&key).is_some());
    }
}

#[test]
fn f046_the_deadline_counts_the_wait_for_a_connection() {
    let server = Memcached::start();
    let timeout = Duration::from_millis(300);
    let client =
        passive(server.address()).max_connections(4).timeout(timeout).build().expect("a client");
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
        let client = patient(servers).min_connections(2).build().expect("a client");
        for n in 0..20 {
            let outcome = client.set(format!("k{n}"), "v", Ttl::NEVER);
            assert_eq!(outcome.is_ok(), works, "{outcome:?}");
        }
    }
}

#[test]
fn f057_a_name_that_does_not_resolve_is_a_dead_server_and_named_in_its_errors() {
    let live = start();
    let servers = ["no-such-host.invalid:11211".to_owned(), live.address()];
    // A resolver may take its time to say no.
    let connect = Duration::from_millis(250);
    let client = passive(servers.clone()).connect_timeout(connect).build().expect("a client");
    for n in 0..100 {
        let key = format!("k{n}");
        client.set(&key, &n, Ttl::NEVER).expect("stored");
        assert_eq!(client.get::<i32>(&key).expect("read"), Some(n));
    }
    let strict = passive(servers)
        .failover(Failover::Off)
        .connect_timeout(connect)
        .build()
        .expect("a client");
    let key = key_on(&strict, "no-such-host.invalid:11211", "key");
    let error = strict.get::<String>(&key).expect_err("it has no address");
    assert!(
        error.is_server_down() && error.to_string().contains("no-such-host.invalid"),
        "{error}"
    );
}
