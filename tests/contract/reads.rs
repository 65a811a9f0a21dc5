//! Reads of one key.

use std::time::Duration;

use mcpool::{ErrorKind, Key, Payload, Ttl};

use crate::stand::Stand;

pub(crate) fn a_miss_is_none_and_a_value_comes_back(stand: &Stand) {
    let client = stand.client();
    assert_eq!(client.get::<String>("nobody").unwrap(), None);
    client.set("k", "v", Ttl::NEVER).unwrap();
    assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("v"));
    let item = client.gets::<String>("k").unwrap().unwrap();
    assert_eq!((item.value.as_str(), item.flags), ("v", 0));
    assert!(client.gets::<String>("nobody").unwrap().is_none());
}

pub(crate) fn a_key_with_any_legal_byte_works(stand: &Stand) {
    let client = stand.client();
    let all: Vec<u8> = (0x21..=0xff).filter(|b| *b != 0x7f).collect();
    client.set(&all[..], "all bytes", Ttl::NEVER).unwrap();
    assert_eq!(client.get::<String>(&all).unwrap().as_deref(), Some("all bytes"));
    let long = "k".repeat(250);
    client.set(&long, "long", Ttl::NEVER).unwrap();
    assert_eq!(client.get::<String>(Key::new(long)).unwrap().as_deref(), Some("long"));
}

pub(crate) fn an_empty_value_is_a_value(stand: &Stand) {
    let client = stand.client();
    client.set("s", "", Ttl::NEVER).unwrap();
    assert_eq!(client.get::<String>("s").unwrap().as_deref(), Some(""));
    client.set("b", &Vec::<u8>::new(), Ttl::NEVER).unwrap();
    assert_eq!(client.get::<Vec<u8>>("b").unwrap(), Some(Vec::new()));
    client.set("n", &None::<u8>, Ttl::NEVER).unwrap();
    assert_eq!(client.get::<Option<u8>>("n").unwrap(), Some(None), "a stored None is no miss");
    assert_eq!(client.get::<Option<u8>>("m").unwrap(), None);
}

pub(crate) fn raw_reads_show_bytes_and_flags_and_keep_the_buffers_room(stand: &Stand) {
    let client = stand.client();
    client.set_raw("k", b"\x00\xff\r\n", 0xdead_beef, Ttl::NEVER).unwrap();
    let raw = client.get_raw("k").unwrap().unwrap();
    assert_eq!(raw, Payload { bytes: b"\x00\xff\r\n".to_vec(), flags: 0xdead_beef });
    let mut buffer = Vec::with_capacity(10_000);
    buffer.extend_from_slice(b"old");
    assert_eq!(client.get_raw_into("k", &mut buffer).unwrap(), Some(0xdead_beef));
    assert_eq!((buffer.as_slice(), buffer.capacity()), (&b"\x00\xff\r\n"[..], 10_000));
    assert_eq!(client.get_raw_into("nobody", &mut buffer).unwrap(), None);
    assert_eq!((buffer.len(), buffer.capacity()), (0, 10_000));
}

pub(crate) fn get_and_touch_reads_and_moves_the_expiry(stand: &Stand) {
    let client = stand.client();
    client.set("k", "v", Duration::from_secs(600)).unwrap();
    assert_eq!(client.get_and_touch::<String>("k", Ttl::NEVER).unwrap().as_deref(), Some("v"));
    assert_eq!(client.get_and_touch::<String>("k", Ttl::IMMEDIATE).unwrap().as_deref(), Some("v"));
    assert_eq!(client.get::<String>("k").unwrap(), None, "it expired with the touch");
    assert_eq!(client.get_and_touch::<String>("k", Ttl::NEVER).unwrap(), None);
}

pub(crate) fn contains_key_sees_what_cannot_be_decoded(stand: &Stand) {
    let client = stand.client();
    client.set_raw("k", "x", 77, Ttl::NEVER).unwrap();
    assert!(client.contains_key("k").unwrap());
    assert!(!client.contains_key("nobody").unwrap());
    assert_eq!(client.get::<u32>("k").unwrap_err().kind(), ErrorKind::Decode);
}

pub(crate) fn a_value_of_a_megabyte_comes_back(stand: &Stand) {
    let client = stand.client();
    let value: Vec<u8> =
        (0..1_000_000_u32).map(|n| n.to_le_bytes()[usize::from(n % 3 == 0)]).collect();
    client.set("k", &value, Ttl::NEVER).unwrap();
    assert!(client.get::<Vec<u8>>("k").unwrap() == Some(value.clone()));
    assert_eq!(client.get_raw("k").unwrap().unwrap().bytes.len(), value.len());
    assert_eq!(client.get::<String>("none").unwrap(), None, "the connection is in step");
}
