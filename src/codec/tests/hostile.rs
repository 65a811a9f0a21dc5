//! Whatever stands on the server, reading it ends in a value or an error that carries the bytes.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::SystemTime;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_bytes::ByteBuf;
use serde_json::Value;

use super::{Transcoder, general, raw, stored};

#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "only the reading matters")]
enum Any {
    Nested(BTreeMap<String, Any>),
    List(Vec<Any>),
    Text(String),
    Number(u8),
    Nothing(Option<()>),
}

fn attempt<T: DeserializeOwned + Debug>(codec: &Transcoder, flags: u32, bytes: &[u8]) {
    if let Err(error) = codec.decode::<T>(flags, bytes.to_vec()) {
        assert_eq!((error.flags(), error.bytes()), (flags, bytes));
        assert!(!error.to_string().is_empty());
    }
}

fn attempt_all(codec: &Transcoder, flags: u32, bytes: &[u8]) {
    attempt::<String>(codec, flags, bytes);
    attempt::<Vec<u8>>(codec, flags, bytes);
    attempt::<[u8; 4]>(codec, flags, bytes);
    attempt::<ByteBuf>(codec, flags, bytes);
    attempt::<Vec<String>>(codec, flags, bytes);
    attempt::<bool>(codec, flags, bytes);
    attempt::<char>(codec, flags, bytes);
    attempt::<i8>(codec, flags, bytes);
    attempt::<u64>(codec, flags, bytes);
    attempt::<i128>(codec, flags, bytes);
    attempt::<f32>(codec, flags, bytes);
    attempt::<f64>(codec, flags, bytes);
    attempt::<Option<Value>>(codec, flags, bytes);
    attempt::<Any>(codec, flags, bytes);
    attempt::<SystemTime>(codec, flags, bytes);
    attempt::<BTreeMap<i32, (u8, String)>>(codec, flags, bytes);
    attempt::<()>(codec, flags, bytes);
    let _ = codec.decode_counter(flags, bytes.to_vec());
}

fn payloads() -> Vec<Vec<u8>> {
    let mut payloads = vec![b"abc".to_vec(), b"-1".to_vec(), b"{\"a\":[1,null]}".to_vec()];
    for codec in general() {
        payloads.push(stored(&codec, &i64::MIN).1);
        payloads.push(stored(&codec, &"h\u{e9}llo").1);
        payloads.push(stored(&codec, &(1, "a", [0.5])).1);
    }
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..40 {
        let mut bytes = Vec::new();
        for _ in 0..3 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            bytes.extend(random.to_le_bytes());
        }
        payloads.push(bytes);
    }
    payloads
}

#[test]
fn no_flags_and_no_bytes_make_a_codec_panic() {
    let codecs = general().into_iter().chain([raw()]);
    let payloads = payloads();
    for codec in codecs {
        let bits = (0..32).map(|bit| 1_u32 << bit);
        for flags in bits.chain([0, 21, 32832, 36864, 0xffff, u32::MAX]) {
            for payload in &payloads {
                for len in 0..=payload.len() {
                    attempt_all(&codec, flags, &payload[..len]);
                }
            }
        }
    }
}

#[test]
fn deep_nesting_is_an_error_and_no_stack_overflow() {
    for codec in general() {
        for deep in ["[".repeat(100_000), "{\"a\":".repeat(100_000)] {
            for flags in [0, 32768] {
                attempt_all(&codec, flags, deep.as_bytes());
                assert!(codec.decode::<Any>(32768, deep.clone().into_bytes()).is_err());
            }
        }
    }
}
