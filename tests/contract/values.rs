//! Values of every kind go out and come back the same, by every codec that can hold them.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

use mcpool::{Client, Codec, Ttl};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::stand::Stand;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Account {
    id: u64,
    name: String,
    balance: Option<f64>,
    #[serde(with = "serde_bytes")]
    avatar: Vec<u8>,
    role: Role,
    #[serde(flatten)]
    more: BTreeMap<String, i32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Role {
    Guest,
    Member(u8),
    Owner { since: i64 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Meters(f32);

/// Through a call for one key, a call for many, and a read with a token.
fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(client: &Client, value: T) {
    client.set("one", &value, Ttl::NEVER).unwrap();
    assert_eq!(client.get::<T>("one").unwrap().as_ref(), Some(&value));
    client.set_many([("many", &value)], Ttl::NEVER).into_result().unwrap();
    assert_eq!(client.get_many::<T, _>(["many"]).get("many"), Some(&value));
    let item = client.gets::<T>("many").unwrap().unwrap();
    assert_eq!(item.value, value);
    let stored = [client.get_raw("one").unwrap(), client.get_raw("many").unwrap()];
    assert_eq!(stored[0], stored[1], "stored alike by one and by many");
    assert_eq!(stored[0].as_ref().map(|raw| raw.flags), Some(item.flags));
}

pub(crate) fn every_kind_of_value_comes_back_by_every_codec(stand: &Stand) {
    for codec in [Codec::Json, Codec::Whalin] {
        for strings in [false, true] {
            let client = &stand.client_with(|settings| {
                settings.codec(codec.clone()).primitives_as_strings(strings)
            });
            numbers(client);
            texts_and_bytes(client);
            structures(client);
        }
    }
}

fn numbers(client: &Client) {
    for n in [i8::MIN, -1, 0, i8::MAX] {
        comes_back(client, n);
        comes_back(client, i16::from(n));
    }
    for n in [i32::MIN, i32::MAX] {
        comes_back(client, n);
    }
    for n in [i64::MIN, i64::MAX] {
        comes_back(client, n);
        comes_back(client, n.unsigned_abs() >> 1);
        comes_back(client, i128::from(n) * 3);
    }
    comes_back(client, (u8::MAX, u16::MAX, u32::MAX));
    comes_back(client, u8::MAX);
    comes_back(client, u16::MAX);
    comes_back(client, u32::MAX);
    for x in [0.0, -0.0, 0.1 + 0.2, f64::MIN_POSITIVE, f64::MAX, -1e-300] {
        comes_back(client, x);
        let Some(kept) = client.get::<f64>("one").unwrap() else { panic!("stored") };
        assert_eq!(kept.to_bits(), x.to_bits(), "to the last bit");
    }
    comes_back(client, f32::MAX);
    comes_back(client, true);
    comes_back(client, false);
}

fn texts_and_bytes(client: &Client) {
    for text in ["", "text", "grün 漢字 🦀", "5", "true", "null", "line\r\nEND\r\n", "\0"] {
        comes_back(client, text.to_owned());
    }
    for char in ['a', 'ü', '漢', '🦀', '"'] {
        comes_back(client, char);
    }
    comes_back(client, Vec::<u8>::new());
    comes_back(client, (0..=255).collect::<Vec<u8>>());
    comes_back(client, [1_u8, 2, 3, 4]);
    comes_back(client, serde_bytes::ByteBuf::from(b"\r\nEND\r\n".to_vec()));
}

fn structures(client: &Client) {
    let account = |role| Account {
        id: u64::MAX,
        name: "Ann \"A\"".to_owned(),
        balance: Some(-12.75),
        avatar: vec![0, 255],
        role,
        more: BTreeMap::from([("score".to_owned(), -3)]),
    };
    for role in [Role::Guest, Role::Member(7), Role::Owner { since: -1 }] {
        comes_back(client, role.clone());
        comes_back(client, account(role));
    }
    comes_back(client, Meters(1.5));
    comes_back(client, Some(5_u32));
    comes_back(client, None::<u32>);
    comes_back(client, ());
    comes_back(client, Vec::<String>::new());
    comes_back(client, vec![1_u32, 300]);
    comes_back(client, vec![vec![0_u8, 1], vec![]]);
    comes_back(client, HashMap::from([(1_u64, Some('x')), (u64::MAX, None)]));
    comes_back(client, serde_json::json!({"a": [1, 2.5, null, {"b": "c"}]}));
}
