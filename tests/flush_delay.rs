//! A delayed flush comes when it was asked for, also when that is further off than memcached's 30 days.

use std::time::Duration;

use mcpool::testing::TestServer;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[test]
fn a_flush_in_forty_days_happens_in_forty_days() {
    let server = TestServer::start().expect("a server");
    let client = mcpool::Client::new(server.address()).expect("a client");
    client.set("k", "v", mcpool::Ttl::NEVER).expect("stored");
    client.flush_all(40 * DAY).into_result().expect("accepted");
    server.clock().advance(39 * DAY);
    assert!(server.item("k").is_some(), "too early");
    server.clock().advance(2 * DAY);
    assert_eq!(server.item("k"), None);
}

#[test]
fn a_flush_that_memcached_cannot_date_is_refused_before_anything_is_sent() {
    let server = TestServer::start().expect("a server");
    let client = mcpool::Client::new(server.address()).expect("a client");
    let error = client.flush_all(DAY * 365 * 100).into_result().expect_err("past 2038");
    assert_eq!(error.kind(), mcpool::ErrorKind::InvalidTtl);
    assert_eq!(server.commands(), Vec::<String>::new());
}
