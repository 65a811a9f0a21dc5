//! Calls for many keys.

use std::collections::HashMap;

use mcpool::{CasOutcome, ErrorKind, Ttl};
use serde::Serialize;
use serde::ser::{Error as _, Serializer};

use crate::stand::Stand;

pub(crate) fn each_key_has_its_own_outcome(stand: &Stand) {
    let client = stand.client();
    client.set("a", &1, Ttl::NEVER).unwrap();
    client.set("text", "x", Ttl::NEVER).unwrap();
    let found = client.get_many::<u32, _>(["a", "none", "text"]);
    assert_eq!(found.get("a"), Some(&1));
    assert!(matches!(found.outcome("none"), Some(Ok(None))));
    let error = found.outcome("text").unwrap().as_ref().unwrap_err();
    assert_eq!((error.kind(), error.key()), (ErrorKind::Decode, Some(&b"text"[..])));
    assert!(found.outcome("never asked").is_none());
    assert_eq!(found.failures().count(), 1);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [("a", 1)]);
}

pub(crate) fn a_bad_key_fails_alone(stand: &Stand) {
    let client = stand.client();
    client.set("a", &1, Ttl::NEVER).unwrap();
    let found = client.get_many::<u32, _>(["a", "b c", ""]);
    assert_eq!(found.get("a"), Some(&1));
    for bad in ["b c", ""] {
        let error = found.outcome(bad).unwrap().as_ref().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidKey, "{bad:?}");
    }
    assert!(found.into_result().is_err());
    let stored = client.set_many([("x", 1), ("y z", 2)], Ttl::NEVER);
    assert!(stored.outcome("x").unwrap().is_ok() && stored.outcome("y z").unwrap().is_err());
}

pub(crate) fn duplicates_are_asked_for_once_and_answered_twice(stand: &Stand) {
    let client = stand.client();
    client.set("a", &1, Ttl::NEVER).unwrap();
    let found = client.get_many::<u32, _>(["a", "b", "a", "a"]).into_result().unwrap();
    assert_eq!(found, [("a", Some(1)), ("b", None), ("a", Some(1)), ("a", Some(1))]);
    client.set("text", "abc", Ttl::NEVER).unwrap();
    let found = client.get_many::<String, _>(["text", "text", "none", "text"]).into_result();
    let texts: Vec<_> = found.unwrap().into_iter().map(|(_, text)| text).collect();
    let text = Some("abc".to_owned());
    assert_eq!(texts, [text.clone(), text.clone(), None, text]);
    client.set_many([("d", 1), ("d", 2)], Ttl::NEVER).into_result().unwrap();
    assert_eq!(client.get::<u32>("d").unwrap(), Some(2), "stored in order");
}

pub(crate) fn ten_thousand_keys_come_back(stand: &Stand) {
    let client = stand.client();
    let entries: HashMap<String, u32> = (0..10_000).map(|n| (format!("key:{n}"), n)).collect();
    client.set_many(&entries, Ttl::NEVER).into_result().unwrap();
    let found = client.get_many::<u32, _>(entries.keys());
    assert_eq!(found.iter().count(), 10_000);
    assert!(found.iter().all(|(key, n)| entries[*key] == *n));
    assert_eq!(client.status().servers[0].connections, 1);
}

pub(crate) fn large_values_come_back_together(stand: &Stand) {
    let client = stand.client();
    let value = |n: usize| vec![u8::try_from(n).unwrap(); 100_000 + n];
    client
        .set_many((0..40).map(|n| (format!("k{n}"), value(n))), Ttl::NEVER)
        .into_result()
        .unwrap();
    for (key, found) in client.get_many::<Vec<u8>, _>((0..40).map(|n| format!("k{n}"))) {
        let n: usize = key[1..].parse().unwrap();
        assert!(found == value(n), "{key} has {} bytes", found.len());
    }
}

pub(crate) fn gets_many_gives_tokens_that_work(stand: &Stand) {
    let client = stand.client();
    client.set_many([("a", 1), ("b", 2)], Ttl::NEVER).into_result().unwrap();
    for (key, item) in client.gets_many::<u32, _>(["a", "b", "c"]) {
        let outcome = client.cas(key, &(item.value * 10), Ttl::NEVER, &item.cas).unwrap();
        assert_eq!(outcome, CasOutcome::Stored);
    }
    let found: Vec<_> = client.get_many::<u32, _>(["a", "b"]).into_iter().collect();
    assert_eq!(found, [("a", 10), ("b", 20)]);
}

/// A value that cannot be encoded when it is negative.
struct Picky(i32);

impl Serialize for Picky {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            0.. => serializer.serialize_i32(self.0),
            _ => Err(S::Error::custom("it is negative")),
        }
    }
}

pub(crate) fn one_value_that_cannot_be_encoded_fails_alone(stand: &Stand) {
    let client = stand.client();
    let stored = client.set_many([("a", Picky(1)), ("b", Picky(-1)), ("c", Picky(3))], Ttl::NEVER);
    let error = stored.outcome("b").unwrap().as_ref().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Encode);
    assert!(error.to_string().contains("it is negative"), "{error}");
    let found: Vec<_> = client.get_many::<i32, _>(["a", "b", "c"]).into_iter().collect();
    assert_eq!(found, [("a", 1), ("c", 3)]);
}

pub(crate) fn one_value_over_the_servers_limit_fails_alone(stand: &Stand) {
    let client = stand.client();
    let huge = "x".repeat(8 << 20);
    let entries = [("a", "1"), ("huge", &huge), ("z", "3")];
    let stored = client.set_many(entries, Ttl::NEVER);
    let error = stored.outcome("huge").unwrap().as_ref().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ValueTooLarge, "{error}");
    assert_eq!(stored.failures().count(), 1, "{stored:?}");
    let found: Vec<_> = client.get_many::<u32, _>(["a", "huge", "z"]).into_iter().collect();
    assert_eq!(found, [("a", 1), ("z", 3)]);
}

pub(crate) fn delete_many_says_what_there_was(stand: &Stand) {
    let client = stand.client();
    client.set_many([("a", 1), ("b", 2)], Ttl::NEVER).into_result().unwrap();
    let gone = client.delete_many(["a", "none", "b"]).into_result().unwrap();
    assert_eq!(gone, [("a", true), ("none", false), ("b", true)]);
    assert_eq!(client.get_many::<u32, _>(["a", "b"]).iter().count(), 0);
}

pub(crate) fn no_keys_are_no_work(stand: &Stand) {
    let client = stand.client();
    assert_eq!(client.get_many::<u32, &str>([]).into_result().unwrap(), []);
    assert!(client.set_many::<&str, u32>([], Ttl::NEVER).is_empty());
    assert!(client.delete_many::<&str>([]).is_empty());
    assert_eq!(client.status().servers[0].connections, 0);
}
