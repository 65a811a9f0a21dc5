//! The maintenance thread of a client: tends every node at an interval and probes those that are down.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Weak;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};

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
            for_each(nodes, |node| {
                if node.next_probe().is_some_and(|at| at <= Instant::now()) {
                    node.probe(Instant::now());
                }
            });
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
