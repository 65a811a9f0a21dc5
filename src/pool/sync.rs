//! The two primitives that the pool's state machine stands on, over std or, in a model, over loom.
//!
//! They are std's and not parking_lot's, whose table of waiting threads a forked child inherits as it was: there
//! the stack of a new thread may lie where the table still has a parent's thread, and wake-ups get lost.

use std::sync::PoisonError;
use std::time::Instant;

#[cfg(all(test, mcpool_loom))]
use loom::sync::{Condvar, Mutex as Inner, MutexGuard};
#[cfg(not(all(test, mcpool_loom)))]
use std::sync::{Condvar, Mutex as Inner, MutexGuard};

use crate::time::Deadline;

/// A lock that a panic does not poison.
#[derive(Debug)]
pub(super) struct Mutex<T>(Inner<T>);

/// A place for one thing that another thread brings.
#[derive(Debug)]
pub(super) struct Slot<T> {
    content: Mutex<Option<T>>,
    filled: Condvar,
}

impl<T> Mutex<T> {
    pub(super) fn new(content: T) -> Self {
        Self(Inner::new(content))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Slot<T> {
    pub(super) fn new() -> Self {
        Self { content: Mutex::new(None), filled: Condvar::new() }
    }

    /// Brings it.
    pub(super) fn fill(&self, content: T) {
        *self.content.lock() = Some(content);
        self.filled.notify_one();
    }

    /// Waits for it until `deadline`.
    #[cfg(not(all(test, mcpool_loom)))]
    pub(super) fn take_by(&self, deadline: Deadline) -> Option<T> {
        let mut content = self.content.lock();
        while content.is_none() {
            let left = deadline.left(Instant::now());
            if left.is_zero() {
                break;
            }
            let woken = self.filled.wait_timeout(content, left);
            content = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        content.take()
    }

    /// Time does not pass in a model: a deadline in the past stands for a time-out at any moment that the
    /// scheduler likes, any other for one that never comes.
    #[cfg(all(test, mcpool_loom))]
    pub(super) fn take_by(&self, deadline: Deadline) -> Option<T> {
        if deadline.passed(Instant::now()) {
            loom::thread::yield_now();
            return self.take();
        }
        let mut content = self.content.lock();
        while content.is_none() {
            content = self.filled.wait(content).unwrap_or_else(PoisonError::into_inner);
        }
        content.take()
    }

    /// Takes it if it is there.
    pub(super) fn take(&self) -> Option<T> {
        self.content.lock().take()
    }
}
