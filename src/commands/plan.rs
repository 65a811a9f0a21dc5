//! Many keys on their way out: checked, put on the wire form, and given a place each.

use std::ops::Range;

use super::seen::Seen;
use crate::client::Client;
use crate::error::Result;
use crate::router::Target;
use crate::types::{KeyRef, ToKey, checked};

/// The keys of a call as they go over the wire.
#[derive(Debug)]
pub(super) enum Wired {
    /// Just as they are given.
    Given,
    /// One behind the other.
    Rewritten {
        arena: Vec<u8>,
        /// For each key of the call where it lies, or why it is not sent.
        spans: Vec<Result<Range<usize>>>,
    },
}

/// What is asked of the servers for the keys of a call.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    /// The key of each item.
    pub(super) keys: Vec<&'a [u8]>,
    /// Where each item goes.
    pub(super) targets: Vec<Target<'a>>,
    /// For each item the place of its key in the call; the last one where it is there more than once.
    pub(super) places: Vec<usize>,
    /// For each key of the call its item, or why it has none.
    pub(super) items: Vec<Result<usize>>,
}

impl Wired {
    pub(super) fn new<K: ToKey>(client: &Client, keys: &[K]) -> Self {
        if !client.rewrites_keys() {
            return Self::Given;
        }
        let mut arena = Vec::new();
        let spans = keys.iter().map(|key| {
            let start = arena.len();
            arena.extend_from_slice(client.wire(key.to_key())?.as_bytes());
            Ok(start..arena.len())
        });
        let spans = spans.collect();
        Self::Rewritten { arena, spans }
    }

    /// The wire form of the key at `place`, which was given so.
    #[inline]
    fn wire<'a>(&'a self, place: usize, given: KeyRef<'a>) -> Result<&'a [u8]> {
        match self {
            Self::Given => Ok(checked(given.bytes)?),
            Self::Rewritten { arena, spans } => match spans.get(place) {
                Some(Ok(span)) => Ok(arena.get(span.clone()).unwrap_or_default()),
                Some(Err(e)) => Err(e.clone()),
                None => Ok(&[]),
            },
        }
    }
}

impl<'a> Plan<'a> {
    /// One item for each key that can be sent, or with `distinct` for each that differs; `check` may refuse one
    /// by its place.
    pub(super) fn new<K: ToKey>(
        client: &Client,
        keys: &'a [K],
        wired: &'a Wired,
        distinct: bool,
        check: impl Fn(usize) -> Result<()>,
    ) -> Self {
        let unhashed = client.unhashed();
        let mut seen = distinct.then(|| Seen::with_room_for(keys.len()));
        let mut plan = Self {
            keys: Vec::with_capacity(keys.len()),
            targets: Vec::with_capacity(keys.len()),
            places: Vec::with_capacity(keys.len()),
            items: Vec::with_capacity(keys.len()),
        };
        for (place, key) in keys.iter().enumerate() {
            let key = key.to_key();
            let item = wired.wire(place, key).and_then(|wire| {
                check(place)?;
                let target =
                    Target { place: key.place(wire, unhashed), hash: key.hash, only: None };
                let is_same = |item| plan.is(item, wire, &target);
                let seen = seen.as_mut();
                Ok(match seen.and_then(|s| s.find_or_add(wire, plan.keys.len(), is_same)) {
                    Some(item) => plan.name_again(item, place),
                    None => plan.add(place, wire, target),
                })
            });
            plan.items.push(item);
        }
        plan
    }

    #[inline]
    fn add(&mut self, place: usize, wire: &'a [u8], target: Target<'a>) -> usize {
        let item = self.keys.len();
        self.keys.push(wire);
        self.targets.push(target);
        self.places.push(place);
        item
    }

    fn name_again(&mut self, item: usize, place: usize) -> usize {
        if let Some(last) = self.places.get_mut(item) {
            *last = place;
        }
        item
    }

    /// Whether it is the item of the same key, which goes to the same server.
    fn is(&self, item: usize, wire: &[u8], target: &Target<'_>) -> bool {
        self.keys.get(item).is_some_and(|key| *key == wire)
            && self
                .targets
                .get(item)
                .is_some_and(|t| t.place == target.place && t.hash == target.hash)
    }
}
