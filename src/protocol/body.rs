//! The bytes of a value while they arrive.

/// Values with at least this many bytes to come are worth a read of their own.
const DIRECT: usize = 4 << 10;
/// The most memory that a declared length alone makes us reserve.
const AHEAD: usize = 1 << 20;
/// Room behind a value for the end of its reply, so that one read brings both.
const TAIL: usize = 64;

/// The bytes of a value of known length, of which some are here.
#[derive(Debug)]
pub(super) struct Body<'v> {
    pub(super) bytes: &'v mut Vec<u8>,
    pub(super) declared: usize,
}

impl<'v> Body<'v> {
    /// Makes room in a buffer without bytes yet; it grows as they arrive.
    pub(super) fn make_room(&mut self) {
        let behind = if self.declared < DIRECT { 0 } else { TAIL };
        let room = self.declared.saturating_add(behind).min(AHEAD);
        if self.bytes.capacity() == 0 {
            *self.bytes = Vec::with_capacity(room);
        } else {
            self.bytes.reserve(room);
        }
    }

    /// The number of bytes to come.
    fn missing(&self) -> usize {
        self.declared.saturating_sub(self.bytes.len())
    }

    /// Takes what belongs to the value from the start of the input and returns the rest.
    pub(super) fn fill<'i>(&mut self, input: &'i [u8]) -> &'i [u8] {
        let (mine, rest) = input.split_at_checked(self.missing()).unwrap_or((input, &[]));
        self.bytes.extend_from_slice(mine);
        rest
    }

    pub(super) fn is_whole(&self) -> bool {
        self.missing() == 0
    }

    /// Where bytes can be read to directly, if enough are to come. More may be read than belong to the value.
    pub(super) fn direct(self) -> Option<&'v mut Vec<u8>> {
        let missing = self.missing();
        if missing < DIRECT {
            return None;
        }
        if self.bytes.capacity() - self.bytes.len() < DIRECT {
            self.bytes.reserve_exact(missing.saturating_add(TAIL).min(self.bytes.len().max(AHEAD)));
        }
        Some(self.bytes)
    }

    /// Moves the bytes behind the value, which a direct read brought, to `spill`.
    pub(super) fn settle(self, spill: &mut Vec<u8>) {
        if let Some(behind) = self.bytes.get(self.declared..) {
            spill.extend_from_slice(behind);
            self.bytes.truncate(self.declared);
        }
    }
}
