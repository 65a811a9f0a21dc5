//! Many keys on their way out: checked, put on the wire form, and given a place each.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};
use std::ops::Range;

use crate::client::Client;
use crate::error::Result;
use crate::router::Target;
use crate::types::{KeyRef, ToKey};

/// The keys of a call as they go over the wire, one behind the other.
#[derive(Debug)]
pub(super) struct Wired {
    arena: Vec<u8>,
    /// For each key of the call where it lies, or why it is not sent.
    spans: Vec<Result<Range<usize>>>,
    /// How many bytes of each have no say in its server.
    unhashed: usize,
}

/// What is asked of the servers for the keys of a call.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    /// The key of each item.
    pub(super) keys: Vec<&'a [u8]>,
    /// Where each item goes.
    pub(super) targets: Vec<Target<'a>>,
    /// For each item the place of its key in the call.
    pub(super) places: Vec<usize>,
    /// For each key of the call its item, or why it has none.
    pub(super) items: Vec<Result<usize>>,
}

impl Wired {
    /// Puts every key on its wire form; `check` may refuse one.
    pub(super) fn new<K: ToKey>(
        client: &Client,
        keys: &[K],
        check: impl Fn(usize) -> Result<()>,
    ) -> Self {
        let mut arena = Vec::new();
        let spans = keys.iter().enumerate().map(|(i, key)| {
            let mut room = None;
            let wire = client.wire_in(key.to_key(), &mut room)?;
            check(i)?;
            let start = arena.len();
            arena.extend_from_slice(wire);
            Ok(start..arena.len())
        });
        let spans = spans.collect();
        Self { arena, spans, unhashed: client.unhashed() }
    }

    /// One item for each key that can be sent.
    pub(super) fn plan<'a, K: ToKey>(&'a self, keys: &'a [K]) -> Plan<'a> {
        let mut plan = Plan::with_room_for(keys.len());
        for (place, key) in keys.iter().enumerate() {
            let item =
                self.wire(place).map(|wire| plan.add(place, wire, self.unhashed, key.to_key()));
            plan.items.push(item);
        }
        plan
    }

    /// One item for each distinct key that can be sent.
    pub(super) fn plan_distinct<'a, K: ToKey>(&'a self, keys: &'a [K]) -> Plan<'a> {
        let mut plan = Plan::with_room_for(keys.len());
        let mut seen = HashMap::with_capacity(keys.len());
        for (place, key) in keys.iter().enumerate() {
            let item = self.wire(place).map(|wire| {
                let key = key.to_key();
                match seen.entry(Distinct { wire, by: key.by, hash: key.hash }) {
                    Entry::Occupied(item) => *item.get(),
                    Entry::Vacant(slot) => *slot.insert(plan.add(place, wire, self.unhashed, key)),
                }
            });
            plan.items.push(item);
        }
        plan
    }

    fn wire(&self, place: usize) -> Result<&[u8]> {
        match self.spans.get(place) {
            Some(Ok(span)) => Ok(self.arena.get(span.clone()).unwrap_or_default()),
            Some(Err(e)) => Err(e.clone()),
            None => Ok(&[]),
        }
    }
}

/// What makes a key another one than the rest of the call's.
#[derive(PartialEq, Eq)]
struct Distinct<'a> {
    wire: &'a [u8],
    by: Option<&'a [u8]>,
    hash: Option<i32>,
}

/// Keys that differ only in the way they are placed are few: they may share a bucket.
impl Hash for Distinct<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(self.wire);
    }
}

impl<'a> Plan<'a> {
    fn with_room_for(keys: usize) -> Self {
        Self {
            keys: Vec::with_capacity(keys),
            targets: Vec::with_capacity(keys),
            places: Vec::with_capacity(keys),
            items: Vec::with_capacity(keys),
        }
    }

    fn add(&mut self, at: usize, wire: &'a [u8], unhashed: usize, key: KeyRef<'a>) -> usize {
        self.keys.push(wire);
        self.places.push(at);
        let place = key.place(wire, unhashed);
        self.targets.push(Target { place, hash: key.hash, only: None });
        self.keys.len() - 1
    }
}
