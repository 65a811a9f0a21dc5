//! The weighted ketama ring as libmemcached lays it out.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::points::Points;
use super::{Layout, RingNode, hash, untried};

pub(super) struct Ketama(Points);

impl Ketama {
    /// Of two equal points the earlier node's stands.
    pub(super) fn new(nodes: &[RingNode<'_>]) -> Self {
        let total: u64 = nodes.iter().map(|node| u64::from(node.weight)).sum();
        let mut map = BTreeMap::new();
        for (index, node) in nodes.iter().enumerate() {
            let host = host(node.name);
            for step in 0..steps(node.weight, total, nodes.len()) {
                let text = format!("{host}-{step}");
                for point in hash::md5_words(b"", text.as_bytes()) {
                    map.entry(point).or_insert(index);
                }
            }
        }
        Self(map.into())
    }
}

impl Layout for Ketama {
    fn primary(&self, key: &[u8], hash: Option<i32>) -> usize {
        self.0.node(key_hash(key, hash))
    }

    fn next(&self, key: &[u8], hash: Option<i32>, tried: &[bool]) -> Option<usize> {
        self.0.walk(key_hash(key, hash)).find(|node| untried(tried, *node))
    }
}

fn key_hash(key: &[u8], hash: Option<i32>) -> u32 {
    let [first, ..] = hash::md5_words(b"", key);
    hash.map_or(first, |hash| u32::from_ne_bytes(hash.to_ne_bytes()))
}

/// Each step makes four points. The original calculates in single precision, and so must this.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a small positive number, rounded down"
)]
fn steps(weight: u32, total: u64, nodes: usize) -> u32 {
    let share = weight as f32 / total as f32;
    let steps = (share * 160.0 / 4.0 * nodes as f32 + 1e-10).floor();
    (steps as u32).max(1)
}

/// The host as libmemcached writes it into a point: without the default port, without brackets, and with
/// port 0 for a unix socket.
fn host(name: &str) -> Cow<'_, str> {
    if let Some(path) = name.strip_prefix("unix:") {
        return format!("{path}:0").into();
    }
    let host = name.strip_suffix(":11211").unwrap_or(name);
    if host.starts_with('[') {
        return host.replace(['[', ']'], "").into();
    }
    host.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_written_as_libmemcached_writes_them() {
        for (name, expected) in [
            ("10.0.0.1:11211", "10.0.0.1"),
            ("10.0.0.1:11212", "10.0.0.1:11212"),
            ("cache-b", "cache-b"),
            ("[::1]:11211", "::1"),
            ("[::1]:11212", "::1:11212"),
            ("unix:/run/m.sock", "/run/m.sock:0"),
        ] {
            assert_eq!(host(name), expected);
        }
    }
}
