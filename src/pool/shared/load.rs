//! What a train carries: several callers' requests put together as one batch, and one reply taken apart again.

use std::sync::Arc;
use std::time::Instant;

use super::train::{Arrival, RiderTicket};
use crate::protocol::{Batch, Hits, Reply, Request, Scratch, Verb};
use crate::time::Deadline;

/// Requests that go out as one batch, and who waits for which of the replies.
#[derive(Debug)]
pub(super) struct Load {
    pub(super) batch: Batch<'static>,
    /// In the order of their requests.
    pub(super) seats: Vec<Seat>,
    /// The seat of the conductor.
    pub(super) conductor: usize,
}

/// One rider's place.
#[derive(Debug)]
pub(super) struct Seat {
    /// Where the answer is awaited; `None` for the conductor's own, and for those who have it.
    pub(super) ticket: Option<Arc<RiderTicket>>,
    pub(super) until: Option<Deadline>,
    /// Which request of the batch it is part of.
    pub(super) request: usize,
    /// Which key of that request it asks for.
    pub(super) key: u32,
}

impl Load {
    /// Puts the requests together: reads of one key become one read of many, and of the same key one read of it.
    ///
    /// Reads go last: what goes wrong with one takes nothing with it that cannot be sent again, and a hit proves by its key
    /// that the replies before it were in step.
    ///
    /// Who gave up in the meantime has taken the request back, and has no seat.
    pub(super) fn new(
        scratch: Scratch,
        own: &Batch<'static>,
        tickets: &[Arc<RiderTicket>],
        now: Instant,
    ) -> Self {
        let seats = Vec::with_capacity(tickets.len() + 1);
        let mut load = Self { batch: Batch::reusing(scratch), seats, conductor: 0 };
        for reads in [false, true] {
            let is_meant = |batch: &Batch<'static>| {
                batch.verb(0).is_some_and(|verb| verb.is_read() == reads)
                    && batch.key_read().is_none()
            };
            if is_meant(own) {
                load.conductor = load.sit(None, None, 0);
                load.batch.append(own);
            }
            for ticket in tickets {
                ticket.with_request(|rider| {
                    if is_meant(&rider.batch) {
                        rider.since = Some(now);
                        load.sit(Some(ticket), rider.until, 0);
                        load.batch.append(&rider.batch);
                    }
                });
            }
        }
        for verb in [Verb::Get, Verb::Gets] {
            load.add_reads(verb, own, tickets, now);
        }
        load
    }

    /// Adds one read of all keys that are to be read by `verb`, if there are any.
    fn add_reads(
        &mut self,
        verb: Verb,
        own: &Batch<'static>,
        tickets: &[Arc<RiderTicket>],
        now: Instant,
    ) {
        let mut keys = Keys::default();
        if let Some(key) = keys.add(verb, own) {
            self.conductor = self.sit(None, None, key);
        }
        for ticket in tickets {
            ticket.with_request(|rider| {
                if let Some(key) = keys.add(verb, &rider.batch) {
                    rider.since = Some(now);
                    self.sit(Some(ticket), rider.until, key);
                }
            });
        }
        let keys: Vec<_> = keys.iter().collect();
        if !keys.is_empty() {
            self.batch.push(&Request::Get { keys: &keys, cas: verb == Verb::Gets });
        }
    }

    /// A seat in the request that is added next.
    fn sit(
        &mut self,
        ticket: Option<&Arc<RiderTicket>>,
        until: Option<Deadline>,
        key: u32,
    ) -> usize {
        self.seats.push(Seat { ticket: ticket.cloned(), until, request: self.batch.len(), key });
        self.seats.len() - 1
    }
}

/// What each of the callers who asked for these keys of one request gets of its reply.
pub(super) fn shares(reply: Reply, keys: &[u32]) -> Vec<Arrival> {
    let Hits { mut values, refused, .. } = match reply {
        reply if keys.len() == 1 => return vec![Arrival::Reply(Ok(reply))],
        Reply::Value(value) => Hits { values: value.into_iter().collect(), ..Hits::default() },
        Reply::Values(hits) => *hits,
        // What the server refused whole it may still answer in part.
        _ => return keys.iter().map(|_| Arrival::Alone).collect(),
    };
    let share = |(i, key): (usize, &u32)| {
        let value = match values.iter().position(|value| value.index == *key) {
            Some(at) if keys.iter().skip(i + 1).any(|other| other == key) => {
                values.get(at).cloned()
            }
            Some(at) => Some(values.remove(at)),
            None if refused.iter().any(|(keys, _)| keys.contains(key)) => return Arrival::Alone,
            None => None,
        };
        Arrival::Reply(Ok(Reply::Value(value)))
    };
    keys.iter().enumerate().map(share).collect()
}

/// Keys copied out of several requests.
#[derive(Default)]
struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    /// The place of the key of a batch that is a lone read by `verb`, each key once; `None` if it is anything else.
    fn add(&mut self, verb: Verb, batch: &Batch<'static>) -> Option<u32> {
        let (_, key) = batch.key_read().filter(|(read, _)| *read == verb)?;
        let known = self.iter().position(|known| known == key);
        if known.is_none() {
            self.bytes.extend_from_slice(key);
            self.ends.push(self.bytes.len());
        }
        u32::try_from(known.unwrap_or(self.ends.len() - 1)).ok()
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(from, to)| self.bytes.get(from..*to).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::ticket::Ticket;
    use super::super::train::Rider;
    use super::*;
    use crate::protocol::{Refusal, RefusalKind, StoreVerb, Value};
    use std::io::IoSlice;

    fn batch(request: &Request<'_, '_>) -> Batch<'static> {
        let mut batch = Batch::new();
        batch.push(request);
        batch.lend().expect("nothing is borrowed")
    }

    fn get(key: &str, cas: bool) -> Batch<'static> {
        batch(&Request::Get { keys: &[key.as_bytes()], cas })
    }

    fn set(key: &str) -> Batch<'static> {
        let (key, value) = (key.as_bytes(), b"v".as_slice());
        batch(&Request::Store { verb: StoreVerb::Set, key, flags: 0, exptime: 0, value })
    }

    fn ticket(batch: Batch<'static>) -> Arc<RiderTicket> {
        Arc::new(Ticket::new(Rider { batch, ..Rider::default() }))
    }

    fn wire(load: &Load) -> String {
        let mut slices = [IoSlice::new(&[]); 4];
        let n = load.batch.slices(0, &mut slices);
        slices[..n].iter().map(|s| String::from_utf8_lossy(s).into_owned()).collect()
    }

    fn seats(load: &Load) -> Vec<usize> {
        load.seats.iter().map(|seat| seat.request).collect()
    }

    #[test]
    fn reads_go_last_as_one_and_everyone_knows_which_reply_is_theirs() {
        let tickets = [set("s"), get("b", false), get("c", true), get("d", false)].map(ticket);
        let load = Load::new(Scratch::default(), &get("a", false), &tickets, Instant::now());
        assert_eq!(wire(&load), "set s 0 0 1\r\nv\r\nget a b d\r\ngets c\r\n");
        assert_eq!((seats(&load), load.conductor), (vec![0, 1, 1, 1, 2], 1));
        let load = Load::new(Scratch::default(), &set("own"), &tickets[..2], Instant::now());
        assert_eq!(wire(&load), "set own 0 0 1\r\nv\r\nset s 0 0 1\r\nv\r\nget b\r\n");
        assert_eq!((seats(&load), load.conductor), (vec![0, 1, 2], 0));
    }

    #[test]
    fn a_read_that_also_touches_goes_behind_what_cannot_be_sent_again() {
        let touching = Request::GetAndTouch { keys: &[b"g"], exptime: 5, cas: false };
        let tickets = [get("a", false), set("s")].map(ticket);
        let load = Load::new(Scratch::default(), &batch(&touching), &tickets, Instant::now());
        assert_eq!(wire(&load), "set s 0 0 1\r\nv\r\ngat 5 g\r\nget a\r\n");
        assert_eq!((seats(&load), load.conductor), (vec![0, 1, 2], 1));
    }

    #[test]
    fn a_key_that_several_read_is_asked_for_once() {
        let tickets = [get("b", false), get("a", false), get("b", false)].map(ticket);
        let load = Load::new(Scratch::default(), &get("a", false), &tickets, Instant::now());
        assert_eq!(wire(&load), "get a b\r\n");
        let keys: Vec<_> = load.seats.iter().map(|seat| seat.key).collect();
        assert_eq!((seats(&load), keys), (vec![0; 4], vec![0, 1, 0, 1]));
    }

    #[test]
    fn who_took_the_request_back_has_no_seat_and_moves_nobody_elses() {
        let tickets = [set("s"), get("b", false), set("t")].map(ticket);
        for gone in 0..3 {
            let taken = tickets[gone].with_request(|rider| std::mem::take(&mut rider.batch));
            let load = Load::new(Scratch::default(), &get("a", false), &tickets, Instant::now());
            assert_eq!(load.seats.len(), 3);
            assert_eq!(load.seats.last().map(|s| s.request), Some(load.batch.len() - 1));
            tickets[gone].with_request(|rider| rider.batch = taken);
        }
    }

    /// What each caller was given: a value's first byte, `-` for a miss, `?` for asking alone.
    fn told(shares: Vec<Arrival>) -> String {
        let tell = |arrival| match arrival {
            Arrival::Reply(Ok(Reply::Value(Some(v)))) => char::from(v.bytes[0]),
            Arrival::Reply(Ok(Reply::Value(None))) => '-',
            Arrival::Alone => '?',
            other => panic!("{other:?}"),
        };
        shares.into_iter().map(tell).collect()
    }

    #[test]
    fn each_caller_gets_the_value_at_its_own_place_or_the_miss_or_has_to_ask_alone() {
        let value = |index, byte| Value { index, bytes: vec![byte], ..Value::default() };
        let refusal = Refusal { kind: RefusalKind::Server, text: String::new() };
        let hits = Hits {
            values: vec![value(2, b'c'), value(0, b'a'), value(9, b'x')],
            refused: vec![(2..4, refusal.clone())],
            rest: None,
        };
        assert_eq!(
            told(shares(Reply::Values(Box::new(hits)), &[0, 1, 2, 3, 4, 2, 1, 3])),
            "a-c?-c-?"
        );
        assert_eq!(told(shares(Reply::Refused(refusal), &[0, 1])), "??");
        assert_eq!(told(shares(Reply::Value(Some(value(0, b'o'))), &[0])), "o");
        assert_eq!(told(shares(Reply::Value(Some(value(0, b'o'))), &[0, 0, 0])), "ooo");
        assert_eq!(told(shares(Reply::Value(None), &[0, 0])), "--");
    }
}
