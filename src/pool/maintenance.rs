//! The maintenance thread of a client: tends every node at an interval and probes those that are down.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::flight::Fleet;
use super::node::NodePool;
use super::wake::Wake;

/// Waits this long at most when no pass and no probe is due.
const FAR: Duration = Duration::from_secs(3600);

/// The thread to be, before the nodes are known.
#[derive(Debug)]
pub(crate) struct Maintenance {
    wakes: Receiver<()>,
}

impl Maintenance {
    pub(crate) fn new() -> (Self, Wake) {
        let (wake, wakes) = Wake::channel();
        (Self { wakes }, wake)
    }

    /// Starts the thread. It holds no node between passes, so that dropping a client ends it.
    ///
    /// # Errors
    /// The system has no thread to give.
    pub(crate) fn start(
        self,
        nodes: Vec<Weak<NodePool>>,
        interval: Duration,
    ) -> std::io::Result<()> {
        std::thread::Builder::new()
            .name("mcpool-maintenance".to_owned())
            .spawn(move || self.run(&nodes, interval))
            .map(drop)
    }

    fn run(&self, nodes: &[Weak<NodePool>], interval: Duration) {
        for_each(nodes, |node| {
            node.open_up_to(node.config.initial_connections);
        });
        let mut next_pass = Instant::now();
        loop {
            let now = Instant::now();
            if now >= next_pass {
                for_each(nodes, |node| node.tend(now));
                next_pass = now.checked_add(interval).unwrap_or(now + FAR);
            }
            let _ = catch_unwind(AssertUnwindSafe(|| probe(nodes, next_pass)));
            // Apart from the probes, so that one that panics has its next in time.
            let mut due = next_pass.min(now + FAR);
            let mut open = false;
            for_each(nodes, |node| {
                open |= !node.is_closed();
                due = node.next_probe().map_or(due, |at| due.min(at));
            });
            if !open || self.wakes.recv_deadline(due) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
        }
    }
}

/// Probes nodes as they are due for it, until `end` or until nothing is under way: one that hangs keeps no other waiting.
fn probe(nodes: &[Weak<NodePool>], end: Instant) {
    let nodes: Vec<_> = nodes.iter().filter_map(Weak::upgrade).collect();
    let mut probes = Fleet::new();
    // Whoever dropped the client wants the connections closed.
    let is_wanted = || nodes.iter().all(|node| !node.is_closed() && Arc::strong_count(node) > 1);
    while is_wanted() && Instant::now() < end {
        let mut wake = end;
        for (i, node) in nodes.iter().enumerate() {
            if probes.purposes().contains(&i) {
                continue;
            }
            let now = Instant::now();
            match node.next_probe() {
                Some(due) if due <= now => node.begin_probe(now, &mut probes, i),
                Some(due) => wake = wake.min(due),
                None => {}
            }
        }
        if probes.is_empty() {
            return;
        }
        for (i, outcome) in probes.drive(Some(wake)) {
            if let Some(node) = nodes.get(i) {
                node.end_probe(&outcome);
            }
        }
    }
}

/// Runs `work` on each node that still exists; a panic in it, say in the program's logger, is not the end.
fn for_each(nodes: &[Weak<NodePool>], mut work: impl FnMut(&NodePool)) {
    for node in nodes.iter().filter_map(Weak::upgrade).filter(|node| !node.is_closed()) {
        if catch_unwind(AssertUnwindSafe(|| work(&node))).is_err() {
            // The logger may be what panicked.
            let _ = catch_unwind(AssertUnwindSafe(|| {
                log::error!("{}: maintenance panicked and goes on", node.name());
            }));
        }
    }
}
