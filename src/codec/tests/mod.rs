//! What users get from the codecs, by theme; here what the themes share.

mod compressed;
mod custom;
mod dialects;
mod foreign;
mod golden;
mod golden_java;
mod golden_others;
mod hostile;
mod kinds;
mod refused;
mod tolerant;

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Codec, DecodeError, EncodeError, Settings, Transcoder};

fn transcoder(codec: Codec, primitives_as_strings: bool) -> Transcoder {
    Transcoder::new(codec, Settings { primitives_as_strings, ..Settings::default() })
}

fn json() -> Transcoder {
    Transcoder::default()
}

fn whalin() -> Transcoder {
    transcoder(Codec::Whalin, false)
}

fn raw() -> Transcoder {
    transcoder(Codec::Raw, false)
}

/// Every codec that takes any value, with both settings.
fn general() -> [Transcoder; 4] {
    [json(), transcoder(Codec::Json, true), whalin(), transcoder(Codec::Whalin, true)]
}

/// The same, and those of the other clients.
fn every() -> Vec<Transcoder> {
    let codecs = Codec::SHIPPED.into_iter().filter(|codec| !matches!(codec, Codec::Raw));
    codecs.flat_map(|codec| [transcoder(codec.clone(), false), transcoder(codec, true)]).collect()
}

fn encode<T: Serialize + ?Sized>(
    codec: &Transcoder,
    value: &T,
) -> Result<(u32, Vec<u8>), EncodeError> {
    let mut out = b"before".to_vec();
    let flags = codec.encode(value, &mut out);
    assert!(out.starts_with(b"before"), "what stood in the buffer is gone");
    assert!(flags.is_ok() || out == b"before", "an error left bytes behind");
    flags.map(|flags| (flags, out.split_off(6)))
}

fn unhex(hex: &str) -> Vec<u8> {
    let pairs = (0..hex.len()).step_by(2).map(|at| &hex[at..at + 2]);
    pairs.map(|pair| u8::from_str_radix(pair, 16).expect(hex)).collect()
}

fn stored<T: Serialize + ?Sized>(codec: &Transcoder, value: &T) -> (u32, Vec<u8>) {
    encode(codec, value).unwrap_or_else(|e| panic!("{e}"))
}

fn read<T: DeserializeOwned>(
    codec: &Transcoder,
    (flags, bytes): &(u32, Vec<u8>),
) -> Result<T, DecodeError> {
    codec.decode(*flags, &mut bytes.clone())
}

/// The error of a read that must fail; its bytes and flags must be the stored ones.
fn unreadable<T: DeserializeOwned + Debug>(
    codec: &Transcoder,
    flags: u32,
    bytes: &[u8],
) -> DecodeError {
    match codec.decode::<T>(flags, &mut bytes.to_vec()) {
        Ok(value) => panic!("{bytes:?} under flags {flags} were read as {value:?}"),
        Err(error) => {
            assert_eq!((error.flags(), error.bytes()), (flags, bytes), "{error}");
            assert!(error.to_string().contains(&format!("flags {flags} ")), "{error}");
            error
        }
    }
}
