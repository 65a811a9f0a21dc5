//! No call outlives its deadline: servers that refuse, are silent or swallow connections, alone and among others.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use mcpool::testing::TestServer;
use mcpool::{CasToken, Client, DownAfter, Error, ErrorKind, NodeState, Phase, Ttl};

use super::common::{OVERSHOOT, busy, quiet};
use crate::support::blackhole::{Blackhole, blackhole};
use crate::support::calls::{Call, MANY, SINGLE};
use crate::support::clients::{key_on, keys_on, state, status, steady};
use crate::support::memcached::Memcached;
use crate::support::watch::{HANG, timed};

const TIMEOUT: Duration = Duration::from_secs(1);
/// For calls that another server answers in the end.
const ENOUGH: Duration = Duration::from_secs(3);
/// The dead server's name in these tests.
const VICTIM: &str = "victim";

/// A server that does not answer, in one of the three ways.
enum Dead {
    Refusing(TestServer),
    Silent(Memcached),
    Swallowing(Blackhole),
}

impl Dead {
    fn refusing() -> Self {
        let server = TestServer::start().expect("a port");
        server.stop();
        Self::Refusing(server)
    }

    fn silent() -> Self {
        let server = Memcached::start();
        server.pause();
        Self::Silent(server)
    }

    fn swallowing() -> Self {
        Self::Swallowing(blackhole())
    }

    fn server(&self) -> String {
        let address = match self {
            Self::Refusing(server) => server.address(),
            Self::Silent(server) => server.address(),
            Self::Swallowing(server) => server.address(),
        };
        format!("{address}?name={VICTIM}")
    }

    /// Whether this is the truth about it.
    fn explains(&self, error: &Error) -> bool {
        match self {
            Self::Refusing(_) | Self::Swallowing(_) => error.kind() == ErrorKind::ServerDown,
            Self::Silent(_) => error.kind() == ErrorKind::Timeout,
        }
    }
}

/// For each key a token that a server of the dead one's name gave out.
fn tokens(keys: &[String]) -> Vec<CasToken> {
    let server = TestServer::start().expect("a port");
    let client = Client::new(format!("{}?name={VICTIM}", server.address())).expect("settings");
    let token = |key: &String| {
        client.set(key, "v", Ttl::NEVER).expect("stored");
        client.gets::<String>(key).expect("read").expect("there").cas
    };
    keys.iter().map(token).collect()
}

/// Keys of the dead server, one for each call.
fn keys(client: &Client) -> Vec<String> {
    keys_on(client, VICTIM, "k").take(SINGLE.len()).collect()
}

/// Runs every call at once, each on its own thread, and gives each call's name, errors and time.
fn every_call(client: &Client, keys: &[String]) -> Vec<(&'static str, Vec<Error>, Duration)> {
    let tokens = tokens(keys);
    let more = &keys_on(client, VICTIM, "m").take(3).collect::<Vec<_>>();
    thread::scope(|scope| {
        let single = SINGLE.iter().zip(keys).zip(&tokens).map(|((call, key), token)| {
            let run = move || (call.run)(client, key, token).err().into_iter().collect();
            (call.name, scope.spawn(move || timed(run)))
        });
        let single: Vec<_> = single.collect();
        let many = MANY.iter().map(|call| {
            let run = move || (call.run)(client, more);
            (call.name, scope.spawn(move || timed(run)))
        });
        let threads = single.into_iter().chain(many.collect::<Vec<_>>());
        let ended = threads.map(|(name, thread)| {
            let (errors, took) = thread.join().expect("no panic");
            (name, errors, took)
        });
        ended.collect()
    })
}

fn every_call_fails_in_time(dead: &Dead) {
    let _quiet = quiet();
    let client = steady(dead.server()).timeout(TIMEOUT).build().expect("settings");
    let keys = keys(&client);
    for (name, errors, took) in every_call(&client, &keys) {
        assert!(took <= TIMEOUT + *OVERSHOOT, "{name} took {took:?}");
        assert!(!errors.is_empty(), "{name} cannot have worked");
        for error in errors {
            assert!(dead.explains(&error), "{name}: {error:?}");
            assert_eq!(error.server(), Some(VICTIM), "{name}: {error}");
            assert!(error.elapsed().is_some(), "{name}: {error}");
        }
    }
}

#[test]
fn every_call_to_a_lone_server_that_refuses_ends_in_time_and_says_so() {
    every_call_fails_in_time(&Dead::refusing());
}

#[test]
fn every_call_to_a_lone_server_that_is_silent_ends_in_time_and_says_so() {
    every_call_fails_in_time(&Dead::silent());
}

#[test]
fn every_call_to_a_lone_server_that_swallows_connections_ends_in_time_and_says_so() {
    every_call_fails_in_time(&Dead::swallowing());
}

/// A client of three servers, of which one is dead.
fn one_of_three(dead: &Dead) -> (Client, [TestServer; 2]) {
    let others = [TestServer::start().expect("a port"), TestServer::start().expect("a port")];
    let servers = [dead.server(), others[0].address(), others[1].address()];
    // The dead one's share is short, and there is time for the others on a busy machine too.
    let settings = steady(servers).timeout(ENOUGH).attempt_timeout(Duration::from_millis(400));
    (settings.connect_timeout(Duration::from_millis(250)).build().expect("settings"), others)
}

/// With failover the calls of a dead server's keys go on to another server, those excepted that must not.
fn every_call_goes_on(dead: &Dead, moves: impl Fn(&Call) -> bool) {
    let _quiet = quiet();
    let (client, _others) = one_of_three(dead);
    let keys = keys(&client);
    for (name, errors, took) in every_call(&client, &keys) {
        assert!(took <= ENOUGH + *OVERSHOOT, "{name} took {took:?}");
        let Some(call) = SINGLE.iter().find(|call| call.name == name) else {
            let whole = matches!(name, "get_many" | "gets_many" | "set_many");
            assert!(!whole || errors.is_empty(), "{name}: {errors:?}");
            assert!(errors.iter().all(|e| e.server() == Some(VICTIM)), "{name}: {errors:?}");
            continue;
        };
        match (errors.first(), name) {
            // A delete elsewhere is no plain success.
            (Some(error), "delete") if moves(call) => {
                assert_eq!(error.kind(), ErrorKind::Substituted, "{error}");
            }
            (error, _) if moves(call) => assert!(error.is_none(), "{name}: {error:?}"),
            (Some(error), _) => assert!(dead.explains(error), "{name}: {error:?}"),
            (None, _) => panic!("{name} was carried out by another server than its own"),
        }
    }
}

#[test]
fn calls_of_a_refusing_servers_keys_go_on_to_the_next_server() {
    every_call_goes_on(&Dead::refusing(), |call| call.name != "cas");
}

#[test]
fn calls_of_a_silent_servers_keys_go_on_to_the_next_server_unless_they_may_have_been_carried_out() {
    every_call_goes_on(&Dead::silent(), |call| call.repeatable);
}

#[test]
fn calls_of_a_swallowing_servers_keys_go_on_to_the_next_server() {
    every_call_goes_on(&Dead::swallowing(), |call| call.name != "cas");
}

/// Many threads want keys of one dead server of three, which no call before has shown to be dead.
fn a_crowd_goes_on(dead: &Dead, connections: u32) {
    let _busy = busy();
    let others = [TestServer::start().expect("a port"), TestServer::start().expect("a port")];
    let client = Client::builder()
        .servers([dead.server(), others[0].address(), others[1].address()])
        .max_connections(connections)
        .timeout(ENOUGH)
        .build()
        .expect("settings");
    let keys: Vec<_> = keys_on(&client, VICTIM, "k").take(32).collect();
    thread::scope(|scope| {
        for key in &keys {
            let client = &client;
            scope.spawn(move || {
                let (got, took) = timed(|| client.get::<String>(key));
                assert_eq!(got.expect("another server says so"), None);
                assert!(took <= client.timeout() + *OVERSHOOT, "took {took:?}");
            });
        }
    });
    assert_eq!(state(&client, VICTIM), NodeState::Down);
}

#[test]
fn a_crowd_that_waits_for_dials_to_a_swallowing_server_goes_on_to_the_next() {
    a_crowd_goes_on(&Dead::swallowing(), 32);
}

#[test]
fn a_crowd_that_waits_for_connections_of_a_silent_server_goes_on_to_the_next() {
    a_crowd_goes_on(&Dead::silent(), 3);
}

#[test]
fn a_silent_server_is_taken_out_also_when_time_outs_are_short() {
    let _quiet = quiet();
    for dead in [Dead::silent(), Dead::swallowing()] {
        let others = TestServer::start().expect("a port");
        let client = Client::builder()
            .servers([dead.server(), others.address()])
            .timeout(ENOUGH)
            .attempt_timeout(Duration::from_millis(150))
            .build()
            .expect("settings");
        let key = key_on(&client, VICTIM, "k");
        for _ in 0..3 {
            assert_eq!(client.get::<String>(&key).expect("another server says so"), None);
        }
        assert_eq!(state(&client, VICTIM), NodeState::Down);
    }
}

#[test]
fn a_call_to_a_lone_server_that_is_known_to_be_dead_costs_microseconds() {
    const CALLS: usize = 10_000;
    let _busy = busy();
    // What is promised of an optimised build; without optimisation everything takes some times as long.
    let ceiling = Duration::from_micros(if cfg!(debug_assertions) { 100 } else { 10 });
    for dead in [Dead::refusing(), Dead::silent(), Dead::swallowing()] {
        let client = Client::new(dead.server()).expect("settings");
        while state(&client, VICTIM) != NodeState::Down {
            client.get::<String>("k").expect_err("nobody is there");
        }
        let mut times: Vec<_> = (0..CALLS)
            .map(|_| {
                let (got, took) = timed(|| client.get::<String>("k"));
                assert!(got.is_err_and(|e| e.is_server_down() || e.is_timeout()));
                took
            })
            .collect();
        times.sort_unstable();
        let median = times[CALLS / 2];
        println!("{median:?}, the slowest {:?}", times[CALLS - 1]);
        assert!(median < ceiling, "{median:?}");
        assert!(status(&client, VICTIM).turned_away > 0);
    }
}

/// Sends to whoever connects, for ever: `first`, then a block of `again` after each pause.
fn torrent(first: &'static [u8], again: &'static [u8], pause: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        while let Ok((mut socket, _)) = listener.accept() {
            thread::spawn(move || {
                let block = again.repeat(1 << 12);
                _ = socket.read(&mut [0; 1024]);
                _ = socket.write_all(first);
                while socket.write_all(&block).is_ok() {
                    thread::sleep(pause);
                }
            });
        }
    });
    address
}

#[test]
fn a_reply_without_an_end_is_given_up_at_the_deadline() {
    let _busy = busy();
    let value = torrent(b"VALUE k 0 1000000000\r\n", b"0123456789", Duration::from_millis(2));
    let client = steady(value).timeout(TIMEOUT).max_value_bytes(1 << 30).build().expect("settings");
    let (got, took) = timed(|| client.get::<String>("k"));
    assert_eq!(got.expect_err("it has no end").kind(), ErrorKind::Timeout);
    assert!(took <= TIMEOUT + *OVERSHOOT, "get took {took:?}");
    let (got, took) = timed(|| client.get_many::<String, _>(["k"]).into_result());
    assert_eq!(got.expect_err("it has no end").kind(), ErrorKind::Timeout);
    assert!(took <= TIMEOUT + *OVERSHOOT, "get_many took {took:?}");
    // This one sends faster than anyone can read; a short deadline comes before the limit of a list's size.
    let list = torrent(b"", b"STAT figure 1\r\n", Duration::ZERO);
    let timeout = Duration::from_millis(30);
    let client = steady(list).timeout(timeout).build().expect("settings");
    let (got, took) = timed(|| client.stats().into_result());
    assert_eq!(got.expect_err("it has no end").kind(), ErrorKind::Timeout);
    assert!(took <= timeout + *OVERSHOOT, "stats took {took:?}");
}

/// Takes its time to be encoded.
struct Slow;

impl serde::Serialize for Slow {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        thread::sleep(Duration::from_millis(350));
        serializer.serialize_str("v")
    }
}

#[test]
fn a_value_that_takes_long_to_encode_says_nothing_of_the_server() {
    let server = TestServer::start().expect("a port");
    let client = Client::builder()
        .servers(server.address())
        .timeout(Duration::from_millis(300))
        .down_after(DownAfter::new(1, Duration::from_secs(10)))
        .min_connections(0)
        .build()
        .expect("settings");
    client.with_timeout(HANG).expect("a handle").set("k", "kept", Ttl::NEVER).expect("stored");
    server.clear_events();
    let error = client.set("k", &Slow, Ttl::NEVER).expect_err("too slow");
    assert_eq!((error.kind(), error.phase()), (ErrorKind::Timeout, Some(Phase::Prepare)));
    assert!(!error.may_have_been_applied());
    assert_eq!(state(&client, &server.address()), NodeState::Up);
    assert_eq!(server.commands(), [""; 0], "nothing was sent");
    assert_eq!(status(&client, &server.address()).connections, 1, "and none was closed");
}
