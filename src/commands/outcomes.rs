//! What came of a call for many keys: one outcome per key, kept with the caller's own keys.

use std::sync::OnceLock;

use crate::error::{Error, Result};
use crate::types::ToKey;

/// One outcome for each key of a call, in the order of the keys.
///
/// A failed server fails only its own keys. [`into_result`](Self::into_result) is for code that wants all
/// or nothing.
#[derive(Debug)]
#[must_use = "each key has an outcome of its own, and some may have failed"]
pub struct Outcomes<K, R> {
    entries: Vec<(K, Result<R>)>,
    /// Places in `entries`, sorted by key; made when first needed.
    sorted: OnceLock<Vec<usize>>,
}

impl<K: ToKey, R> Outcomes<K, R> {
    pub(super) fn new(entries: Vec<(K, Result<R>)>) -> Self {
        Self { entries, sorted: OnceLock::new() }
    }

    /// The outcome of one key, of one that is there twice the first; `None` if the call did not have it.
    pub fn outcome(&self, key: impl ToKey) -> Option<&Result<R>> {
        let key = key.to_key().bytes;
        let bytes = |i: &usize| self.entries.get(*i).map_or(&[][..], |(k, _)| k.to_key().bytes);
        let sorted = self.sorted.get_or_init(|| {
            let mut places: Vec<usize> = (0..self.entries.len()).collect();
            places.sort_by(|a, b| bytes(a).cmp(bytes(b)));
            places
        });
        let at = sorted.partition_point(|i| bytes(i) < key);
        let (found, outcome) = self.entries.get(*sorted.get(at)?)?;
        (found.to_key().bytes == key).then_some(outcome)
    }

    /// Every key with its outcome, in the order of the call.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &Result<R>)> {
        self.entries.iter().map(|(k, r)| (k, r))
    }

    /// The keys that failed, with their errors.
    pub fn failures(&self) -> impl Iterator<Item = (&K, &Error)> {
        self.iter().filter_map(|(k, r)| r.as_ref().err().map(|e| (k, e)))
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the call had no key.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Every key with its result, or the first error.
    ///
    /// # Errors
    /// That of the first key that failed.
    pub fn into_result(self) -> Result<Vec<(K, R)>> {
        self.entries.into_iter().map(|(k, r)| r.map(|r| (k, r))).collect()
    }
}

impl<K, R> IntoIterator for Outcomes<K, R> {
    type Item = (K, Result<R>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

/// What came of a read of many keys: hits, misses and failures.
///
/// Iterating gives the hits. A miss and a failure are told apart by [`outcome`](Self::outcome),
/// [`failures`](Self::failures) or [`into_result`](Self::into_result).
#[derive(Debug)]
#[must_use = "each key has an outcome of its own, and some may have failed"]
pub struct MultiGet<K, T>(Outcomes<K, Option<T>>);

impl<K: ToKey, T> MultiGet<K, T> {
    pub(super) fn new(entries: Vec<(K, Result<Option<T>>)>) -> Self {
        Self(Outcomes::new(entries))
    }

    /// The same with every value found put through `change`.
    pub(super) fn map(self, change: impl Fn(&K, T) -> T) -> Self {
        let entries = self.0.entries.into_iter().map(|(key, result)| {
            let result = result.map(|found| found.map(|value| change(&key, value)));
            (key, result)
        });
        Self::new(entries.collect())
    }

    /// The value of one key; `None` for a miss, a failure, and a key that was not asked for.
    pub fn get(&self, key: impl ToKey) -> Option<&T> {
        self.0.outcome(key)?.as_ref().ok()?.as_ref()
    }

    /// The outcome of one key: hit, miss or error; `None` if it was not asked for.
    pub fn outcome(&self, key: impl ToKey) -> Option<&Result<Option<T>>> {
        self.0.outcome(key)
    }

    /// The hits, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &T)> {
        self.0.iter().filter_map(|(k, r)| r.as_ref().ok()?.as_ref().map(|v| (k, v)))
    }

    /// The keys that failed, with their errors.
    pub fn failures(&self) -> impl Iterator<Item = (&K, &Error)> {
        self.0.failures()
    }

    /// Every key with its outcome, in the order of the call.
    pub fn outcomes(&self) -> &Outcomes<K, Option<T>> {
        &self.0
    }

    /// Every key with its value or `None` for a miss, or the first error.
    ///
    /// # Errors
    /// That of the first key that failed.
    pub fn into_result(self) -> Result<Vec<(K, Option<T>)>> {
        self.0.into_result()
    }
}

impl<K, T> IntoIterator for MultiGet<K, T> {
    type Item = (K, T);
    type IntoIter = Hits<K, T>;

    fn into_iter(self) -> Hits<K, T> {
        Hits(self.0.into_iter())
    }
}

/// The hits of a [`MultiGet`], with the caller's keys.
#[derive(Debug)]
pub struct Hits<K, T>(std::vec::IntoIter<(K, Result<Option<T>>)>);

impl<K, T> Iterator for Hits<K, T> {
    type Item = (K, T);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.find_map(|(k, r)| Some((k, r.ok()??)))
    }
}
