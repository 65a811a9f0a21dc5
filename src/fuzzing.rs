//! Doors for the fuzz targets and their corpora into rooms that are private otherwise; not for use.
//!
//! Each function takes bytes of any origin and panics when a promise is broken.

#![expect(clippy::panic, reason = "a broken promise is what a fuzz target panics for")]

use std::collections::BTreeMap;

use crate::codec::{Codec, Settings, Transcoder};
use crate::protocol::{Batch, Conversation, Limits, Reply, Request, StoreVerb};
use crate::types::{KeyRules, LongKeys, Server};

/// Reads `stream` as the replies to each of a set of batches.
///
/// Promises: no panic; a verdict that does not depend on where the network cuts; no value for a key that
/// was not asked for; no reusable connection with bytes left; memory in step with what arrived.
pub fn replies(stream: &[u8]) {
    let keys: [&[u8]; 3] = [b"a", b"b", b"c"];
    let store = |verb| Request::Store { verb, key: b"a", flags: 0, exptime: 0, value: b"x" };
    let one = Request::Get { keys: &keys[..1], cas: false };
    let batches: [&[Request<'_, '_>]; 10] = [
        &[one],
        &[Request::Get { keys: &keys, cas: true }],
        &[Request::GetAndTouch { keys: &keys, exptime: 1, cas: false }],
        &[store(StoreVerb::Set), store(StoreVerb::Cas(1)), one],
        &[Request::Delete { key: b"a" }, Request::Touch { key: b"a", exptime: 0 }],
        &[Request::Incr { key: b"a", by: 1 }, Request::Decr { key: b"a", by: 1 }],
        &[Request::Stats { argument: None }],
        &[Request::Version],
        &[Request::FlushAll { delay: None }, Request::Verbosity { level: 1 }],
        &[Request::DumpKeys],
    ];
    for requests in batches {
        let whole = hear(requests, stream, stream.len().max(1));
        for step in [1, 3, 7] {
            assert_eq!(hear(requests, stream, step), whole, "cut every {step} bytes");
        }
    }
}

/// The replies and the verdict, when the stream arrives in pieces of `step` bytes.
fn hear(requests: &[Request<'_, '_>], stream: &[u8], step: usize) -> (Vec<Option<Reply>>, bool) {
    let limits = Limits { max_value_bytes: 1 << 20, max_list_bytes: 1 << 16, ..Limits::default() };
    let mut conversation = Conversation::new(limits);
    let mut batch = Batch::new();
    requests.iter().for_each(|request| batch.push(request));
    conversation.begin(&batch);
    let (written, mut kept, mut broken) = (batch.wire_len(), Vec::new(), false);
    for piece in stream.chunks(step) {
        kept.extend_from_slice(piece);
        let Ok(used) = conversation.feed(&mut batch, written, &kept) else {
            broken = true;
            break;
        };
        assert!(used <= kept.len(), "more is done with than there was");
        drop(kept.drain(..used));
        assert!(!conversation.reusable() || kept.is_empty(), "reusable with bytes left");
        if let Some(body) = conversation.body() {
            assert!(body.capacity() <= body.len() + (2 << 20), "room far beyond what arrived");
        }
    }
    assert!(!(broken && conversation.reusable()), "reusable after a broken rule");
    let replies: Vec<_> = (0..batch.len()).map(|i| conversation.take(i)).collect();
    for reply in replies.iter().flatten() {
        check(reply, stream.len());
    }
    if let Some((i, part)) = conversation.take_part(&batch) {
        assert!(replies.get(i).is_some_and(Option::is_none), "a part of a reply that is whole");
        check(&part, stream.len());
    }
    (replies, conversation.reusable())
}

fn check(reply: &Reply, arrived: usize) {
    let values = match reply {
        Reply::Value(value) => value.as_slice(),
        Reply::Values(hits) => &hits.values,
        _ => return,
    };
    for value in values {
        assert!(value.index < 3, "a key that was not asked for");
        assert!(value.bytes.len() <= arrived, "bytes that did not arrive");
    }
}

/// Reads a server address.
///
/// Promises: no panic; what is accepted has a legal weight and name and is read again from its own
/// address; user and password are refused and not shown.
pub fn server_address(text: &str) {
    if let Ok(server) = text.parse::<Server>() {
        assert!(server.weight() > 0 && !server.name().is_empty());
        let again: Server = server.address().parse().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again.address(), server.address());
    }
    if text.contains("s3cr3t") {
        return;
    }
    match format!("memcache://bob:s3cr3t@{text}").parse::<Server>() {
        Ok(server) => panic!("user and password were taken: {server}"),
        Err(e) => assert!(!format!("{e} {e:?}").contains("s3cr3t"), "{e}"),
    }
}

/// Reads a stored value with every codec as several types; the first four bytes are its flags.
///
/// Promises: no panic; an error gives the bytes back.
pub fn stored_value(input: &[u8]) {
    let (flags, bytes) = input.split_at_checked(4).unwrap_or((&[], input));
    let flags = flags.iter().fold(0, |n, byte| n << 8 | u32::from(*byte));
    for codec in Codec::SHIPPED {
        let settings = Settings { max_inflated: 1 << 14, ..Settings::default() };
        let codec = Transcoder::new(codec, settings);
        read::<String>(&codec, flags, bytes);
        read::<Vec<u8>>(&codec, flags, bytes);
        read::<i64>(&codec, flags, bytes);
        read::<u8>(&codec, flags, bytes);
        read::<f64>(&codec, flags, bytes);
        read::<bool>(&codec, flags, bytes);
        read::<char>(&codec, flags, bytes);
        read::<Option<Vec<i32>>>(&codec, flags, bytes);
        read::<BTreeMap<String, Vec<bool>>>(&codec, flags, bytes);
        read::<serde_json::Value>(&codec, flags, bytes);
        let _ = codec.decode_counter(flags, bytes.to_vec());
    }
}

fn read<T: serde::de::DeserializeOwned>(codec: &Transcoder, flags: u32, bytes: &[u8]) {
    if let Err(e) = codec.decode::<T>(flags, &mut bytes.to_vec()) {
        assert_eq!((e.flags(), e.bytes()), (flags, bytes));
    }
}

/// Puts a key on its wire form, plain and URL-encoded, with and without a prefix, long ones refused and digested.
///
/// Promises: no panic; what is accepted has 1 to 250 bytes and none that could end the command line.
pub fn key(bytes: &[u8]) {
    for prefix in [&b""[..], b"app:"] {
        for (sanitize, long) in [
            (false, LongKeys::Refuse),
            (true, LongKeys::Refuse),
            (false, LongKeys::Md5),
            (true, LongKeys::Md5),
        ] {
            let rules = KeyRules { prefix: prefix.to_vec(), sanitize, long, ..KeyRules::default() };
            if let Ok(wire) = rules.wire(bytes) {
                let wire = wire.as_bytes();
                assert!((1..=250).contains(&wire.len()) && wire.starts_with(prefix));
                assert!(wire.iter().all(|b| *b > b' ' && *b != 0x7f), "{wire:?}");
            }
        }
    }
}
