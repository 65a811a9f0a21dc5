//! The program's ear for failed calls; it is not told of those that it makes itself while it listens.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use crate::error::Error;

/// A function of the program.
#[derive(Clone)]
pub(crate) struct Observer(Arc<dyn Fn(&Error) + Send + Sync>);

thread_local! {
    /// Whether an observer runs on this thread.
    static LISTENING: Cell<bool> = const { Cell::new(false) };
}

/// Ends the listening, also when the observer panics.
struct Listening;

impl Drop for Listening {
    fn drop(&mut self) {
        LISTENING.set(false);
    }
}

impl Observer {
    pub(super) fn new(observer: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        Self(Arc::new(observer))
    }

    /// Tells it of a failed call, unless that is its own: an observer that counts failures in the cache would else
    /// never come to an end during an outage.
    pub(super) fn tell(&self, error: &Error) {
        if LISTENING.replace(true) {
            return;
        }
        let _listening = Listening;
        (self.0)(error);
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}
