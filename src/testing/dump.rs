//! Listings of the stored keys, and the size classes that they name: `metadump` and `stats cachedump`.

use std::fmt::Write as _;
use std::time::Duration;

use super::number::unsigned;
use super::store::Store;

/// The highest class number of memcached, plus one.
const CLASSES: u64 = 64;
/// Larger items are made up of chunks of this size.
const MAX_CHUNK: usize = 512 * 1024;

/// `lru_crawler metadump`: `all`, `hash`, or class numbers with commas between.
pub(super) fn metadump(store: &mut Store, classes: &[u8], now: Duration) -> Vec<u8> {
    let all = matches!(classes, b"all" | b"hash");
    let wanted: Vec<u64> = classes.split(|byte| *byte == b',').filter_map(unsigned).collect();
    if !all && (wanted.is_empty() || wanted.iter().any(|class| !(1..CLASSES).contains(class))) {
        return b"BADCLASS invalid class id\r\n".to_vec();
    }
    let mut out = String::new();
    for (key, item) in store.live(now) {
        let size = item.size(key);
        let (class, _) = class_of(size);
        if !all && !wanted.contains(&class) {
            continue;
        }
        out.push_str("key=");
        push_encoded(&mut out, key);
        let fetched = if item.fetched { "yes" } else { "no" };
        let (expiry, accessed, cas) = (unix(item.expiry, "-1"), item.accessed.as_secs(), item.cas);
        _ = writeln!(
            out,
            " exp={expiry} la={accessed} cas={cas} fetch={fetched} cls={class} size={size}"
        );
    }
    out.push_str("END\r\n");
    out.into_bytes()
}

/// `stats cachedump <class> <limit>`, where a limit of 0 is none.
pub(super) fn cachedump(store: &mut Store, args: &[Vec<u8>], now: Duration) -> Vec<u8> {
    let [class, limit, ..] = args else { return b"CLIENT_ERROR bad command line\r\n".to_vec() };
    let (Some(class), Some(limit)) = (unsigned(class), unsigned(limit)) else {
        return b"CLIENT_ERROR bad command line format\r\n".to_vec();
    };
    if class >= CLASSES {
        return b"CLIENT_ERROR Illegal slab id\r\n".to_vec();
    }
    let limit = usize::try_from(limit).ok().filter(|limit| *limit > 0).unwrap_or(usize::MAX);
    let mut out = Vec::new();
    for (key, item) in
        store.live(now).iter().filter(|(key, item)| class_of(item.size(key)).0 == class).take(limit)
    {
        let tail = format!(" [{} b; {} s]\r\n", item.value.len(), unix(item.expiry, "0"));
        out.extend([b"ITEM ", key.as_slice(), tail.as_bytes()].concat());
    }
    out.extend(b"END\r\n");
    out
}

/// The number and chunk size of the class that an item of this size goes to: from 96 bytes on each class is a quarter
/// larger than the one before, and a multiple of 8.
pub(super) fn class_of(size: usize) -> (u64, usize) {
    let (mut class, mut chunk) = (1, 96);
    while chunk < size && chunk < MAX_CHUNK {
        let next = (chunk * 5 / 4).next_multiple_of(8);
        // The last step goes to the largest chunk at once.
        chunk = if next > MAX_CHUNK * 4 / 5 { MAX_CHUNK } else { next };
        class += 1;
    }
    (class, chunk)
}

fn unix(expiry: Option<Duration>, never: &str) -> String {
    expiry.map_or_else(|| never.to_owned(), |expiry| expiry.as_secs().to_string())
}

/// Percent-encodes all but the letters, digits and marks that URIs leave alone.
fn push_encoded(out: &mut String, key: &[u8]) {
    for byte in key {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            out.push(char::from(*byte));
        } else {
            _ = write!(out, "%{byte:02X}");
        }
    }
}
