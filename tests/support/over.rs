//! Tells a test's threads that it is over, also when it fails.

use std::sync::atomic::{AtomicBool, Ordering};

/// Sets its flag when dropped, so that a failed assertion does not leave threads running for ever.
pub(crate) struct Over<'a>(pub(crate) &'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
