//! Callers for the tests of the line: one that wants a connection alone, one that shares.

use std::sync::Arc;

use super::{Denied, Grant, Line, Stop, Ticket, Turn, Use};
use crate::time::Deadline;

/// Connections, requests and answers are numbers.
pub(super) type TestLine = Line<u32, u8, u8>;

/// Waits for a connection of its own.
pub(super) fn acquire(
    line: &TestLine,
    connect: Deadline,
    deadline: Deadline,
) -> Result<Grant<u32>, Denied> {
    let ticket = Arc::new(Ticket::new(0));
    if let Some(outcome) = line.join(Use::Alone, &ticket) {
        return outcome;
    }
    let stops = [(connect.min(deadline), Stop::Connect), (deadline, Stop::End)];
    match line.wait(Use::Alone, &ticket, stops, || deadline) {
        Turn::Connection(connection) => Ok(Grant::Connection(connection)),
        Turn::Dial => Ok(Grant::Dial),
        Turn::Denied(denied) => Err(denied),
        Turn::Answer(answer) => panic!("it gave no request out of hand, and got {answer}"),
    }
}

/// Waits with a request in hand; after `patience` it asks for one more connection.
pub(super) fn share(
    line: &TestLine,
    request: u8,
    patience: Option<Deadline>,
    deadline: Deadline,
) -> Turn<u32, u8> {
    let ticket = Arc::new(Ticket::new(request));
    match line.join(Use::Shared, &ticket) {
        Some(Ok(grant)) => return grant.into(),
        Some(Err(denied)) => return Turn::Denied(denied),
        None => {}
    }
    let grow = patience.map(|patience| (patience, Stop::Grow));
    let stops = grow.into_iter().chain([(deadline, Stop::End)]);
    line.wait(Use::Shared, &ticket, stops, || deadline)
}
