//! Keys: none can become a command, none is changed on the way, a bad one costs nothing.

use std::time::Duration;

use mcpool::testing::TestServer;
use mcpool::{Client, ClientBuilder, Error, ErrorKind, KeyError, NodeState, Ttl};

use crate::stand::Stand;
use crate::support::calls::{Call, MANY, Many, SINGLE};
use crate::support::clients::patient;

/// Nothing but the test's calls opens connections.
fn client(server: &TestServer) -> ClientBuilder {
    patient(server.address()).maintenance_interval(Duration::ZERO)
}

/// The errors of every call that takes a key, by its name; a call of many keys has one for each.
fn every_call(client: &Client, key: &str) -> Vec<(&'static str, Vec<Error>)> {
    // A bad key has no token of its own.
    let legal = client.server_for(key).is_ok();
    let of = if legal { key } else { "of-the-token" };
    client.set(of, "v", Ttl::NEVER).unwrap();
    let token = client.gets::<String>(of).unwrap().unwrap().cas;
    if legal {
        client.delete(of).unwrap();
    }
    let single =
        |call: &Call| (call.name, (call.run)(client, key, &token).err().into_iter().collect());
    let many = |call: &Many| (call.name, (call.run)(client, &[key.to_owned()]));
    SINGLE.iter().map(single).chain(MANY[..4].iter().map(many)).collect()
}

/// Every call refuses the key for the reason given, says so, and sends nothing; the connection stays in step.
fn refused_everywhere(key: &str, why: KeyError) {
    let server = TestServer::start().unwrap();
    let client = client(&server).build().unwrap();
    client.set("sentinel", "alive", Ttl::NEVER).unwrap();
    for (call, errors) in every_call(&client, key) {
        let [error] = &errors[..] else { panic!("{call} {key:?}: {errors:?}") };
        assert_eq!(error.kind(), ErrorKind::InvalidKey, "{call} {key:?}: {error}");
        let source = std::error::Error::source(error).and_then(|s| s.downcast_ref::<KeyError>());
        assert_eq!(source, Some(&why), "{call} {key:?}");
        assert!(error.to_string().contains(&why.to_string()), "{call} {key:?}: {error}");
    }
    let server_for = client.server_for(key).expect_err("no server has a bad key");
    assert_eq!(server_for.kind(), ErrorKind::InvalidKey);
    let sent = ["set sentinel 0 0 5", "set of-the-token 0 0 1", "gets of-the-token"];
    assert_eq!(server.commands(), sent, "{key:?} was sent");
    assert_eq!(client.get::<String>("sentinel").unwrap().as_deref(), Some("alive"));
    assert_eq!(client.status().servers[0].dials, 1);
}

fn refused_at(key: &str, at: usize) {
    refused_everywhere(key, KeyError::IllegalByte { byte: key.as_bytes()[at], at });
}

#[test]
fn f066_a_key_can_never_carry_a_command() {
    for key in ["a\r\nflush_all\r\n", "a\nflush_all", "a\rb", "a flush_all"] {
        refused_at(key, 1);
    }
    // The same through what changes keys: a prefix, a placement by another key, URL-encoding.
    let server = TestServer::start().unwrap();
    let client = client(&server).key_prefix("p:").build().unwrap();
    let routed = mcpool::Key::routed("a\r\nflush_all", "b");
    assert_eq!(client.delete(&routed).unwrap_err().kind(), ErrorKind::InvalidKey);
    assert_eq!(client.delete("a\r\nflush_all").unwrap_err().kind(), ErrorKind::InvalidKey);
    let prefix = client.with_prefix("p\r\nflush_all\r\n").unwrap_err();
    assert_eq!(prefix.kind(), ErrorKind::Config);
    let by = mcpool::Key::routed("k", "b\r\nflush_all");
    client.set(&by, "v", Ttl::NEVER).unwrap();
    assert_eq!(server.commands(), ["set p:k 0 0 1"]);
    let encoding = self::client(&server).sanitize_keys(true).build().unwrap();
    encoding.set("a\r\nflush_all", "v", Ttl::NEVER).unwrap();
    assert_eq!(server.commands()[1], "set a%0D%0Aflush_all 0 0 1");
}

#[test]
fn f067_a_nul_byte_in_a_key_is_refused() {
    refused_at("a\0b", 1);
    refused_at("\0", 0);
    refused_at("a\0", 1);
}

#[test]
fn f068_every_control_byte_in_a_key_is_refused_by_every_call() {
    for byte in (0..=b' ').chain([0x7f]) {
        refused_at(&format!("a{}b", char::from(byte)), 1);
    }
}

#[test]
fn f069_an_empty_key_is_called_empty() {
    refused_everywhere("", KeyError::Empty);
    assert!(KeyError::Empty.to_string().contains("empty"));
    let stand = Stand::real();
    let client = stand.client();
    client.set("a", "v", Ttl::NEVER).unwrap();
    let found = client.get_many::<String, _>(["a", "", "b"]);
    assert_eq!(found.get("a").map(String::as_str), Some("v"));
    assert!(matches!(found.outcome("b"), Some(Ok(None))));
    let error = found.outcome("").unwrap().as_ref().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidKey);
}

#[test]
fn f070_a_key_of_250_bytes_works_everywhere_and_one_of_251_is_refused_with_its_length() {
    for stand in [Stand::embedded(), Stand::real()] {
        let client = stand.client();
        for len in [249, 250] {
            let key = "k".repeat(len);
            for (call, errors) in every_call(&client, &key) {
                assert!(errors.is_empty(), "{call} with {len} bytes: {errors:?}");
            }
            client.set(&key, "v", Ttl::NEVER).unwrap();
            assert_eq!(client.get::<String>(&key).unwrap().as_deref(), Some("v"));
        }
    }
    for len in [251, 252] {
        refused_everywhere(&"k".repeat(len), KeyError::TooLong { len, given: len });
        assert!(KeyError::TooLong { len, given: len }.to_string().contains(&len.to_string()));
    }
}

#[test]
fn f072_the_prefix_counts_toward_the_limit_as_it_goes_over_the_wire() {
    for stand in [Stand::embedded(), Stand::real()] {
        let client = stand.builder().key_prefix("p".repeat(20)).build().unwrap();
        client.set("other", "o", Ttl::NEVER).unwrap();
        for len in [229, 230] {
            let key = "k".repeat(len);
            client.set(&key, &len, Ttl::NEVER).unwrap();
            assert_eq!(client.get::<usize>(&key).unwrap(), Some(len));
        }
        let error = client.set("k".repeat(231), "v", Ttl::NEVER).unwrap_err();
        assert!(error.to_string().contains("231 bytes, 251 as it would be sent"), "{error}");
        assert_eq!(client.get::<String>("other").unwrap().as_deref(), Some("o"));
        // Encoding comes before counting: an ü is six bytes on the wire, not two.
        let encoding = stand.builder().sanitize_keys(true).build().unwrap();
        encoding.set("ü".repeat(41), "v", Ttl::NEVER).unwrap();
        let error = encoding.set("ü".repeat(42), "v", Ttl::NEVER).unwrap_err();
        assert!(error.to_string().contains("84 bytes, 252 as it would be sent"), "{error}");
    }
}

#[test]
fn f073_a_key_in_any_script_is_sent_as_its_utf8_bytes_and_counted_in_bytes() {
    let stand = Stand::real();
    let client = stand.client();
    let longest = "日".repeat(83);
    for key in ["ñ", "ключ", "日本語", "🔑", &longest] {
        client.set(key, key, Ttl::NEVER).unwrap();
        assert_eq!(client.get::<String>(key).unwrap().as_deref(), Some(key));
        let found = client.get_many::<String, _>([key]);
        assert_eq!(found.get(key).map(String::as_str), Some(key));
        let bytes = |text: &str| text.bytes().map(char::from).collect::<String>();
        let wire = stand.raw(&format!("get {key}\r\n"), "END\r\n");
        assert_eq!(wire, format!("VALUE {0} 0 {1}\r\n{0}\r\nEND\r\n", bytes(key), key.len()));
        assert!(client.delete(key).unwrap());
        assert_eq!(client.get::<String>(key).unwrap(), None);
    }
    refused_everywhere(&"日".repeat(84), KeyError::TooLong { len: 252, given: 252 });
}

#[test]
fn f074_blanks_beyond_ascii_stay_in_a_key_byte_for_byte() {
    for stand in [Stand::embedded(), Stand::real()] {
        let client = stand.client();
        let blanks = ["", "\u{a0}", "\u{85}", "\u{2028}", "\u{3000}", "\u{feff}", "\u{200b}"];
        let keys: Vec<_> = blanks.iter().map(|blank| format!("a{blank}b{blank}")).collect();
        for key in &keys {
            client.set(key, key, Ttl::NEVER).unwrap();
        }
        for key in &keys {
            assert_eq!(client.get::<String>(key).unwrap().as_ref(), Some(key));
        }
        let found = client.get_many::<String, _>(&keys);
        assert!(keys.iter().all(|key| found.get(key) == Some(key)));
    }
}

#[test]
fn f075_the_value_of_a_refused_store_is_never_run_as_a_command() {
    let stand = Stand::real();
    let client = stand.client();
    client.set("sentinel", &1, Ttl::NEVER).unwrap();
    let long = "x".repeat(251);
    for key in [long.as_str(), "a b", "", "a\r\n"] {
        for value in ["flush_all", "flush_all\r\n"] {
            let error = client.set(key, value, Ttl::NEVER).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidKey);
            let many = client.set_many([("good", value), (key, value)], Ttl::NEVER);
            assert_eq!(many.failures().count(), 1);
        }
    }
    assert_eq!(client.get::<i32>("sentinel").unwrap(), Some(1));
    assert_eq!(client.get::<String>("good").unwrap().as_deref(), Some("flush_all\r\n"));
}

#[test]
fn f076_every_call_sends_the_same_key_for_the_same_key() {
    let server = TestServer::start().unwrap();
    let client = client(&server).key_prefix("p:").sanitize_keys(true).build().unwrap();
    let calls = every_call(&client, "grün & blau");
    let commands = server.commands();
    assert!(commands.len() >= calls.len(), "{commands:?}");
    for line in &commands {
        assert!(line.split(' ').any(|word| word == "p:gr%C3%BCn+%26+blau"), "{line}");
    }
    assert!(calls.iter().all(|(_, errors)| errors.is_empty()), "{calls:?}");
}

#[test]
fn f077_keys_that_encoding_could_confuse_stay_apart() {
    let stand = Stand::real();
    let keys = [("a b", 1), ("a%20b", 2), ("a+b", 3), ("a_b", 4), ("a%2Bb", 5)];
    let encoding = stand.builder().sanitize_keys(true).build().unwrap();
    for (key, n) in keys {
        encoding.set(key, &n, Ttl::NEVER).unwrap();
    }
    for (key, n) in keys {
        assert_eq!(encoding.get::<i32>(key).unwrap(), Some(n), "{key}");
    }
    let plain = stand.builder().key_prefix("plain:").build().unwrap();
    for (key, n) in &keys[1..] {
        plain.set(key, n, Ttl::NEVER).unwrap();
    }
    for (key, n) in &keys[1..] {
        assert_eq!(plain.get::<i32>(key).unwrap(), Some(*n), "{key}");
    }
    assert_eq!(plain.get::<i32>("a b").unwrap_err().kind(), ErrorKind::InvalidKey);
}

#[test]
fn f078_a_bad_key_is_an_error_at_once_and_no_ones_fault_but_the_callers() {
    let server = TestServer::start().unwrap();
    let client = client(&server).errors_as_misses(true).build().unwrap();
    for _ in 0..100 {
        for error in [
            client.get::<String>("inva lid").unwrap_err(),
            client.set("inva lid", "v", Ttl::NEVER).unwrap_err(),
            client.delete("inva lid").unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::InvalidKey);
            assert!(!error.may_retry() && !error.may_have_been_applied());
            assert_eq!(error.key(), Some(&b"inva lid"[..]));
            assert!(error.elapsed().is_some_and(|e| e < Duration::from_secs(1)), "{error}");
        }
    }
    let server = &client.status().servers[0];
    assert_eq!((server.dials, server.failures, server.retries), (0, 0, 0));
    assert_eq!(server.state, NodeState::Up);
}

#[test]
fn f079_keys_far_too_long_cost_no_connection() {
    let stand = Stand::real();
    let client = stand.client();
    client.set("k", "v", Ttl::NEVER).unwrap();
    for len in [300, 3_000, 100_000] {
        let key = "k".repeat(len);
        for _ in 0..20 {
            assert_eq!(client.get::<String>(&key).unwrap_err().kind(), ErrorKind::InvalidKey);
            assert!(client.set(&key, "v", Ttl::NEVER).is_err() && client.delete(&key).is_err());
        }
        let error = client.get::<String>(&key).unwrap_err().to_string();
        assert!(error.len() < 500 && error.contains(&format!("{len} bytes")), "{error}");
    }
    assert!(client.contains_key("k").unwrap());
    assert_eq!(client.status().servers[0].dials, 1);
}
