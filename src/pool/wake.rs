//! The bell of the maintenance thread.

use crossbeam_channel::{Receiver, Sender, bounded};

/// Wakes the maintenance thread before its time; the thread ends when the last of these is gone.
#[derive(Debug, Clone)]
pub(crate) struct Wake(Sender<()>);

impl Wake {
    /// The way to wake the thread, and what the thread waits on.
    pub(super) fn channel() -> (Self, Receiver<()>) {
        let (wake, wakes) = bounded(1);
        (Self(wake), wakes)
    }

    pub(crate) fn up(&self) {
        // A full channel means that it is about to wake anyway.
        let _ = self.0.try_send(());
    }
}
