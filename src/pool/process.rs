//! Which process a pool belongs to: a forked child must not use its parent's sockets.

use rustix::process::{Pid, getpid};

/// The process that made something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process(Pid);

impl Process {
    pub(crate) fn current() -> Self {
        Self(getpid())
    }

    /// Whether this is still that process and not a child of it; one system call.
    pub(crate) fn is_current(self) -> bool {
        self == Self::current()
    }
}
