//! The bytes received and not yet understood.

/// Larger than the longest line that the decoder accepts, so that a full buffer always moves it on.
const SIZE: usize = 16 * 1024;

/// A buffer of fixed size, allocated at the first read.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
}

impl Buffer {
    /// What is waiting to be understood.
    pub(crate) fn unread(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    pub(crate) fn consume(&mut self, n: usize) {
        self.start = (self.start + n).min(self.bytes.len());
    }

    /// The vector to receive into, with room in its spare capacity.
    pub(crate) fn room(&mut self) -> &mut Vec<u8> {
        if self.start > 0 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        if self.bytes.capacity() == 0 {
            self.bytes.reserve_exact(SIZE);
        }
        &mut self.bytes
    }

    /// Whether another read could not add anything.
    pub(crate) fn is_full(&self) -> bool {
        self.unread().len() >= SIZE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consumed_bytes_make_room_and_the_rest_stays_in_order() {
        let mut buffer = Buffer::default();
        assert_eq!(buffer.unread(), b"");
        buffer.room().extend_from_slice(b"END\r\nVAL");
        buffer.consume(5);
        assert_eq!(buffer.unread(), b"VAL");
        buffer.room().extend_from_slice(b"UE");
        assert_eq!(buffer.unread(), b"VALUE");
        assert!(!buffer.is_full());
        buffer.consume(99);
        assert_eq!(buffer.unread(), b"");
    }
}
