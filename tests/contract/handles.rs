//! Handles: prefixes, deadlines, codecs, closing, observing.

use std::time::{Duration, Instant};

use mcpool::testing::{Fault, TestServer, When};
use mcpool::{Client, Codec, ErrorKind, Ttl};

use crate::stand::{Stand, patient};

pub(crate) fn a_prefix_is_put_before_every_key_once(stand: &Stand) {
    let plain = stand.client();
    let client = stand.client_with(|settings| settings.key_prefix("app:"));
    client.set("a", &1, Ttl::NEVER).unwrap();
    client.set_many([("b", 2)], Ttl::NEVER).into_result().unwrap();
    assert_eq!(plain.get::<u32>("app:a").unwrap(), Some(1));
    assert_eq!(plain.get::<u32>("app:b").unwrap(), Some(2));
    let found: Vec<_> = client.get_many::<u32, _>(["a", "b"]).into_iter().collect();
    assert_eq!(found, [("a", 1), ("b", 2)], "the caller's own keys come back");
    assert_eq!(client.incr("a", 1).unwrap(), Some(2));
    assert_eq!(client.delete_many(["a", "b"]).into_result().unwrap(), [("a", true), ("b", true)]);
    assert!(!plain.contains_key("app:a").unwrap());
}

pub(crate) fn a_handles_prefix_takes_the_place_of_the_clients(stand: &Stand) {
    let client = stand.client_with(|settings| settings.key_prefix("app:"));
    let (other, none) = (client.with_prefix("t:").unwrap(), client.with_prefix("").unwrap());
    other.set("k", &1, Ttl::NEVER).unwrap();
    none.set("k", &2, Ttl::NEVER).unwrap();
    assert!(!client.contains_key("k").unwrap());
    assert_eq!(stand.raw("get t:k k app:t:k\r\n", "END\r\n").matches("VALUE ").count(), 2);
    let found = [&other, &none].map(|handle| handle.get_many::<u32, _>(["k"]).into_result());
    assert_eq!(found.map(Result::unwrap), [[("k", Some(1))], [("k", Some(2))]]);
}

pub(crate) fn handles_share_pools_and_keep_their_own_settings(stand: &Stand) {
    let client = stand.client();
    let quick = client.with_timeout(Duration::from_secs(5)).unwrap();
    let tenant = client.with_prefix("t:").unwrap();
    let whalin = client.with_codec(Codec::Whalin);
    assert_eq!(
        (client.timeout(), quick.timeout()),
        (Duration::from_secs(20), Duration::from_secs(5))
    );
    tenant.set("k", "v", Ttl::NEVER).unwrap();
    assert_eq!(quick.get::<String>("t:k").unwrap().as_deref(), Some("v"));
    whalin.set("w", &true, Ttl::NEVER).unwrap();
    assert_eq!(client.get_raw("w").unwrap().unwrap().flags, 8192);
    assert_eq!(client.status().servers[0].connections, 1, "all on one pool");
    for wrong in [Duration::ZERO, Duration::from_secs(31)] {
        assert_eq!(client.with_timeout(wrong).unwrap_err().kind(), ErrorKind::Config);
    }
    assert_eq!(client.with_prefix("a b").unwrap_err().kind(), ErrorKind::Config);
    assert_eq!(client.with_prefix("p".repeat(250)).unwrap_err().kind(), ErrorKind::Config);
}

pub(crate) fn close_is_final_and_harmless_twice(stand: &Stand) {
    let client = stand.builder().build().unwrap();
    let other = client.with_prefix("x").unwrap();
    client.set("k", "v", Ttl::NEVER).unwrap();
    client.close();
    client.close();
    assert_eq!(client.status().servers[0].connections, 0);
    assert_eq!(client.get::<String>("k").unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(other.set("k", "v", Ttl::NEVER).unwrap_err().kind(), ErrorKind::Closed);
    let found = other.get_many::<String, _>(["k"]);
    assert_eq!(found.failures().next().unwrap().1.kind(), ErrorKind::Closed);
    assert_eq!(client.version().into_result().unwrap_err().kind(), ErrorKind::Closed);
}

pub(crate) fn one_thread_needs_one_connection(stand: &Stand) {
    let client = stand.client();
    for n in 0..200 {
        client.set(format!("k{n}"), &n, Ttl::NEVER).unwrap();
        assert_eq!(client.get::<i32>(format!("k{n}")).unwrap(), Some(n));
    }
    let server = &client.status().servers[0];
    assert_eq!((server.dials, server.connections, server.idle), (1, 1, 1));
    assert_eq!(server.exchanges, 400);
}

#[test]
fn a_handles_deadline_is_its_own() {
    let server = TestServer::start().unwrap();
    server.fault(Fault::Hang, When::always());
    let client = patient(Client::builder().servers(server.address())).build().unwrap();
    let short = client.with_timeout(Duration::from_millis(100)).unwrap();
    let started = Instant::now();
    assert_eq!(short.get::<u32>("k").unwrap_err().kind(), ErrorKind::Timeout);
    assert!(started.elapsed() < client.timeout());
}
