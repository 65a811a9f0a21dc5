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
        let mut bytes = BODY.take();
        bytes.clear();
        Self(bytes)
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        if self.0.capacity() <= KEPT {
            BODY.set(std::mem::take(&mut self.0));
        }
    }
}
