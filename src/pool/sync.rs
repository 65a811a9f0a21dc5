//! The two primitives that the pool's state machine stands on, so that a model checker can take their place.

//!
//! They are std's and not parking_lot's, whose table of waiting threads a forked child inherits as it was: there
//! the stack of a new thread may lie where the table still has a parent's thread, and wake-ups get lost.

#[cfg(all(test, mcpool_loom))]
pub(super) use model::{Mutex, Slot};
#[cfg(not(all(test, mcpool_loom)))]
pub(super) use real::{Mutex, Slot};

#[cfg(not(all(test, mcpool_loom)))]
mod real {
    use std::sync::{Condvar, Mutex as Inner, MutexGuard, PoisonError};
    use std::time::Instant;

    use crate::time::Deadline;

    /// A lock that a panic does not poison.
    #[derive(Debug)]
    pub(in crate::pool) struct Mutex<T>(Inner<T>);

    impl<T> Mutex<T> {
        pub(in crate::pool) fn new(content: T) -> Self {
            Self(Inner::new(content))
        }

        pub(in crate::pool) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    /// A place for one thing that another thread brings.
    #[derive(Debug)]
    pub(in crate::pool) struct Slot<T> {
        content: Mutex<Option<T>>,
        filled: Condvar,
    }

    impl<T> Slot<T> {
        pub(in crate::pool) fn new() -> Self {
            Self { content: Mutex::new(None), filled: Condvar::new() }
        }

        /// Brings it.
        pub(in crate::pool) fn fill(&self, content: T) {
            *self.content.lock() = Some(content);
            self.filled.notify_one();
        }

        /// Waits for it until `deadline`.
        pub(in crate::pool) fn take_by(&self, deadline: Deadline) -> Option<T> {
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

        /// Takes it if it is there.
        pub(in crate::pool) fn take(&self) -> Option<T> {
            self.content.lock().take()
        }
    }
}

#[cfg(all(test, mcpool_loom))]
mod model {
    use std::sync::PoisonError;
    use std::time::Instant;

    use loom::sync::{Condvar, Mutex as Inner, MutexGuard};

    use crate::time::Deadline;

    #[derive(Debug)]
    pub(in crate::pool) struct Mutex<T>(Inner<T>);

    impl<T> Mutex<T> {
        pub(in crate::pool) fn new(content: T) -> Self {
            Self(Inner::new(content))
        }

        pub(in crate::pool) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    #[derive(Debug)]
    pub(in crate::pool) struct Slot<T> {
        content: Mutex<Option<T>>,
        filled: Condvar,
    }

    impl<T> Slot<T> {
        pub(in crate::pool) fn new() -> Self {
            Self { content: Mutex::new(None), filled: Condvar::new() }
        }

        pub(in crate::pool) fn fill(&self, content: T) {
            *self.content.lock() = Some(content);
            self.filled.notify_one();
        }

        /// Time does not pass in a model: a deadline in the past stands for a time-out at any moment
        /// that the scheduler likes, any other for one that never comes.
        pub(in crate::pool) fn take_by(&self, deadline: Deadline) -> Option<T> {
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

        pub(in crate::pool) fn take(&self) -> Option<T> {
            self.content.lock().take()
        }
    }
}
