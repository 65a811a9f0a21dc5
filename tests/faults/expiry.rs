//! Faults of expiry times: long ones taken for dates, negative ones, overflows, verbs that forget them.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcpool::testing::TestServer;
use mcpool::{CasOutcome, Client, ErrorKind, Ttl};

use crate::support::clients::passive;
use crate::support::memcached::Memcached;

/// How far off: a store may begin in one second of the server's clock and be looked at in the next ones, and on a busy
/// machine that clock itself is late.
const LATE: i64 = 30;

fn client(address: String) -> Client {
    passive(address).build().expect("a client")
}

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// What the server says is left to an item, in seconds; -1 is for ever, `None` is no item.
fn left(server: SocketAddr, key: &str) -> Option<i64> {
    let mut socket = TcpStream::connect(server).expect("it accepts");
    write!(socket, "mg {key} t\r\n").expect("sent");
    let mut line = String::new();
    BufReader::new(socket).read_line(&mut line).expect("an answer");
    match line.trim_end() {
        "EN" => None,
        hit => Some(hit.strip_prefix("HD t").expect("a hit").parse().expect("a number")),
    }
}

/// Stores a value by every verb that takes an expiry time; the keys.
fn store_by_every_verb(client: &Client, ttl: Ttl) -> Vec<&'static str> {
    client.set("set", "v", ttl).expect("stored");
    client.set_raw("set_raw", "v", 0, ttl).expect("stored");
    client.set_many([("set_many", "v")], ttl).into_result().expect("stored");
    client.set_counter("set_counter", 1, ttl).expect("stored");
    assert!(client.add("add", "v", ttl).expect("stored"));
    assert_eq!(client.incr_or_init("incr", 1, 1, ttl).expect("started"), Some(1));
    assert_eq!(client.decr_or_init("decr", 1, 1, ttl).expect("started"), Some(1));
    for key in ["replace", "cas", "touch", "get_and_touch"] {
        client.set(key, "old", Ttl::NEVER).expect("stored");
    }
    assert!(client.replace("replace", "v", ttl).expect("stored"));
    let token = client.gets::<String>("cas").expect("answered").expect("a value").cas;
    assert_eq!(client.cas("cas", "v", ttl, &token).expect("stored"), CasOutcome::Stored);
    assert!(client.touch("touch", ttl).expect("touched"));
    let touched = client.get_and_touch::<String>("get_and_touch", ttl).expect("touched");
    assert_eq!(touched.as_deref(), Some("old"));
    vec![
        "set",
        "set_raw",
        "set_many",
        "set_counter",
        "add",
        "incr",
        "decr",
        "replace",
        "cas",
        "touch",
        "get_and_touch",
    ]
}

#[test]
fn f115_f124_every_verb_passes_short_and_long_times_on() {
    let server = Memcached::start();
    let client = client(server.address());
    for asked in [100_i64, 5_184_000] {
        client.flush_all(Duration::ZERO).into_result().expect("emptied");
        let ttl = seconds(asked.unsigned_abs()).into();
        for key in store_by_every_verb(&client, ttl) {
            let left = left(server.addr(), key).unwrap_or_else(|| panic!("{key} is gone"));
            assert!((asked - LATE..=asked + LATE).contains(&left), "{key}: {left} s of {asked}");
        }
    }
}

#[test]
fn f116_thirty_days_are_no_edge() {
    let server = Memcached::start();
    let client = client(server.address());
    for (asked, expected) in [
        (seconds(2_591_999), 2_591_999_i64),
        (seconds(2_592_000), 2_592_000),
        (Duration::from_millis(2_592_000_500), 2_592_001),
        (seconds(2_592_001), 2_592_001),
    ] {
        client.set("k", "v", asked).expect("stored");
        let left = left(server.addr(), "k").unwrap_or_else(|| panic!("{asked:?}: gone"));
        assert!((expected - LATE..=expected + LATE).contains(&left), "{asked:?}: {left} s");
        assert_eq!(client.get::<String>("k").expect("answered").as_deref(), Some("v"));
    }
}

#[test]
fn f117_dates_are_dates() {
    let server = Memcached::start();
    let client = client(server.address());
    for days in [0_i64, 40, 300] {
        let asked = days * 86_400 + 100;
        client.set("k", "v", SystemTime::now() + seconds(asked.unsigned_abs())).expect("stored");
        let left = left(server.addr(), "k").expect("a value");
        assert!((asked - LATE..=asked + LATE).contains(&left), "{left} s of {asked}");
    }
    client.set("k", "v", SystemTime::now() - seconds(100)).expect("stored");
    assert_eq!(client.get::<String>("k").expect("answered"), None);
}

#[test]
fn f119_f120_what_is_past_already_expires_at_once_by_every_verb() {
    let server = Memcached::start();
    let client = client(server.address());
    for ttl in [
        Ttl::IMMEDIATE,
        Duration::ZERO.into(),
        (SystemTime::now() - seconds(1)).into(),
        UNIX_EPOCH.into(),
        (UNIX_EPOCH - seconds(1_000_000)).into(),
    ] {
        client.flush_all(Duration::ZERO).into_result().expect("emptied");
        client.set("set", "v", ttl).expect("stored");
        assert!(client.add("add", "v", ttl).expect("stored"));
        assert_eq!(client.incr_or_init("incr", 1, 7, ttl).expect("started"), Some(7));
        client.set_many([("many", "v")], ttl).into_result().expect("stored");
        for key in ["touch", "gat", "replace"] {
            client.set(key, "v", Ttl::NEVER).expect("stored");
        }
        assert!(client.touch("touch", ttl).expect("touched"));
        let value = client.get_and_touch::<String>("gat", ttl).expect("touched");
        assert_eq!(value.as_deref(), Some("v"));
        assert!(client.replace("replace", "w", ttl).expect("stored"));
        for key in ["set", "add", "incr", "many", "touch", "gat", "replace"] {
            assert_eq!(client.get::<String>(key).expect("answered"), None, "{key} {ttl:?}");
        }
    }
}

#[test]
fn f121_times_beyond_what_memcached_keeps_are_refused_before_anything_is_sent() {
    let server = TestServer::start().expect("a server");
    let client = client(server.address());
    let last = UNIX_EPOCH + seconds(2_147_483_647);
    for ttl in [
        Ttl::from(seconds(20 * 365 * 86_400)),
        seconds(70 * 365 * 86_400).into(),
        seconds(u32::MAX.into()).into(),
        seconds(u64::MAX).into(),
        Duration::MAX.into(),
        (last + seconds(1)).into(),
        (UNIX_EPOCH + seconds(u32::MAX.into())).into(),
    ] {
        let refused = |e: mcpool::Error| assert_eq!(e.kind(), ErrorKind::InvalidTtl, "{e}");
        refused(client.set("k", "v", ttl).expect_err("too far"));
        refused(client.add("k", "v", ttl).expect_err("too far"));
        refused(client.touch("k", ttl).expect_err("too far"));
        refused(client.get_and_touch::<String>("k", ttl).expect_err("too far"));
        refused(client.set_many([("k", "v")], ttl).into_result().expect_err("too far"));
        refused(client.set_counter("k", 1, ttl).expect_err("too far"));
    }
    assert_eq!(server.events(), [], "nothing was sent");
    client.set("k", "v", last).expect("stored");
    assert_eq!(server.commands(), ["set k 0 2147483647 1"]);
}

#[test]
fn f122_times_up_to_thirty_days_do_not_depend_on_the_clocks() {
    let server = TestServer::start().expect("a server");
    let client = client(server.address());
    for ttl in [5, 864_000, 2_592_000] {
        client.set("k", "v", seconds(ttl)).expect("stored");
        client.touch("k", seconds(ttl)).expect("touched");
    }
    let expected = [5, 864_000, 2_592_000]
        .into_iter()
        .flat_map(|ttl| [format!("set k 0 {ttl} 1"), format!("touch k {ttl}")]);
    assert_eq!(server.commands(), expected.collect::<Vec<_>>());
}

#[test]
fn f123_touch_can_take_the_expiry_away() {
    let server = Memcached::start();
    let client = client(server.address());
    client.set("k", "v", seconds(60)).expect("stored");
    assert!(client.touch("k", Ttl::NEVER).expect("touched"));
    assert_eq!(left(server.addr(), "k"), Some(-1));
    client.set("k", "v", seconds(60)).expect("stored");
    client.get_and_touch::<String>("k", Ttl::NEVER).expect("touched");
    assert_eq!(left(server.addr(), "k"), Some(-1));
}
