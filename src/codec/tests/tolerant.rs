//! Values of other programs, other types and other settings: read where that is safe, else a typed error.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use serde_json::{Value, json};

use super::{Codec, Transcoder, general, json, read, stored, transcoder, unreadable, whalin};
use crate::codec::DecodeErrorKind::{self, *};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Point {
    x: i32,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type")]
enum Shape {
    Dot { x: i32 },
}

fn kind<T: serde::de::DeserializeOwned + std::fmt::Debug>(
    codec: &Transcoder,
    flags: u32,
    bytes: &[u8],
) -> DecodeErrorKind {
    unreadable::<T>(codec, flags, bytes).kind()
}

#[test]
fn the_json_codec_stores_under_the_documented_flags() {
    for (value, flags, text) in [
        (json!("text"), 0, "text"),
        (json!(5), 32768, "5"),
        (json!(-2.5), 32768, "-2.5"),
        (json!(true), 32768, "true"),
        (json!({"a": [1]}), 32768, r#"{"a":[1]}"#),
        (json!(["a", 1]), 32768, r#"["a",1]"#),
        (json!(null), 32768, "null"),
    ] {
        assert_eq!(stored(&json(), &value), (flags, text.as_bytes().to_vec()));
    }
    assert_eq!(stored(&json(), &None::<u8>), (32832, vec![]));
    assert_eq!(stored(&json(), &vec![1_u8, 2]), (36864, vec![1, 2]));
    assert_eq!(stored(&json(), &'5'), (0, b"5".to_vec()));
    assert_eq!(stored(&json(), &1.0), (32768, b"1.0".to_vec()));
    assert_eq!(stored(&json(), &u128::MAX).1, u128::MAX.to_string().into_bytes());
    let strings = transcoder(Codec::Json, true);
    assert_eq!(stored(&strings, &5), (0, b"5".to_vec()));
    assert_eq!(stored(&strings, &false), (0, b"false".to_vec()));
    assert_eq!(stored(&strings, &-2.5), (0, b"-2.5".to_vec()));
    assert_eq!(stored(&strings, &Point { x: 1 }), (32768, br#"{"x":1}"#.to_vec()));
}

#[test]
fn a_number_is_read_as_any_type_that_holds_it_and_never_cut() {
    for codec in general() {
        let five = stored(&codec, &5_i32);
        assert_eq!(read::<u64>(&codec, &five).unwrap(), 5);
        assert_eq!(read::<i8>(&codec, &five).unwrap(), 5);
        assert_eq!(read::<u128>(&codec, &five).unwrap(), 5);
        assert_eq!(read::<f64>(&codec, &five).unwrap(), 5.0);
        assert_eq!(read::<Option<u16>>(&codec, &five).unwrap(), Some(5));
        for (value, wider) in [(300_i64, "u8"), (-1, "u32"), (i64::MIN, "i32")] {
            let payload = stored(&codec, &value);
            let error = match wider {
                "u8" => unreadable::<u8>(&codec, payload.0, &payload.1),
                "u32" => unreadable::<u32>(&codec, payload.0, &payload.1),
                _ => unreadable::<i32>(&codec, payload.0, &payload.1),
            };
            assert!(error.kind() == Mismatch && error.to_string().contains(wider), "{error}");
        }
        let (flags, bytes) = stored(&codec, &1e300);
        assert_eq!(kind::<f32>(&codec, flags, &bytes), Mismatch);
        assert_eq!(kind::<i64>(&codec, flags, &bytes), Mismatch);
        let half = stored(&codec, &0.5_f32);
        assert_eq!(read::<f64>(&codec, &half).unwrap(), 0.5);
        let (flags, bytes) = stored(&codec, &true);
        assert_eq!(kind::<u8>(&codec, flags, &bytes), Mismatch);
    }
}

#[test]
fn numbers_in_text_may_have_blanks_around_them_and_nothing_else() {
    for codec in general() {
        for flags in [0, 32768] {
            for text in ["9 ", " 9", "9   ", "9\r\n", "\t9"] {
                let payload = (flags, text.as_bytes().to_vec());
                assert_eq!(read::<u64>(&codec, &payload).unwrap(), 9, "{text:?}");
                assert_eq!(read::<i8>(&codec, &payload).unwrap(), 9, "{text:?}");
                assert_eq!(read::<f64>(&codec, &payload).unwrap(), 9.0, "{text:?}");
            }
            for text in ["", " ", "9a", "9 9", "-", "0x9", "9.5", "18446744073709551616", "\u{660}"]
            {
                assert_eq!(kind::<u64>(&codec, flags, text.as_bytes()), Mismatch, "{text:?}");
            }
        }
        let max = u64::MAX.to_string().into_bytes();
        assert_eq!(read::<u64>(&codec, &(0, max.clone())).unwrap(), u64::MAX);
        assert_eq!(kind::<i64>(&codec, 0, &max), Mismatch);
        assert_eq!(kind::<f32>(&codec, 0, b"1e300"), Mismatch);
        assert_eq!(read::<f32>(&codec, &(0, b"-Infinity".to_vec())).unwrap(), f32::NEG_INFINITY);
    }
}

#[test]
fn flags_0_are_text_bytes_a_number_or_json_as_the_type_asked_for_wants() {
    for codec in general() {
        let of = |text: &str| (0, text.as_bytes().to_vec());
        assert_eq!(read::<String>(&codec, &of("[1,2]")).unwrap(), "[1,2]");
        assert_eq!(read::<Vec<u8>>(&codec, &of("[1,2]")).unwrap(), b"[1,2]");
        assert_eq!(read::<ByteBuf>(&codec, &of("[1,2]")).unwrap(), b"[1,2]");
        assert_eq!(read::<[u8; 5]>(&codec, &of("[1,2]")).unwrap(), *b"[1,2]");
        assert_eq!(read::<Vec<i32>>(&codec, &of("[1,2]")).unwrap(), [1, 2]);
        assert_eq!(read::<Vec<String>>(&codec, &of(r#"["a"]"#)).unwrap(), ["a"]);
        assert_eq!(read::<Vec<Point>>(&codec, &of(r#"[{"x":1}]"#)).unwrap(), [Point { x: 1 }]);
        assert_eq!(read::<Point>(&codec, &of(r#"{"x":1}"#)).unwrap(), Point { x: 1 });
        assert_eq!(
            read::<Shape>(&codec, &of(r#"{"type":"Dot","x":1}"#)).unwrap(),
            Shape::Dot { x: 1 }
        );
        assert_eq!(read::<BTreeMap<u8, u8>>(&codec, &of(r#"{"1":2}"#)).unwrap()[&1], 2);
        assert_eq!(read::<(u8, String)>(&codec, &of(r#"[1,"a"]"#)).unwrap(), (1, "a".to_owned()));
        assert_eq!(read::<Option<u8>>(&codec, &of("null")).unwrap(), None);
        assert_eq!(read::<Option<String>>(&codec, &of("null")).unwrap(), Some("null".to_owned()));
        assert!(read::<bool>(&codec, &of("true")).unwrap());
        assert_eq!(read::<char>(&codec, &of(" ")).unwrap(), ' ');
        assert_eq!(read::<Value>(&codec, &of("5")).unwrap(), json!("5"));
        assert_eq!(read::<Vec<u8>>(&codec, &(0, vec![255])).unwrap(), [255]);
        assert_eq!(read::<String>(&codec, &of("")).unwrap(), "");
        assert_eq!(read::<Vec<u8>>(&codec, &of("")).unwrap(), b"");
        assert_eq!(read::<Vec<i32>>(&codec, &of("")).unwrap(), [0; 0]);
        assert_eq!(kind::<String>(&codec, 0, &[b'a', 255]), Mismatch);
        assert_eq!(kind::<char>(&codec, 0, b"ab"), Mismatch);
        assert_eq!(kind::<Vec<i32>>(&codec, 0, b"hello"), Mismatch);
        assert_eq!(kind::<[u8; 2]>(&codec, 0, b"abc"), Mismatch);
        assert_eq!(kind::<Point>(&codec, 0, br#"{"x":1} trailing"#), Mismatch);
    }
}

#[test]
fn bytes_are_read_as_text_and_as_other_numbers_where_nothing_is_lost() {
    let bytes = stored(&json(), &b"abc".to_vec());
    assert_eq!(read::<String>(&json(), &bytes).unwrap(), "abc");
    assert_eq!(read::<Vec<u32>>(&json(), &bytes).unwrap(), [97, 98, 99]);
    assert_eq!(read::<Value>(&json(), &bytes).unwrap(), json!([97, 98, 99]));
    assert_eq!(kind::<Vec<i8>>(&json(), bytes.0, &[200]), Mismatch);
    assert_eq!(kind::<u32>(&json(), bytes.0, b"5"), Mismatch);
    assert_eq!(kind::<String>(&json(), 32768, b"5"), Mismatch);
}

#[test]
fn flags_that_are_not_the_codecs_are_an_error_for_every_type() {
    for flags in [1, 3, 4, 8, 16, 21, 32, 256, 4096, 16384, 32769, 65536, 98304, 1 << 30, u32::MAX]
    {
        for codec in [json(), transcoder(Codec::Json, true)] {
            assert_eq!(kind::<String>(&codec, flags, b"hello"), UnknownFlags);
            assert_eq!(kind::<Vec<u8>>(&codec, flags, b"hello"), UnknownFlags);
            assert_eq!(kind::<u32>(&codec, flags, b"5"), UnknownFlags);
            assert_eq!(kind::<Value>(&codec, flags, b"{}"), UnknownFlags);
            assert_eq!(kind::<Option<Point>>(&codec, flags, b""), UnknownFlags);
        }
    }
    for flags in [32769, 32800, 36864, 65536, 65568, 1 << 30, u32::MAX] {
        assert_eq!(kind::<String>(&whalin(), flags, b"hello"), UnknownFlags, "{flags}");
    }
    let error = unreadable::<String>(&json(), 21, b"abc").to_string();
    assert!(error.contains("`alloc::string::String`") && error.contains("get_raw"), "{error}");
}

#[test]
fn whalin_reads_by_the_one_type_bit_and_checks_the_length() {
    // What other clients of Java and Python mark their numbers with.
    for (flags, bytes) in
        [(256 + 512, b"\xb2\xd0\x5e\0".as_slice()), (16 + 4 + 1, b"a"), (32 + 64, b"a")]
    {
        assert_eq!(kind::<Value>(&whalin(), flags, bytes), UnknownFlags, "{flags}");
    }
    assert!(!read::<bool>(&whalin(), &(8192, vec![2])).unwrap());
    for (flags, right) in
        [(1, 1), (4, 4), (16, 4), (128, 4), (256, 4), (512, 8), (1024, 8), (8192, 1), (16384, 8)]
    {
        for len in (0..=9).filter(|len| *len != right) {
            let error = unreadable::<Value>(&whalin(), flags, &vec![0; len]);
            assert!(
                error.kind() == Mismatch && error.to_string().contains(&format!("{right} bytes"))
            );
        }
    }
    for flags in [32, 64, 2048, 4096, 0] {
        assert_eq!(read::<String>(&whalin(), &(flags, vec![])).unwrap(), "");
        assert_eq!(read::<Vec<u8>>(&whalin(), &(flags, vec![])).unwrap(), b"");
    }
    for unit in [0xd800_u32, 0xdfff, 0x1_0000, u32::MAX] {
        assert_eq!(kind::<char>(&whalin(), 16, &unit.to_be_bytes()), Mismatch);
    }
    assert_eq!(read::<String>(&whalin(), &(16, vec![0, 0, 0, b'a'])).unwrap(), "a");
}

#[test]
fn whalin_names_java_objects() {
    let object = [0xac, 0xed, 0, 5, 0x73];
    assert_eq!(kind::<Vec<u8>>(&whalin(), 8, &object), JavaObject);
    assert_eq!(kind::<Vec<u8>>(&whalin(), 0, &object), JavaObject);
    assert_eq!(kind::<Point>(&whalin(), 8, b""), JavaObject);
}

#[test]
fn a_java_date_is_milliseconds_or_a_system_time() {
    let date = |millis: i64| (1024, millis.to_be_bytes().to_vec());
    assert_eq!(read::<i64>(&whalin(), &date(-1)).unwrap(), -1);
    assert_eq!(read::<u64>(&whalin(), &date(1_230_768_000_123)).unwrap(), 1_230_768_000_123);
    assert_eq!(
        read::<SystemTime>(&whalin(), &date(1_230_768_000_123)).unwrap(),
        UNIX_EPOCH + Duration::from_millis(1_230_768_000_123)
    );
    assert!(read::<SystemTime>(&whalin(), &date(i64::MAX)).is_ok());
    let error = unreadable::<SystemTime>(&whalin(), 1024, &(-1_i64).to_be_bytes());
    assert!(error.to_string().contains("before 1970"), "{error}");
}

#[test]
fn whalin_gives_unsigned_numbers_the_smallest_type_that_holds_all_of_them() {
    assert_eq!(stored(&whalin(), &255_u8), (256, vec![0, 0, 0, 255]));
    assert_eq!(stored(&whalin(), &u16::MAX), (4, vec![0, 0, 255, 255]));
    assert_eq!(stored(&whalin(), &u32::MAX), (16384, vec![0, 0, 0, 0, 255, 255, 255, 255]));
    assert_eq!(stored(&whalin(), &1_u64), (16384, vec![0, 0, 0, 0, 0, 0, 0, 1]));
    assert_eq!(stored(&whalin(), &'😀'), (32, "😀".as_bytes().to_vec()));
    assert_eq!(stored(&whalin(), &5_u128), (32768, b"5".to_vec()));
    assert_eq!(stored(&whalin(), &None::<u8>), (32832, vec![]));
    assert_eq!(stored(&whalin(), &Point { x: 1 }), (32768, br#"{"x":1}"#.to_vec()));
    let signalling = f32::from_bits(0xffa0_0001);
    assert_eq!(stored(&whalin(), &signalling), (128, vec![0x7f, 0xc0, 0, 0]));
    assert_eq!(stored(&whalin(), &-f64::NAN), (512, vec![0x7f, 0xf8, 0, 0, 0, 0, 0, 0]));
}

#[test]
fn whalin_writes_floats_as_java_does() {
    let strings = transcoder(Codec::Whalin, true);
    for (value, text) in [
        (1e7, "1.0E7"),
        (9_999_999.5, "9999999.5"),
        (-0.001, "-0.001"),
        (9.99e-4, "9.99E-4"),
        (-1.25e-10, "-1.25E-10"),
        (2e23, "2.0E23"),
        (100.0, "100.0"),
    ] {
        assert_eq!(stored(&strings, &value), (32, text.as_bytes().to_vec()));
    }
}

#[test]
fn an_error_says_what_the_type_asked_for_missed_in_the_text() {
    let error = unreadable::<u32>(&json(), 0, b"hello").to_string();
    assert!(error.contains("5 bytes") && error.contains("`u32`"), "{error}");
    assert!(error.contains("`hello` is not a whole number"), "{error}");
    let error = unreadable::<Vec<String>>(&json(), 0, b"hello").to_string();
    assert!(error.contains("not made of the elements asked for"), "{error}");
    let error = unreadable::<u32>(&json(), 0, &[b'\n'; 100]).to_string();
    assert!(!error.contains('\n') && error.len() < 300, "{error}");
}

#[test]
fn counters_are_decimal_text_under_any_flags_but_binary_ones() {
    for (codec, flags) in general().into_iter().zip([32768, 0, 32, 32]) {
        let mut out = b"before".to_vec();
        assert_eq!(codec.encode_counter(u64::MAX, &mut out), flags);
        assert_eq!(out, b"before18446744073709551615");
        for (text, count) in [("0", 0), ("9 ", 9), ("99  ", 99), ("18446744073709551615", u64::MAX)]
        {
            for flags in [0, 32, 32768, 1 << 20] {
                let read = codec.decode_counter(flags, text.as_bytes().to_vec());
                assert_eq!(read.unwrap(), count, "{text:?} under {flags}");
            }
        }
        for text in ["", "-5", "abc", "5.0", "18446744073709551616"] {
            let error = codec.decode_counter(0, text.as_bytes().to_vec()).expect_err(text);
            assert_eq!((error.kind(), error.bytes()), (Mismatch, text.as_bytes()), "{error}");
        }
        let counter = codec.decode::<u64>(flags, &mut b"5".to_vec());
        assert_eq!(counter.unwrap(), 5, "a counter is an ordinary number");
    }
    for flags in [1, 4, 256, 16384, 8192, 512] {
        let error = whalin().decode_counter(flags, b"1234".to_vec()).expect_err("binary");
        assert!(
            error.kind() == BinaryCounter && error.to_string().contains("set_counter"),
            "{error}"
        );
    }
    assert_eq!(whalin().decode_counter(32, b"12".to_vec()).unwrap(), 12);
}
