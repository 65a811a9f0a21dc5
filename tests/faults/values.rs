//! Values: every byte comes back, whatever it looks like; what is too large is said to be, and costs nothing else.

use std::time::Duration;

use mcpool::testing::{Dice, TestServer};
use mcpool::{CasOutcome, Client, ErrorKind, Ttl};

use crate::stand::Stand;
use crate::support::clients::patient;
use crate::support::memcached::Memcached;

/// More than memcached's default limit of an item.
const TOO_LARGE: usize = 2_000_000;

/// Bytes without a pattern that a mistake could repeat.
fn noise(len: usize) -> Vec<u8> {
    let mut dice = Dice::new(u64::try_from(len).unwrap());
    (0..len).map(|_| u8::try_from(dice.below(256)).unwrap()).collect()
}

fn client(address: String) -> Client {
    patient(address).maintenance_interval(Duration::ZERO).build().unwrap()
}

/// Written and read in every way, byte for byte.
fn comes_back(client: &Client, value: &[u8]) {
    let shown = String::from_utf8_lossy(&value[..value.len().min(60)]).into_owned();
    for (key, other) in [("k", "other"), ("other", "k")] {
        client.set_raw(key, value, 7, Ttl::NEVER).unwrap();
        client.set_raw(other, value, 7, Ttl::NEVER).unwrap();
        assert!(client.get_raw(key).unwrap().unwrap().bytes == value, "{shown:?}");
    }
    client.set_many([("a", serde_bytes::Bytes::new(value))], Ttl::NEVER).into_result().unwrap();
    client.set("b", serde_bytes::Bytes::new(value), Ttl::NEVER).unwrap();
    let item = client.gets::<Vec<u8>>("b").unwrap().unwrap();
    assert!(item.value == value, "{shown:?}");
    let cas = client.cas("b", serde_bytes::Bytes::new(value), Ttl::NEVER, &item.cas).unwrap();
    assert_eq!(cas, CasOutcome::Stored);
    let found = client.get_many::<Vec<u8>, _>(["a", "missing", "b"]);
    assert!(found.get("a").unwrap() == value && found.get("b").unwrap() == value, "{shown:?}");
    assert!(matches!(found.outcome("missing"), Some(Ok(None))));
}

#[test]
fn f081_an_empty_value_is_a_hit_everywhere_and_never_a_miss() {
    for stand in [Stand::embedded(), Stand::real()] {
        let client = stand.client();
        comes_back(&client, b"");
        client.set("s", "", Ttl::NEVER).unwrap();
        assert_eq!(stand.raw("get s\r\n", "END\r\n"), "VALUE s 0 0\r\n\r\nEND\r\n");
        assert_eq!(client.get::<String>("s").unwrap(), Some(String::new()));
        assert!(client.contains_key("s").unwrap());
        assert_eq!(client.get_many::<String, _>(["s"]).get("s"), Some(&String::new()));
        assert_eq!(client.get_and_touch::<String>("s", Ttl::NEVER).unwrap(), Some(String::new()));
        assert!(!client.contains_key("missing").unwrap());
    }
}

#[test]
fn f082_values_that_look_like_the_end_of_a_reply_come_back_whole() {
    for stand in [Stand::embedded(), Stand::real()] {
        let client = stand.client();
        for value in
            ["EXTEND", "END", "END\r\n", "\r\nEND\r\n", "a\r\nEND\r\nb", "\r\n", "\r", "\n", "\0"]
        {
            comes_back(&client, value.as_bytes());
            comes_back(&client, value.repeat(3).as_bytes());
        }
    }
}

#[test]
fn f083_values_that_look_like_a_reply_come_back_whole() {
    for stand in [Stand::embedded(), Stand::real()] {
        let client = stand.client();
        for reply in [
            "OK",
            "STORED",
            "NOT_STORED",
            "EXISTS",
            "NOT_FOUND",
            "ERROR",
            "CLIENT_ERROR x",
            "SERVER_ERROR x",
            "VALUE a 0 1",
            "VALUE k 0 5",
            "STAT a b",
            "VERSION 1",
            "EN",
            "HD",
            "VA 1",
            "MN",
            "TOUCHED",
            "DELETED",
            "123",
        ] {
            comes_back(&client, reply.as_bytes());
            comes_back(&client, format!("{reply}\r\n").as_bytes());
            comes_back(&client, format!("\r\n{reply}\r\nEND\r\n").as_bytes());
        }
    }
}

#[test]
fn f085_a_key_that_says_error_is_an_ordinary_key() {
    for stand in [Stand::embedded(), Stand::real()] {
        let client = stand.client();
        let keys = ["MY_ERROR_1", "ERROR", "CLIENT_ERROR", "xSERVER_ERROR", "END", "VALUE", "0"];
        client.set_many(keys.map(|key| (key, key)), Ttl::NEVER).into_result().unwrap();
        for key in keys {
            assert_eq!(client.get::<String>(key).unwrap().as_deref(), Some(key));
            assert_eq!(client.gets::<String>(key).unwrap().unwrap().value, key);
        }
        let found = client.get_many::<String, _>(keys);
        assert!(keys.iter().all(|key| found.get(key).is_some_and(|value| value == key)));
    }
}

#[test]
fn f086_a_value_too_large_is_told_by_kind_and_size_and_the_connection_goes_on() {
    for stand in [Stand::embedded(), Stand::real()] {
        let client = stand.client();
        client.set("other", "o", Ttl::NEVER).unwrap();
        for size in [1 << 20, TOO_LARGE] {
            let value = noise(size);
            let value = serde_bytes::Bytes::new(&value);
            let again = || client.set("k", "old", Ttl::NEVER).unwrap();
            again();
            let token = client.gets::<String>("k").unwrap().unwrap().cas;
            let cas = client.cas("k", value, Ttl::NEVER, &token).unwrap_err();
            again();
            let many = client.set_many([("m", value)], Ttl::NEVER).into_result().unwrap_err();
            for error in [
                cas,
                many,
                client.replace("k", value, Ttl::NEVER).unwrap_err(),
                client.set("k", value, Ttl::NEVER).unwrap_err(),
                client.set_raw("k", value, 0, Ttl::NEVER).unwrap_err(),
                client.add("new", value, Ttl::NEVER).unwrap_err(),
            ] {
                assert_eq!(error.kind(), ErrorKind::ValueTooLarge, "{error}");
                assert!(error.to_string().contains(&format!("{size} bytes")), "{error}");
                assert!(!error.may_retry() && !error.may_have_been_applied(), "{error}");
                assert_eq!(client.get::<String>("other").unwrap().as_deref(), Some("o"));
            }
        }
        assert_eq!(client.status().servers[0].dials, 1);
    }
}

#[test]
fn f087_a_servers_clean_error_costs_no_connection() {
    let stand = Stand::real();
    let client = stand.builder().max_connections(1).build().unwrap();
    let value = noise(TOO_LARGE);
    for _ in 0..50 {
        let error = client.set_raw("k", &value, 0, Ttl::NEVER).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ValueTooLarge);
    }
    let node = &client.status().servers[0];
    assert_eq!((node.dials, node.failures), (1, 0));
    // The same for a server that is short of memory, many times over.
    let server = TestServer::start().unwrap();
    let short = b"SERVER_ERROR out of memory storing object\r\n".to_vec();
    server.fault(mcpool::testing::Fault::Reply(short), mcpool::testing::When::always().verb("set"));
    let client = self::client(server.address());
    for _ in 0..200 {
        let error = client.set("k", "v", Ttl::NEVER).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert!(error.to_string().contains("out of memory storing object"), "{error}");
    }
    let node = &client.status().servers[0];
    assert_eq!((node.dials, node.failures), (1, 0));
}

#[test]
fn f088_after_a_store_that_was_too_large_the_old_value_is_where_the_error_says() {
    for stand in [Stand::embedded(), Stand::real()] {
        let client = stand.client();
        let value = noise(TOO_LARGE);
        let set_old = || client.set("k", "old", Ttl::NEVER).unwrap();
        // The server drops the old value of a set, and leaves that of an add or an append.
        set_old();
        assert!(client.set_raw("k", &value, 0, Ttl::NEVER).is_err());
        assert_eq!(client.get::<String>("k").unwrap(), None);
        set_old();
        assert!(client.add("k", serde_bytes::Bytes::new(&value), Ttl::NEVER).is_err());
        assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("old"));
        assert!(!client.append("k", &value).unwrap_or(false));
        assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("old"));
        // Nothing of a value that the client refuses is sent: the error says that the old one stays.
        let limited = stand.builder().max_value_bytes(1000).build().unwrap();
        let error = limited.set_raw("k", &value, 0, Ttl::NEVER).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ValueTooLarge);
        assert!(error.to_string().contains("nothing was sent"), "{error}");
        assert_eq!(limited.get::<String>("k").unwrap().as_deref(), Some("old"));
    }
}

#[test]
fn f089_a_server_without_memory_is_told_apart_and_still_reads() {
    let server = Memcached::start_with(&["-M", "-m", "2"]);
    let client = client(server.address());
    let value = noise(100_000);
    let outcomes: Vec<_> =
        (0..100).map(|i| client.set_raw(format!("k{i}"), &value, 0, Ttl::NEVER)).collect();
    let stored = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert!(0 < stored && stored < 100, "{stored} of 100 were stored");
    for error in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
        assert!(error.to_string().contains("SERVER_ERROR out of memory storing object"), "{error}");
    }
    for (i, outcome) in outcomes.iter().enumerate() {
        let found = client.get_raw(format!("k{i}")).unwrap();
        assert_eq!(found.is_some(), outcome.is_ok());
        assert!(found.is_none_or(|found| found.bytes == value));
    }
    assert_eq!(client.status().servers[0].dials, 1);
}

#[test]
fn f090_an_append_beyond_the_limit_is_not_stored_and_changes_nothing() {
    for stand in [Stand::embedded(), Stand::real()] {
        let client = stand.client();
        let value = noise(600_000);
        client.set_raw("k", &value, 0, Ttl::NEVER).unwrap();
        client.set("other", "o", Ttl::NEVER).unwrap();
        assert!(!client.append("k", &value).unwrap());
        assert!(!client.prepend("k", &value).unwrap());
        assert!(client.get_raw("k").unwrap().unwrap().bytes == value);
        assert_eq!(client.get::<String>("other").unwrap().as_deref(), Some("o"));
    }
}

#[test]
fn f091_values_of_every_size_come_back_around_every_buffers_edge() {
    let server = Memcached::start_with(&["-I", "16m", "-m", "256"]);
    let client = client(server.address());
    for size in [1, 2, 8191, 8192, 8193, 16_383, 16_384, 16_385, 65_535, 65_536, 65_537, 131_072] {
        comes_back(&client, &noise(size));
    }
    for size in [1_000_000, 4 << 20, 15 << 20] {
        let value = noise(size);
        client.set_raw("k", &value, 0, Ttl::NEVER).unwrap();
        assert!(client.get_raw("k").unwrap().unwrap().bytes == value, "{size} bytes");
    }
}

#[test]
fn f092_the_length_on_the_wire_is_that_of_the_value() {
    let server = Memcached::start_with(&["-I", "4m"]);
    let client = client(server.address());
    let wire = TestServer::builder().max_item_size(4 << 20).start().unwrap();
    let watched = self::client(wire.address());
    for size in [1_048_577, 1_500_000] {
        let value = noise(size);
        client.set_raw("k", &value, 0, Ttl::NEVER).unwrap();
        assert!(client.get_raw("k").unwrap().unwrap().bytes == value);
        watched.set_raw("k", &value, 0, Ttl::NEVER).unwrap();
        assert_eq!(wire.commands().last().unwrap(), &format!("set k 0 0 {size}"));
        assert!(wire.item("k") == Some((value, 0)));
    }
    // A structure, whose length is only known once it is encoded.
    let list: Vec<(u32, String)> = (0..60_000).map(|i| (i, format!("{i} ü \r\n"))).collect();
    client.set("k", &list, Ttl::NEVER).unwrap();
    assert!(client.get("k").unwrap() == Some(list.clone()));
    watched.set("k", &list, Ttl::NEVER).unwrap();
    let (bytes, flags) = wire.item("k").unwrap();
    assert_eq!(wire.commands().last().unwrap(), &format!("set k {flags} 0 {}", bytes.len()));
    assert!(bytes.len() > 1 << 20);
}

#[test]
fn f093_bytes_appended_to_a_structure_are_an_error_of_decoding_and_no_panic() {
    for stand in [Stand::embedded(), Stand::real()] {
        let client = stand.client();
        for (before, after) in [("", "[2]"), ("[0]", ""), ("\0", "\0")] {
            client.set("k", &vec![1_i32, 500], Ttl::NEVER).unwrap();
            assert!(client.append("k", after).unwrap() && client.prepend("k", before).unwrap());
            let error = client.get::<Vec<i32>>("k").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Decode, "{error}");
            let whole = format!("{before}[1,500]{after}");
            assert_eq!(error.raw_value().unwrap().0, whole.as_bytes());
        }
        // Text and bytes are what it is for.
        client.set("t", "a", Ttl::NEVER).unwrap();
        client.set("b", &vec![1_u8], Ttl::NEVER).unwrap();
        assert!(client.append("t", "b").unwrap() && client.prepend("b", [0_u8]).unwrap());
        assert_eq!(client.get::<String>("t").unwrap().as_deref(), Some("ab"));
        assert_eq!(client.get::<Vec<u8>>("b").unwrap(), Some(vec![0, 1]));
    }
}

#[test]
fn f094_append_and_prepend_leave_expiry_and_flags_as_they_were() {
    let stand = Stand::real();
    let client = stand.client();
    client.set_raw("k", "b", 77, Duration::from_secs(1000)).unwrap();
    assert!(client.append("k", "c").unwrap() && client.prepend("k", "a").unwrap());
    let line = stand.raw("mg k t f v\r\n", "abc\r\n");
    let (head, _) = line.split_once("\r\n").unwrap();
    let words: Vec<_> = head.split(' ').collect();
    assert_eq!((words[0], words[1], words[3]), ("VA", "3", "f77"), "{head}");
    let left: u32 = words[2].strip_prefix('t').unwrap().parse().unwrap();
    assert!((900..=1000).contains(&left), "{head}");
}
