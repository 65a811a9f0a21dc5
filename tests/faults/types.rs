//! Types: a value comes back as what it was, is refused, or is a typed error; never something else.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use mcpool::testing::{Fault, TestServer, When};
use mcpool::{Client, Codec, ErrorKind, Ttl};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::stand::Stand;
use crate::support::clients::patient;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct User {
    id: u64,
    name: Option<String>,
    shape: Shape,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Shape {
    Dot,
    Circle(f64),
    Box { w: u8, h: u8 },
}

/// Nothing but the test's calls talks to the server.
fn client(server: &TestServer, codec: Codec) -> Client {
    let builder = patient(server.address()).codec(codec);
    builder.maintenance_interval(Duration::ZERO).build().unwrap()
}

fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(client: &Client, value: &T) {
    client.set("k", value, Ttl::NEVER).unwrap();
    assert_eq!(client.get::<T>("k").unwrap().as_ref(), Some(value));
    assert_eq!(client.get_many::<T, _>(["k"]).get("k"), Some(value));
}

fn fails<T: DeserializeOwned + Debug>(client: &Client, bytes: &[u8], flags: u32) {
    let error = client.get::<T>("k").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode, "{error}");
    assert_eq!(error.raw_value(), Some((bytes, flags)), "{error}");
    assert!(error.to_string().contains(&format!("flags {flags}")), "{error}");
}

#[test]
fn f145_f157_what_another_client_wrote_is_read_or_named_and_never_a_miss() {
    for stand in [Stand::embedded(), Stand::real()] {
        for codec in [Codec::Json, Codec::Whalin] {
            let client = stand.builder().codec(codec).build().unwrap();
            for flags in [0, 1, 2, 4, 16, 21, 32, 256, 0x8001, 0x8000 | 1 << 16, 0x1_0000, u32::MAX]
            {
                client.set_raw("k", "hello", flags, Ttl::NEVER).unwrap();
                let raw = client.get_raw("k").unwrap().unwrap();
                assert_eq!((raw.bytes.as_slice(), raw.flags), (&b"hello"[..], flags));
                fails::<u32>(&client, b"hello", flags);
                fails::<User>(&client, b"hello", flags);
                match client.get::<String>("k") {
                    Ok(text) => assert_eq!(text.as_deref(), Some("hello"), "{flags}"),
                    Err(_) => fails::<String>(&client, b"hello", flags),
                }
            }
        }
        assert_eq!(stand.client().get::<String>("missing").unwrap(), None);
        // A flag of ours with one bit more than we know is nobody's that we know.
        let client = stand.client();
        client.set_raw("k", "[1]", 0x8000, Ttl::NEVER).unwrap();
        assert_eq!(client.get::<Vec<i32>>("k").unwrap(), Some(vec![1]));
        for bit in (0..32).map(|i| 1_u32 << i).filter(|bit| ![0x8000, 0x1000, 0x40].contains(bit)) {
            client.set_raw("k", "[1]", 0x8000 | bit, Ttl::NEVER).unwrap();
            fails::<Vec<i32>>(&client, b"[1]", 0x8000 | bit);
        }
    }
}

#[test]
fn f146_f147_every_type_comes_back_equal_or_is_refused() {
    let stand = Stand::real();
    for as_strings in [false, true] {
        for codec in [Codec::Json, Codec::Whalin] {
            let builder = stand.builder().codec(codec.clone()).primitives_as_strings(as_strings);
            let client = &builder.build().unwrap();
            for b in [true, false] {
                comes_back(client, &b);
                let word = client.get::<String>("k");
                assert!(word.is_err() || word.unwrap() == Some(b.to_string()), "{codec:?}");
            }
            comes_back(client, &i8::MIN);
            comes_back(client, &i16::MIN);
            comes_back(client, &i32::MIN);
            comes_back(client, &i64::MIN);
            comes_back(client, &u8::MAX);
            comes_back(client, &u16::MAX);
            comes_back(client, &u32::MAX);
            comes_back(client, &i128::MIN);
            comes_back(client, &0.1_f32);
            comes_back(client, &f64::MAX);
            comes_back(client, &'ü');
            comes_back(client, &());
            comes_back(client, &String::from("ü"));
            comes_back(client, &vec![0_u8, 255]);
            comes_back(client, &Some(5));
            comes_back(client, &None::<i32>);
            comes_back(client, &(1, "a".to_owned(), 2.5));
            comes_back(client, &Shape::Dot);
            comes_back(client, &BTreeMap::from([(-1, "a".to_owned())]));
            comes_back(client, &Shape::Circle(0.5));
            comes_back(
                client,
                &User { id: u64::MAX, name: None, shape: Shape::Box { w: 1, h: 2 } },
            );
            // What may be refused, is refused or comes back; nothing is changed on the way.
            if client.set("k", &u64::MAX, Ttl::NEVER).is_ok() {
                comes_back(client, &u64::MAX);
            }
            comes_back(client, &-0.0);
            assert!(client.get::<f64>("k").unwrap().unwrap().is_sign_negative());
            for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                match client.set("k", &odd, Ttl::NEVER) {
                    Ok(()) => {
                        let back = client.get::<f64>("k").unwrap().unwrap();
                        assert!(
                            back == odd || back.is_nan() && odd.is_nan(),
                            "{odd} became {back}"
                        );
                    }
                    Err(e) => assert_eq!(e.kind(), ErrorKind::Encode),
                }
            }
        }
    }
    let client = stand.client();
    client.set("k", &true, Ttl::NEVER).unwrap();
    assert_eq!(client.get::<Value>("k").unwrap(), Some(json!(true)));
    assert_eq!(client.get::<u8>("k").unwrap_err().kind(), ErrorKind::Decode);
}

#[test]
fn f149_a_number_is_read_as_the_type_asked_for_or_not_at_all() {
    let stand = Stand::real();
    let client = stand.client();
    client.set("k", &5_i32, Ttl::NEVER).unwrap();
    assert_eq!(client.get::<i64>("k").unwrap(), Some(5));
    assert_eq!(client.get::<u8>("k").unwrap(), Some(5));
    assert_eq!(client.get::<f64>("k").unwrap(), Some(5.0));
    fails::<String>(&client, b"5", 0x8000);
    client.set("k", &300, Ttl::NEVER).unwrap();
    fails::<u8>(&client, b"300", 0x8000);
    client.set("k", &-1, Ttl::NEVER).unwrap();
    fails::<u32>(&client, b"-1", 0x8000);
    client.set("k", &2.5, Ttl::NEVER).unwrap();
    fails::<i32>(&client, b"2.5", 0x8000);
    client.set("k", "", Ttl::NEVER).unwrap();
    fails::<u32>(&client, b"", 0);
}

#[test]
fn f150_f151_f152_a_stored_nothing_is_a_hit_alone_and_among_many() {
    for stand in [Stand::embedded(), Stand::real()] {
        for codec in [Codec::Json, Codec::Whalin] {
            let client = stand.builder().codec(codec).build().unwrap();
            client.set("none", &None::<i32>, Ttl::NEVER).unwrap();
            client.set("some", &Some(5), Ttl::NEVER).unwrap();
            let keys = ["none", "some", "missing"];
            let expected = [Some(None), Some(Some(5)), None];
            let found = client.get_many::<Option<i32>, _>(keys);
            for (key, value) in keys.iter().zip(expected) {
                assert_eq!(client.get::<Option<i32>>(key).unwrap(), value, "{key}");
                assert_eq!(found.outcome(key).unwrap().as_ref().unwrap(), &value, "{key}");
            }
            client.set("unit", &(), Ttl::NEVER).unwrap();
            client.set("false", &false, Ttl::NEVER).unwrap();
            client.set("zero", &0, Ttl::NEVER).unwrap();
            client.set("empty", "", Ttl::NEVER).unwrap();
            assert_eq!(client.get::<()>("unit").unwrap(), Some(()));
            assert_eq!(client.get::<bool>("false").unwrap(), Some(false));
            assert_eq!(client.get::<i32>("zero").unwrap(), Some(0));
            assert_eq!(client.get::<String>("empty").unwrap(), Some(String::new()));
            assert_eq!(client.get_many::<bool, _>(["false"]).get("false"), Some(&false));
            assert_eq!(client.get_many::<i32, _>(["zero"]).get("zero"), Some(&0));
            assert_eq!(client.get_many::<String, _>(["empty"]).get("empty"), Some(&String::new()));
            assert!(
                ["none", "unit", "false", "zero", "empty"]
                    .iter()
                    .all(|k| client.contains_key(k).unwrap())
            );
        }
    }
}

#[test]
fn f154_hostile_values_are_errors_and_run_nothing() {
    let deep = "[".repeat(100_000);
    let maps = r#"{"a":"#.repeat(100_000);
    let hostile = [
        deep.as_bytes(),
        maps.as_bytes(),
        b"\xac\xed\x00\x05sr",
        b"\x80\x04K\x05.",
        b"O:3:\"Foo\":0:{}",
        b"\xff\xff\xff\xff",
    ];
    let server = TestServer::start().unwrap();
    for codec in [Codec::Json, Codec::Whalin] {
        let client = client(&server, codec);
        for bytes in hostile {
            for flags in (0..32).map(|bit| 1 << bit).chain([0, 0x8000, 0x8040, 0x9000]) {
                server.put("k", bytes, flags);
                // Numbers in binary form may be read as such; structures never.
                assert_eq!(client.get::<User>("k").unwrap_err().kind(), ErrorKind::Decode);
                assert_eq!(client.get::<Vec<Vec<u32>>>("k").unwrap_err().kind(), ErrorKind::Decode);
                let any = client.get::<Value>("k");
                assert!(any.is_ok() || any.unwrap_err().kind() == ErrorKind::Decode);
            }
        }
        server.put("good", "v", 0);
        assert_eq!(client.get::<String>("good").unwrap().as_deref(), Some("v"));
    }
}

#[test]
fn f155_flags_beyond_32_bits_are_a_typed_error_and_never_cut() {
    let server = TestServer::start().unwrap();
    let client = client(&server, Codec::Json);
    server.put("good", "v", 0);
    for flags in ["18446744073709551615", "4294967296", "-2147483649", "x", ""] {
        // A read is asked for a second time on a fresh connection.
        let reply = format!("VALUE k {flags} 1\r\nA\r\nEND\r\n");
        server.fault(Fault::Reply(reply.into()), When::next(2).verb("get"));
        let error = client.get_raw("k").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{flags}: {error}");
        assert_eq!(client.get::<String>("good").unwrap().as_deref(), Some("v"));
    }
}

#[test]
fn f156_flags_keep_all_32_bits_and_the_clients_own_need_only_16() {
    for stand in [Stand::embedded(), Stand::real()] {
        let client = stand.client();
        for flags in [0, 65_535, 65_536, 1 << 31, u32::MAX] {
            client.set_raw("k", "v", flags, Ttl::NEVER).unwrap();
            assert_eq!(client.get_raw("k").unwrap().unwrap().flags, flags);
        }
        for codec in [Codec::Json, Codec::Whalin] {
            let client = client.with_codec(codec);
            let own = |key: &str| client.get_raw(key).unwrap().unwrap().flags;
            client.set("s", "v", Ttl::NEVER).unwrap();
            client.set("n", &5_i64, Ttl::NEVER).unwrap();
            client.set("b", &vec![1_u8], Ttl::NEVER).unwrap();
            client.set("o", &None::<u8>, Ttl::NEVER).unwrap();
            client.set("j", &vec![vec![1]], Ttl::NEVER).unwrap();
            client.set_counter("c", 1, Ttl::NEVER).unwrap();
            for key in ["s", "n", "b", "o", "j", "c"] {
                assert!(own(key) <= 0xffff, "{key}: {}", own(key));
            }
        }
    }
}
