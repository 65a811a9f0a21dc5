//! Values recorded from PHP, Python, Perl and Ruby clients are written and read byte for byte, or named.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

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

fn recorded() -> Vec<Recorded> {
    let lines = include_str!("../../../tests/vectors/other-values.tsv").lines();
    let record = |line: &'static str| {
        let [codec, setting, kind, value, flags, hex] =
            <[&str; 6]>::try_from(line.split('\t').collect::<Vec<_>>()).expect(line);
        let named = |known: &Codec| format!("{known:?}") == codec;
        let value: String = serde_json::from_str(value).expect(line);
        Recorded {
            codec: Codec::SHIPPED.into_iter().find(named).expect(codec),
            setting,
            kind,
            flags: flags.parse().expect(line),
            bytes: if hex == "plain" { repeated(&value).into_bytes() } else { unhex(hex) },
            value,
        }
    };
    lines.filter(|line| !line.starts_with('#')).map(record).collect()
}

/// `text*length`.
fn repeated(value: &str) -> String {
    let (text, length) = value.split_once('*').expect(value);
    text.chars().cycle().take(length.parse().expect(length)).collect()
}

fn float(value: &str) -> f64 {
    value.parse().expect(value)
}

impl Recorded {
    fn plain(&self) -> Transcoder {
        transcoder(self.codec.clone(), false)
    }

    fn is(&self, codec: &Codec) -> bool {
        std::mem::discriminant(&self.codec) == std::mem::discriminant(codec)
    }

    /// Why only the client itself stores this so; nothing where we do the same.
    fn only_theirs(&self) -> Option<&'static str> {
        Some(match self.kind {
            _ if self.setting.contains("compress") => "compressed, or close to its threshold",
            "repeat" | "repeatbytes" => "for compression",
            "str" if self.is_other_ruby() => "a symbol, or another encoding",
            "bool" | "none" if self.is(&Codec::Gomemcache) => "Python's text of it",
            "object" => "an object",
            "none" if matches!(self.flags, 5..=7) => "another serializer of the client",
            "json" if self.value == "[]" => "we store any empty sequence as no bytes",
            "json" if self.value == "\"H\"" => "an enum",
            "json" if self.flags == 6 || self.is(&Codec::DalliJson) => return None,
            "json" => "a structure in the client's own format",
            "float" if self.is(&Codec::PeclMemcache) && self.bytes.len() == 16 => "digits are lost",
            "str" if self.setting == "raw" => "raw by the call, not by the client's setting",
            _ => return None,
        })
    }

    fn ours(&self) -> (u32, Vec<u8>) {
        let codec = self.plain();
        match self.kind {
            "str" => stored(&codec, self.value.as_str()),
            "bytes" => stored(&codec, &unhex(&self.value)),
            "int" => match self.value.parse::<i64>() {
                Ok(number) => stored(&codec, &number),
                Err(_) => stored(&codec, &self.value.parse::<i128>().expect("an integer")),
            },
            "float" => stored(&codec, &float(&self.value)),
            "bool" => stored(&codec, &(self.value == "true")),
            "none" => stored(&codec, &None::<u8>),
            "json" => stored(&codec, &Ordered(&self.value)),
            "counter" => {
                let mut out = Vec::new();
                let number = self.value.parse().expect("a counter");
                (codec.encode_counter(number, &mut out), out)
            }
            other => panic!("{other}"),
        }
    }

    /// The format that the value is in and that we do not read.
    fn foreign(&self) -> Option<DecodeErrorKind> {
        use DecodeErrorKind as Kind;
        let structure = matches!(self.kind, "json" | "object");
        Some(match &self.codec {
            _ if self.stays_packed() => Kind::Compressed,
            Codec::PhpMemcached if self.flags & 0xf == 5 => Kind::Igbinary,
            Codec::PhpMemcached if self.flags & 0xf == 7 => Kind::MessagePack,
            Codec::PhpMemcached | Codec::PeclMemcache if self.kind == "object" => Kind::PhpObject,
            Codec::Pymemcache
            | Codec::Pylibmc
            | Codec::PythonMemcached
            | Codec::PythonBinaryMemcached
                if structure =>
            {
                Kind::Pickle
            }
            Codec::PerlCacheMemcached if structure => Kind::Storable,
            Codec::Dalli if structure || self.is_latin1() => Kind::Marshal,
            _ => return None,
        })
    }

    /// A Ruby string in another encoding than UTF-8.
    fn is_latin1(&self) -> bool {
        self.bytes.windows(8).any(|word| word == b"encoding")
    }

    /// That, or a Ruby symbol.
    fn is_other_ruby(&self) -> bool {
        self.bytes.starts_with(b"\x04\x08:") || self.is_latin1()
    }

    fn packed(&self) -> bool {
        let bit = match &self.codec {
            Codec::PhpMemcached => 0x10,
            Codec::PeclMemcache | Codec::PerlCacheMemcached | Codec::Dalli | Codec::DalliJson => 2,
            Codec::Gomemcache => 0,
            _ => 8,
        };
        self.flags & bit != 0
    }

    fn stays_packed(&self) -> bool {
        self.packed() && !cfg!(feature = "compression")
    }

    fn get<T: DeserializeOwned>(&self) -> T {
        let stored = (self.flags, self.bytes.clone());
        read(&self.plain(), &stored)
            .unwrap_or_else(|e| panic!("{:?} {} {e}", self.codec, self.kind))
    }
}

/// JSON text as a value whose fields stay in their order.
struct Ordered<'a>(&'a str);

impl Serialize for Ordered<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serde_json::from_str(self.0).expect(self.0) {
            Value::Object(fields) => {
                let mut names: Vec<_> = fields.iter().collect();
                names.sort_by_key(|(name, _)| self.0.find(&format!("\"{name}\":")));
                serializer.collect_map(names)
            }
            Value::Null => serializer.serialize_unit(),
            other => other.serialize(serializer),
        }
    }
}

#[test]
fn every_value_that_has_a_neutral_form_is_stored_as_recorded() {
    let mut compared = 0;
    for r in recorded() {
        if r.only_theirs().is_none() {
            assert_eq!(r.ours(), (r.flags, r.bytes.clone()), "{r:?}");
            compared += 1;
        }
    }
    assert_eq!(compared, 154);
}

#[test]
fn every_recorded_value_is_read_or_its_format_is_named() {
    let (mut values, mut named) = (0, 0);
    for r in recorded() {
        if let Some(kind) = r.foreign() {
            assert_eq!(unreadable::<Value>(&r.plain(), r.flags, &r.bytes).kind(), kind, "{r:?}");
            assert_eq!(unreadable::<String>(&r.plain(), r.flags, &r.bytes).kind(), kind, "{r:?}");
            named += 1;
        } else {
            check(&r);
            values += 1;
        }
    }
    let counted = if cfg!(feature = "compression") { (243, 49) } else { (223, 69) };
    assert_eq!((values, named), counted);
}

fn check(r: &Recorded) {
    match r.kind {
        "str" => assert_eq!(r.get::<String>(), r.value, "{r:?}"),
        "bytes" => assert_eq!(r.get::<Vec<u8>>(), unhex(&r.value), "{r:?}"),
        "int" | "counter" => assert_eq!(r.get::<i128>().to_string(), r.value, "{r:?}"),
        "float" => {
            let (ours, theirs) = (r.get::<f64>(), float(&r.value));
            let lost = r.only_theirs() == Some("digits are lost") && (ours - theirs).abs() < 1e-14;
            let same = ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan();
            assert!(same || lost, "{ours} {r:?}");
        }
        // What Python's `str` makes of it is a string.
        _ if r.is(&Codec::Gomemcache) && !r.kind.starts_with("repeat") => {
            assert_eq!(r.get::<String>().as_bytes(), r.bytes, "{r:?}");
        }
        "bool" => assert_eq!(r.get::<bool>().to_string(), r.value, "{r:?}"),
        "none" => assert_eq!(r.get::<Option<u8>>(), None, "{r:?}"),
        "json" => {
            let value: Value = serde_json::from_str(&r.value).expect("JSON");
            assert_eq!(r.get::<Value>(), value, "{r:?}");
        }
        _ => assert!(r.get::<String>() == repeated(&r.value), "{:?} {}", r.codec, r.value),
    }
}
