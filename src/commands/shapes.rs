//! How the calls for many keys put one node's requests together and take its replies apart.

use std::ops::Range;

use serde::Serialize;

use super::plan::Plan;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::protocol::{Batch, Hits, Reply, Request, StoreVerb, Verb};
use crate::router::{Part, Shape};
use crate::types::TtlError;

/// The requests of a call, one for each of its keys.
pub(super) trait Requests {
    /// Whether there is something to send for the key at `place`.
    fn check(&self, place: usize) -> Result<()>;

    fn request<'a>(&'a self, place: usize, key: &'a [u8]) -> Request<'a, 'a>;

    /// The error of the request for the key at `place`, with what is known of it here.
    fn explain(&self, _place: usize, error: Error) -> Error {
        error
    }
}

/// The requests of a `delete_many`.
pub(super) struct Deletes;

impl Requests for Deletes {
    fn check(&self, _: usize) -> Result<()> {
        Ok(())
    }

    fn request<'a>(&'a self, _: usize, key: &'a [u8]) -> Request<'a, 'a> {
        Request::Delete { key }
    }
}

/// Encoded values, one behind the other.
#[derive(Default)]
pub(super) struct Encoded {
    bytes: Vec<u8>,
    /// Flags and place of each, or why it has none.
    values: Vec<Result<(u32, Range<usize>)>>,
}

impl Encoded {
    pub(super) fn add<V: Serialize>(&mut self, client: &Client, value: &V) {
        let start = self.bytes.len();
        let encoded = client.codec().encode(value, &mut self.bytes).map_err(Error::from);
        let encoded = encoded.and_then(|flags| {
            client.check_size(self.bytes.len() - start)?;
            Ok((flags, start..self.bytes.len()))
        });
        self.values.push(encoded);
    }
}

/// The stores of a `set_many`.
pub(super) struct Values {
    pub(super) exptime: Result<i32, TtlError>,
    pub(super) encoded: Encoded,
}

impl Requests for Values {
    fn check(&self, place: usize) -> Result<()> {
        self.exptime?;
        match self.encoded.values.get(place) {
            Some(Err(e)) => Err(e.clone()),
            _ => Ok(()),
        }
    }

    fn request<'a>(&'a self, place: usize, key: &'a [u8]) -> Request<'a, 'a> {
        let exptime = self.exptime.unwrap_or(0);
        let (flags, at) = match self.encoded.values.get(place) {
            Some(Ok((flags, at))) => (*flags, at.clone()),
            _ => (0, 0..0),
        };
        let value = self.encoded.bytes.get(at).unwrap_or_default();
        Request::Store { verb: StoreVerb::Set, key, flags, exptime, value }
    }

    fn explain(&self, place: usize, error: Error) -> Error {
        match self.encoded.values.get(place) {
            Some(Ok((_, at))) => error.with_size(at.len()),
            _ => error,
        }
    }
}

/// One read of all keys of a node.
pub(super) struct Gets<'p, 'a> {
    pub(super) keys: &'p [&'a [u8]],
    pub(super) cas: bool,
}

impl<'a> Shape<'a> for Gets<'_, 'a> {
    fn verb(&self) -> Verb {
        if self.cas { Verb::Gets } else { Verb::Get }
    }

    fn batch(&self, items: &[usize]) -> Batch<'a> {
        let key = |item: &usize| self.keys.get(*item).copied().unwrap_or_default();
        let keys: Vec<&[u8]> = items.iter().map(key).collect();
        let mut batch = Batch::new();
        batch.push(&Request::Get { keys: &keys, cas: self.cas });
        batch
    }

    fn unpack(
        &self,
        items: &[usize],
        replies: Vec<Option<Reply>>,
        sent: usize,
        mut give: impl FnMut(usize, Part),
    ) {
        match (Part::of(replies.into_iter().next().flatten(), 0, sent), items) {
            (Part::Reply(Reply::Values(hits)), _) => spread(items, *hits, sent, give),
            (part, [item]) => give(*item, part),
            // A refusal, and having no reply, is each key's.
            (part, _) => items.iter().for_each(|item| give(*item, part.clone())),
        }
    }
}

/// Hits and refusals to the items they belong to; the others are misses, as far as the answer goes.
fn spread(items: &[usize], mut hits: Hits, sent: usize, mut give: impl FnMut(usize, Part)) {
    // They have come in this order, but for a proxy that asked several servers.
    hits.values.sort_unstable_by_key(|value| value.index);
    let without = |at: u32| match hits.refused.iter().find(|(range, _)| range.contains(&at)) {
        Some((_, refusal)) => Part::Reply(Reply::Refused(refusal.clone())),
        None => match hits.rest {
            Some(rest) if at >= rest.from => match rest.too_large {
                Some(key) if key != at => Part::Aside,
                _ => Part::of(None, 0, sent),
            },
            _ => Part::Reply(Reply::Value(None)),
        },
    };
    let mut items = (0..).zip(items);
    for value in hits.values {
        for (at, item) in items.by_ref() {
            if at == value.index {
                give(*item, Part::Reply(Reply::Value(Some(value))));
                break;
            }
            give(*item, without(at));
        }
    }
    items.for_each(|(at, item)| give(*item, without(at)));
}

/// A request for each key of a node.
pub(super) struct Each<'p, 'a, R> {
    pub(super) verb: Verb,
    pub(super) plan: &'p Plan<'a>,
    pub(super) requests: &'a R,
}

impl<'a, R: Requests> Shape<'a> for Each<'_, 'a, R> {
    fn verb(&self) -> Verb {
        self.verb
    }

    fn batch(&self, items: &[usize]) -> Batch<'a> {
        let mut batch = Batch::new();
        for item in items {
            if let (Some(key), Some(place)) =
                (self.plan.keys.get(*item), self.plan.places.get(*item))
            {
                batch.push(&self.requests.request(*place, key));
            }
        }
        batch
    }

    fn unpack(
        &self,
        items: &[usize],
        replies: Vec<Option<Reply>>,
        sent: usize,
        mut give: impl FnMut(usize, Part),
    ) {
        let mut replies = replies.into_iter();
        for (at, item) in items.iter().enumerate() {
            give(*item, Part::of(replies.next().flatten(), at, sent));
        }
    }
}
