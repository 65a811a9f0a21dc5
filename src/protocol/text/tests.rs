//! Each request as the literal bytes that go out, and lines as old servers take them.

use super::super::{Batch, Request, StatsArgument, StoreVerb};
use std::io::IoSlice;

/// All bytes that the requests put on the wire.
fn wire(requests: &[Request<'_, '_>]) -> Vec<u8> {
    let mut batch = Batch::new();
    requests.iter().for_each(|request| batch.push(request));
    let mut out = vec![IoSlice::new(&[]); 64];
    let filled = batch.slices(0, &mut out);
    let bytes: Vec<u8> = out[..filled].iter().flat_map(|slice| slice.iter().copied()).collect();
    assert_eq!(bytes.len(), batch.wire_len());
    bytes
}

fn store(verb: StoreVerb) -> Request<'static, 'static> {
    Request::Store { verb, key: b"k", flags: 4_294_967_295, exptime: -1, value: b"a\r\nb" }
}

#[test]
fn every_request_goes_out_as_the_protocol_spells_it() {
    let argument = StatsArgument::new("cachedump 1 10");
    for (request, bytes) in [
        (store(StoreVerb::Set), &b"set k 4294967295 -1 4\r\na\r\nb\r\n"[..]),
        (store(StoreVerb::Add), b"add k 4294967295 -1 4\r\na\r\nb\r\n"),
        (store(StoreVerb::Replace), b"replace k 4294967295 -1 4\r\na\r\nb\r\n"),
        (store(StoreVerb::Append), b"append k 4294967295 -1 4\r\na\r\nb\r\n"),
        (store(StoreVerb::Prepend), b"prepend k 4294967295 -1 4\r\na\r\nb\r\n"),
        (
            store(StoreVerb::Cas(u64::MAX)),
            b"cas k 4294967295 -1 4 18446744073709551615\r\na\r\nb\r\n",
        ),
        (
            Request::Store {
                verb: StoreVerb::Set,
                key: b"e",
                flags: 0,
                exptime: i32::MAX,
                value: b"",
            },
            b"set e 0 2147483647 0\r\n\r\n",
        ),
        (Request::Get { keys: &[b"a"], cas: false }, b"get a\r\n"),
        (Request::Get { keys: &[b"a", b"b"], cas: true }, b"gets a b\r\n"),
        (Request::GetAndTouch { keys: &[b"a"], exptime: 60, cas: false }, b"gat 60 a\r\n"),
        (Request::GetAndTouch { keys: &[b"a", b"b"], exptime: -1, cas: true }, b"gats -1 a b\r\n"),
        (Request::Touch { key: b"a", exptime: 0 }, b"touch a 0\r\n"),
        (Request::Delete { key: b"a" }, b"delete a\r\n"),
        (Request::Incr { key: b"a", by: u64::MAX }, b"incr a 18446744073709551615\r\n"),
        (Request::Decr { key: b"a", by: 1 }, b"decr a 1\r\n"),
        (Request::Stats { argument: None }, b"stats\r\n"),
        (Request::Stats { argument }, b"stats cachedump 1 10\r\n"),
        (Request::Version, b"version\r\n"),
        (Request::FlushAll { delay: None }, b"flush_all\r\n"),
        (Request::FlushAll { delay: Some(2) }, b"flush_all 2\r\n"),
        (Request::Verbosity { level: 1 }, b"verbosity 1\r\n"),
        (Request::DumpKeys, b"lru_crawler metadump all\r\n"),
    ] {
        assert_eq!(
            wire(&[request]).escape_ascii().to_string(),
            bytes.escape_ascii().to_string(),
            "{request:?}"
        );
    }
}

#[test]
fn requests_of_a_batch_follow_one_another_and_large_values_keep_their_place() {
    let large = vec![b'x'; 13_000];
    let mut expected = b"get a\r\nset b 1 0 13000\r\n".to_vec();
    expected.extend_from_slice(&large);
    expected.extend_from_slice(b"\r\nversion\r\n");
    let set =
        Request::Store { verb: StoreVerb::Set, key: b"b", flags: 1, exptime: 0, value: &large };
    assert_eq!(
        wire(&[Request::Get { keys: &[b"a"], cas: false }, set, Request::Version]),
        expected
    );
}

#[test]
fn a_request_counts_as_sent_once_its_last_byte_is() {
    let large = vec![b'x'; 13_000];
    let mut batch = Batch::new();
    batch.push(&Request::Version);
    batch.push(&Request::Store {
        verb: StoreVerb::Set,
        key: b"b",
        flags: 0,
        exptime: 0,
        value: &large,
    });
    let end = b"version\r\n".len();
    assert_eq!((batch.sent_whole(0, end - 1), batch.sent_whole(0, end)), (false, true));
    let all = batch.wire_len();
    assert_eq!((batch.sent_whole(1, all - 1), batch.sent_whole(1, all)), (false, true));
    assert!(!batch.sent_whole(2, all));
}

#[test]
fn long_key_lists_become_lines_that_old_servers_take() {
    let keys: Vec<String> = (0..1000).map(|n| format!("{n}:{}", "k".repeat(n % 246))).collect();
    let keys: Vec<&[u8]> = keys.iter().map(String::as_bytes).collect();
    for (request, head, limit) in [
        (Request::Get { keys: &keys, cas: false }, "get ", 2000),
        (Request::Get { keys: &keys, cas: true }, "gets ", 2000),
        (Request::GetAndTouch { keys: &keys, exptime: 99, cas: false }, "gat 99 ", 1000),
        (Request::GetAndTouch { keys: &keys, exptime: 99, cas: true }, "gats 99 ", 1000),
    ] {
        let wire = String::from_utf8(wire(&[request])).expect("ascii");
        let mut seen = Vec::new();
        for line in wire.strip_suffix("\r\n").expect("a last end").split("\r\n") {
            let line_keys = line.strip_prefix(head).expect("the command").split(' ');
            assert!(line.len() <= limit && line_keys.clone().count() <= 100, "{line}");
            seen.extend(line_keys.map(str::as_bytes));
        }
        assert_eq!(seen, keys);
    }
    let short: Vec<&[u8]> = vec![b"k"; 101];
    let wire = wire(&[Request::Get { keys: &short, cas: false }]);
    assert_eq!(wire, ["get", &" k".repeat(100), "\r\nget k\r\n"].concat().into_bytes());
}

#[test]
fn a_single_key_of_the_greatest_length_still_has_its_line() {
    let key = [b'k'; 250];
    let wire = wire(&[Request::GetAndTouch { keys: &[&key], exptime: i32::MIN, cas: true }]);
    assert_eq!(wire, ["gats -2147483648 ", &"k".repeat(250), "\r\n"].concat().into_bytes());
}

#[test]
fn a_recycled_batch_sends_only_its_own_requests() {
    let large = vec![b'x'; 13_000];
    let mut batch = Batch::new();
    batch.push(&Request::Store {
        verb: StoreVerb::Set,
        key: b"old",
        flags: 0,
        exptime: 0,
        value: &large,
    });
    let mut batch = Batch::reusing(batch.into_scratch());
    assert_eq!(batch.len(), 0);
    batch.push(&Request::Version);
    let mut out = [IoSlice::new(&[]); 2];
    assert_eq!((batch.len(), batch.slices(0, &mut out)), (1, 1));
    assert_eq!(&*out[0], b"version\r\n");
}
