//! The wait for a connection, or for what another caller brings, and the moments at which it looks around.

use std::iter;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::lease::Live;
use super::line::{Stop, Use};
use super::node::NodePool;
use super::shared::{Arrival, Rider};
use super::ticket::{Denied, Grant, Ticket, Turn};
use crate::time::{Attempt, Deadline};

impl NodePool {
    /// Waits for a connection of one's own.
    pub(super) fn wait_alone(&self, attempt: Attempt, now: Instant) -> Result<Grant<Live>, Denied> {
        let ticket = Arc::new(Ticket::new(Rider::default()));
        self.wait(Use::Alone, &ticket, attempt, now).into_grant()
    }

    /// Waits with a request in hand, for a connection or for its answer.
    pub(super) fn wait(
        &self,
        how: Use,
        ticket: &Arc<Ticket<Live, Rider, Arrival>>,
        attempt: Attempt,
        now: Instant,
    ) -> Turn<Live, Arrival> {
        match self.line.join(how, ticket) {
            Some(Ok(grant)) => return grant.into(),
            Some(Err(denied)) => return Turn::Denied(denied),
            None => self.stats().waits.one(),
        }
        let patience = match how {
            Use::Alone => None,
            Use::Shared => {
                if let Some(turn) = self.patience.yields(now, || ticket.take()) {
                    return turn;
                }
                // Whoever has less time than that should not spend it all on waiting.
                let left = attempt.call.left(now);
                Some(self.patience.limit().min(left - left / 2))
            }
        };
        let connect = attempt.starting(now).connect;
        let stops = stops(now, patience, connect, attempt.call);
        // In a forked child nobody would ever come; who looks around for a second time should know.
        let mut looks = 0;
        let stops = stops.take_while(|_| {
            looks += 1;
            looks == 1 || self.process.is_current()
        });
        let late = || {
            // Taken along but not yet on the way, it begins now.
            let since = ticket.with_request(|rider| rider.since).unwrap_or_else(Instant::now);
            attempt.starting(since).exchange
        };
        self.line.wait(how, ticket, stops, late)
    }
}

/// The moments at which a waiter looks around: after `patience`, with ever longer pauses, when the time to connect
/// is over, and at the end.
fn stops(
    now: Instant,
    patience: Option<Duration>,
    connect: Deadline,
    end: Deadline,
) -> impl Iterator<Item = (Deadline, Stop)> {
    let mut grow = patience.map(|p| (Deadline::after(now, p), p));
    let mut connect = (connect < end).then_some(connect);
    let mut over = false;
    iter::from_fn(move || {
        if over {
            return None;
        }
        let next_grow = grow.filter(|(at, _)| *at < end);
        Some(match (next_grow, connect) {
            (Some((at, pause)), connect) if connect.is_none_or(|connect| at < connect) => {
                let pause = pause.saturating_mul(2);
                grow = Some((Deadline::after(at.instant(), pause), pause));
                (at, Stop::Grow)
            }
            (_, Some(at)) => {
                connect = None;
                (at, Stop::Connect)
            }
            _ => {
                over = true;
                (end, Stop::End)
            }
        })
    })
}
