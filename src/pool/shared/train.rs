//! Requests of several callers on one connection: sent as one, and each caller brought its answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::error::PoolError;
use super::super::exchange::{in_doubt, turned_away};
use super::super::lease::Live;
use super::super::ticket::Ticket;
use super::load::{Load, Seat, shares};
use crate::net::NetError;
use crate::protocol::{Batch, Reply, Verb};
use crate::time::Deadline;

/// A caller's request, and until when its answer is of use.
#[derive(Debug, Default)]
pub(in crate::pool) struct Rider {
    pub(super) batch: Batch<'static>,
    pub(super) until: Option<Deadline>,
    /// When it was taken along.
    pub(in crate::pool) since: Option<Instant>,
}

/// What becomes of a request that was taken along.
#[derive(Debug)]
pub(in crate::pool) enum Arrival {
    /// Its answer, or why there is none.
    Reply(Result<Reply, PoolError>),
    /// Nothing yet: a "no" to several requests at once says nothing of each, so it has to be asked alone.
    Alone,
    /// The train on which it has this seat, to be conducted further.
    Conduct(Box<Train>, usize),
}

/// Where an arrival is awaited.
pub(super) type RiderTicket = Ticket<Live, Rider, Arrival>;

/// A connection with the requests of several callers under way.
#[derive(Debug)]
pub(in crate::pool) struct Train {
    pub(super) live: Live,
    batch: Batch<'static>,
    /// In the order of their requests.
    seats: Vec<Seat>,
    /// How many of them got their answer.
    arrived: usize,
    /// How many of those were told to the pool.
    counted: usize,
    /// When it began.
    pub(super) since: Instant,
    /// Whether its silence was counted against the server: once is enough.
    pub(super) blamed: bool,
}

impl Train {
    /// Puts the requests together and begins; the conductor's seat comes with it.
    pub(super) fn new(
        mut live: Live,
        own: &Batch<'static>,
        tickets: &[Arc<RiderTicket>],
        now: Instant,
    ) -> (Self, usize) {
        let load = Load::new(std::mem::take(&mut live.scratch), own, tickets, now);
        live.connection.begin(&load.batch, now);
        let Load { batch, seats, conductor } = load;
        (Self { live, batch, seats, arrived: 0, counted: 0, since: now, blamed: false }, conductor)
    }

    /// Sends what is left and waits for something to come back; true when nothing more is to come.
    pub(super) fn step(&mut self, until: Deadline, busy_poll: Duration) -> Result<bool, NetError> {
        self.live.connection.step(&mut self.batch, until, busy_poll)
    }

    /// Reads what has come, without waiting; true when nothing more is to come.
    pub(super) fn collect(&mut self) -> Result<bool, NetError> {
        self.live.connection.collect(&mut self.batch)
    }

    /// Hands out the answers that are here; the one for seat `own` comes back, and so does word of a server that
    /// turned the connection away.
    pub(super) fn deliver(&mut self, own: usize) -> Result<Option<Arrival>, NetError> {
        let mut mine = None;
        while let Some(request) = self.seats.get(self.arrived).map(|seat| seat.request) {
            let Some(reply) = self.live.connection.take(request) else { break };
            if request == 0 {
                if let Some(e) = turned_away(Some(&reply)) {
                    return Err(e);
                }
            }
            let rest = self.seats.iter_mut().enumerate().skip(self.arrived);
            let sharing = rest.take_while(|(_, seat)| seat.request == request);
            let (tickets, keys): (Vec<_>, Vec<_>) =
                sharing.map(|(i, seat)| ((i, seat.ticket.take()), seat.key)).unzip();
            self.arrived += keys.len();
            self.live.proven = true;
            for ((i, ticket), arrival) in tickets.into_iter().zip(shares(reply, &keys)) {
                match ticket {
                    _ if i == own => mine = Some(arrival),
                    // Who has given up needs none.
                    Some(ticket) => drop(ticket.answer(arrival)),
                    None => {}
                }
            }
        }
        Ok(mine)
    }

    /// Tells everyone who has no answer why; the one for seat `own` comes back.
    pub(super) fn fail(&mut self, own: usize, e: &NetError) -> Option<Arrival> {
        let mut mine = None;
        let written = if e.is_dial() { 0 } else { self.live.connection.sent() };
        // The value that is too large belongs to the first request without an answer.
        let guilty = self.seats.get(self.arrived).map(|seat| seat.request);
        let of_guilty = |seat: &Seat| Some(seat.request) == guilty;
        let readers =
            self.seats.iter().skip(self.arrived).take_while(|seat| of_guilty(seat)).count();
        for (i, seat) in self.seats.iter_mut().enumerate().skip(self.arrived) {
            let sent = self.batch.sent_whole(seat.request, written);
            let is_read = self.batch.verb(seat.request).is_some_and(Verb::is_read);
            let arrival = match e.is_of_one_value() {
                true if of_guilty(seat) && readers == 1 => failed(e.again(sent)),
                // The next one that travels with it may be as large.
                true if is_read => Arrival::Alone,
                true => failed(in_doubt(sent)),
                false => failed(e.again(sent)),
            };
            match seat.ticket.take() {
                _ if i == own => mine = Some(arrival),
                Some(ticket) => drop(ticket.answer(arrival)),
                None => {}
            }
        }
        self.arrived = self.seats.len();
        mine
    }

    /// Hands the train to a rider who waits for an answer and has time left; it comes back if there is none.
    pub(super) fn hand_over(mut self: Box<Self>, now: Instant) -> Option<Box<Self>> {
        for i in self.arrived..self.seats.len() {
            let Some(seat) = self.seats.get_mut(i) else { continue };
            if seat.until.is_some_and(|until| until.passed(now)) {
                continue;
            }
            let Some(ticket) = seat.ticket.take() else { continue };
            match ticket.answer(Arrival::Conduct(self, i)) {
                Some(Arrival::Conduct(train, _)) => self = train,
                _ => return None,
            }
        }
        Some(self)
    }

    /// Whether the kernel took the last byte of the request of seat `own`.
    pub(super) fn has_sent(&self, own: usize) -> bool {
        let request = self.seats.get(own).map_or(0, |seat| seat.request);
        self.batch.sent_whole(request, self.live.connection.sent())
    }

    /// How many got an answer since this was last asked.
    pub(super) fn newly_arrived(&mut self) -> u64 {
        let new = self.arrived - std::mem::replace(&mut self.counted, self.arrived);
        u64::try_from(new).unwrap_or(u64::MAX)
    }

    /// How long it has been under way.
    pub(super) fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.since)
    }

    /// The connection, with the buffers for its next train.
    pub(super) fn into_live(self) -> Live {
        let mut live = self.live;
        live.scratch = self.batch.into_scratch();
        live
    }
}

/// Why there is no answer.
pub(super) fn failed(e: NetError) -> Arrival {
    Arrival::Reply(Err(PoolError::Net(e)))
}
