//! Values recorded from Whalin's own client, 2.0.1 and 3.0.2, are written and read byte for byte.

use serde::de::DeserializeOwned;

use super::{Codec, Transcoder, read, stored, transcoder, unhex, unreadable, whalin};
use crate::codec::DecodeErrorKind;

/// What bytes are that are marked as compressed and are not.
const COMPRESSED_JUNK: DecodeErrorKind = if cfg!(feature = "compression") {
    DecodeErrorKind::Corrupt
} else {
    DecodeErrorKind::Compressed
};

struct Recorded {
    native: bool,
    kind: &'static str,
    value: String,
    /// Flags of 2.0.1 and of 3.0.2, where each stored these bytes.
    flags: [Option<u32>; 2],
    bytes: Vec<u8>,
}

fn recorded() -> Vec<Recorded> {
    let lines = include_str!("../../../tests/vectors/whalin-values.tsv").lines();
    let record = |line: &'static str| {
        let [form, kind, value, old, new, hex] =
            <[&str; 6]>::try_from(line.split('\t').collect::<Vec<_>>()).expect(line);
        let value: String = serde_json::from_str(value).expect(line);
        Recorded {
            native: form == "native",
            kind,
            value: value.split_once(':').map_or(value.clone(), |(how, rest)| match how {
                "char" | "bits" | "millis" | "hex" => rest.to_owned(),
                _ => value.clone(),
            }),
            flags: [old.parse().ok(), new.parse().ok()],
            bytes: unhex(hex),
        }
    };
    lines.filter(|line| !line.starts_with('#')).map(record).collect()
}

fn char_of(value: &str) -> char {
    char::from_u32(value.parse().expect(value)).expect(value)
}

fn f32_of(value: &str) -> f32 {
    f32::from_bits(u32::from_str_radix(value, 16).expect(value))
}

fn f64_of(value: &str) -> f64 {
    f64::from_bits(u64::from_str_radix(value, 16).expect(value))
}

/// What we store for a recorded value; nothing for the types that Rust has not.
fn ours(codec: &Transcoder, r: &Recorded) -> Option<(u32, Vec<u8>)> {
    let v = r.value.as_str();
    Some(match r.kind {
        "Byte" => stored(codec, &v.parse::<i8>().expect(v)),
        "Boolean" => stored(codec, &v.parse::<bool>().expect(v)),
        "Integer" => stored(codec, &v.parse::<i32>().expect(v)),
        "Long" => stored(codec, &v.parse::<i64>().expect(v)),
        "Short" => stored(codec, &v.parse::<i16>().expect(v)),
        "Character" => stored(codec, &char_of(v)),
        "String" => stored(codec, v),
        "Float" => stored(codec, &f32_of(v)),
        "Double" => stored(codec, &f64_of(v)),
        "byte[]" => stored(codec, &unhex(v)),
        _ => return None,
    })
}

#[test]
fn every_type_that_rust_has_is_stored_as_recorded() {
    let mut compared = 0;
    for r in recorded() {
        let codec = transcoder(Codec::Whalin, !r.native);
        let Some(ours) = ours(&codec, &r) else { continue };
        // Strings of primitives have flags 0 in 2.0.1; ours are those of 3.0.2, which both read.
        let flags = r.flags[1].expect("3.0.2 stored it");
        assert_eq!(ours, (flags, r.bytes), "{} {}", r.kind, r.value);
        compared += 1;
    }
    assert_eq!(compared, 69 + 66, "native and string forms");
}

#[test]
fn every_recorded_value_is_read_and_java_objects_are_named() {
    let mut read = 0;
    for r in recorded() {
        for flags in r.flags.into_iter().flatten() {
            for as_strings in [false, true] {
                check(&transcoder(Codec::Whalin, as_strings), &r, flags);
                read += 1;
            }
        }
    }
    assert_eq!(read, 2 * (168 + 161), "native and string forms, each by both settings");
}

fn check(codec: &Transcoder, r: &Recorded, flags: u32) {
    fn get<T: DeserializeOwned>(codec: &Transcoder, r: &Recorded, flags: u32) -> T {
        read(codec, &(flags, r.bytes.clone())).unwrap_or_else(|e| panic!("{} {e}", r.kind))
    }
    let v = r.value.as_str();
    match r.kind {
        "Byte" => assert_eq!(get::<i8>(codec, r, flags).to_string(), v),
        "Boolean" => assert_eq!(get::<bool>(codec, r, flags).to_string(), v),
        "Integer" => assert_eq!(get::<i32>(codec, r, flags).to_string(), v),
        "Long" => assert_eq!(get::<i64>(codec, r, flags).to_string(), v),
        "Short" => assert_eq!(get::<i16>(codec, r, flags).to_string(), v),
        "Character" => assert_eq!(get::<char>(codec, r, flags), char_of(v)),
        "String" | "StringBuffer" | "StringBuilder" => {
            assert_eq!(get::<String>(codec, r, flags), v);
        }
        "Float" => {
            let (ours, theirs) = (get::<f32>(codec, r, flags), f32_of(v));
            assert!(ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan());
        }
        "Double" => {
            let (ours, theirs) = (get::<f64>(codec, r, flags), f64_of(v));
            assert!(ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan());
        }
        "byte[]" => assert_eq!(get::<Vec<u8>>(codec, r, flags), unhex(v)),
        "java.util.Date" if r.native => assert_eq!(get::<i64>(codec, r, flags).to_string(), v),
        // Java's text of a date or an object: text.
        _ if flags == 32 || r.kind == "java.util.Date" => {
            assert_eq!(get::<String>(codec, r, flags).as_bytes(), r.bytes);
        }
        _ => {
            let error = unreadable::<Vec<u8>>(codec, flags, &r.bytes);
            assert_eq!(error.kind(), DecodeErrorKind::JavaObject, "{} {error}", r.kind);
        }
    }
}

/// `abc` under the flags of other programs, as recorded; where Whalin's client reads nothing, or a
/// wrong value, we read the text or name the flags.
#[test]
fn foreign_flags_are_text_or_a_typed_error() {
    assert_eq!(read::<String>(&whalin(), &(0, b"abc".to_vec())).unwrap(), "abc");
    for (flags, kind) in [
        (2, COMPRESSED_JUNK),
        (8, DecodeErrorKind::JavaObject),
        (16, DecodeErrorKind::Mismatch),
        (21, DecodeErrorKind::UnknownFlags),
        (1_073_741_824, DecodeErrorKind::UnknownFlags),
        (u32::MAX, DecodeErrorKind::UnknownFlags),
    ] {
        assert_eq!(unreadable::<String>(&whalin(), flags, b"abc").kind(), kind);
        assert_eq!(unreadable::<i64>(&whalin(), flags, b"abc").kind(), kind);
    }
    assert_eq!(whalin().decode_counter(0, b"12".to_vec()).unwrap(), 12);
}
