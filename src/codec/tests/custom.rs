//! A codec of the user's own changes bytes and flags, and its errors reach the caller whole.

use std::error::Error;
use std::sync::Arc;

use super::{Transcoder, encode, read, stored, transcoder, unreadable};
use crate::codec::{Codec, CustomCodec, DecodeErrorKind};
use crate::types::Payload;

const MARK: u32 = 1 << 14;

/// Turns every bit over and marks the flags.
#[derive(Debug)]
struct Inverted;

fn invert(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| !byte).collect()
}

impl CustomCodec for Inverted {
    fn encode(&self, plain: Payload) -> Result<Payload, Box<dyn Error + Send + Sync>> {
        if plain.bytes == b"secret" {
            return Err("no secrets here".into());
        }
        Ok(Payload { bytes: invert(&plain.bytes), flags: plain.flags | MARK })
    }

    fn decode(&self, stored: &Payload) -> Result<Payload, Box<dyn Error + Send + Sync>> {
        if stored.flags & MARK == 0 {
            return Err("not marked".into());
        }
        Ok(Payload { bytes: invert(&stored.bytes), flags: stored.flags & !MARK })
    }
}

fn inverted() -> Transcoder {
    transcoder(Codec::Custom(Arc::new(Inverted)), false)
}

#[test]
fn a_custom_codec_changes_bytes_and_flags_both_ways() {
    let text = stored(&inverted(), "abc");
    assert_eq!(text, (MARK, invert(b"abc")));
    assert_eq!(read::<String>(&inverted(), &text).unwrap(), "abc");
    let list = stored(&inverted(), &vec![1, 2]);
    assert_eq!(list, (MARK | 32768, invert(b"[1,2]")));
    assert_eq!(read::<Vec<i32>>(&inverted(), &list).unwrap(), [1, 2]);
    let mut out = Vec::new();
    let flags = inverted().encode_counter(5, &mut out);
    assert_eq!(inverted().decode_counter(flags, out).unwrap(), 5);
}

#[test]
fn its_errors_are_the_source_and_carry_the_stored_bytes() {
    let error = encode(&inverted(), "secret").expect_err("refused");
    assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("no secrets here"));
    let error = unreadable::<String>(&inverted(), 0, b"abc");
    assert_eq!(error.kind(), DecodeErrorKind::Custom);
    assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("not marked"));
    let error = unreadable::<u32>(&inverted(), MARK, b"abc");
    assert_eq!(error.kind(), DecodeErrorKind::Mismatch);
    assert_eq!(error.into_payload(), Payload { bytes: b"abc".to_vec(), flags: MARK });
}
