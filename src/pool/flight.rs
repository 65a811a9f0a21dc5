//! Batches for several nodes at once, on the caller's thread: each gets its connection, is sent, and is answered, while the others are.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::boarding::Boarding;
use super::error::PoolError;
use super::exchange::turned_away;
use super::lease::Lease;
use super::node::NodePool;
use crate::net::{LOOK, Need, NetError, timespec};
use crate::protocol::{Batch, Reply};
use crate::time::{Attempt, Deadline};

/// A batch on its way to one node and back; dropped before its end it closes the connection, or leaves the line.
#[derive(Debug)]
struct InFlight<'p, 'b> {
    pool: &'p NodePool,
    batch: Batch<'b>,
    stage: Stage<'p>,
    outcome: Outcome,
}

#[derive(Debug)]
enum Stage<'p> {
    /// It has no connection yet.
    Boarding(Boarding<'p>),
    /// It has one, and waits for that.
    UnderWay(Lease<'p>, Need),
    Over,
}

/// What came of a batch.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The replies in the order of the requests; after an error those that are beyond doubt, and of a read of keys
    /// the part that is.
    pub(crate) replies: Vec<Option<Reply>>,
    /// How many requests the kernel took to their last byte: the others were surely not processed.
    pub(crate) sent: usize,
    /// Why it ended early.
    pub(crate) error: Option<PoolError>,
}

impl NodePool {
    /// Starts a batch, without waiting for anything.
    fn begin<'b>(&self, batch: Batch<'b>, attempt: Attempt) -> InFlight<'_, 'b> {
        let stage = Stage::Boarding(self.board(attempt));
        let mut flight = InFlight { pool: self, batch, stage, outcome: Outcome::default() };
        flight.board();
        flight
    }
}

impl<'p> InFlight<'p, '_> {
    fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    /// Looks for its connection, if it has none yet, and sends what can be sent at once.
    fn board(&mut self) {
        let Stage::Boarding(boarding) = &mut self.stage else { return };
        match boarding.look() {
            None => {}
            Some(Err(e)) => self.fail(e),
            Some(Ok(lease)) => self.launch(lease),
        }
    }

    fn launch(&mut self, mut lease: Lease<'p>) {
        let (now, _) = lease.times();
        let started = lease.connection().map_or(Ok(Need::Read), |connection| {
            connection.begin(&self.batch, now);
            connection.launch(&mut self.batch)
        });
        let (need, error) = started.map_or_else(|e| (Need::Nothing, Some(e)), |need| (need, None));
        self.stage = Stage::UnderWay(lease, need);
        if error.is_some() {
            self.end(error, now);
        }
    }

    /// Moves what can be moved without waiting; at the end the connection goes back.
    fn advance(&mut self, now: Instant) {
        let Stage::UnderWay(lease, need) = &mut self.stage else { return };
        let Some(connection) = lease.connection() else { return };
        match connection.advance(&mut self.batch) {
            Ok(Need::Nothing) => self.end(None, now),
            Ok(next) => *need = next,
            Err(e) => self.end(Some(e), now),
        }
    }

    /// Ends it if its time was over at `late`.
    fn time_out(&mut self, late: Instant, now: Instant) {
        let Stage::UnderWay(lease, _) = &mut self.stage else { return };
        let (_, until) = lease.times();
        if let Some(connection) = lease.connection().filter(|_| until.passed(late)) {
            let e = connection.timed_out(&self.batch, until);
            self.end(Some(e), now);
        }
    }

    /// Takes the replies and gives the connection back, or closes it.
    fn end(&mut self, error: Option<NetError>, now: Instant) {
        let Stage::UnderWay(mut lease, _) = std::mem::replace(&mut self.stage, Stage::Over) else {
            return;
        };
        let (proven, generation) = lease.history();
        if let Some(connection) = lease.connection() {
            let requests = 0..self.batch.len();
            let sent = connection.sent();
            self.outcome.sent =
                requests.clone().take_while(|i| self.batch.sent_whole(*i, sent)).count();
            self.outcome.replies = requests.map(|i| connection.take(i)).collect();
            let part = error.as_ref().and_then(|_| connection.take_part(&self.batch));
            if let Some((i, reply)) = part {
                self.outcome.replies.get_mut(i).map(|slot| slot.replace(reply));
            }
        }
        let Some(e) = error else {
            lease.finish(now);
            match turned_away(self.outcome.replies.first().and_then(Option::as_ref)) {
                None => self.pool.exchange_done(1),
                Some(e) => {
                    self.pool.dial_failed(&e);
                    self.outcome = Outcome::default();
                    self.fail(PoolError::Net(e));
                }
            }
            return;
        };
        let change = self.pool.judge(proven, generation, &e);
        drop(lease);
        self.pool.exchange_failed(change, &e);
        self.fail(PoolError::Net(e));
    }

    fn fail(&mut self, e: PoolError) {
        self.stage = Stage::Over;
        self.outcome.error = Some(e);
    }
}

/// Batches under way, each with what it is for.
#[derive(Debug)]
pub(crate) struct Fleet<'p, 'b, T> {
    purposes: Vec<T>,
    flights: Vec<InFlight<'p, 'b>>,
}

impl<'p, 'b, T> Fleet<'p, 'b, T> {
    pub(crate) fn new() -> Self {
        Self { purposes: Vec::new(), flights: Vec::new() }
    }

    /// Starts a batch at a node, without waiting for anything.
    pub(crate) fn begin(
        &mut self,
        pool: &'p NodePool,
        batch: Batch<'b>,
        attempt: Attempt,
        purpose: T,
    ) {
        self.purposes.push(purpose);
        self.flights.push(pool.begin(batch, attempt));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.flights.is_empty()
    }

    /// What those under way are for.
    pub(crate) fn purposes(&self) -> &[T] {
        &self.purposes
    }

    /// Moves all batches until one is over, or until `wake`, and gives out what came of those that are; none waits for another.
    pub(crate) fn drive(&mut self, wake: Option<Instant>) -> Vec<(T, Outcome)> {
        while !self.is_empty() && !self.flights.iter().any(InFlight::is_over) {
            let began = Instant::now();
            if wake.is_some_and(|wake| wake <= began) {
                break;
            }
            let ready = wait_for_any(&mut self.flights, began, wake);
            let now = Instant::now();
            for i in ready {
                if let Some(flight) = self.flights.get_mut(i) {
                    flight.advance(now);
                }
            }
            for flight in &mut self.flights {
                flight.board();
                // What has come by its deadline still counts, once; a reply may have no end.
                flight.time_out(began, now);
            }
        }
        let mut over = Vec::new();
        for i in (0..self.flights.len()).rev() {
            if self.flights.get(i).is_some_and(InFlight::is_over) {
                let flight = self.flights.swap_remove(i);
                over.push((self.purposes.swap_remove(i), flight.outcome));
            }
        }
        over
    }
}

/// Waits until some batch can move or has to be looked at, and says which have sockets that are ready.
fn wait_for_any(
    flights: &mut [InFlight<'_, '_>],
    now: Instant,
    wake: Option<Instant>,
) -> Vec<usize> {
    if let ([InFlight { stage: Stage::Boarding(alone), .. }], None) = (&mut *flights, wake) {
        alone.wait();
        return Vec::new();
    }
    let mut which = Vec::with_capacity(flights.len());
    let mut fds = Vec::with_capacity(flights.len());
    let mut until = match wake {
        Some(wake) => Deadline::after(now, wake.saturating_duration_since(now)),
        None => Deadline::after(now, Duration::MAX),
    };
    for (i, flight) in flights.iter_mut().enumerate() {
        match &mut flight.stage {
            Stage::Over => {}
            Stage::Boarding(boarding) => {
                until = until.min(boarding.due());
                match boarding.socket() {
                    Some(socket) => {
                        which.push(i);
                        fds.push(PollFd::from_borrowed_fd(socket, PollFlags::OUT));
                    }
                    None => until = until.min(Deadline::after(now, LOOK)),
                }
            }
            Stage::UnderWay(lease, need) => {
                let flags = match need {
                    Need::ReadWrite => PollFlags::IN | PollFlags::OUT,
                    _ => PollFlags::IN,
                };
                until = until.min(lease.times().1);
                if let Some(connection) = lease.connection() {
                    which.push(i);
                    fds.push(PollFd::new(connection, flags));
                }
            }
        }
    }
    match poll(&mut fds, Some(&timespec(until.left(Instant::now())))) {
        // A signal only ends the wait early.
        Ok(_) | Err(Errno::INTR) => {
            let ready = fds.iter().zip(which).filter(|(fd, _)| !fd.revents().is_empty());
            ready.map(|(_, i)| i).collect()
        }
        // Where the system cannot wait, each socket is asked.
        Err(_) => {
            std::thread::yield_now();
            which
        }
    }
}
