//! A forked child that uses the client it inherited never disturbs its parent's connections.

#[path = "../../support/mod.rs"]
mod support;

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mcpool::testing::{Event, TestServer};
use mcpool::{Client, ErrorKind, NodeState, Ttl};
use mcpool_process_tests::fork;
use support::memcached::Memcached;

const PATIENCE: Duration = Duration::from_secs(20);

fn server() -> TestServer {
    TestServer::start().expect("a server")
}

/// A client with four connections open.
fn client(server: &TestServer, fork_check: bool) -> Client {
    let client = Client::builder()
        .servers(server.address())
        .initial_connections(4)
        .max_connections(4)
        .timeout(PATIENCE)
        .fork_check(fork_check)
        .build()
        .expect("a client");
    // Its maintenance opens them; afterwards it has nothing to do for a while.
    while client.status().servers[0].idle < 4 {
        std::thread::yield_now();
    }
    client
}

/// How many connections a process has opened by a client of its own.
fn dials(client: &Client) -> u64 {
    client.status().servers[0].dials
}

/// Every family of calls, on values that name their key; all has to be right.
fn use_all_of_it(client: &Client, who: &str, rounds: usize) {
    for n in 0..rounds {
        let key = format!("{who}:{n}");
        client.set(&key, &key, Ttl::NEVER).expect("stored");
        assert_eq!(client.get::<String>(&key).expect("read"), Some(key.clone()));
        let found = client.get_many::<String, _>([&key]);
        assert_eq!(found.get(&key), Some(&key), "{found:?}");
        let counter = format!("{who}:count:{n}");
        client.delete(&counter).expect("answered");
        assert_eq!(client.incr_or_init(&counter, 1, 5, Ttl::NEVER).expect("started"), Some(5));
        assert_eq!(client.incr(&counter, 1).expect("counted"), Some(6));
    }
}

/// The connections over which `who` sent something.
fn connections_of(server: &TestServer, who: &str) -> BTreeSet<u64> {
    let events = server.events().into_iter();
    let of_who = events.filter_map(|event| match event {
        Event::Command { connection, line } if line.contains(who) => Some(connection),
        _ => None,
    });
    of_who.collect()
}

fn closed(server: &TestServer) -> BTreeSet<u64> {
    let events = server.events().into_iter();
    let closed = events.filter_map(|event| match event {
        Event::Closed { connection } => Some(connection),
        _ => None,
    });
    closed.collect()
}

#[test]
fn f214_parent_and_child_work_at_the_same_time_each_on_sockets_of_its_own() {
    let server = server();
    let client = client(&server, true);
    use_all_of_it(&client, "parent:before", 5);
    let child = fork(|| use_all_of_it(&client, "child", 300));
    use_all_of_it(&client, "parent:beside", 300);
    child.join();
    use_all_of_it(&client, "parent:after", 5);
    let (parents, childs) = (connections_of(&server, "parent"), connections_of(&server, "child"));
    assert!(!childs.is_empty() && parents.is_disjoint(&childs), "{parents:?} and {childs:?}");
    assert!(closed(&server).is_disjoint(&parents), "a connection of the parent was closed");
}

#[test]
fn f214_a_childs_child_has_sockets_of_its_own_too() {
    let server = server();
    let client = client(&server, true);
    use_all_of_it(&client, "first", 3);
    let child = fork(|| {
        use_all_of_it(&client, "second", 3);
        let grandchild = fork(|| use_all_of_it(&client, "third", 3));
        use_all_of_it(&client, "second", 3);
        grandchild.join();
        use_all_of_it(&client, "second", 3);
    });
    child.join();
    let [first, second, third] = ["first", "second", "third"].map(|w| connections_of(&server, w));
    assert!(first.is_disjoint(&second) && first.is_disjoint(&third) && second.is_disjoint(&third));
    assert!(!second.is_empty() && !third.is_empty());
}

#[test]
fn f214_without_the_check_a_child_notices_when_it_has_to_connect_or_meets_an_idle_socket() {
    let server = server();
    let fresh = Client::builder().servers(server.address()).min_connections(0);
    let fresh = fresh.timeout(PATIENCE).build().expect("a client");
    fork(|| use_all_of_it(&fresh, "child:of:fresh", 3)).join();
    let idle = client(&server, false);
    use_all_of_it(&idle, "parent", 3);
    // A socket counts as idle after a second.
    std::thread::sleep(Duration::from_millis(1050));
    fork(|| use_all_of_it(&idle, "child:of:idle", 3)).join();
    use_all_of_it(&idle, "parent", 3);
    let parents = connections_of(&server, "parent");
    assert!(parents.is_disjoint(&connections_of(&server, "child")));
    assert!(closed(&server).is_disjoint(&parents), "a connection of the parent was closed");
}

#[test]
fn f215_a_child_that_drops_the_client_or_closes_it_leaves_its_parents_connections_open() {
    let server = server();
    let client = client(&server, true);
    use_all_of_it(&client, "parent", 5);
    let before = connections_of(&server, "parent");
    let inherited = client.clone();
    fork(move || drop(inherited)).join();
    fork(|| client.close()).join();
    fork(|| {
        use_all_of_it(&client, "child", 3);
        client.close();
        assert_eq!(client.get::<String>("k").expect_err("closed").kind(), ErrorKind::Closed);
    })
    .join();
    use_all_of_it(&client, "parent", 100);
    assert_eq!(dials(&client), 4, "the parent had to connect anew");
    assert!(closed(&server).is_disjoint(&before));
    assert!(!server.commands().iter().any(|line| line.starts_with("quit")));
}

#[test]
fn a_child_may_begin_with_any_call() {
    let server = server();
    let client = client(&server, true);
    use_all_of_it(&client, "parent", 5);
    let before = connections_of(&server, "parent");
    fork(|| {
        // Its own maintenance may have opened them already.
        let opened = client.warm_up().into_result().expect("its own connections");
        let pool = &client.status().servers[0];
        assert!(pool.dials >= 1 && pool.exchanges == 0, "{opened:?} {pool:?}");
    })
    .join();
    fork(|| {
        let pool = &client.status().servers[0];
        assert_eq!(pool.exchanges, 0, "the parent's: {pool:?}");
    })
    .join();
    fork(|| {
        client.restore_all();
        assert!(client.restore(&server.address()));
        assert_eq!(client.status().servers[0].state, NodeState::Up);
    })
    .join();
    fork(|| assert_eq!(client.version().into_result().expect("answered").len(), 1)).join();
    use_all_of_it(&client, "parent", 5);
    assert_eq!(dials(&client), 4, "the parent had to connect anew");
    assert!(closed(&server).is_disjoint(&before));
}

/// Ends the threads of a test, also when it fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn f214_forks_while_threads_are_in_the_middle_of_calls_are_safe() {
    const FORKS: u64 = 200;
    // A process of its own: threads that start and end here would be another matter.
    let server = Memcached::start();
    // More threads than connections, so that locks are held and threads wait at the moment of a fork.
    let client = Client::builder()
        .servers(server.address())
        .max_connections(3)
        .timeout(PATIENCE)
        .fork_check(true)
        .build()
        .expect("a client");
    let (over, calls, started) = (AtomicBool::new(false), AtomicU64::new(0), Barrier::new(9));
    std::thread::scope(|scope| {
        let over_at_the_end = Over(&over);
        for t in 0..8 {
            let (client, over, calls, started) = (&client, &over, &calls, &started);
            scope.spawn(move || {
                started.wait();
                while !over.load(Ordering::SeqCst) {
                    let n = calls.fetch_add(1, Ordering::SeqCst);
                    use_all_of_it(client, &format!("{t}:{n}"), 1);
                }
            });
        }
        started.wait();
        for n in 0..FORKS {
            let seen = calls.load(Ordering::SeqCst);
            fork(|| {
                use_all_of_it(&client, &format!("child:{n}"), 2);
                assert_eq!(client.status().servers[0].waiting, 0);
            })
            .join();
            while calls.load(Ordering::SeqCst) == seen {
                std::thread::yield_now();
            }
        }
        drop(over_at_the_end);
    });
    let pool = &client.status().servers[0];
    assert_eq!((pool.failures, pool.failed_dials), (0, 0), "{pool:?}");
    assert!(pool.dials <= 3, "{pool:?}");
}

#[test]
fn a_child_that_can_start_no_thread_says_so_within_its_deadline() {
    let server = Memcached::start();
    let client = Client::builder().servers(server.address()).fork_check(true);
    let client = client.timeout(Duration::from_millis(300)).build().expect("a client");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let over_at_the_end = Over(&over);
        // A lock of std is taken whenever a thread starts or ends; a child may inherit it taken.
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    std::thread::spawn(|| {}).join().expect("no panic");
                }
            });
        }
        for _ in 0..30 {
            fork(|| {
                let begun = Instant::now();
                match client.set("k", "v", Ttl::NEVER) {
                    Ok(()) => {}
                    Err(e) => assert_eq!(e.kind(), ErrorKind::OutOfResources, "{e}"),
                }
                assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
            })
            .join();
        }
        drop(over_at_the_end);
    });
}
