//! The other clients' codecs, where no recorded value speaks: limits, counters, strings of numbers, user's bits.

use serde_json::Value;

use super::{Codec, encode, every, read, stored, transcoder, unreadable};
use crate::codec::DecodeErrorKind;

#[test]
fn a_counter_is_decimal_text_that_every_codec_reads_again() {
    for codec in every() {
        for count in [0, 41, u64::MAX] {
            let mut out = Vec::new();
            let flags = codec.encode_counter(count, &mut out);
            assert_eq!(out, count.to_string().into_bytes(), "{codec:?}");
            assert_eq!(codec.decode_counter(flags, out.clone()).unwrap(), count, "{codec:?}");
            assert_eq!(read::<u64>(&codec, &(flags, out)).unwrap(), count, "{codec:?}");
            // What `decr` leaves of a longer number.
            assert_eq!(read::<u64>(&codec, &(flags, b"9 ".to_vec())).unwrap(), 9, "{codec:?}");
        }
    }
}

#[test]
fn primitives_as_strings_are_text_that_the_server_counts_in_and_any_client_reads() {
    for codec in Codec::SHIPPED.into_iter().filter(|codec| !matches!(codec, Codec::Raw)) {
        let codec = transcoder(codec, true);
        let text = |payload: (u32, Vec<u8>)| {
            let read: String = read(&codec, &payload).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(read.as_bytes(), payload.1, "{codec:?}");
            assert!(codec.decode_counter(payload.0, b"5".to_vec()).is_ok(), "{codec:?}");
            read
        };
        assert_eq!(text(stored(&codec, &-42_i32)), "-42");
        assert_eq!(text(stored(&codec, &u64::MAX)), "18446744073709551615");
        assert_eq!(text(stored(&codec, &0.5)), "0.5");
        assert_eq!(text(stored(&codec, &true)), "true");
    }
}

#[test]
fn integers_that_the_client_has_not_are_refused_with_their_remedy() {
    for codec in [Codec::PhpMemcached, Codec::PeclMemcache, Codec::Spymemcached, Codec::Xmemcached]
    {
        let codec = transcoder(codec, false);
        assert!(encode(&codec, &(i64::MAX as u64)).is_ok());
        let error = encode(&codec, &u64::MAX).expect_err("beyond").to_string();
        assert!(error.contains("18446744073709551615") && error.contains("primitives_as_strings"));
    }
    let ruby = transcoder(Codec::Dalli, false);
    for bound in [i128::MIN, i128::MAX] {
        assert_eq!(read::<i128>(&ruby, &stored(&ruby, &bound)).unwrap(), bound);
    }
    assert!(encode(&ruby, &u128::MAX).is_err());
}

#[test]
fn floats_that_the_client_has_no_word_for_are_refused_with_their_remedy() {
    for codec in [Codec::PeclMemcache, Codec::DalliJson] {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = encode(&transcoder(codec.clone(), false), &value).expect_err("refused");
            assert!(error.to_string().contains("primitives_as_strings"), "{error}");
        }
    }
    for codec in [Codec::PhpMemcached, Codec::Pymemcache, Codec::PythonMemcached, Codec::Dalli] {
        let codec = transcoder(codec, false);
        for value in [f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(read::<f64>(&codec, &stored(&codec, &value)).unwrap(), value, "{codec:?}");
        }
        assert!(read::<f64>(&codec, &stored(&codec, &f64::NAN)).unwrap().is_nan(), "{codec:?}");
    }
}

#[test]
fn floats_are_written_as_each_language_writes_them() {
    let text = |codec: Codec, value: f64| {
        String::from_utf8_lossy(&stored(&transcoder(codec, false), &value).1).into_owned()
    };
    for (value, php, pecl, python) in [
        (0.001, ".001", "0.001", "0.001"),
        (0.0001, ".0001", "0.0001", "0.0001"),
        (0.000_012_5, "1.25e-05", "1.25e-5", "1.25e-05"),
        (-2.5, "-2.5", "-2.5", "-2.5"),
        (100_000.0, "100000", "100000", "100000.0"),
        (1_000_000.0, "1e+06", "1000000", "1000000.0"),
        (10_000_000.0, "1e+07", "10000000", "10000000.0"),
        (123_456_789.0, "123456789", "123456789", "123456789.0"),
        (1e14, "1e+14", "1.0e+14", "100000000000000.0"),
        (1e16, "1e+16", "1.0e+16", "1e+16"),
        (5e-324, "5e-324", "5.0e-324", "5e-324"),
    ] {
        assert_eq!(text(Codec::PhpMemcached, value), php);
        assert_eq!(text(Codec::PeclMemcache, value), pecl);
        assert_eq!(text(Codec::PythonMemcached, value), format!("F{python}\n."));
    }
}

#[test]
fn the_users_bits_of_the_flags_are_passed_over_where_the_client_has_them() {
    for codec in [Codec::PhpMemcached, Codec::PeclMemcache] {
        let codec = transcoder(codec, false);
        let (flags, bytes) = stored(&codec, &5);
        assert_eq!(read::<i32>(&codec, &(flags | 0xabcd_0000, bytes)).unwrap(), 5, "{codec:?}");
    }
}

#[test]
fn flags_that_no_value_of_the_client_has_are_unknown() {
    for (codec, unknown) in [
        (Codec::Spymemcached, &[4, 8, 0x900, 0x8000, 0x1_0000, !3][..]),
        (Codec::PhpMemcached, &[8, 15, 0x10, 0x20, 0x31 + 7, 0x100]),
        (Codec::PeclMemcache, &[4, 0x200, 0x400, 0x301, 0x1000]),
        (Codec::Pymemcache, &[3, 5, 17, 32, 0x1_0000, 0x8000_0000]),
        (Codec::Pylibmc, &[3, 5, 17, 32, 0x100]),
        (Codec::PythonBinaryMemcached, &[17, 32, 0x8010]),
        (Codec::PerlCacheMemcached, &[5, 8, 16]),
        (Codec::Dalli, &[5, 8, 16]),
        (Codec::Gomemcache, &[1, 2, 5, 16]),
        (Codec::RustMemcache, &[1, 2, 5, 16]),
    ] {
        let codec = transcoder(codec, false);
        for flags in unknown {
            for error in [
                unreadable::<String>(&codec, *flags, b"5"),
                unreadable::<Vec<u8>>(&codec, *flags, b"5"),
                unreadable::<Value>(&codec, *flags, b"5"),
            ] {
                assert_eq!(error.kind(), DecodeErrorKind::UnknownFlags, "{error}");
            }
        }
    }
}

#[test]
fn a_boolean_is_one_of_the_clients_two_and_never_guessed() {
    for (codec, flags) in
        [(Codec::PhpMemcached, 3), (Codec::PeclMemcache, 0x100), (Codec::Spymemcached, 0x100)]
    {
        let codec = transcoder(codec, false);
        assert!(read::<bool>(&codec, &(flags, b"1".to_vec())).unwrap());
        for other in [&b"2"[..], b"true", b"11", b"\x01"] {
            let error = unreadable::<bool>(&codec, flags, other);
            assert_eq!(error.kind(), DecodeErrorKind::Mismatch, "{error}");
        }
    }
    // Where it is a number or text, only 1 and 0 are one.
    let pylibmc = transcoder(Codec::Pylibmc, false);
    assert!(read::<bool>(&pylibmc, &(2, b"1".to_vec())).unwrap());
    assert!(!read::<bool>(&pylibmc, &(2, b"0".to_vec())).unwrap());
    assert_eq!(read::<u8>(&pylibmc, &(2, b"1".to_vec())).unwrap(), 1);
    assert!(read::<bool>(&pylibmc, &(2, b"2".to_vec())).is_err());
    let perl = transcoder(Codec::PerlCacheMemcached, false);
    assert!(!read::<bool>(&perl, &(0, b"0".to_vec())).unwrap());
    assert!(read::<bool>(&perl, &(0, b"".to_vec())).is_err());
}

#[test]
fn java_numbers_without_zero_bytes_are_read_and_longer_ones_are_an_error() {
    let java = transcoder(Codec::Spymemcached, false);
    assert_eq!(read::<i32>(&java, &(0x200, b"".to_vec())).unwrap(), 0);
    assert_eq!(read::<i64>(&java, &(0x300, vec![1, 0])).unwrap(), 256);
    assert_eq!(read::<i32>(&java, &(0x200, vec![0, 0, 0, 1])).unwrap(), 1);
    for (flags, len) in [(0x200, 5), (0x300, 9), (0x400, 9), (0x500, 2), (0x500, 0), (0x600, 5)] {
        let error = unreadable::<Value>(&java, flags, &vec![1; len]);
        assert_eq!(error.kind(), DecodeErrorKind::Mismatch, "{error}");
    }
    assert_eq!(
        java.decode_counter(0x200, vec![7]).unwrap_err().kind(),
        DecodeErrorKind::BinaryCounter
    );
}

#[test]
fn dalli_with_marshal_and_dalli_with_json_read_each_other() {
    let (marshal, json) = (transcoder(Codec::Dalli, false), transcoder(Codec::DalliJson, false));
    for (writer, reader) in [(&marshal, &json), (&json, &marshal)] {
        for value in [
            serde_json::json!({"a": [1, null]}),
            serde_json::json!("text"),
            serde_json::json!(-5),
            serde_json::json!(0.5),
            serde_json::json!(true),
        ] {
            assert_eq!(read::<Value>(reader, &stored(writer, &value)).unwrap(), value);
        }
        assert_eq!(read::<Option<u8>>(reader, &stored(writer, &None::<u8>)).unwrap(), None);
        assert_eq!(read::<Vec<u8>>(reader, &stored(writer, &vec![0_u8, 255])).unwrap(), [0, 255]);
    }
}
