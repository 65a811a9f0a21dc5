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

/// What is behind a lock, while it is held.
pub(super) type Guard<'a, T> = MutexGuard<'a, T>;

/// A place for one thing that another thread brings.
#[derive(Debug)]
pub(super) struct Slot<T> {
    place: Mutex<Place<T>>,
    filled: Condvar,
}

#[derive(Debug)]
struct Place<T> {
    content: Option<T>,
    /// Who waits sleeps, and has to be woken.
    asleep: bool,
    abandoned: bool,
}

impl<T> Mutex<T> {
    pub(super) fn new(content: T) -> Self {
        Self(Inner::new(content))
    }

    pub(super) fn lock(&self) -> Guard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Slot<T> {
    pub(super) fn new() -> Self {
        let place = Place { content: None, asleep: false, abandoned: false };
        Self { place: Mutex::new(place), filled: Condvar::new() }
    }

    /// Brings it; it comes back when the place was abandoned. A sleeper goes on only after [`Self::wake`].
    pub(super) fn fill(&self, content: T) -> Option<T> {
        let mut place = self.place.lock();
        if place.abandoned {
            return Some(content);
        }
        place.content = Some(content);
        None
    }

    /// Wakes who sleeps here; without a sleeper no system call.
    pub(super) fn wake(&self) {
        let asleep = std::mem::take(&mut self.place.lock().asleep);
        if asleep {
            self.filled.notify_one();
        }
    }

    /// Waits for it until `deadline`.
    #[cfg(not(all(test, mcpool_loom)))]
    pub(super) fn take_by(&self, deadline: Deadline) -> Option<T> {
        let mut place = self.place.lock();
        while place.content.is_none() {
            let left = deadline.left(Instant::now());
            if left.is_zero() {
                break;
            }
            place.asleep = true;
            let woken = self.filled.wait_timeout(place, left);
            place = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        place.asleep = false;
        place.content.take()
    }

    /// Time does not pass in a model: a deadline in the past stands for a time-out at any moment that the
    /// scheduler likes, any other for one that never comes.
    #[cfg(all(test, mcpool_loom))]
    pub(super) fn take_by(&self, deadline: Deadline) -> Option<T> {
        if deadline.passed(Instant::now()) {
            loom::thread::yield_now();
            return self.take();
        }
        let mut place = self.place.lock();
        while place.content.is_none() {
            place.asleep = true;
            place = self.filled.wait(place).unwrap_or_else(PoisonError::into_inner);
        }
        place.asleep = false;
        place.content.take()
    }

    /// Takes it if it is there.
    pub(super) fn take(&self) -> Option<T> {
        self.place.lock().content.take()
    }

    /// Takes it if it is there; what comes later comes back to who brings it.
    pub(super) fn abandon(&self) -> Option<T> {
        let mut place = self.place.lock();
        place.abandoned = true;
        place.content.take()
    }
}
