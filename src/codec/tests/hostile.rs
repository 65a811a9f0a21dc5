//! Whatever stands on the server, reading it ends in a value or an error that carries the bytes.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::SystemTime;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_bytes::ByteBuf;
use serde_json::Value;

use super::{Codec, Transcoder, json, stored, transcoder, whalin};

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
    if let Err(error) = codec.decode::<T>(flags, &mut bytes.to_vec()) {
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
    payloads.push(b"a:2:{i:0;s:1:\"x\";i:1;a:1:{s:1:\"k\";d:0.5;}}".to_vec());
    payloads.push(b"a:1:{i:0;O:8:\"stdClass\":0:{}}".to_vec());
    payloads.push(b"\x80\x05\x95\x0a\0\0\0\0\0\0\0G?\xf8\0\0\0\0\0\0.".to_vec());
    payloads.push(b"F1.5\n.".to_vec());
    payloads.push(b"\x05\0\0\0\x78\x9c\xcb\x48\xcd\xc9\xc9\x07\0\x06\x2c\x02\x15".to_vec());
    payloads.push(
        b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05".to_vec(),
    );
    for codec in [json(), whalin()] {
        payloads.push(stored(&codec, &i64::MIN).1);
        payloads.push(stored(&codec, &"h\u{e9}llo").1);
        payloads.push(stored(&codec, &(1, "a", [0.5])).1);
    }
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..12 {
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
    let payloads = payloads();
    for codec in Codec::SHIPPED {
        let codec = transcoder(codec, false);
        let known = (0..0x1_0000).filter(|flags| codec.codec.meaning(*flags).is_some()).take(24);
        for flags in known {
            for payload in &payloads {
                for len in 0..=payload.len() {
                    attempt_all(&codec, flags, &payload[..len]);
                }
            }
        }
        let bits = (0..32).map(|bit| 1_u32 << bit);
        for flags in bits.chain([21, 36864, 0xffff, u32::MAX]) {
            payloads.iter().for_each(|payload| attempt_all(&codec, flags, payload));
        }
    }
}

#[test]
fn an_array_deep_inside_others_is_not_looked_through_again_at_each_of_them() {
    const FAT: usize = 1_000_000;
    let deep = "a:1:{i:0;".repeat(120);
    let fat: String = (0..FAT).map(|i| format!("i:{i};N;")).collect();
    let text = format!("{deep}a:{FAT}:{{{fat}}}{}", "}".repeat(120));
    let started = std::time::Instant::now();
    let codec = transcoder(Codec::PhpMemcached, false);
    assert!(codec.decode::<Value>(4, &mut text.into_bytes()).is_ok());
    // Once takes a second or so, a hundred times minutes.
    assert!(started.elapsed() < std::time::Duration::from_secs(30), "{:?}", started.elapsed());
}

#[test]
fn deep_nesting_is_an_error_and_no_stack_overflow() {
    let deep = ["[".repeat(100_000), "{\"a\":".repeat(100_000), "a:1:{i:0;".repeat(100_000)];
    for codec in Codec::SHIPPED {
        let codec = transcoder(codec, false);
        for deep in &deep {
            for flags in
                (0..0x1_0000).filter(|flags| codec.codec.meaning(*flags).is_some()).take(24)
            {
                attempt_all(&codec, flags, deep.as_bytes());
            }
            let read = codec.decode::<Any>(32768, &mut deep.clone().into_bytes());
            assert!(read.is_err() || matches!(codec.codec, Codec::Raw));
        }
    }
}
