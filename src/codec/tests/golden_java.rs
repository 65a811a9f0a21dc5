//! Values recorded from spymemcached and xmemcached are written and read byte for byte, or named.

use std::fmt::Debug;

use serde::de::DeserializeOwned;

use super::{Codec, Transcoder, read, stored, transcoder, unhex, unreadable};
use crate::codec::DecodeErrorKind;

#[derive(Debug)]
struct Recorded {
    codec: Codec,
    setting: &'static str,
    kind: &'static str,
    value: String,
    flags: u32,
    bytes: Vec<u8>,
}

fn codec_of(transcoder: &str) -> Codec {
    if transcoder == "whalin" { Codec::Whalin } else { Codec::Spymemcached }
}

fn lines(file: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    file.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
}

fn recorded() -> Vec<Recorded> {
    let file = include_str!("../../../tests/vectors/java-values.tsv");
    let record = |line: Vec<&'static str>| {
        let [codec, setting, _clients, kind, value, flags, hex] =
            <[&str; 7]>::try_from(line).expect("seven columns");
        let value: String = serde_json::from_str(value).expect(value);
        Recorded {
            codec: codec_of(codec),
            setting,
            kind,
            flags: flags.parse().expect(flags),
            bytes: if hex == "plain" { described(&value) } else { unhex(hex) },
            value,
        }
    };
    lines(file).map(record).collect()
}

/// The bytes of a long value: what is repeated how often, or the first bytes of a known generator.
fn described(value: &str) -> Vec<u8> {
    let inner = value.trim_start_matches('(').trim_end_matches(')');
    if let Some(length) = inner.strip_prefix("prng ") {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let next = |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[0]
        };
        return (0..length.parse::<usize>().expect(length)).map(next).collect();
    }
    let (text, times) = inner.rsplit_once(" x ").expect(value);
    let times = times.parse().expect(value);
    match text {
        "0x00" => vec![0; times],
        "U+65E5" => "\u{65e5}".repeat(times).into_bytes(),
        _ => match text.split_once(" + ") {
            Some((first, rest)) => {
                let (first, rest) = (first.trim_matches('"'), rest.trim_matches('"'));
                format!("{first}{}", rest.repeat(times)).into_bytes()
            }
            None => text.trim_matches('"').repeat(times).into_bytes(),
        },
    }
}

impl Recorded {
    fn codec(&self) -> Transcoder {
        transcoder(self.codec.clone(), self.setting.starts_with("strings"))
    }

    fn plain_value(&self) -> Vec<u8> {
        match (self.kind, self.value.as_str()) {
            // Java writes `?` for half a character.
            ("string", "(lone surrogate U+D800)") => b"?".to_vec(),
            _ if self.value.starts_with('(') => described(&self.value),
            ("bytes", hex) => unhex(hex),
            // Java writes `?` for what the charset has not.
            (_, text) if self.latin1() => {
                text.chars().map(|char| u8::try_from(char).unwrap_or(b'?')).collect()
            }
            (_, text) => text.as_bytes().to_vec(),
        }
    }

    fn compressed(&self) -> bool {
        self.flags & 2 != 0
    }

    /// Whether Java's own object stream is needed for it, or xmemcached mixes up flags and form.
    fn only_java(&self) -> bool {
        let serializing = matches!(self.codec, Codec::Spymemcached);
        match self.kind {
            "java_object" => true,
            "stringbuffer" | "stringbuilder" | "i16" | "char" => serializing && self.flags & 1 == 1,
            _ => false,
        }
    }

    /// Not in UTF-8.
    fn latin1(&self) -> bool {
        self.setting.ends_with("ISO-8859-1")
    }

    /// xmemcached with `primitiveAsString` gives dates, chars and bytes the flags of a string.
    fn mixed_up(&self) -> bool {
        self.setting.starts_with("strings") && matches!(self.kind, "date_ms" | "char" | "bytes")
    }

    fn ours(&self) -> Option<(u32, Vec<u8>)> {
        let (codec, v) = (self.codec(), self.value.as_str());
        Some(match self.kind {
            "bool" => stored(&codec, &v.parse::<bool>().expect(v)),
            "i8" => stored(&codec, &v.parse::<i8>().expect(v)),
            "i16" => stored(&codec, &v.parse::<i16>().expect(v)),
            "i32" => stored(&codec, &v.parse::<i32>().expect(v)),
            "i64" => stored(&codec, &v.parse::<i64>().expect(v)),
            "f32" => stored(&codec, &v.parse::<f32>().expect(v)),
            "f64" => stored(&codec, &v.parse::<f64>().expect(v)),
            "char" => {
                let char = char::from_u32(v.parse().expect(v)).expect(v);
                stored(&codec, &char)
            }
            "string" => stored(&codec, &String::from_utf8(self.plain_value()).expect(v)),
            "bytes" => stored(&codec, &self.plain_value()),
            _ => return None,
        })
    }

    fn get<T: DeserializeOwned>(&self) -> T {
        let stored = (self.flags, self.bytes.clone());
        read(&self.codec(), &stored).unwrap_or_else(|e| panic!("{} {} {e}", self.kind, self.value))
    }
}

#[test]
fn every_type_that_rust_has_is_stored_as_recorded() {
    let mut compared = 0;
    for r in recorded() {
        let theirs = r.latin1()
            || r.compressed()
            || r.only_java()
            || r.mixed_up()
            || r.setting.ends_with("otherpack");
        if theirs {
            continue;
        }
        let Some(ours) = r.ours() else { continue };
        assert_eq!(ours, (r.flags, r.bytes.clone()), "{:?} {} {}", r.codec, r.kind, r.value);
        compared += 1;
    }
    assert_eq!(compared, 376);
}

#[test]
fn every_recorded_value_is_read_or_its_format_is_named() {
    let (mut values, mut named) = (0, 0);
    for r in recorded() {
        let kind = if r.compressed() && !cfg!(feature = "compression") {
            Some(DecodeErrorKind::Compressed)
        } else if r.only_java() {
            Some(DecodeErrorKind::JavaObject)
        } else if r.latin1() && std::str::from_utf8(&r.bytes).is_err() {
            Some(DecodeErrorKind::Mismatch)
        } else if matches!(r.codec, Codec::Whalin)
            && r.setting == "plain-otherpack"
            && r.is_packed()
        {
            // A number without its zero bytes could be anything under flags that other clients have, too.
            Some(DecodeErrorKind::Mismatch)
        } else {
            None
        };
        match kind {
            Some(kind) => {
                let error = unreadable::<String>(&r.codec(), r.flags, &r.bytes);
                assert_eq!(error.kind(), kind, "{} {} {error}", r.kind, r.value);
                named += 1;
            }
            None => {
                check(&r);
                values += 1;
            }
        }
    }
    let counted = if cfg!(feature = "compression") { (842, 129) } else { (809, 162) };
    assert_eq!((values, named), counted);
}

impl Recorded {
    fn is_packed(&self) -> bool {
        let full = match self.kind {
            "i32" | "i16" | "char" | "f32" => 4,
            "i64" | "f64" | "date_ms" => 8,
            _ => return false,
        };
        self.bytes.len() != full
    }
}

fn check(r: &Recorded) {
    let v = r.value.as_str();
    match r.kind {
        // Whatever it is, it is in the bytes.
        _ if r.mixed_up() => assert_eq!(r.get::<Vec<u8>>(), r.bytes_inside(), "{v}"),
        "bool" => assert_eq!(r.get::<bool>().to_string(), v),
        "i8" => assert_eq!(r.get::<i8>().to_string(), v),
        "i16" => assert_eq!(r.get::<i16>().to_string(), v),
        "i32" => assert_eq!(r.get::<i32>().to_string(), v),
        "i64" | "date_ms" => assert_eq!(r.get::<i64>().to_string(), v),
        "char" => assert_eq!(u32::from(r.get::<char>()).to_string(), v),
        "f32" => {
            let (ours, theirs) = (r.get::<f32>(), v.parse::<f32>().expect(v));
            assert!(ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan(), "{v}");
        }
        "f64" => {
            let (ours, theirs) = (r.get::<f64>(), v.parse::<f64>().expect(v));
            assert!(ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan(), "{v}");
        }
        "bytes" => assert_eq!(r.get::<Vec<u8>>(), r.plain_value(), "{v}"),
        _ => assert_eq!(r.get::<String>().into_bytes(), r.plain_value(), "{v}"),
    }
}

impl Recorded {
    fn bytes_inside(&self) -> Vec<u8> {
        if self.compressed() { self.plain_value() } else { self.bytes.clone() }
    }
}

/// What was recorded as read from any bytes under any flags, is what we read, or we name what is wrong: never
/// another value.
#[test]
fn what_the_clients_read_from_any_bytes_is_what_we_read_or_an_error() {
    let (mut same, mut named) = (0, 0);
    for line in lines(include_str!("../../../tests/vectors/java-reads.tsv")) {
        let [name, flags, hex, kind, value, _clients] =
            <[&str; 6]>::try_from(line).expect("six columns");
        let value: String = serde_json::from_str(value).expect(value);
        let stored = (flags.parse().expect(flags), unhex(hex));
        let codec = transcoder(codec_of(name), false);
        fn text<T: DeserializeOwned + Debug>(
            codec: &Transcoder,
            stored: &(u32, Vec<u8>),
            show: impl Fn(T) -> String,
        ) -> Option<String> {
            read::<T>(codec, stored).ok().map(show)
        }
        let ours = match kind {
            "Boolean" => text(&codec, &stored, |v: bool| v.to_string()),
            "Byte" => text(&codec, &stored, |v: i8| v.to_string()),
            "Short" => text(&codec, &stored, |v: i16| v.to_string()),
            "Integer" => text(&codec, &stored, |v: i32| v.to_string()),
            "Long" | "date_ms" => text(&codec, &stored, |v: i64| v.to_string()),
            "char" => text(&codec, &stored, |v: char| u32::from(v).to_string()),
            "Float" => text(&codec, &stored, |v: f32| v.to_bits().to_string()),
            "Double" => text(&codec, &stored, |v: f64| v.to_bits().to_string()),
            "bytes" => text(&codec, &stored, |v: Vec<u8>| {
                v.iter().map(|byte| format!("{byte:02x}")).collect()
            }),
            // Where the client reads nothing, we read text under flags 0, or name what is wrong.
            "null" | "error" => continue,
            _ => text(&codec, &stored, |v: String| v),
        };
        let theirs = match kind {
            "Float" => value.parse::<f32>().expect(kind).to_bits().to_string(),
            "Double" => value.parse::<f64>().expect(kind).to_bits().to_string(),
            _ => value,
        };
        match ours {
            Some(ours) => {
                assert_eq!(ours, theirs, "{name} {flags} {hex}");
                same += 1;
            }
            None => named += 1,
        }
    }
    assert_eq!((same, named), (153, 234));
}
