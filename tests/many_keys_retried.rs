//! Calls for many keys whose server breaks off or has no room: the same outcome as without the mishap.

use mcpool::testing::{Fault, TestServer, When};
use mcpool::{Client, Ttl};

/// More than the kernel takes while the server does not read.
const LARGE: usize = 16 << 20;

#[test]
fn of_two_entries_for_one_key_the_later_stays_also_when_both_are_sent_again() {
    let server = TestServer::builder().max_item_size(2 * LARGE).start().expect("a server");
    let client = Client::builder()
        .servers(server.address())
        .timeout(std::time::Duration::from_secs(20))
        .build()
        .expect("a client");
    server.fault(Fault::CloseAfter(0), When::next(1).verb("set"));
    let entries = [("k", "early".to_owned()), ("k", "x".repeat(LARGE))];
    client.set_many(entries, Ttl::NEVER).into_result().expect("stored at the second attempt");
    let (value, _) = server.item("k").expect("there");
    assert_eq!(value.len(), LARGE);
}

#[test]
fn a_server_without_room_for_a_connection_is_passed_over() {
    let (full, other) = (TestServer::start().expect("one"), TestServer::start().expect("two"));
    let client = Client::new([full.address(), other.address()]).expect("a client");
    full.fault(Fault::TurnAway("ERROR Too many open connections\r\n".into()), When::always());
    let keys: Vec<String> = (0..20).map(|i| format!("k{i}")).collect();
    client.set_many(keys.iter().map(|k| (k, 1)), Ttl::NEVER).into_result().expect("stored");
    let found = client.get_many::<u32, _>(&keys).into_result().expect("read");
    assert!(found.iter().all(|(_, value)| *value == Some(1)), "{found:?}");
    assert!(keys.iter().all(|key| other.item(key).is_some()));
}
