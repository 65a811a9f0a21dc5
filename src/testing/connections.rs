//! The open connections and their threads: counted, closed from outside, joined.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::endpoint::Stream;
use super::lock;

/// What a thread panicked with.
pub(super) type Panic = Box<dyn Any + Send>;

#[derive(Debug, Default)]
pub(super) struct Connections {
    table: Mutex<Table>,
    closed: Condvar,
}

#[derive(Debug, Default)]
struct Table {
    accepted: u64,
    /// The sockets of each, to end them from outside.
    open: BTreeMap<u64, Vec<Stream>>,
    threads: Vec<JoinHandle<()>>,
    panic: Option<Panic>,
    /// How often pauses were cut short.
    hurries: u64,
}

impl Connections {
    /// Takes a connection in, which may be made up of several sockets, and numbers it.
    pub(super) fn admit(&self, sockets: Vec<Stream>) -> u64 {
        let mut table = lock(&self.table);
        table.accepted += 1;
        let id = table.accepted;
        table.open.insert(id, sockets);
        id
    }

    /// Keeps a connection's thread for [`join`](Self::join); threads that have ended are let go.
    pub(super) fn keep(&self, thread: JoinHandle<()>) {
        let mut table = lock(&self.table);
        let (ended, running) =
            std::mem::take(&mut table.threads).into_iter().partition(JoinHandle::is_finished);
        table.threads = running;
        table.threads.push(thread);
        drop(table);
        self.join_all(ended);
    }

    pub(super) fn remove(&self, id: u64) {
        lock(&self.table).open.remove(&id);
        self.closed.notify_all();
    }

    pub(super) fn count(&self) -> usize {
        lock(&self.table).open.len()
    }

    pub(super) fn accepted(&self) -> u64 {
        lock(&self.table).accepted
    }

    /// Ends every connection; their threads notice it at once.
    pub(super) fn close_all(&self) {
        let open = std::mem::take(&mut lock(&self.table).open);
        open.values().flatten().for_each(Stream::shutdown);
        self.closed.notify_all();
    }

    /// Waits for the threads of closed connections. A panic of one is kept for [`pass_on`](Self::pass_on).
    pub(super) fn join(&self) {
        let threads = std::mem::take(&mut lock(&self.table).threads);
        self.join_all(threads);
    }

    pub(super) fn record(&self, panic: Panic) {
        lock(&self.table).panic.get_or_insert(panic);
    }

    /// Panics as the first thread did that panicked, unless the calling one is panicking already.
    pub(super) fn pass_on(&self) {
        let panic = lock(&self.table).panic.take();
        if let Some(panic) = panic.filter(|_| !thread::panicking()) {
            panic::resume_unwind(panic);
        }
    }

    /// Ends the pauses of all who took note of [`hurries`](Self::hurries) before.
    pub(super) fn hurry(&self) {
        lock(&self.table).hurries += 1;
        self.closed.notify_all();
    }

    pub(super) fn hurries(&self) -> u64 {
        lock(&self.table).hurries
    }

    /// Pauses a connection's thread, no longer than until the next hurry after those it has seen; false when the
    /// connection was closed meanwhile.
    pub(super) fn pause(&self, id: u64, pause: Duration, seen: u64) -> bool {
        let start = Instant::now();
        let mut table = lock(&self.table);
        while table.open.contains_key(&id) {
            let left = pause.saturating_sub(start.elapsed());
            if left.is_zero() || table.hurries != seen {
                return true;
            }
            table = self.closed.wait_timeout(table, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        false
    }

    /// Not under the lock: a thread takes it on its way out.
    fn join_all(&self, threads: Vec<JoinHandle<()>>) {
        for thread in threads {
            if let Err(panic) = thread.join() {
                self.record(panic);
            }
        }
    }
}
