//! The log of what happened to a server, and waiting for something to appear in it.

use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use super::lock;

/// Something that happened to a [`TestServer`](super::TestServer), in the order in which it happened.
///
/// Connections are numbered from 1 in the order of their arrival.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A connection was accepted.
    Connected {
        /// Its number.
        connection: u64,
    },
    /// A command line was read; for a store its value may still be on the way.
    Command {
        /// The connection it came over.
        connection: u64,
        /// The line without its end; bytes that are not UTF-8 are replaced.
        line: String,
    },
    /// A line was read that is no command known here; it is answered with `ERROR`. A line that does not end, or a
    /// request in the binary dialect, ends the connection instead; its beginning is told here.
    Unknown {
        /// The connection it came over.
        connection: u64,
        /// The line without its end; bytes that are not UTF-8 are replaced.
        line: String,
    },
    /// A connection ended, whoever ended it.
    Closed {
        /// Its number.
        connection: u64,
    },
}

#[derive(Debug)]
pub(super) struct Events {
    log: Mutex<Vec<Event>>,
    grown: Condvar,
    record_commands: bool,
}

impl Events {
    pub(super) fn new(record_commands: bool) -> Self {
        Self { log: Mutex::default(), grown: Condvar::new(), record_commands }
    }

    pub(super) fn command(&self, connection: u64, line: &[u8]) {
        if self.record_commands {
            self.push(Event::Command { connection, line: lossy(line) });
        }
    }

    pub(super) fn unknown(&self, connection: u64, line: &[u8]) {
        self.push(Event::Unknown { connection, line: lossy(line) });
    }

    pub(super) fn push(&self, event: Event) {
        lock(&self.log).push(event);
        self.grown.notify_all();
    }

    pub(super) fn all(&self) -> Vec<Event> {
        lock(&self.log).clone()
    }

    pub(super) fn clear(&self) {
        lock(&self.log).clear();
    }

    pub(super) fn wait_for(&self, seen: impl Fn(&[Event]) -> bool, timeout: Duration) -> bool {
        let start = Instant::now();
        let mut log = lock(&self.log);
        loop {
            if seen(&log) {
                return true;
            }
            let left = timeout.saturating_sub(start.elapsed());
            if left.is_zero() {
                return false;
            }
            log = self
                .grown
                .wait_timeout(log, left)
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .0;
        }
    }
}

fn lossy(line: &[u8]) -> String {
    String::from_utf8_lossy(line).into_owned()
}
