//! What a test server's events tell: who came, who went, what was asked.

use mcpool::testing::Event;

/// How many connections came.
pub(crate) fn connected(events: &[Event]) -> usize {
    events.iter().filter(|e| matches!(e, Event::Connected { .. })).count()
}

/// How many connections have ended.
pub(crate) fn closed(events: &[Event]) -> usize {
    events.iter().filter(|e| matches!(e, Event::Closed { .. })).count()
}

/// How many commands came that begin with this word.
pub(crate) fn asked(events: &[Event], verb: &str) -> usize {
    let is_asked = |e: &&Event| matches!(e, Event::Command { line, .. } if line.split(' ').next() == Some(verb));
    events.iter().filter(is_asked).count()
}
