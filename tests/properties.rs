//! Properties over generated input: round trips, stable placement, expiry arithmetic.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::collections::BTreeMap;
use std::time::Duration;

use mcpool::testing::TestServer;
use mcpool::{Client, Codec, Placement, Ttl};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

const CODECS: [Codec; 15] = [
    Codec::Json,
    Codec::Whalin,
    Codec::Spymemcached,
    Codec::Xmemcached,
    Codec::PhpMemcached,
    Codec::PeclMemcache,
    Codec::Pymemcache,
    Codec::Pylibmc,
    Codec::PythonMemcached,
    Codec::PythonBinaryMemcached,
    Codec::PerlCacheMemcached,
    Codec::Dalli,
    Codec::DalliJson,
    Codec::Gomemcache,
    Codec::RustMemcache,
];

/// Stores every generated value through every codec, with primitives as strings and without, and reads it back.
fn round_trips<T>(cases: u32, values: impl Strategy<Value = T>)
where
    T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let server = TestServer::start().expect("a server");
    let clients: Vec<Client> = CODECS
        .iter()
        .flat_map(|codec| [false, true].map(|as_strings| (codec.clone(), as_strings)))
        .map(|(codec, as_strings)| {
            Client::builder()
                .servers(server.address())
                .timeout(Duration::from_secs(20))
                .codec(codec)
                .primitives_as_strings(as_strings)
                .build()
                .expect("a client")
        })
        .collect();
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    runner
        .run(&values, |value| {
            for client in &clients {
                client.set("k", &value, Ttl::NEVER).expect("stored");
                let read: Option<T> = client.get("k").expect("read");
                prop_assert_eq!(read.as_ref(), Some(&value), "{:?}", client);
            }
            Ok(())
        })
        .unwrap_or_else(|e| panic!("{e}"));
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Shape {
    Point,
    Named(String),
    Pair(i64, Option<u8>),
    Record { id: u64, tags: Vec<String>, score: Option<f64> },
}

fn shapes() -> impl Strategy<Value = Shape> {
    let finite = prop::num::f64::NORMAL | prop::num::f64::ZERO;
    prop_oneof![
        Just(Shape::Point),
        any::<String>().prop_map(Shape::Named),
        any::<(i64, Option<u8>)>().prop_map(|(a, b)| Shape::Pair(a, b)),
        (any::<u64>(), prop::collection::vec(any::<String>(), 0..4), prop::option::of(finite))
            .prop_map(|(id, tags, score)| Shape::Record { id, tags, score }),
    ]
}

#[test]
fn strings_come_back_as_they_were() {
    round_trips(200, any::<String>());
}

#[test]
fn bytes_come_back_as_they_were_also_when_they_look_like_protocol() {
    let protocol = prop::sample::select(vec![
        b"END\r\n".to_vec(),
        b"\r\nSTORED\r\n".to_vec(),
        b"VALUE k 0 1\r\nx\r\nEND\r\n".to_vec(),
    ]);
    round_trips(200, prop_oneof![prop::collection::vec(any::<u8>(), 0..300), protocol]);
}

#[test]
fn signed_integers_come_back_as_they_were() {
    round_trips(200, any::<i64>());
    round_trips(50, any::<i16>());
    round_trips(50, any::<i8>());
}

#[test]
fn floats_come_back_to_the_last_bit() {
    round_trips(300, prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO);
    round_trips(100, prop::num::f32::NORMAL | prop::num::f32::SUBNORMAL | prop::num::f32::ZERO);
}

#[test]
fn structures_come_back_as_they_were() {
    round_trips(150, prop::collection::btree_map(any::<String>(), shapes(), 0..5));
    round_trips(100, prop::option::of(prop::collection::vec(shapes(), 0..5)));
}

#[test]
fn many_keys_come_back_each_with_its_own_value() {
    let servers: Vec<_> = (0..3).map(|_| TestServer::start().expect("a server")).collect();
    let addresses: Vec<_> = servers.iter().map(TestServer::address).collect();
    let client = Client::builder()
        .servers(addresses)
        .timeout(Duration::from_secs(20))
        .build()
        .expect("built");
    let keys = prop::collection::btree_map(
        "[a-z]{1,8}",
        prop::collection::vec(any::<u8>(), 0..200),
        0..150,
    );
    let mut runner =
        TestRunner::new(Config { cases: 40, failure_persistence: None, ..Config::default() });
    runner
        .run(&keys, |map| {
            for result in client.flush_all(Duration::ZERO) {
                result.1.expect("flushed");
            }
            client.set_many(&map, Ttl::NEVER).into_result().expect("stored");
            let found: BTreeMap<_, Vec<u8>> = client
                .get_many(map.keys())
                .into_result()
                .expect("read")
                .into_iter()
                .map(|(k, v)| (k.clone(), v.expect("a hit")))
                .collect();
            prop_assert_eq!(found, map);
            Ok(())
        })
        .unwrap_or_else(|e| panic!("{e}"));
}

/// The server of each key, without a connection being made.
fn homes(placement: Placement, servers: &[String], keys: &[String]) -> Vec<String> {
    let client = Client::builder().servers(servers).placement(placement).build().expect("built");
    keys.iter().map(|key| client.server_for(key).expect("a legal key")).collect()
}

#[test]
fn a_server_that_leaves_or_joins_moves_only_its_own_keys_on_the_rings() {
    let input =
        (2..9_usize, any::<prop::sample::Index>(), prop::collection::vec("[a-z0-9:]{1,20}", 60));
    let mut runner =
        TestRunner::new(Config { cases: 24, failure_persistence: None, ..Config::default() });
    runner
        .run(&input, |(n, gone, keys)| {
            let servers: Vec<String> = (0..n).map(|i| format!("10.0.0.{i}:11211")).collect();
            let gone = &servers[gone.index(n)];
            let rest: Vec<String> = servers.iter().filter(|s| *s != gone).cloned().collect();
            for placement in [Placement::Consistent, Placement::Ketama] {
                let before = homes(placement, &servers, &keys);
                let after = homes(placement, &rest, &keys);
                for (old, new) in before.iter().zip(&after) {
                    prop_assert!(
                        old == new || old == gone,
                        "{} moved from {} to {}",
                        placement,
                        old,
                        new
                    );
                }
            }
            Ok(())
        })
        .unwrap_or_else(|e| panic!("{e}"));
}

/// Flags that some codec has a meaning for come first: any others are refused before the bytes are looked at.
fn flags() -> impl Strategy<Value = u32> {
    let known = |flags: &u32| CODECS.iter().any(|codec| codec.meaning(*flags).is_some());
    let known: Vec<u32> = (0..0x1_0000).filter(known).collect();
    prop_oneof![9 => prop::sample::select(known), 1 => any::<u32>()]
}

/// Bytes at random, and such as begin like the formats that codecs read.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let begins = prop::sample::select(vec![
        &b""[..],
        b"a:2:{i:0;s:2:\"",
        b"a:1:{s:3:\"abc\";d:",
        b"O:3:\"",
        b"\x80\x05\x95\x0a\0\0\0\0\0\0\0G",
        b"\x04\x08",
        b"\x1f\x8b\x08\0\0\0\0\0\0\xff",
        b"\x05\0\0\0\x78\x9c",
        b"\x78\x9c",
        b"\xac\xed\0\x05",
        b"[{\"a\":",
    ]);
    let text = "[0-9a-zA-Z:;{}\".+-]{0,40}".prop_map(String::into_bytes);
    let rest = prop_oneof![prop::collection::vec(any::<u8>(), 0..60), text];
    (begins, rest).prop_map(|(begin, rest)| [begin, &rest].concat())
}

#[test]
fn no_stored_bytes_make_a_codec_panic_or_lose_them() {
    let mut runner =
        TestRunner::new(Config { cases: 5000, failure_persistence: None, ..Config::default() });
    runner
        .run(&(flags(), hostile()), |(flags, bytes)| {
            mcpool::fuzzing::stored_value(&[&flags.to_be_bytes()[..], &bytes].concat());
            Ok(())
        })
        .unwrap_or_else(|e| panic!("{e}"));
}
