//! Rings: the points that nodes lay claim to, sorted into a flat array, and the search along it.

use std::collections::BTreeMap;

use super::hash::{Hasher, KeyHash, md5_words, sha1_word};
use super::recipe::{Find, Points, Share, Source, Ties};
use super::{RingError, RingNode};

/// More points than this are refused: they would take seconds to make and hundreds of megabytes to keep.
const MOST_POINTS: u64 = 1 << 23;

/// Slots of [`Find::Slot`].
const SLOTS: u32 = 1024;

/// Points in ascending order, and beside each the node it belongs to. Not empty.
pub(super) struct Continuum {
    points: Vec<u32>,
    nodes: Vec<u32>,
    find: Find,
    index: Index,
}

/// Where to look for a point: nearly all hashes are spread, so that as many stretches as points have about one each.
struct Index {
    /// How many points lie before each stretch of the ring, and in the end all.
    before: Vec<u32>,
    /// A point's stretch is what is left of it after a shift by so many bits.
    shift: u32,
}

/// The most stretches, as a power of two: 256 KiB.
const MOST_STRETCHES: u32 = 16;

impl Index {
    fn new(points: &[u32]) -> Self {
        let bits = points.len().next_power_of_two().trailing_zeros().clamp(1, MOST_STRETCHES);
        let shift = u32::BITS - bits;
        let before = |stretch: u32| points.partition_point(|point| point >> shift < stretch);
        let before = (0..=1 << bits).map(|stretch| low(before(stretch) as u64)).collect();
        Self { before, shift }
    }

    /// How many points lie before the hash, or before or at it if `with` is set.
    fn count(&self, points: &[u32], hash: u32, with: bool) -> usize {
        let stretch = (hash >> self.shift) as usize;
        let end = |at: usize| self.before.get(at).map_or(0, |count| *count as usize);
        let (from, to) = (end(stretch), end(stretch + 1));
        let near = points.get(from..to).unwrap_or_default();
        from + near.partition_point(|point| *point < hash || with && *point == hash)
    }
}

impl Continuum {
    pub(super) fn new(
        nodes: &[RingNode],
        points: Points,
        find: Find,
        hasher: Hasher,
    ) -> Result<Self, RingError> {
        let maker = Maker::new(nodes, points, hasher);
        if maker.texts().sum::<u64>() * maker.points_of_a_text() > MOST_POINTS {
            return Err(RingError::TooManyPoints);
        }
        if maker.texts().all(|texts| texts == 0) {
            return Err(RingError::NoPoint);
        }
        let (points, nodes) = maker.settled().into_iter().unzip();
        Ok(Self::of(points, nodes).cut(find))
    }

    fn of(points: Vec<u32>, nodes: Vec<u32>) -> Self {
        Self { index: Index::new(&points), points, nodes, find: Find::AtOrAfter }
    }

    /// Prepares for a search that is not by points.
    fn cut(mut self, find: Find) -> Self {
        if find == Find::Slot {
            let starts = (0..SLOTS).map(|slot| slot * (u32::MAX / SLOTS));
            let nodes = starts.filter_map(|start| self.nodes.get(self.place(start.into())));
            self.nodes = nodes.copied().collect();
            self.points = (0..SLOTS).collect();
        }
        self.find = find;
        self
    }

    /// The node that a hash belongs to.
    pub(super) fn node(&self, hash: u64) -> usize {
        // There is one, since a ring has points.
        self.nodes.get(self.place(hash)).map_or(0, |node| *node as usize)
    }

    /// The nodes of all points once around, from the one that a hash belongs to.
    pub(super) fn walk(&self, hash: u64) -> impl Iterator<Item = usize> {
        let (start, len) = (self.place(hash), self.nodes.len());
        let places = (0..len).map(move |step| match self.find {
            Find::AtOrBefore => (start + len - step) % len,
            Find::AtOrAfter | Find::Slot => (start + step) % len,
        });
        places.filter_map(|place| self.nodes.get(place)).map(|node| *node as usize)
    }

    /// Where the point lies that a hash belongs to.
    fn place(&self, hash: u64) -> usize {
        let (hash, len) = (low(hash), self.points.len());
        match self.find {
            Find::AtOrAfter => match self.index.count(&self.points, hash, false) {
                past if past == len => 0,
                place => place,
            },
            Find::AtOrBefore => {
                self.index.count(&self.points, hash, true).checked_sub(1).unwrap_or(len - 1)
            }
            Find::Slot => (hash % SLOTS) as usize,
        }
    }
}

/// A key's hash on a ring: its low 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "the low 32 bits are what is wanted")]
fn low(hash: u64) -> u32 {
    hash as u32
}

/// Makes the points of some nodes.
struct Maker<'a> {
    nodes: &'a [RingNode],
    points: Points,
    hasher: Hasher,
    total: u64,
}

impl<'a> Maker<'a> {
    fn new(nodes: &'a [RingNode], points: Points, hasher: Hasher) -> Self {
        let total = nodes.iter().map(|node| u64::from(node.weight)).sum();
        let source = match (points.source, hasher.hash) {
            (Source::KeyHashOrMd5Words, KeyHash::Md5) => Source::Md5Words,
            (Source::KeyHashOrMd5Words, _) => Source::KeyHash,
            (source, _) => source,
        };
        let hasher = match source {
            Source::OneAtATime => Hasher { hash: KeyHash::OneAtATime, ..hasher },
            _ => hasher,
        };
        Self { nodes, points: Points { source, ..points }, hasher, total }
    }

    fn points_of_a_text(&self) -> u64 {
        if self.points.source == Source::Md5Words { 4 } else { 1 }
    }

    /// How many texts each node has.
    fn texts(&self) -> impl Iterator<Item = u64> {
        let average = u64::from(self.points.count) / self.points_of_a_text();
        self.nodes.iter().map(move |node| {
            let weight = u64::from(node.weight);
            match self.points.share {
                Share::Equal => average,
                Share::Times => average * weight,
                Share::Whole { least } => {
                    (average * self.nodes.len() as u64 * weight / self.total).max(least)
                }
                Share::Single => self.in_single_precision(node.weight),
            }
        })
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a small positive number, rounded down"
    )]
    fn in_single_precision(&self, weight: u32) -> u64 {
        let share = weight as f32 / self.total as f32;
        let texts = share * self.points.count as f32 / 4.0 * self.nodes.len() as f32;
        (f64::from(texts) + 1e-10) as f32 as u64
    }

    /// Tells `claim` each point with its node.
    fn claims(&self, mut claim: impl FnMut(u32, u32)) {
        let Points { source, separator, .. } = self.points;
        for ((index, node), texts) in (0..).zip(self.nodes).zip(self.texts()) {
            for text in 0..texts {
                let text = format!("{}{separator}{text}", node.name);
                match source {
                    Source::Md5Words => {
                        md5_words(&[text.as_bytes()]).into_iter().for_each(|p| claim(p, index));
                    }
                    Source::Sha1 => claim(sha1_word(text.as_bytes()), index),
                    _ => claim(low(self.hasher.of(&[text.as_bytes()])), index),
                }
            }
        }
    }

    /// Every point with the node that has it in the end.
    fn settled(&self) -> BTreeMap<u32, u32> {
        let mut map = BTreeMap::new();
        match self.points.ties {
            Ties::First => self.claims(|point, node| {
                map.entry(point).or_insert(node);
            }),
            Ties::Last => self.claims(|point, node| {
                map.insert(point, node);
            }),
            Ties::Listed => {
                let mut lists = BTreeMap::<u32, Vec<u32>>::new();
                self.claims(|point, node| lists.entry(point).or_default().push(node));
                map.extend(
                    lists.into_iter().map(|(point, list)| (point, self.listed(point, list))),
                );
            }
        }
        map
    }

    fn listed(&self, point: u32, mut list: Vec<u32>) -> u32 {
        list.sort_by_key(|node| self.nodes.get(*node as usize).map(|node| &node.name));
        let place = point as usize % list.len().max(1);
        list.get(place).copied().unwrap_or(0)
    }
}

#[cfg(test)]
impl Continuum {
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, usize)> {
        self.points.iter().copied().zip(self.nodes.iter().map(|node| *node as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(find: Find) -> Continuum {
        Continuum::of(vec![10, 20, 30], vec![0, 1, 2]).cut(find)
    }

    #[test]
    fn a_hash_belongs_to_the_next_point_and_the_last_ones_to_the_first() {
        let ring = ring(Find::AtOrAfter);
        let nodes = [0, 10, 11, 20, 30, 31, u64::from(u32::MAX)].map(|hash| ring.node(hash));
        assert_eq!(nodes, [0, 0, 1, 1, 2, 0, 0]);
        assert_eq!(ring.walk(11).collect::<Vec<_>>(), [1, 2, 0]);
    }

    #[test]
    fn or_to_the_one_before_and_the_first_ones_to_the_last() {
        let ring = ring(Find::AtOrBefore);
        let nodes = [0, 10, 11, 20, 30, 31].map(|hash| ring.node(hash));
        assert_eq!(nodes, [2, 0, 0, 1, 2, 2]);
        assert_eq!(ring.walk(11).collect::<Vec<_>>(), [0, 2, 1]);
    }

    #[test]
    fn or_to_a_slot_that_belongs_to_the_point_after_its_start() {
        let ring = ring(Find::Slot);
        assert_eq!([0, 1, 1024].map(|hash| ring.node(hash)), [0, 0, 0]);
        let step = u32::MAX / SLOTS;
        let wide = Continuum::of(vec![step, 3 * step, 1000 * step], vec![0, 1, 2]);
        let wide = wide.cut(Find::Slot);
        let nodes = [0, 1, 2, 3, 4, 1000, 1001, 1023, 1024 + 4].map(|hash| wide.node(hash));
        assert_eq!(nodes, [0, 0, 1, 1, 2, 2, 0, 0, 2]);
    }
}
