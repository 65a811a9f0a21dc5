//! With the feature: what is compressed is read by every codec, and nothing is taken for whole that is not.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};

use super::{marked, unreadable};
use crate::codec::tests::{read, stored, unhex};
use crate::codec::{Codec, DecodeErrorKind, Settings, Transcoder};

fn above(codec: Codec, bytes: usize) -> Transcoder {
    Transcoder::new(codec, Settings { compress_above: Some(bytes), ..Settings::default() })
}

fn dalli(codec: &Codec) -> bool {
    matches!(codec, Codec::Dalli | Codec::DalliJson)
}

fn limited(codec: Codec, max_inflated: usize) -> Transcoder {
    Transcoder::new(codec, Settings { max_inflated, ..Settings::default() })
}

/// Bytes that no compressor makes smaller.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    (0..len).map(next).collect()
}

#[test]
fn values_are_compressed_under_each_clients_mark_and_read_again() {
    let text = "compressible ".repeat(1000);
    for (codec, flags, sample) in marked() {
        let compressing = above(codec.clone(), 1000);
        let (our_flags, bytes) = stored(&compressing, &text);
        // Dalli serializes the string, too, and says so.
        let flags = if dalli(&codec) { flags | 1 } else { flags };
        assert_eq!(our_flags, flags, "{codec:?}");
        assert!(bytes.len() < 200 && bytes.len() > sample.len(), "{codec:?} {}", bytes.len());
        let same_form = |at: usize| bytes[at..at + 2] == sample[at..at + 2];
        assert!(same_form(if matches!(codec, Codec::PhpMemcached) { 4 } else { 0 }), "{codec:?}");
        for reader in [&compressing, &Transcoder::new(codec.clone(), Settings::default())] {
            assert_eq!(read::<String>(reader, &(our_flags, bytes.clone())).unwrap(), text);
        }
        let numbers: Vec<u32> = (0..1000).collect();
        let compressed = stored(&compressing, &numbers);
        assert!(compressed.1.len() < 3000, "{codec:?} {}", compressed.1.len());
        assert_eq!(read::<Vec<u32>>(&compressing, &compressed).unwrap(), numbers);
    }
}

#[test]
fn the_recorded_form_of_each_client_is_read() {
    for (codec, flags, bytes) in marked() {
        let codec = Transcoder::new(codec, Settings::default());
        if !matches!(codec.codec, Codec::DalliJson) {
            assert_eq!(read::<String>(&codec, &(flags, bytes.clone())).unwrap(), "hello");
        }
        assert_eq!(read::<Vec<u8>>(&codec, &(flags, bytes)).unwrap(), b"hello");
    }
}

#[test]
fn what_would_not_shrink_is_stored_plain() {
    for (codec, ..) in marked().into_iter().filter(|(codec, ..)| !dalli(codec)) {
        let compressing = above(codec.clone(), 0);
        let plain = Transcoder::new(codec, Settings::default());
        assert_eq!(stored(&compressing, &noise(5000)), stored(&plain, &noise(5000)));
        assert_eq!(stored(&compressing, &11_111_111_111_111_111_111_u64.to_string()).1.len(), 20);
        // Up to the threshold, too.
        let compressing = above(compressing.codec, 1000);
        let edge = "x".repeat(1000);
        assert_eq!(stored(&compressing, &edge).1, edge.as_bytes());
        assert!(stored(&compressing, &format!("{edge}x")).1.len() < 100);
    }
}

#[test]
fn a_client_that_asks_for_a_saving_keeps_plain_what_saves_less() {
    // Half of it noise: compressed to somewhat above half.
    let half = |len: usize| [noise(len), vec![0; 10_000 - len]].concat();
    for (codec, worth, not_worth) in [
        (Codec::PhpMemcached, 7000, 8500),
        (Codec::PeclMemcache, 7500, 8500),
        (Codec::PerlCacheMemcached, 7500, 8500),
        (Codec::Pymemcache, 9500, 10_000),
    ] {
        let compressing = above(codec.clone(), 0);
        assert!(stored(&compressing, &half(worth)).1.len() < 10_000, "{codec:?}");
        assert_eq!(stored(&compressing, &half(not_worth)).1.len(), 10_000, "{codec:?}");
    }
}

#[test]
fn damaged_cut_or_lengthened_values_are_corrupt_and_never_a_part_of_the_value() {
    for (codec, flags, whole) in marked() {
        let codec = Transcoder::new(codec, Settings::default());
        let corrupt = |bytes: &[u8]| {
            let error = unreadable::<Vec<u8>>(&codec, flags, bytes);
            assert_eq!(error.kind(), DecodeErrorKind::Corrupt, "{bytes:?} {error}");
        };
        (0..whole.len()).for_each(|len| corrupt(&whole[..len]));
        corrupt(&[&whole[..], b"x"].concat());
        corrupt(&[&whole[..], &whole[..]].concat());
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x10;
            if let Ok(read) = codec.decode::<Vec<u8>>(flags, &mut changed.clone()) {
                assert_eq!(read, b"hello", "byte {at} of {whole:?}");
            }
        }
    }
}

#[test]
fn a_bomb_is_an_error_that_names_the_limit() {
    let zeros = vec![0; 10_000_000];
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&zeros).unwrap();
    let gzip = gzip.finish().unwrap();
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    zlib.write_all(&zeros).unwrap();
    let zlib = zlib.finish().unwrap();
    let size = u32::try_from(zeros.len()).unwrap();
    for (codec, flags, sample) in marked() {
        let bomb = match sample[0] {
            0x1f => gzip.clone(),
            0x78 => zlib.clone(),
            _ => [&size.to_le_bytes(), &zlib[..]].concat(),
        };
        for limit in [0, 1, 4096, 9_999_999] {
            let error = unreadable::<Vec<u8>>(&limited(codec.clone(), limit), flags, &bomb);
            assert_eq!(error.kind(), DecodeErrorKind::TooLarge, "{error}");
            assert!(error.to_string().contains(&format!("more than {limit} bytes")), "{error}");
        }
        let read: Vec<u8> = read(&limited(codec, zeros.len()), &(flags, bomb)).unwrap();
        assert_eq!(read.len(), zeros.len());
    }
}

#[test]
fn a_stated_length_that_is_not_the_true_one_is_corrupt_and_reserves_nothing() {
    let (codec, flags, whole) =
        marked().into_iter().find(|(codec, ..)| matches!(codec, Codec::PhpMemcached)).unwrap();
    let codec = Transcoder::new(codec, Settings::default());
    for (length, kind) in [
        (0, DecodeErrorKind::Corrupt),
        (4, DecodeErrorKind::Corrupt),
        (6, DecodeErrorKind::Corrupt),
        (128 << 20, DecodeErrorKind::Corrupt),
        ((128 << 20) + 1, DecodeErrorKind::TooLarge),
        (u32::MAX, DecodeErrorKind::TooLarge),
    ] {
        let lying = [&u32::to_le_bytes(length), &whole[4..]].concat();
        let error = unreadable::<String>(&codec, flags, &lying);
        assert_eq!(error.kind(), kind, "{length} {error}");
    }
}

#[test]
fn xmemcacheds_zlib_under_the_mark_of_gzip_is_read() {
    for codec in [Codec::Xmemcached, Codec::Whalin] {
        let codec = Transcoder::new(codec, Settings::default());
        assert_eq!(read::<Vec<u8>>(&codec, &(2, super::ZLIB.to_vec())).unwrap(), b"hello");
    }
}

/// Also where Whalin's client kept what compression had made larger.
#[test]
fn what_whalins_client_compressed_is_read() {
    let codec = Transcoder::new(Codec::Whalin, Settings::default());
    let mut values = 0;
    let file = include_str!("../../../../tests/vectors/whalin-compressed.tsv");
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        let [kind, value, flags, hex] =
            <[&str; 4]>::try_from(line.split('\t').collect::<Vec<_>>()).expect(line);
        let value: String = serde_json::from_str(value).expect(line);
        let stored = (flags.parse().expect(line), unhex(hex));
        if kind.starts_with("String") {
            let text = match value.strip_prefix("x*") {
                Some(length) => "x".repeat(length.parse().expect(length)),
                None => value,
            };
            assert!(read::<String>(&codec, &stored).unwrap() == text, "{line}");
            values += 1;
        } else {
            let kind = unreadable::<String>(&codec, stored.0, &stored.1).kind();
            assert_eq!(kind, DecodeErrorKind::JavaObject, "{line}");
        }
    }
    assert_eq!(values, 12);
}

/// 2000 times `a`, as php-memcached stored it by default.
const FASTLZ: &str = "d0070000016161e0fd01e0fd01e0fd01e0fd01e0fd01e0fd01e0fd01e0980102616161";

#[test]
fn php_memcacheds_fastlz_is_read_and_damage_to_it_is_found() {
    let php = Transcoder::new(Codec::PhpMemcached, Settings::default());
    let whole = unhex(FASTLZ);
    assert_eq!(read::<String>(&php, &(0x50, whole.clone())).unwrap(), "a".repeat(2000));
    let corrupt = |bytes: &[u8]| {
        let error = unreadable::<Vec<u8>>(&php, 0x50, bytes);
        assert_eq!(error.kind(), DecodeErrorKind::Corrupt, "{bytes:?} {error}");
    };
    (0..whole.len()).for_each(|len| corrupt(&whole[..len]));
    corrupt(&[&whole[..], b"\0x"].concat());
    // A copy from before the beginning, a level that does not exist.
    corrupt(b"\x04\0\0\0\0a\x20\x05");
    corrupt(b"\x01\0\0\0\x40a");
    let mut longer = whole.clone();
    longer[..4].copy_from_slice(&2001_u32.to_le_bytes());
    corrupt(&longer);
    longer[..4].copy_from_slice(&1999_u32.to_le_bytes());
    corrupt(&longer);
    let limited = limited(Codec::PhpMemcached, 1999);
    assert_eq!(unreadable::<Vec<u8>>(&limited, 0x50, &whole).kind(), DecodeErrorKind::TooLarge);
}

/// What php-memcached uses above 64 KiB: copies from farther back, and longer ones.
#[test]
fn the_second_level_of_fastlz_reaches_farther_back() {
    let literals = noise(9024);
    let mut block = Vec::new();
    for (at, run) in literals.chunks(32).enumerate() {
        block.push(if at == 0 { 0x20 | 31 } else { 31 });
        block.extend_from_slice(run);
    }
    let (distance, length) = (9000_usize, 7 + 255 + 3 + 2);
    block.extend([0xe0 | 31, 255, 3, 255]);
    block.extend(u16::try_from(distance - 1 - 8191).unwrap().to_be_bytes());
    let plain = [&literals[..], &literals[24..24 + length]].concat();
    let size = u32::try_from(plain.len()).unwrap().to_le_bytes();
    let php = Transcoder::new(Codec::PhpMemcached, Settings::default());
    let stored = (0x50, [&size[..], &block].concat());
    assert!(read::<Vec<u8>>(&php, &stored).unwrap() == plain);
}
