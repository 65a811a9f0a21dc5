//! Stores, deletes and touches of one key.

use std::time::{Duration, SystemTime};

use mcpool::{CasOutcome, ErrorKind, Ttl};

use crate::stand::Stand;

pub(crate) fn add_and_replace_say_whether_they_stored(stand: &Stand) {
    let client = stand.client();
    assert!(!client.replace("k", "0", Ttl::NEVER).unwrap());
    assert!(client.add("k", "1", Ttl::NEVER).unwrap());
    assert!(!client.add("k", "2", Ttl::NEVER).unwrap());
    assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("1"));
    assert!(client.replace("k", "3", Ttl::NEVER).unwrap());
    assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("3"));
}

pub(crate) fn append_and_prepend_say_whether_they_stored(stand: &Stand) {
    let client = stand.client();
    assert!(!client.append("k", "x").unwrap());
    assert!(!client.prepend("k", "x").unwrap());
    client.set_raw("k", "mid", 5, Ttl::NEVER).unwrap();
    assert!(client.append("k", ">").unwrap());
    assert!(client.prepend("k", b"<").unwrap());
    let raw = client.get_raw("k").unwrap().unwrap();
    assert_eq!((raw.bytes.as_slice(), raw.flags), (&b"<mid>"[..], 5), "flags stay");
}

pub(crate) fn cas_tells_stored_changed_and_missing_apart(stand: &Stand) {
    let client = stand.client();
    client.set("k", &1, Ttl::NEVER).unwrap();
    let first = client.gets::<u32>("k").unwrap().unwrap();
    assert_eq!(client.cas("k", &2, Ttl::NEVER, &first.cas).unwrap(), CasOutcome::Stored);
    assert_eq!(client.cas("k", &3, Ttl::NEVER, &first.cas).unwrap(), CasOutcome::Changed);
    assert_eq!(client.get::<u32>("k").unwrap(), Some(2));
    client.delete("k").unwrap();
    assert_eq!(client.cas("k", &4, Ttl::NEVER, &first.cas).unwrap(), CasOutcome::Missing);
    assert_eq!(client.get::<u32>("k").unwrap(), None);
}

pub(crate) fn a_cas_token_of_another_key_is_refused(stand: &Stand) {
    let client = stand.client();
    for key in ["a", "b"] {
        client.set(key, "v", Ttl::NEVER).unwrap();
    }
    let one = client.gets::<String>("a").unwrap().unwrap().cas;
    let of_many = client.gets_many::<String, _>(["a"]).get("a").unwrap().cas.clone();
    assert_eq!(one, of_many);
    for token in [&one, &of_many] {
        for key in ["b", "nobody's"] {
            let error = client.cas(key, "w", Ttl::NEVER, token).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Config);
            assert!(error.to_string().contains("the token was read for another key"), "{error}");
        }
    }
    assert_eq!(client.get::<String>("b").unwrap().as_deref(), Some("v"));
    let prefixed = client.with_prefix("pre:").unwrap();
    prefixed.set("k", "v", Ttl::NEVER).unwrap();
    let token = prefixed.gets::<String>("k").unwrap().unwrap().cas;
    assert!(client.cas("k", "w", Ttl::NEVER, &token).is_err(), "another key by its prefix");
    let outcome = client.cas("pre:k", "w", Ttl::NEVER, &token).unwrap();
    assert_eq!(outcome, CasOutcome::Stored, "the same key on the wire");
}

pub(crate) fn a_cas_token_of_another_client_is_refused(stand: &Stand) {
    let client = stand.client();
    client.set("k", &1, Ttl::NEVER).unwrap();
    let item = client.gets::<u32>("k").unwrap().unwrap();
    let other = mcpool::Client::new("127.0.0.1:1").unwrap();
    let error = other.cas("k", &2, Ttl::NEVER, &item.cas).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(error.to_string().contains(stand.address()), "{error}");
}

pub(crate) fn delete_and_touch_say_whether_there_was_a_value(stand: &Stand) {
    let client = stand.client();
    assert!(!client.delete("k").unwrap());
    assert!(!client.touch("k", Ttl::NEVER).unwrap());
    client.set("k", "v", Ttl::NEVER).unwrap();
    assert!(client.touch("k", Duration::from_secs(600)).unwrap());
    assert!(client.touch("k", Ttl::IMMEDIATE).unwrap());
    assert_eq!(client.get::<String>("k").unwrap(), None);
    client.set("k", "v", Ttl::NEVER).unwrap();
    assert!(client.delete("k").unwrap());
    assert_eq!(client.get::<String>("k").unwrap(), None);
}

pub(crate) fn a_ttl_is_kept_and_immediate_never_means_never(stand: &Stand) {
    let client = stand.client();
    client.set("zero", "v", Duration::ZERO).unwrap();
    assert_eq!(client.get::<String>("zero").unwrap(), None);
    client.set("past", "v", SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(client.get::<String>("past").unwrap(), None);
    for (key, ttl) in [
        ("day", Ttl::from(Duration::from_secs(86_400))),
        ("quarter", Ttl::from(Duration::from_secs(90 * 86_400))),
        ("date", Ttl::from(SystemTime::now() + Duration::from_secs(3600))),
        ("never", Ttl::NEVER),
    ] {
        client.set(key, "v", ttl).unwrap();
        assert_eq!(client.get::<String>(key).unwrap().as_deref(), Some("v"), "{key}");
    }
}
