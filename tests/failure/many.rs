//! Calls for many keys over several servers: what one server does is no other's trouble.

use std::thread;
use std::time::{Duration, Instant};

use mcpool::testing::{Fault, TestServer, When};
use mcpool::{Client, ClientBuilder, DownAfter, ErrorKind, Failover, NodeState, Ttl};

use super::common::quiet;
use crate::support::blackhole::{Blackhole, blackhole};
use crate::support::clients::{key_on, keys_on, never, state, status};
use crate::support::watch::{HANG, timed, until};

fn servers<const N: usize>() -> [TestServer; N] {
    std::array::from_fn(|_| TestServer::start().expect("a port"))
}

fn settings(servers: &[String]) -> ClientBuilder {
    Client::builder().servers(servers.to_vec()).min_connections(0).down_after(never())
}

/// A client, without failover, of a server and of some that swallow connects, and a key of each.
fn beside(
    server: &TestServer,
    holes: &[Blackhole],
    change: impl FnOnce(ClientBuilder) -> ClientBuilder,
) -> (Client, Vec<String>) {
    let addresses: Vec<_> =
        std::iter::once(server.address()).chain(holes.iter().map(Blackhole::address)).collect();
    let settings = settings(&addresses).timeout(HANG).failover(Failover::Off);
    let client = change(settings).build().expect("settings");
    let keys = addresses.iter().map(|address| key_on(&client, address, "k")).collect();
    (client, keys)
}

/// Whether the server has been asked something that begins so.
fn asked(server: &TestServer, start: &str) -> bool {
    server.commands().iter().any(|line| line.starts_with(start))
}

#[test]
fn a_call_that_waited_long_for_its_servers_connection_still_asks_that_server() {
    let [home, other] = servers();
    let addresses = [home.address(), other.address()];
    let client = settings(&addresses)
        .max_connections(1)
        .timeout(HANG)
        .attempt_timeout(Duration::from_millis(300))
        .build()
        .expect("settings");
    let [key, held] = [0, 1].map(|n| keys_on(&client, &addresses[0], "k").nth(n).expect("many"));
    home.put(&key, "here", 0);
    let behind_another = |call: &dyn Fn()| {
        home.clear_events();
        // Longer than one attempt may take, but that begins when the wait is over.
        home.fault(Fault::Late(Duration::from_millis(700)), When::next(1).verb("append"));
        thread::scope(|scope| {
            scope.spawn(|| client.append(&held, "v").expect("only late"));
            until("the holder's request came", || asked(&home, "append"));
            call();
        });
    };
    behind_another(&|| {
        let found = client.get_many::<String, _>([&key]).into_result().expect("read");
        assert_eq!(found[0].1.as_deref(), Some("here"));
    });
    behind_another(&|| {
        client.set_many([(&key, "new")], Ttl::NEVER).into_result().expect("stored");
    });
    assert_eq!(status(&client, &addresses[0]).waits, 2);
    assert_eq!(other.commands(), [""; 0], "a key moved");
}

#[test]
fn servers_that_swallow_connects_cost_their_time_once_and_none_of_the_others_keys() {
    let _quiet = quiet();
    let healthy = TestServer::start().expect("a port");
    let holes = [blackhole(), blackhole(), blackhole()];
    let connect = Duration::from_secs(1);
    let (client, keys) = beside(&healthy, &holes, |settings| settings.connect_timeout(connect));
    // Its reply takes several reads, which have to be made while the others are still awaited.
    healthy.put(&keys[0], "v".repeat(4 << 20), 0);
    let (found, took) = timed(|| client.get_many::<String, _>(&keys));
    assert_eq!(found.get(&keys[0]).map(String::len), Some(4 << 20), "{took:?}");
    for key in &keys[1..] {
        let error = found.outcome(key).expect("asked").as_ref().expect_err("nobody accepts");
        assert_eq!(error.kind(), ErrorKind::ServerDown, "{error}");
    }
    assert!(took < connect * 2, "one after the other: {took:?}");
}

#[test]
fn a_server_that_hangs_keeps_no_value_of_the_others_from_being_stored_however_many_there_are() {
    let [hung, healthy] = servers();
    let addresses = [hung.address(), healthy.address()];
    let settings = settings(&addresses).failover(Failover::Off).timeout(Duration::from_secs(5));
    let client = settings.build().expect("settings");
    hung.fault(Fault::Hang, When::always());
    let keys: Vec<_> = addresses
        .iter()
        .flat_map(|address| keys_on(&client, address, "k").take(40).collect::<Vec<_>>())
        .collect();
    let value = "v".repeat(1 << 19);
    let stored = client.set_many(keys.iter().map(|key| (key, &value)), Ttl::NEVER);
    let lost: Vec<_> = stored.failures().map(|(key, _)| (*key).clone()).collect();
    assert_eq!(lost, keys[..40], "and no other");
}

#[test]
fn a_server_whose_connections_are_all_in_use_keeps_no_other_waiting() {
    let [busy, free] = servers();
    let addresses = [busy.address(), free.address()];
    let client = settings(&addresses).max_connections(1).timeout(HANG).build().expect("settings");
    let hurried = client.with_timeout(Duration::from_secs(2)).expect("a time");
    let keys = [0, 1].map(|server| key_on(&client, &addresses[server], "k"));
    free.put(&keys[1], "there", 0);
    busy.fault(Fault::Late(HANG), When::next(1).verb("append"));
    free.fault(Fault::Late(Duration::from_millis(100)), When::next(1).verb("append"));
    thread::scope(|scope| {
        for key in &keys {
            let client = &client;
            scope.spawn(move || client.append(key, "v").expect("only late"));
        }
        until("both are held", || asked(&busy, "append") && asked(&free, "append"));
        let found = hurried.get_many::<String, _>(&keys);
        let outcome = found.outcome(&keys[1]).expect("asked");
        assert!(matches!(outcome, Ok(Some(value)) if value.starts_with("there")), "{outcome:?}");
        let error = found.outcome(&keys[0]).expect("asked").as_ref().expect_err("it is held");
        assert_eq!(error.kind(), ErrorKind::PoolExhausted, "{error}");
        busy.hurry();
    });
    assert_eq!(addresses.map(|address| status(&client, &address).exhausted), [1, 0]);
}

#[test]
fn keys_that_go_on_to_another_server_do_not_wait_for_one_that_hangs() {
    let [gone, hung, next] = servers();
    let addresses = [gone.address(), hung.address(), next.address()];
    let client = settings(&addresses).timeout(Duration::from_secs(2)).build().expect("settings");
    gone.stop();
    let mut lost = keys_on(&client, &addresses[0], "k");
    let goes_to_next = |key: &String| {
        next.put(key, "next", 0);
        client.get::<String>(key).expect("another has it").is_some()
    };
    let lost = lost.find(goes_to_next).expect("keys do not end");
    let stuck = key_on(&client, &addresses[1], "k");
    hung.fault(Fault::Hang, When::always());
    // Less than the call's time, and more than what would be left after a wait for the one that hangs.
    next.fault(Fault::Late(Duration::from_millis(800)), When::always());
    let found = client.get_many::<String, _>([&lost, &stuck]);
    assert_eq!(found.get(&lost).map(String::as_str), Some("next"), "{found:?}");
}

#[test]
fn a_server_that_returns_is_used_again_whatever_others_hang() {
    let returning = TestServer::start().expect("a port");
    let holes = [blackhole(), blackhole(), blackhole(), blackhole()];
    let connect = Duration::from_secs(2);
    let (client, keys) = beside(&returning, &holes, |settings| {
        settings.connect_timeout(connect).down_after(DownAfter::new(1, Duration::from_secs(10)))
    });
    returning.stop();
    let lost = client.get_many::<String, _>(&keys).failures().count();
    assert_eq!(lost, keys.len());
    until("the holes are probed", || {
        holes.iter().all(|h| state(&client, &h.address()) == NodeState::Down)
    });
    returning.restart().expect("the same port");
    let start = Instant::now();
    until("it is used again", || state(&client, &returning.address()) == NodeState::Up);
    assert!(start.elapsed() < connect * 2, "behind the others: {:?}", start.elapsed());
}
