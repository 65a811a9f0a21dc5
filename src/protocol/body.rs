//! A value while its bytes arrive.

use super::Value;

/// Values with at least this many bytes to come are worth a read of their own.
const DIRECT: usize = 4 << 10;
/// The most memory that a declared length alone makes us reserve.
const AHEAD: usize = 1 << 20;
/// Room behind a value for the end of its reply, so that one read brings both.
const TAIL: usize = 64;

/// A value of known length, of which some bytes are here.
#[derive(Debug)]
pub(super) struct Body {
    value: Value,
    declared: usize,
}

impl Body {
    /// A value without bytes yet; its buffer is used, and grows as bytes arrive.
    pub(super) fn new(mut value: Value, declared: usize) -> Self {
        let room = if declared < DIRECT { declared } else { declared.saturating_add(TAIL) };
        if value.bytes.capacity() == 0 {
            value.bytes = Vec::with_capacity(room.min(AHEAD));
        } else {
            value.bytes.reserve(room.min(AHEAD));
        }
        Self { value, declared }
    }

    /// The number of bytes to come.
    fn missing(&self) -> usize {
        self.declared.saturating_sub(self.value.bytes.len())
    }

    /// Takes what belongs to the value from the start of the input and returns the rest.
    pub(super) fn fill<'i>(&mut self, input: &'i [u8]) -> &'i [u8] {
        let (mine, rest) = input.split_at_checked(self.missing()).unwrap_or((input, &[]));
        self.value.bytes.extend_from_slice(mine);
        rest
    }

    pub(super) fn is_whole(&self) -> bool {
        self.missing() == 0
    }

    pub(super) fn declared(&self) -> usize {
        self.declared
    }

    pub(super) fn into_value(self) -> Value {
        self.value
    }

    /// Where bytes can be read to directly, if enough are to come. More may be read than belong to the value.
    pub(super) fn direct(&mut self) -> Option<&mut Vec<u8>> {
        let missing = self.missing();
        if missing < DIRECT {
            return None;
        }
        let bytes = &mut self.value.bytes;
        if bytes.capacity() - bytes.len() < DIRECT {
            bytes.reserve_exact(missing.saturating_add(TAIL).min(bytes.len().max(AHEAD)));
        }
        Some(bytes)
    }

    /// Moves the bytes behind the value, which a direct read brought, to `spill`.
    pub(super) fn settle(&mut self, spill: &mut Vec<u8>) {
        if let Some(behind) = self.value.bytes.get(self.declared..) {
            spill.extend_from_slice(behind);
            self.value.bytes.truncate(self.declared);
        }
    }
}
