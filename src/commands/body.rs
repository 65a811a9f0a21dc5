//! This thread's buffer for a value's bytes, on their way out or in, lent for one call.

use std::cell::Cell;

/// The bytes, empty at first; they are kept for the next call when this is dropped.
pub(super) struct Body(pub(super) Vec<u8>);

thread_local! {
    static BODY: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A buffer that grew beyond this is not kept.
const KEPT: usize = 64 * 1024;

impl Body {
    pub(super) fn take() -> Self {
        // It is gone already when a destructor of another thread-local makes a call.
        let mut bytes = BODY.try_with(Cell::take).unwrap_or_default();
        bytes.clear();
        Self(bytes)
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        if self.0.capacity() <= KEPT {
            _ = BODY.try_with(|body| body.set(std::mem::take(&mut self.0)));
        }
    }
}
