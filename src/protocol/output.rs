//! Bytes on their way out: small pieces copied into one buffer, large values borrowed in between.

use std::io::IoSlice;

/// Values up to this many bytes are copied: that costs little, and then they can travel with those of other callers.
const COPY_UP_TO: usize = 12 << 10;

/// An ordered stream of bytes to send. Positions in it count copied and borrowed bytes alike.
#[derive(Debug, Default)]
pub(super) struct Output<'a> {
    wire: Vec<u8>,
    borrowed: Vec<Borrowed<'a>>,
    len: usize,
}

/// A large value and its place.
#[derive(Debug)]
pub(super) struct Borrowed<'a> {
    /// It goes out before this byte of the wire buffer.
    wire_at: usize,
    /// The position of its first byte in the whole stream.
    position: usize,
    bytes: &'a [u8],
}

impl<'a> Output<'a> {
    /// An output over emptied buffers.
    pub(super) fn reusing(wire: Vec<u8>, borrowed: Vec<Borrowed<'_>>) -> Self {
        Self { wire, borrowed: emptied(borrowed), len: 0 }
    }

    /// The buffers, emptied, for another output.
    pub(super) fn into_buffers(mut self) -> (Vec<u8>, Vec<Borrowed<'static>>) {
        self.wire.clear();
        (self.wire, emptied(self.borrowed))
    }

    pub(super) fn borrows_nothing(&self) -> bool {
        self.borrowed.is_empty()
    }

    /// Takes everything out; `None` when a value is borrowed.
    pub(super) fn take_copied(&mut self) -> Option<Output<'static>> {
        if !self.borrows_nothing() {
            return None;
        }
        let Self { wire, borrowed, len } = std::mem::take(self);
        Some(Output { wire, borrowed: emptied(borrowed), len })
    }

    /// Makes room for so many bytes to copy.
    pub(super) fn reserve(&mut self, bytes: usize) {
        self.wire.reserve(bytes);
    }

    /// Adds a copy of the bytes.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.wire.extend_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Adds a number in decimal.
    pub(super) fn put_number(&mut self, number: impl itoa::Integer) {
        self.put(itoa::Buffer::new().format(number).as_bytes());
    }

    /// Adds a value, copied or borrowed.
    pub(super) fn put_value(&mut self, bytes: &'a [u8]) {
        if bytes.len() <= COPY_UP_TO {
            return self.put(bytes);
        }
        let value = Borrowed { wire_at: self.wire.len(), position: self.len, bytes };
        self.borrowed.push(value);
        self.len += bytes.len();
    }

    /// All bytes, copied and borrowed.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The copied bytes, without the borrowed ones in between.
    pub(super) fn wire(&self) -> &[u8] {
        &self.wire
    }

    /// Fills `out` with the bytes from position `from` on; returns how many slices it filled.
    pub(super) fn slices<'s>(&'s self, from: usize, out: &mut [IoSlice<'s>]) -> usize {
        let mut next = self.borrowed.partition_point(|b| b.position + b.bytes.len() <= from);
        // Borrowed bytes before `at`: the distance between a position and its place in `wire`.
        let mut passed = match next.checked_sub(1).and_then(|i| self.borrowed.get(i)) {
            Some(b) => b.position + b.bytes.len() - b.wire_at,
            None => 0,
        };
        let mut at = from;
        let mut filled = 0;
        for slot in out {
            let piece = match self.borrowed.get(next) {
                Some(b) if at >= b.position => {
                    next += 1;
                    passed += b.bytes.len();
                    b.bytes.get(at - b.position..)
                }
                Some(b) => self.wire.get(at - passed..b.wire_at),
                None => self.wire.get(at - passed..),
            };
            let piece = piece.unwrap_or_default();
            if piece.is_empty() {
                break;
            }
            *slot = IoSlice::new(piece);
            at += piece.len();
            filled += 1;
        }
        filled
    }
}

/// The same allocation, without elements and so without their lifetime.
fn emptied<'b>(mut list: Vec<Borrowed<'_>>) -> Vec<Borrowed<'b>> {
    list.clear();
    list.into_iter().map_while(|_| None).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_rest_of_the_stream_comes_out_whole_and_in_order_whatever_the_number_of_slices() {
        let (first, second) = (vec![b'x'; COPY_UP_TO + 1], vec![b'y'; COPY_UP_TO + 2]);
        let mut output = Output::default();
        output.put(b"head ");
        output.put_value(&first);
        output.put_value(&second);
        output.put(b"\r\n");
        output.put_value(b"small");
        let mut whole = b"head ".to_vec();
        whole.extend_from_slice(&first);
        whole.extend_from_slice(&second);
        whole.extend_from_slice(b"\r\nsmall");
        assert_eq!(output.len(), whole.len());
        for slots in 1..6 {
            for from in 0..=whole.len() {
                let mut sent = Vec::new();
                while from + sent.len() < whole.len() {
                    let mut out = vec![IoSlice::new(&[]); slots];
                    let filled = output.slices(from + sent.len(), &mut out);
                    assert!(filled > 0, "no progress at {from} + {}", sent.len());
                    out[..filled].iter().for_each(|slice| sent.extend_from_slice(slice));
                }
                assert!(sent == whole[from..], "{slots} slices from {from}");
            }
        }
        assert_eq!(output.slices(whole.len(), &mut [IoSlice::new(&[])]), 0);
    }

    #[test]
    fn large_values_are_sent_from_where_they_lie_and_small_ones_beside_their_command() {
        let value = vec![b'x'; COPY_UP_TO + 1];
        let mut output = Output::default();
        output.put(b"a");
        output.put_value(&value[..COPY_UP_TO]);
        output.put_value(&value);
        let mut out = [IoSlice::new(&[]); 4];
        assert_eq!(output.slices(0, &mut out), 2);
        assert_eq!((out[0].len(), out[1].as_ptr()), (COPY_UP_TO + 1, value.as_ptr()));
    }

    #[test]
    fn buffers_keep_their_room_between_outputs() {
        let value = vec![b'x'; COPY_UP_TO + 1];
        let mut output = Output::default();
        output.put(b"abc");
        output.put_value(&value);
        let (wire, borrowed) = output.into_buffers();
        assert!(wire.is_empty() && wire.capacity() >= 3);
        assert!(borrowed.is_empty() && borrowed.capacity() >= 1);
        let again = Output::reusing(wire, borrowed);
        assert_eq!((again.len(), again.slices(0, &mut [IoSlice::new(&[])])), (0, 0));
    }
}
