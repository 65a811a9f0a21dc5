//! Values and the bytes they are stored as.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use mcpool::{Codec, CustomCodec, ErrorKind, Payload, Preset, Ttl};
use serde::{Deserialize, Serialize};

use crate::stand::Stand;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct User {
    id: u64,
    name: String,
    tags: Vec<String>,
}

pub(crate) fn the_natural_thing_happens_to_every_kind_of_value(stand: &Stand) {
    let client = stand.client();
    let user = User { id: 42, name: "Ann".to_owned(), tags: vec!["a".to_owned()] };
    client.set("u", &user, Ttl::NEVER).unwrap();
    assert_eq!(client.get("u").unwrap(), Some(user));
    client.set("n", &5, Ttl::NEVER).unwrap();
    client.set("b", &vec![0_u8, 1], Ttl::NEVER).unwrap();
    client.set("s", "text", Ttl::NEVER).unwrap();
    for (key, bytes) in [("n", &b"5"[..]), ("b", &[0, 1]), ("s", b"text")] {
        assert_eq!(client.get_raw(key).unwrap().unwrap().bytes, bytes, "{key}");
    }
    assert_eq!(client.get::<i64>("n").unwrap(), Some(5));
    assert_eq!(client.get::<Vec<u8>>("b").unwrap(), Some(vec![0, 1]));
    client.set("big", &(u128::MAX, i128::MIN), Ttl::NEVER).unwrap();
    assert_eq!(client.get("big").unwrap(), Some((u128::MAX, i128::MIN)));
}

pub(crate) fn primitives_as_strings_are_read_as_strings(stand: &Stand) {
    let client = stand.client_with(|settings| settings.primitives_as_strings(true));
    client.set("n", &-7, Ttl::NEVER).unwrap();
    client.set("b", &true, Ttl::NEVER).unwrap();
    client.set("s", "text", Ttl::NEVER).unwrap();
    let flags = |key: &str| client.get_raw(key).unwrap().unwrap().flags;
    assert_eq!((flags("n"), flags("b")), (flags("s"), flags("s")));
    assert_eq!(client.get::<String>("n").unwrap().as_deref(), Some("-7"));
    assert_eq!(client.get::<String>("b").unwrap().as_deref(), Some("true"));
    assert_eq!(client.get::<i32>("n").unwrap(), Some(-7));
    assert_eq!(client.get::<bool>("b").unwrap(), Some(true));
}

pub(crate) fn whalins_preset_writes_whalins_bytes_under_whalins_keys(stand: &Stand) {
    let client = stand.client_with(|settings| settings.preset(Preset::Whalin));
    client.set("a key", &7_i32, Ttl::NEVER).unwrap();
    client.set("grün", "ü", Ttl::NEVER).unwrap();
    assert_eq!(stand.raw("get a+key\r\n", "END\r\n"), "VALUE a+key 4 4\r\n\0\0\0\u{7}\r\nEND\r\n");
    assert_eq!(
        stand.raw("get gr%C3%BCn\r\n", "END\r\n"),
        "VALUE gr%C3%BCn 32 2\r\n\u{c3}\u{bc}\r\nEND\r\n"
    );
    assert_eq!(client.get::<i32>("a key").unwrap(), Some(7));
    let found = client.get_many::<String, _>(["grün", "nobody here"]);
    assert_eq!(found.get("grün").map(String::as_str), Some("ü"));
}

pub(crate) fn raw_takes_bytes_and_nothing_else(stand: &Stand) {
    let client = stand.client_with(|settings| settings.codec(Codec::Raw));
    client.set("k", &b"\0\x01"[..], Ttl::NEVER).unwrap();
    assert_eq!(client.get_raw("k").unwrap(), Some(Payload { bytes: vec![0, 1], flags: 0 }));
    client.set("s", "text", Ttl::NEVER).unwrap();
    assert_eq!(client.get::<String>("s").unwrap().as_deref(), Some("text"));
    let error = client.set("n", &5, Ttl::NEVER).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Encode);
    assert_eq!(client.get::<String>("n").unwrap(), None, "nothing was stored");
}

pub(crate) fn foreign_flags_are_an_error_with_the_bytes(stand: &Stand) {
    let client = stand.client();
    client.set_raw("k", b"\x80\x04K\x05.", 5, Ttl::NEVER).unwrap();
    let error = client.get::<u32>("k").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode);
    assert_eq!(error.raw_value(), Some((&b"\x80\x04K\x05."[..], 5)));
    assert_eq!(error.server(), Some(stand.address()));
    assert!(!error.may_retry());
    assert_eq!(client.get::<u32>("none").unwrap(), None, "the connection is in step");
}

/// Turns every byte around.
#[derive(Debug)]
struct Inverted;

impl CustomCodec for Inverted {
    fn encode(&self, mut plain: Payload) -> Result<Payload, Box<dyn Error + Send + Sync>> {
        plain.bytes.iter_mut().for_each(|b| *b = !*b);
        Ok(plain)
    }

    fn decode(&self, stored: &Payload) -> Result<Payload, Box<dyn Error + Send + Sync>> {
        self.encode(stored.clone())
    }
}

pub(crate) fn a_custom_codec_sees_every_value(stand: &Stand) {
    let client = stand.client_with(|settings| settings.codec(Codec::Custom(Arc::new(Inverted))));
    let map = BTreeMap::from([("a".to_owned(), 1)]);
    client.set("m", &map, Ttl::NEVER).unwrap();
    client.set("s", "x", Ttl::NEVER).unwrap();
    assert_eq!(client.get_raw("s").unwrap().unwrap().bytes, [!b'x']);
    assert_eq!(client.get("m").unwrap(), Some(map));
    assert_eq!(client.get_many::<String, _>(["s"]).get("s").map(String::as_str), Some("x"));
}
