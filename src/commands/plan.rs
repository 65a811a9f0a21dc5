//! Many keys on their way out: checked, put on the wire form, and given a place each.

use std::ops::Range;

use super::seen::Seen;
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
    /// For each item the place of its key in the call; the last one where it is there more than once.
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
        let mut arena = Vec::with_capacity(keys.iter().map(|key| key.to_key().bytes.len()).sum());
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
                self.wire(place).map(|wire| plan.add(place, wire, self.target(key.to_key(), wire)));
            plan.items.push(item);
        }
        plan
    }

    /// One item for each distinct key that can be sent.
    pub(super) fn plan_distinct<'a, K: ToKey>(&'a self, keys: &'a [K]) -> Plan<'a> {
        let mut plan = Plan::with_room_for(keys.len());
        let mut seen = Seen::with_room_for(keys.len());
        for (place, key) in keys.iter().enumerate() {
            let item = self.wire(place).map(|wire| {
                let target = self.target(key.to_key(), wire);
                let is_same = |item| plan.is(item, wire, &target);
                match seen.find_or_add(wire, plan.keys.len(), is_same) {
                    Some(item) => plan.name_again(item, place),
                    None => plan.add(place, wire, target),
                }
            });
            plan.items.push(item);
        }
        plan
    }

    fn target<'a>(&'a self, key: KeyRef<'a>, wire: &'a [u8]) -> Target<'a> {
        Target { place: key.place(wire, self.unhashed), hash: key.hash, only: None }
    }

    fn wire(&self, place: usize) -> Result<&[u8]> {
        match self.spans.get(place) {
            Some(Ok(span)) => Ok(self.arena.get(span.clone()).unwrap_or_default()),
            Some(Err(e)) => Err(e.clone()),
            None => Ok(&[]),
        }
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
