//! Faults of calls for many keys: empty and repeated keys, dead-locks, prefixes, misses that are failures.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use mcpool::testing::{Fault, TestServer, When};
use mcpool::{Client, ErrorKind, Failover, Ttl};

use crate::support::clients::{keys_on, never, passive};
use crate::support::memcached::Memcached;
use crate::support::ports::refusing;
use crate::support::script::Script;
use crate::support::watch::{HANG, SLACK, timed, until};

fn server() -> TestServer {
    TestServer::start().expect("a server")
}

fn keys_of(client: &Client, address: &str, count: usize) -> Vec<String> {
    keys_on(client, address, "key").take(count).collect()
}

#[test]
fn f096_no_keys_are_no_call() {
    let live = server();
    for address in [live.address(), refusing()] {
        let client = passive(address).build().expect("a client");
        let none: [&str; 0] = [];
        assert_eq!(client.get_many::<String, _>(none).into_result().expect("nothing"), []);
        assert_eq!(client.gets_many::<String, _>(none).into_result().expect("nothing"), []);
        assert_eq!(client.delete_many(none).into_result().expect("nothing"), []);
        let entries: [(&str, u8); 0] = [];
        assert_eq!(client.set_many(entries, Ttl::NEVER).into_result().expect("nothing"), []);
        assert_eq!(client.status().failed_calls, 0);
    }
    assert_eq!(live.events(), []);
}

#[test]
fn f097_a_key_asked_for_many_times_is_one_request_and_every_time_its_value() {
    let server = Memcached::start();
    let client = passive(server.address()).max_connections(1).build().expect("a client");
    client.set("a", "A", Ttl::NEVER).expect("stored");
    client.set("b", "B", Ttl::NEVER).expect("stored");
    let found = client.get_many::<String, _>(["a", "a", "b", "a", "miss", "miss"]);
    let found = found.into_result().expect("answered");
    let found: Vec<_> = found.iter().map(|(k, v)| (*k, v.as_deref())).collect();
    let (a, b, miss) = (("a", Some("A")), ("b", Some("B")), ("miss", None));
    assert_eq!(found, [a, a, b, a, miss, miss]);
    let same = client.gets_many::<String, _>(vec!["a"; 10_000]);
    assert_eq!(same.iter().filter(|(_, item)| item.value == "A").count(), 10_000);
    let watched = self::server();
    let other = passive(watched.address()).build().expect("a client");
    other.get_many::<String, _>(["a", "a", "b", "a", "miss", "miss"]).into_result().expect("read");
    assert_eq!(watched.commands(), ["get a b miss"]);
    // Nothing is left over for the next call on the only connection.
    assert_eq!(client.get::<String>("b").expect("in step").as_deref(), Some("B"));
    assert_eq!(client.status().servers[0].dials, 1);
}

#[test]
fn f098_empty_and_none_are_values_and_only_misses_are_missing() {
    let servers = [server(), server()];
    let addresses: Vec<_> = servers.iter().map(TestServer::address).collect();
    let client = passive(addresses).build().expect("a client");
    client.set("hit1", "one", Ttl::NEVER).expect("stored");
    client.set("hit2", "two", Ttl::NEVER).expect("stored");
    client.set("empty", "", Ttl::NEVER).expect("stored");
    client.set("none", &None::<String>, Ttl::NEVER).expect("stored");
    let keys = ["miss1", "hit1", "empty", "miss2", "none", "hit2", "miss3"];
    let found = client.get_many::<Option<String>, _>(keys);
    assert!(matches!(found.outcome("none"), Some(Ok(Some(None)))), "{found:?}");
    assert!(matches!(found.outcome("miss2"), Some(Ok(None))), "{found:?}");
    assert!(found.outcome("never asked for").is_none());
    let hits: Vec<_> = found.iter().map(|(key, value)| (*key, value.as_deref())).collect();
    let expected =
        [("hit1", Some("one")), ("empty", Some("")), ("none", None), ("hit2", Some("two"))];
    assert_eq!(hits, expected);
}

#[test]
fn f099_f100_more_than_all_buffers_hold_goes_both_ways_without_a_deadlock() {
    const KEYS: usize = 40_000;
    let server = Memcached::start_with(&["-m", "256"]);
    let client = passive(server.address()).build().expect("a client");
    // Long names make large requests.
    let key = |n: usize| format!("{}:{n}", "k".repeat(50));
    let value = |n: usize| format!("{:>1000}", key(n));
    let started = Instant::now();
    let stored = client.set_many((0..KEYS).map(|n| (key(n), value(n))), Ttl::NEVER);
    assert_eq!(stored.failures().count(), 0);
    assert_eq!(stored.len(), KEYS);
    // About half of these are hits.
    let found = client.get_many::<String, _>((KEYS / 2..KEYS * 3 / 2).map(key));
    assert_eq!(found.failures().count(), 0);
    let hits: HashSet<(String, String)> = found.into_iter().collect();
    assert_eq!(hits.len(), KEYS / 2);
    for n in KEYS / 2..KEYS {
        assert!(hits.contains(&(key(n), value(n))), "{n}");
    }
    assert!(started.elapsed() < 2 * HANG, "{:?}", started.elapsed());
}

#[test]
fn f100_a_call_that_ends_early_names_each_key_that_failed() {
    let server = server();
    let client =
        passive(server.address()).timeout(Duration::from_millis(1500)).build().expect("a client");
    server.fault(Fault::Hang, When::next(1).verb("set").after(100));
    let keys: Vec<String> = (0..1000).map(|n| format!("k{n}")).collect();
    let stored = client.set_many(keys.iter().map(|key| (key, key)), Ttl::NEVER);
    let failed: Vec<&String> = stored.failures().map(|(key, _)| *key).collect();
    assert_eq!(failed, keys[100..].iter().collect::<Vec<_>>());
    for (_, error) in stored.failures() {
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    }
}

#[test]
fn f101_long_lists_of_keys_are_cut_into_lines_of_a_hundred() {
    let server = server();
    let client = passive(server.address()).build().expect("a client");
    let found = client.get_many::<String, _>((0..20_050).map(|n| format!("key{n}")));
    assert!(found.into_result().expect("answered").iter().all(|(_, value)| value.is_none()));
    let keys: Vec<usize> =
        server.commands().iter().map(|line| line.split(' ').count() - 1).collect();
    assert_eq!(keys.len(), 201);
    assert_eq!((keys.iter().max(), keys.iter().sum()), (Some(&100), 20_050));
}

#[test]
fn f103_f104_a_prefix_goes_before_every_key_once_and_never_comes_back() {
    let server = server();
    let client = passive(server.address()).key_prefix("app-").build().expect("a client");
    let keys = ["app-a", "a", "app-app-a"];
    client.set_many(keys.map(|key| (key, format!("of {key}"))), Ttl::NEVER).into_result().unwrap();
    assert_eq!(server.item("app-a").map(|i| i.0), Some(b"of a".to_vec()));
    assert_eq!(server.item("app-app-a").map(|i| i.0), Some(b"of app-a".to_vec()));
    assert_eq!(server.item("app-app-app-a").map(|i| i.0), Some(b"of app-app-a".to_vec()));
    assert_eq!(server.item("a"), None);
    let hits: Vec<_> = client.get_many::<String, _>(keys).into_iter().collect();
    assert_eq!(hits, keys.map(|key| (key, format!("of {key}"))));
    let item = client.gets_many::<String, _>(["a", "miss"]);
    assert_eq!(item.get("a").map(|item| item.value.as_str()), Some("of a"));
    let gone = client.delete_many(["a", "miss"]).into_result().expect("answered");
    assert_eq!(gone, [("a", true), ("miss", false)]);
    assert_eq!(server.item("app-a"), None);
    assert!(
        server.commands().iter().all(|line| line.split(' ').nth(1).unwrap().starts_with("app-"))
    );
}

#[test]
fn f105_many_threads_and_many_misses_never_mix_values_up() {
    let servers = [Memcached::start(), Memcached::start(), Memcached::start()];
    let addresses: Vec<_> = servers.iter().map(Memcached::address).collect();
    let client = passive(addresses).max_connections(3).build().expect("a client");
    let over = AtomicBool::new(false);
    let key = |n: usize| format!("key{n}");
    std::thread::scope(|scope| {
        for w in 0..2 {
            let (client, over) = (&client, &over);
            scope.spawn(move || {
                let mut n = w;
                while !over.load(Ordering::SeqCst) {
                    n = (n * 31 + 17) % 400;
                    client.set(key(n), &key(n), Ttl::NEVER).expect("stored");
                    client.delete(key((n * 7) % 400)).expect("deleted");
                }
            });
        }
        let readers: Vec<_> = (0..8)
            .map(|r| {
                let client = &client;
                scope.spawn(move || {
                    let mut hits = 0;
                    for round in 0..100 {
                        let keys: Vec<_> =
                            (0..100).map(|n| key((n * 3 + round + r) % 400)).collect();
                        let found = client.get_many::<String, _>(keys);
                        assert_eq!(found.failures().count(), 0);
                        for (key, value) in found {
                            assert_eq!(key, value);
                            hits += 1;
                        }
                    }
                    hits
                })
            })
            .collect();
        let hits: Vec<_> = readers.into_iter().map(ScopedJoinHandle::join).collect();
        over.store(true, Ordering::SeqCst);
        let hits: Vec<usize> = hits.into_iter().map(|n| n.expect("no panic")).collect();
        assert!(hits.iter().sum::<usize>() > 0, "nothing was ever found");
    });
}

#[test]
fn f106_a_server_that_dies_fails_its_keys_and_is_no_miss() {
    let mut servers = [Memcached::start(), Memcached::start()];
    let addresses: Vec<_> = servers.iter().map(Memcached::address).collect();
    let client = passive(addresses.clone()).failover(Failover::Off).build().expect("a client");
    let keys: Vec<String> =
        addresses.iter().flat_map(|address| keys_of(&client, address, 50)).collect();
    client.set_many(keys.iter().map(|k| (k, k)), Ttl::NEVER).into_result().expect("stored");
    for round in 0..20 {
        if round == 5 {
            servers[1].kill();
        }
        let found = client.get_many::<String, _>(&keys);
        for (n, key) in keys.iter().enumerate() {
            match found.outcome(key).expect("asked for") {
                Ok(value) => assert_eq!(value.as_ref(), Some(key), "no miss in round {round}"),
                Err(error) => {
                    assert!(round >= 5 && n >= 50, "{error}");
                    assert_eq!(error.server(), Some(addresses[1].as_str()), "{error}");
                }
            }
        }
        assert_eq!(found.failures().count(), if round < 5 { 0 } else { 50 }, "round {round}");
    }
}

#[test]
fn f107_a_late_server_fails_its_own_keys_and_the_other_values_are_there() {
    let servers = [server(), server()];
    let client = passive(servers.each_ref().map(TestServer::address))
        .failover(Failover::Off)
        .build()
        .expect("a client");
    let [quick, late] = [0, 1].map(|s: usize| keys_of(&client, &servers[s].address(), 5));
    let all = || quick.iter().chain(&late);
    client.set_many(all().map(|k| (k, k)), Ttl::NEVER).into_result().expect("stored");
    servers[1].fault(Fault::Hang, When::always().verb("get"));
    let hasty = client.with_timeout(Duration::from_secs(1)).expect("a handle");
    let (found, took) = timed(|| hasty.get_many::<String, _>(all()));
    assert!(took < hasty.timeout() + SLACK, "{took:?}");
    assert_eq!(
        found.iter().map(|(key, _)| *key).collect::<Vec<_>>(),
        quick.iter().collect::<Vec<_>>()
    );
    let failed: Vec<_> = found.failures().collect();
    assert_eq!(failed.len(), late.len());
    for (key, error) in failed {
        assert!(late.contains(key));
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        assert_eq!(error.server(), Some(servers[1].address().as_str()));
    }
    assert_eq!(found.into_result().expect_err("all or nothing").kind(), ErrorKind::Timeout);
}

#[test]
fn f108_crowded_calls_with_one_server_gone_end_typed_and_leak_nothing() {
    let servers = [server(), server(), server()];
    servers[2].refuse();
    let client = passive(servers.each_ref().map(TestServer::address))
        .failover(Failover::Off)
        .max_connections(2)
        .build()
        .expect("a client");
    let keys: Vec<String> =
        servers.iter().flat_map(|s| keys_of(&client, &s.address(), 10)).collect();
    std::thread::scope(|scope| {
        for _ in 0..50 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let found = client.get_many::<String, _>(&keys);
                    for (n, key) in keys.iter().enumerate() {
                        match found.outcome(key).expect("asked for") {
                            Ok(value) => assert_eq!((value, n < 20), (&None, true)),
                            Err(e) => assert!(e.is_server_down() && n >= 20, "{e}"),
                        }
                    }
                }
            });
        }
    });
    for pool in &client.status().servers[..2] {
        assert_eq!((pool.idle, pool.waiting), (pool.connections, 0), "{pool:?}");
        assert!(pool.connections <= 2, "{pool:?}");
    }
    // Upkeep may just be knocking.
    until("nothing is open", || client.status().servers[2].connections == 0);
}

#[test]
fn f107_a_server_that_never_stops_answering_is_cut_off_at_the_deadline() {
    let server = Script::start(|peer| {
        peer.line();
        let lines = "STAT a b\r\n".repeat(100_000);
        while peer.send(&lines) {}
    });
    let client = passive(server.address())
        .timeout(Duration::from_millis(200))
        .down_after(never())
        .build()
        .expect("a client");
    let started = Instant::now();
    for _ in 0..6 {
        let error = client.stats().into_result().expect_err("no end");
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    }
    assert!(started.elapsed() < 6 * client.timeout() + SLACK, "{:?}", started.elapsed());
}
