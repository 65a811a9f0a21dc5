//! What a train carries: several callers' requests put together as one batch, and one reply taken apart again.

use std::sync::Arc;

use super::train::{Arrival, RiderTicket};
use crate::protocol::{Batch, Reply, Request, Scratch, Verb};
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
}

impl Load {
    /// Puts the requests together: reads of one key become one read of many.
    ///
    /// Who gave up in the meantime has taken the request back, and has no seat.
    pub(super) fn new(
        scratch: Scratch,
        own: &Batch<'static>,
        tickets: &[Arc<RiderTicket>],
    ) -> Self {
        let seats = Vec::with_capacity(tickets.len() + 1);
        let mut load = Self { batch: Batch::reusing(scratch), seats, conductor: 0 };
        for verb in [Verb::Get, Verb::Gets] {
            load.add_reads(verb, own, tickets);
        }
        if own.key_read().is_none() {
            load.conductor = load.sit(None, None);
            load.batch.append(own);
        }
        for ticket in tickets {
            ticket.with_request(|rider| {
                if rider.batch.len() == 1 && rider.batch.key_read().is_none() {
                    load.sit(Some(ticket), rider.until);
                    load.batch.append(&rider.batch);
                }
            });
        }
        load
    }

    /// Adds one read of all keys that are to be read by `verb`, if there are any.
    fn add_reads(&mut self, verb: Verb, own: &Batch<'static>, tickets: &[Arc<RiderTicket>]) {
        let mut keys = Keys::default();
        if keys.add(verb, own) {
            self.conductor = self.sit(None, None);
        }
        for ticket in tickets {
            ticket.with_request(|rider| {
                if keys.add(verb, &rider.batch) {
                    self.sit(Some(ticket), rider.until);
                }
            });
        }
        let keys = keys.list();
        if !keys.is_empty() {
            self.batch.push(&Request::Get { keys: &keys, cas: verb == Verb::Gets });
        }
    }

    /// A seat in the request that is added next.
    fn sit(&mut self, ticket: Option<&Arc<RiderTicket>>, until: Option<Deadline>) -> usize {
        self.seats.push(Seat { ticket: ticket.cloned(), until, request: self.batch.len() });
        self.seats.len() - 1
    }
}

/// What each of so many callers gets of one reply.
pub(super) fn shares(reply: Reply, callers: usize) -> Vec<Arrival> {
    let hits = match reply {
        reply if callers == 1 => return vec![Arrival::Reply(Ok(reply))],
        Reply::Values(hits) => hits,
        // What the server refused whole it may still answer in part.
        _ => return (0..callers).map(|_| Arrival::Alone).collect(),
    };
    let mut shares: Vec<_> = (0..callers).map(|_| Arrival::Reply(Ok(Reply::Value(None)))).collect();
    for place in hits.refused.into_iter().flat_map(|(places, _)| places) {
        put(&mut shares, place, Arrival::Alone);
    }
    for value in hits.values {
        put(&mut shares, value.index, Arrival::Reply(Ok(Reply::Value(Some(value)))));
    }
    shares
}

fn put(shares: &mut [Arrival], place: u32, arrival: Arrival) {
    if let Some(share) = usize::try_from(place).ok().and_then(|i| shares.get_mut(i)) {
        *share = arrival;
    }
}

/// Keys copied out of several requests.
#[derive(Default)]
struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    /// Adds the key of a batch that is a lone read by `verb`; `false` if it is anything else.
    fn add(&mut self, verb: Verb, batch: &Batch<'static>) -> bool {
        let Some((_, key)) = batch.key_read().filter(|(read, _)| *read == verb) else {
            return false;
        };
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
        true
    }

    fn list(&self) -> Vec<&[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let pieces = starts.zip(&self.ends).map(|(from, to)| self.bytes.get(from..*to));
        pieces.map(Option::unwrap_or_default).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::ticket::Ticket;
    use super::super::train::Rider;
    use super::*;
    use crate::protocol::{Hits, Refusal, RefusalKind, StoreVerb, Value};
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
        Arc::new(Ticket::new(Rider { batch, until: None }))
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
    fn reads_go_first_as_one_and_everyone_knows_which_reply_is_theirs() {
        let tickets = [set("s"), get("b", false), get("c", true), get("d", false)].map(ticket);
        let load = Load::new(Scratch::default(), &get("a", false), &tickets);
        assert_eq!(wire(&load), "get a b d\r\ngets c\r\nset s 0 0 1\r\nv\r\n");
        assert_eq!((seats(&load), load.conductor), (vec![0, 0, 0, 1, 2], 0));
        let load = Load::new(Scratch::default(), &set("own"), &tickets[..2]);
        assert_eq!(wire(&load), "get b\r\nset own 0 0 1\r\nv\r\nset s 0 0 1\r\nv\r\n");
        assert_eq!((seats(&load), load.conductor), (vec![0, 1, 2], 1));
    }

    #[test]
    fn who_took_the_request_back_has_no_seat_and_moves_nobody_elses() {
        let tickets = [set("s"), get("b", false), set("t")].map(ticket);
        for gone in 0..3 {
            let taken = tickets[gone].with_request(|rider| std::mem::take(&mut rider.batch));
            let load = Load::new(Scratch::default(), &get("a", false), &tickets);
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
        };
        assert_eq!(told(shares(Reply::Values(hits), 5)), "a-c?-");
        assert_eq!(told(shares(Reply::Refused(refusal), 2)), "??");
        assert_eq!(told(shares(Reply::Value(Some(value(0, b'o'))), 1)), "o");
    }
}
