//! With compression built in: compressed once, marked when it is, read by the mark, under a limit.

use mcpool::{CasOutcome, Client, Codec, DecodeError, DecodeErrorKind, ErrorKind, Ttl};

use crate::stand::Stand;

/// Every codec that compresses.
const COMPRESSING: [Codec; 13] = [
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
];

/// Bytes that no compressor makes smaller.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    (0..len).map(next).collect()
}

fn compressing(stand: &Stand, codec: Codec, above: usize) -> Client {
    stand.builder().codec(codec).compress_above(above).build().unwrap()
}

#[test]
fn f159_the_mark_is_set_exactly_on_what_is_compressed() {
    let stand = Stand::embedded();
    for codec in COMPRESSING {
        let client = compressing(&stand, codec.clone(), 1000);
        let plain = stand.builder().codec(codec.clone()).build().unwrap();
        for len in [900, 999, 1000, 1001, 10_000] {
            for (value, shrinks) in [(noise(len), false), (vec![0; len], true)] {
                plain.set("plain", &value, Ttl::NEVER).unwrap();
                client.set("k", &value, Ttl::NEVER).unwrap();
                let unmarked = plain.get_raw("plain").unwrap().unwrap();
                let raw = client.get_raw("k").unwrap().unwrap();
                // The threshold counts what a client puts around the value, too.
                let compressed = shrinks && unmarked.bytes.len() > 1000;
                assert_eq!(raw.flags != unmarked.flags, compressed, "{codec:?} {len}");
                assert_eq!(raw == unmarked, !compressed, "{codec:?} {len}");
                for reader in [&client, &plain] {
                    assert_eq!(reader.get::<Vec<u8>>("k").unwrap().as_ref(), Some(&value));
                }
            }
        }
    }
}

#[test]
fn f160_f161_f164_every_way_to_store_compresses_once_and_every_reader_follows_the_mark() {
    for stand in [Stand::embedded(), Stand::real()] {
        let client = compressing(&stand, Codec::Whalin, 0);
        let readers = [
            stand.builder().codec(Codec::Whalin).build().unwrap(),
            compressing(&stand, Codec::Whalin, 1 << 20),
        ];
        let text = "x".repeat(100_000);
        client.set("set", &text, Ttl::NEVER).unwrap();
        assert!(client.add("add", &text, Ttl::NEVER).unwrap());
        client.set("replace", "", Ttl::NEVER).unwrap();
        assert!(client.replace("replace", &text, Ttl::NEVER).unwrap());
        client.set("cas", "", Ttl::NEVER).unwrap();
        let item = client.gets::<String>("cas").unwrap().unwrap();
        assert_eq!(client.cas("cas", &text, Ttl::NEVER, &item.cas).unwrap(), CasOutcome::Stored);
        client.set_many([("many", &text)], Ttl::NEVER).into_result().unwrap();
        let once = client.get_raw("set").unwrap().unwrap();
        assert!(once.flags == 2 + 32 && once.bytes.len() < 1000, "{} bytes", once.bytes.len());
        for key in ["set", "add", "replace", "cas", "many"] {
            assert_eq!(client.get_raw(key).unwrap(), Some(once.clone()), "{key}");
            for reader in &readers {
                assert_eq!(reader.get::<String>(key).unwrap().as_ref(), Some(&text), "{key}");
            }
        }
        for short in ["", "a", "ab"] {
            client.set("short", short, Ttl::NEVER).unwrap();
            assert_eq!(readers[0].get::<String>("short").unwrap().as_deref(), Some(short));
        }
    }
}

#[test]
fn f165_what_does_not_shrink_is_sent_plain_and_what_shrinks_may_fit() {
    for stand in [Stand::embedded(), Stand::real()] {
        let client = compressing(&stand, Codec::Json, 1000);
        let near = noise(1_048_000);
        client.set("near", &near, Ttl::NEVER).unwrap();
        assert!(client.get_raw("near").unwrap().unwrap().bytes == near);
        let zeros = vec![0_u8; 3_000_000];
        client.set("large", &zeros, Ttl::NEVER).unwrap();
        assert!(client.get::<Vec<u8>>("large").unwrap() == Some(zeros.clone()));
        // One that this client could not read again is not stored.
        let limited = stand.builder().compress_above(0).max_value_bytes(2_999_999).build().unwrap();
        let error = limited.set("large", &zeros, Ttl::NEVER).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ValueTooLarge);
    }
}

#[test]
fn nothing_is_put_before_or_behind_a_value_that_may_be_compressed() {
    for stand in [Stand::embedded(), Stand::real()] {
        let plain = stand.client();
        let compressing = stand.builder().compress_above(100).build().unwrap();
        let text = "compressible ".repeat(100);
        compressing.set("t", &text, Ttl::NEVER).unwrap();
        assert!(compressing.get_raw("t").unwrap().unwrap().bytes.len() < 100);
        for refused in [compressing.append("t", "x"), compressing.prepend("t", "x")] {
            let error = refused.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Encode);
            assert!(error.to_string().contains("compress_above"), "{error}");
        }
        assert_eq!(plain.get::<String>("t").unwrap(), Some(text));
        compressing.set("short", "a", Ttl::NEVER).unwrap();
        assert!(compressing.with_codec(Codec::Raw).append("short", "b").unwrap());
        assert_eq!(compressing.get::<String>("short").unwrap().as_deref(), Some("ab"));
        assert!(plain.append("short", "c").unwrap());
        compressing.set_counter("n", 41, Ttl::NEVER).unwrap();
        assert_eq!(compressing.incr("n", 1).unwrap(), Some(42));
    }
}

#[test]
fn f163_a_value_that_inflates_beyond_the_largest_value_is_a_typed_error() {
    for stand in [Stand::embedded(), Stand::real()] {
        let zeros = vec![0_u8; 100_000];
        stand.builder().compress_above(100).build().unwrap().set("z", &zeros, Ttl::NEVER).unwrap();
        let small = stand.builder().max_value_bytes(99_999).build().unwrap();
        let error = small.get::<Vec<u8>>("z").unwrap_err();
        let source = std::error::Error::source(&error).unwrap();
        let kind = source.downcast_ref::<DecodeError>().map(DecodeError::kind);
        assert_eq!(kind, Some(DecodeErrorKind::TooLarge), "{error}");
        let enough = stand.builder().max_value_bytes(100_000).build().unwrap();
        assert_eq!(enough.get::<Vec<u8>>("z").unwrap(), Some(zeros));
    }
}
