//! The items: what is kept, until when, and what the verbs do to it.

use std::collections::BTreeMap;
use std::time::Duration;

use super::command::{Header, Mode};
use super::number;

/// Longer expiry times are points in time (30 days).
const MAX_RELATIVE: u32 = 60 * 60 * 24 * 30;
/// What memcached adds to an item's key and value: its header with the cas number, the NUL behind the key and the
/// line end behind the value.
const OVERHEAD: usize = 48 + 8 + 1 + 2;
/// Room for flags, taken only where there are some.
const FLAGS_SIZE: usize = 4;

#[derive(Debug)]
pub(super) struct Store {
    items: BTreeMap<Vec<u8>, Item>,
    last_cas: u64,
    /// When a delayed `flush_all` strikes.
    flush_at: Option<Duration>,
    max_item_size: usize,
    pub(super) counters: Counters,
}

#[derive(Debug)]
pub(super) struct Item {
    pub(super) value: Vec<u8>,
    pub(super) flags: u32,
    /// When it is gone, in time since 1970.
    pub(super) expiry: Option<Duration>,
    pub(super) cas: u64,
    pub(super) accessed: Duration,
    pub(super) fetched: bool,
}

/// What `stats` counts, under its names.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) cmd_get: u64,
    pub(super) cmd_set: u64,
    pub(super) cmd_flush: u64,
    pub(super) cmd_touch: u64,
    pub(super) get_hits: u64,
    pub(super) get_misses: u64,
    pub(super) delete_hits: u64,
    pub(super) delete_misses: u64,
    pub(super) incr_hits: u64,
    pub(super) incr_misses: u64,
    pub(super) decr_hits: u64,
    pub(super) decr_misses: u64,
    pub(super) cas_hits: u64,
    pub(super) cas_misses: u64,
    pub(super) cas_badval: u64,
    pub(super) touch_hits: u64,
    pub(super) touch_misses: u64,
    pub(super) store_too_large: u64,
    pub(super) total_items: u64,
}

/// What became of a store.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stored {
    Yes,
    No,
    Changed,
    Missing,
}

/// Why a counter was not counted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoCount {
    Missing,
    NotANumber,
}

impl Store {
    pub(super) fn new(max_item_size: usize) -> Self {
        Self {
            items: BTreeMap::new(),
            last_cas: 0,
            flush_at: None,
            max_item_size,
            counters: Counters::default(),
        }
    }

    /// Drops everything if a delayed flush has struck, also what was stored since it was asked for. Every command
    /// comes by here first, so all that is here then was stored before the flush.
    pub(super) fn settle(&mut self, now: Duration) {
        if self.flush_at.is_some_and(|at| at <= now) {
            self.items.clear();
            self.flush_at = None;
        }
    }

    /// The live items, in the order of their keys; the expired ones are dropped.
    pub(super) fn live(&mut self, now: Duration) -> &BTreeMap<Vec<u8>, Item> {
        self.items.retain(|_, item| item.lives(now));
        &self.items
    }

    pub(super) fn max_item_size(&self) -> usize {
        self.max_item_size
    }

    /// An item without counting it as read.
    pub(super) fn peek(&mut self, key: &[u8], now: Duration) -> Option<&mut Item> {
        if !self.items.get(key)?.lives(now) {
            self.items.remove(key);
        }
        self.items.get_mut(key)
    }

    /// `get`, and `gat` where a new expiry is given.
    pub(super) fn fetch(&mut self, key: &[u8], touch: Option<i32>, now: Duration) -> Option<&Item> {
        let hit = self.peek(key, now).is_some();
        let counters = &mut self.counters;
        // A gat is counted as a touch only.
        let (all, hits, misses) = if touch.is_some() {
            (&mut counters.cmd_touch, &mut counters.touch_hits, &mut counters.touch_misses)
        } else {
            (&mut counters.cmd_get, &mut counters.get_hits, &mut counters.get_misses)
        };
        *all += 1;
        *(if hit { hits } else { misses }) += 1;
        let item = self.items.get_mut(key)?;
        item.accessed = now;
        item.fetched = true;
        if let Some(exptime) = touch {
            item.expiry = expiry(exptime, now);
        }
        Some(item)
    }

    pub(super) fn touch(&mut self, key: &[u8], exptime: i32, now: Duration) -> bool {
        self.counters.cmd_touch += 1;
        let Some(item) = self.peek(key, now) else {
            self.counters.touch_misses += 1;
            return false;
        };
        item.expiry = expiry(exptime, now);
        item.accessed = now;
        item.fetched = true;
        self.counters.touch_hits += 1;
        true
    }

    pub(super) fn delete(&mut self, key: &[u8], now: Duration) -> bool {
        let hit = self.peek(key, now).is_some() && self.items.remove(key).is_some();
        *(if hit { &mut self.counters.delete_hits } else { &mut self.counters.delete_misses }) += 1;
        hit
    }

    /// Whether a value of the announced length can be kept. If it cannot, a `set` costs the key its old value too, so
    /// that nobody takes that for the new one.
    pub(super) fn admits(&mut self, header: &Header) -> bool {
        if size(&header.key, header.flags, header.len) <= self.max_item_size {
            return true;
        }
        self.counters.store_too_large += 1;
        if header.mode == Mode::Set {
            self.items.remove(&header.key);
        }
        false
    }

    pub(super) fn store(&mut self, header: &Header, value: Vec<u8>, now: Duration) -> Stored {
        let old = self.peek(&header.key, now);
        let new = |value| (value, header.flags, expiry(header.exptime, now));
        let (value, flags, expiry) = match (header.mode, old) {
            (Mode::Set, _) | (Mode::Add, None) | (Mode::Replace, Some(_)) => new(value),
            (Mode::Append, Some(old)) => ([&old.value[..], &value].concat(), old.flags, old.expiry),
            (Mode::Prepend, Some(old)) => {
                ([&value[..], &old.value].concat(), old.flags, old.expiry)
            }
            (Mode::Cas(_), None) => {
                self.counters.cas_misses += 1;
                return Stored::Missing;
            }
            (Mode::Cas(token), Some(old)) if token != old.cas => {
                self.counters.cas_badval += 1;
                return Stored::Changed;
            }
            (Mode::Cas(_), Some(_)) => {
                self.counters.cas_hits += 1;
                new(value)
            }
            (Mode::Add, Some(_)) | (Mode::Replace | Mode::Append | Mode::Prepend, None) => {
                return Stored::No;
            }
        };
        if size(&header.key, flags, value.len()) > self.max_item_size {
            return Stored::No;
        }
        self.put(&header.key, value, flags, expiry, now);
        Stored::Yes
    }

    /// Keeps an item under a new cas number, whatever was there.
    pub(super) fn put(
        &mut self,
        key: &[u8],
        value: Vec<u8>,
        flags: u32,
        expiry: Option<Duration>,
        now: Duration,
    ) {
        self.last_cas += 1;
        self.counters.total_items += 1;
        let item = Item { value, flags, expiry, cas: self.last_cas, accessed: now, fetched: false };
        self.items.insert(key.to_vec(), item);
    }

    /// `incr`, which goes round at 2^64, and `decr`, which stops at zero. A shorter number is padded with blanks.
    pub(super) fn count(
        &mut self,
        key: &[u8],
        by: u64,
        down: bool,
        now: Duration,
    ) -> Result<u64, NoCount> {
        let cas = self.last_cas + 1;
        let Some(item) = self.peek(key, now) else {
            *(if down {
                &mut self.counters.decr_misses
            } else {
                &mut self.counters.incr_misses
            }) += 1;
            return Err(NoCount::Missing);
        };
        let value = number::unsigned(&item.value).ok_or(NoCount::NotANumber)?;
        let value = if down { value.saturating_sub(by) } else { value.wrapping_add(by) };
        let text = format!("{value:<width$}", width = item.value.len());
        let longer = text.len() > item.value.len();
        item.value = text.into_bytes();
        item.cas = cas;
        self.last_cas = cas;
        *(if down { &mut self.counters.decr_hits } else { &mut self.counters.incr_hits }) += 1;
        // Only a number that outgrew its place became another item.
        self.counters.total_items += u64::from(longer);
        Ok(value)
    }

    /// `flush_all`: now, or when the delay is over. A later call takes the place of a delay that still runs, even one
    /// with a date that is past, which drops nothing.
    pub(super) fn flush(&mut self, exptime: i32, now: Duration) {
        let date = u32::try_from(exptime).is_ok_and(|seconds| seconds > MAX_RELATIVE);
        self.flush_at = match expiry(exptime, now) {
            Some(at) if date && at <= now => None,
            at => Some(at.unwrap_or(now)),
        };
        self.settle(now);
    }
}

impl Item {
    /// What memcached would charge for it.
    pub(super) fn size(&self, key: &[u8]) -> usize {
        size(key, self.flags, self.value.len())
    }

    fn lives(&self, now: Duration) -> bool {
        self.expiry.is_none_or(|expiry| now < expiry)
    }
}

fn size(key: &[u8], flags: u32, value_len: usize) -> usize {
    OVERHEAD + key.len() + value_len + if flags == 0 { 0 } else { FLAGS_SIZE }
}

/// When an item with this expiry is gone: 0 is never, below is at once, above 30 days is a point in time.
fn expiry(exptime: i32, now: Duration) -> Option<Duration> {
    match u32::try_from(exptime) {
        Ok(0) => None,
        Ok(seconds) if seconds <= MAX_RELATIVE => Some(now + Duration::from_secs(seconds.into())),
        Ok(seconds) => Some(Duration::from_secs(seconds.into())),
        Err(_) => Some(Duration::ZERO),
    }
}
