//! Handles: prefixes, deadlines, codecs, closing, observing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcpool::{Codec, ErrorKind, Ttl};

use crate::stand::Stand;

pub(crate) fn a_prefix_is_put_before_every_key_once(stand: &Stand) {
    let plain = stand.client();
    let client = stand.builder().key_prefix("app:").build().unwrap();
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
    let client = stand.client();
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

pub(crate) fn the_observer_hears_of_each_failure_once(stand: &Stand) {
    let heard = Arc::new(AtomicUsize::new(0));
    let counter = heard.clone();
    let client = stand
        .builder()
        .observer(move |e| {
            assert!(!e.to_string().is_empty());
            counter.fetch_add(1, Ordering::SeqCst);
        })
        .build()
        .unwrap();
    client.set("k", "text", Ttl::NEVER).unwrap();
    assert!(client.get::<u32>("k").is_err());
    assert_eq!(heard.load(Ordering::SeqCst), 1);
    assert!(client.set("bad key", "v", Ttl::NEVER).is_err());
    assert_eq!(heard.load(Ordering::SeqCst), 2);
    assert_eq!(client.get_many::<u32, _>(["k", "bad key", "none"]).failures().count(), 2);
    assert_eq!(heard.load(Ordering::SeqCst), 3, "once for a call");
    assert_eq!(client.get::<u32>("none").unwrap(), None);
    assert_eq!(heard.load(Ordering::SeqCst), 3, "a miss is no failure");
    assert_eq!(client.status().failed_calls, 3);
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
