//! Compressed values: each client's mark and form, both ways, under a limit; damaged ones are named.

#[cfg(feature = "compression")]
mod engine;

use serde_json::Value;

use super::{Codec, Settings, Transcoder, stored, transcoder, unreadable};
use crate::codec::DecodeErrorKind;

/// `hello` as gzip and as zlib.
const GZIP: &[u8] =
    b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0";
const ZLIB: &[u8] = b"\x78\x9c\xcb\x48\xcd\xc9\xc9\x07\0\x06\x2c\x02\x15";

/// Each codec that knows compression, with the flags of compressed text and `hello` in its form.
fn marked() -> Vec<(Codec, u32, Vec<u8>)> {
    let sized = || [&5_u32.to_le_bytes(), ZLIB].concat();
    vec![
        (Codec::Json, 2, GZIP.to_vec()),
        (Codec::Whalin, 2 + 32, GZIP.to_vec()),
        (Codec::Spymemcached, 2, GZIP.to_vec()),
        (Codec::Xmemcached, 2, GZIP.to_vec()),
        (Codec::PhpMemcached, 0x30, sized()),
        (Codec::PeclMemcache, 2, ZLIB.to_vec()),
        (Codec::Pymemcache, 8 + 16, ZLIB.to_vec()),
        (Codec::Pylibmc, 8 + 16, ZLIB.to_vec()),
        (Codec::PythonMemcached, 8 + 16, ZLIB.to_vec()),
        (Codec::PythonBinaryMemcached, 8, ZLIB.to_vec()),
        (Codec::PerlCacheMemcached, 2, GZIP.to_vec()),
        (Codec::Dalli, 2, ZLIB.to_vec()),
        (Codec::DalliJson, 2, ZLIB.to_vec()),
    ]
}

#[test]
fn what_no_build_inflates_is_named() {
    for (flags, name) in [(0x90, "Zstandard"), (0x94, "Zstandard")] {
        let error = unreadable::<String>(
            &transcoder(Codec::PhpMemcached, false),
            flags,
            b"\x05\0\0\0hello",
        );
        assert_eq!(error.kind(), DecodeErrorKind::Compressed);
        assert!(error.to_string().contains(&format!("compressed with {name}")), "{error}");
    }
}

#[test]
fn a_codec_without_a_mark_compresses_nothing() {
    let text = "compressible ".repeat(1000);
    for codec in [Codec::Raw, Codec::Gomemcache, Codec::RustMemcache] {
        let settings = Settings { compress_above: Some(0), ..Settings::default() };
        let codec = Transcoder::new(codec, settings);
        assert_eq!(stored(&codec, &text), (0, text.clone().into_bytes()));
        assert!(!codec.compresses());
    }
}

#[test]
fn flags_that_are_not_the_codecs_are_unknown_whatever_mark_of_compression_they_carry() {
    for (codec, flags, bytes) in marked() {
        let codec = transcoder(codec, false);
        let error = unreadable::<Value>(&codec, flags | 0x4000_0040, &bytes);
        let user_bits_only = error.kind() == DecodeErrorKind::UnknownFlags;
        assert!(user_bits_only, "{error}");
    }
}

#[cfg(not(feature = "compression"))]
#[test]
fn without_the_feature_a_compressed_value_names_format_and_feature() {
    for (codec, flags, bytes) in marked() {
        let error = unreadable::<String>(&transcoder(codec.clone(), false), flags, &bytes);
        assert_eq!(error.kind(), DecodeErrorKind::Compressed, "{codec:?}");
        let text = error.to_string();
        assert!(text.contains("`compression`"), "{text}");
        let name = if bytes == GZIP { "gzip" } else { "zlib" };
        assert!(text.contains(&format!("compressed with {name}")), "{text}");
    }
}
