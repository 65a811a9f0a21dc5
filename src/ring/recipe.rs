//! The parts that placements are put together from, as plain data.

use super::hash::Dialect;

/// Everything about a placement but its hash and the form of its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Recipe {
    pub(super) dialect: Dialect,
    pub(super) table: Table,
    pub(super) retry: Retry,
}

/// How a hash, or a key, finds its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Table {
    /// The hash modulo the nodes.
    Modulo { take: Take, buckets: Buckets },
    /// The nearest point on a ring; another ring once any weight is above 1.
    Ring { plain: Points, weighted: Points, find: Find },
    /// The node that scores highest for the key.
    Highest(Score),
}

/// What the hash is taken modulo of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Buckets {
    /// Each node once.
    Even,
    /// Each node as often as its weight says.
    Weighted,
    /// The same, but the nodes are sorted by name, shorter names first.
    Sorted,
}

/// What is taken of a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Take {
    /// 64 bits.
    All,
    /// Its low 32 bits.
    Low,
    /// Its distance from zero, as a number with a sign.
    Distance,
    /// Bits 16 to 30.
    Middle,
    /// The same, but 1 for 0.
    MiddleOrOne,
}

/// The points of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Points {
    /// What makes points of the texts `name-0`, `name-1`, …
    pub(super) source: Source,
    /// What stands between name and number.
    pub(super) separator: char,
    /// The points of one node of average weight.
    pub(super) count: u32,
    pub(super) share: Share,
    pub(super) ties: Ties,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// Four points of a text: the words of its MD5, little-endian.
    Md5Words,
    /// One: what keys are hashed with.
    KeyHash,
    /// One by the keys' hash, but four by MD5.
    KeyHashOrMd5Words,
    /// One: one-at-a-time, whatever keys are hashed with.
    OneAtATime,
    /// One: the first word of the SHA-1.
    Sha1,
}

/// How weights share out the points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Share {
    /// Every node has as many as the next.
    Equal,
    /// A node has `weight` times as many.
    Times,
    /// By its part of all weights, in whole numbers; at least `least` texts.
    Whole { least: u64 },
    /// The same in single precision, step by step as in C.
    Single,
}

/// Whose a point is that several nodes lay claim to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Ties {
    First,
    Last,
    /// They stand in a list, sorted by name; the point modulo its length says which.
    Listed,
}

/// Which point of a ring a hash belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Find {
    /// The first at or after it.
    AtOrAfter,
    /// The last at or before it.
    AtOrBefore,
    /// The ring is cut into 1024 slots, each the node of the first point at or after its start; the hash modulo
    /// 1024 is the slot.
    Slot,
}

/// What a node scores for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Score {
    /// The hash of `name-key`; of equals the greater name.
    Name,
    /// The highest hash of `name-0key`, `name-1key`, … up to its weight; of equals the first listed.
    NameByWeight,
}

/// Where a key goes whose node has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Retry {
    /// On along the table.
    Next,
    /// Where the key hashes with 0, 1, 2, … in front of it.
    Prefixed { tries: u32 },
    /// On by the hash of the key with a number in front of it, and on from there with the next number; then as `Next`.
    /// Without `tries` there are as many as nodes.
    Added { from: u32, tries: Option<u32> },
    /// Where the last hash and the number of the try, in decimal, hash to; then as `Next`.
    Chained { tries: u32 },
}

impl Take {
    pub(super) fn of(self, hash: u64) -> u64 {
        match self {
            Self::All => hash,
            Self::Low => hash & 0xffff_ffff,
            Self::Distance => hash.min(hash.wrapping_neg()),
            Self::Middle => super::hash::middle(hash),
            Self::MiddleOrOne => super::hash::middle(hash).max(1),
        }
    }
}
