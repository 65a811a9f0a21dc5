//! Expiry: what is expired is gone for every verb; on the embedded server's clock, when that is.

use std::time::{Duration, SystemTime};

use mcpool::testing::TestServer;
use mcpool::{CasOutcome, Client, Ttl};

use crate::stand::{Stand, patient};

pub(crate) fn what_is_expired_is_gone_for_every_verb(stand: &Stand) {
    let client = stand.client();
    client.set("k", &1, Ttl::NEVER).unwrap();
    let token = client.gets::<u32>("k").unwrap().unwrap().cas;
    for expire in [Ttl::IMMEDIATE, Duration::ZERO.into(), SystemTime::UNIX_EPOCH.into()] {
        client.set("k", &1, expire).unwrap();
        assert_eq!(client.get::<u32>("k").unwrap(), None);
        assert!(client.gets::<u32>("k").unwrap().is_none());
        assert_eq!(client.get_and_touch::<u32>("k", Ttl::NEVER).unwrap(), None);
        assert!(!client.contains_key("k").unwrap());
        assert_eq!(client.get_raw("k").unwrap(), None);
        assert!(!client.replace("k", &2, Ttl::NEVER).unwrap());
        assert!(!client.append("k", "2").unwrap());
        assert!(!client.prepend("k", "2").unwrap());
        assert_eq!(client.cas("k", &2, Ttl::NEVER, &token).unwrap(), CasOutcome::Missing);
        assert_eq!(client.incr("k", 1).unwrap(), None);
        assert_eq!(client.decr("k", 1).unwrap(), None);
        assert_eq!(client.counter("k").unwrap(), None);
        assert!(!client.touch("k", Ttl::NEVER).unwrap());
        assert!(!client.delete("k").unwrap());
        assert_eq!(client.get_many::<u32, _>(["k"]).iter().count(), 0);
        assert!(client.add("k", &3, Ttl::NEVER).unwrap(), "there is room for a new one");
        assert_eq!(client.get::<u32>("k").unwrap(), Some(3));
    }
}

fn on_a_clock() -> (TestServer, Client) {
    let server = TestServer::start().unwrap();
    server.clock().freeze();
    let client = patient(Client::builder().servers(server.address())).build().unwrap();
    (server, client)
}

/// Whether the key lives for exactly so many seconds.
fn lives(server: &TestServer, client: &Client, key: &str, seconds: u64) {
    server.clock().advance(Duration::from_secs(seconds - 1));
    assert!(client.contains_key(key).unwrap(), "{key} is gone before {seconds} s");
    server.clock().advance(Duration::from_secs(1));
    assert!(!client.contains_key(key).unwrap(), "{key} is still there after {seconds} s");
}

#[test]
fn a_value_lives_for_its_time_rounded_up_to_whole_seconds() {
    let (server, client) = on_a_clock();
    for (ttl, seconds) in [
        (Duration::from_secs(60), 60),
        (Duration::from_millis(1), 1),
        (Duration::from_millis(59_001), 60),
        (Duration::from_secs(30 * 86_400), 30 * 86_400),
    ] {
        client.set("k", "v", ttl).unwrap();
        lives(&server, &client, "k", seconds);
    }
    client.set("k", "v", Ttl::NEVER).unwrap();
    server.clock().advance(Duration::from_secs(10 * 365 * 86_400));
    assert!(client.contains_key("k").unwrap());
}

#[test]
fn a_value_lives_for_more_than_thirty_days_where_that_is_asked_for() {
    let (server, client) = on_a_clock();
    // Sent as a date of this process's clock, which goes on while the server's stands.
    client.set("k", "v", Duration::from_secs(90 * 86_400)).unwrap();
    server.clock().advance(Duration::from_secs(90 * 86_400 - 1));
    assert!(client.contains_key("k").unwrap());
    server.clock().advance(Duration::from_secs(60));
    assert!(!client.contains_key("k").unwrap());
}

#[test]
fn a_touch_moves_the_expiry_and_other_writes_leave_it() {
    let (server, client) = on_a_clock();
    let minute = Duration::from_secs(60);
    client.set("touched", &1, minute).unwrap();
    client.set("read", &1, minute).unwrap();
    client.set("counted", &1, minute).unwrap();
    client.set("text", "a", minute).unwrap();
    server.clock().advance(Duration::from_secs(59));
    assert!(client.touch("touched", minute).unwrap());
    assert_eq!(client.get_and_touch::<u32>("read", Ttl::NEVER).unwrap(), Some(1));
    assert_eq!(client.incr("counted", 1).unwrap(), Some(2));
    assert!(client.append("text", "b").unwrap() && client.prepend("text", "c").unwrap());
    server.clock().advance(Duration::from_secs(1));
    assert!(client.contains_key("touched").unwrap() && client.contains_key("read").unwrap());
    assert!(!client.contains_key("counted").unwrap() && !client.contains_key("text").unwrap());
    lives(&server, &client, "touched", 59);
    assert!(client.contains_key("read").unwrap());
}

#[test]
fn a_delayed_flush_strikes_when_its_time_comes() {
    let (server, client) = on_a_clock();
    client.set("k", "v", Ttl::NEVER).unwrap();
    client.flush_all(Duration::from_millis(9_001)).into_result().unwrap();
    lives(&server, &client, "k", 10);
}
