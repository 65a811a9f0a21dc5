//! What goes out over one connection, in order, and what each request may be answered with.

use super::output::{Borrowed, Output};
use super::{Request, Verb, text};
use std::io::IoSlice;
use std::mem;

/// Requests as bytes, with what is needed to read their replies.
///
/// Values of more than 12 KiB are borrowed, everything else is copied. A read of many keys may become
/// several lines and is still one request with one reply.
#[derive(Debug, Default)]
pub(crate) struct Batch<'a> {
    output: Output<'a>,
    sent: Vec<Sent>,
}

/// One encoded request.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) verb: Verb,
    /// How many keys it reads.
    pub(super) keys: usize,
    /// Where it begins in the copied bytes.
    pub(super) start: usize,
    /// Where it begins in the whole stream.
    position: usize,
    /// Where it ends in the whole stream.
    end: usize,
    /// Where its value is read into: empty, but perhaps with room.
    pub(super) buffer: Vec<u8>,
}

impl Sent {
    /// Did the kernel take the request's bytes before place `end` of the copied ones?
    /// Of use for requests without a value, of which all bytes are copied.
    pub(super) fn written_to(&self, end: usize, written: usize) -> bool {
        self.position + (end - self.start) <= written
    }
}

/// A batch's buffers between two batches, so that a steady caller allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    wire: Vec<u8>,
    borrowed: Vec<Borrowed<'static>>,
    sent: Vec<Sent>,
}

impl<'a> Batch<'a> {
    /// An empty batch.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// An empty batch over the buffers of an earlier one.
    pub(crate) fn reusing(scratch: Scratch) -> Self {
        Self { output: Output::reusing(scratch.wire, scratch.borrowed), sent: scratch.sent }
    }

    /// The buffers for a later batch; those that grew beyond 64 KiB are freed.
    pub(crate) fn into_scratch(mut self) -> Scratch {
        self.sent.clear();
        let (wire, borrowed) = self.output.into_buffers();
        Scratch { wire: kept(wire), borrowed: kept(borrowed), sent: kept(self.sent) }
    }

    /// Whether it is one small request about one key, which may go out together with those of others.
    pub(crate) fn may_travel(&self) -> bool {
        let [sent] = self.sent.as_slice() else { return false };
        sent.verb.is_about_keys() && sent.keys <= 1 && self.output.borrows_nothing()
    }

    /// Takes the requests out, to be read by another thread; `None` when a value is borrowed.
    pub(crate) fn lend(&mut self) -> Option<Batch<'static>> {
        let output = self.output.take_copied()?;
        Some(Batch { output, sent: mem::take(&mut self.sent) })
    }

    /// The key of a lone read of one key, which may be read together with others.
    pub(crate) fn key_read(&self) -> Option<(Verb, &[u8])> {
        match self.sent.as_slice() {
            [Sent { verb: verb @ (Verb::Get | Verb::Gets), keys: 1, start, .. }] => {
                let wire = self.wire();
                Some((*verb, text::Asked::by_line(*verb, wire, *start).keys(wire)))
            }
            _ => None,
        }
    }

    /// Adds a copy of the requests of a batch that borrows nothing.
    pub(crate) fn append(&mut self, other: &Batch<'static>) {
        let (start, position) = (self.output.wire().len(), self.output.len());
        self.output.put(other.wire());
        self.sent.extend(other.sent.iter().map(|sent| Sent {
            verb: sent.verb,
            keys: sent.keys,
            start: start + sent.start,
            position: position + sent.position,
            end: position + sent.end,
            buffer: Vec::new(),
        }));
    }

    /// Adds a request behind the others.
    pub(crate) fn push(&mut self, request: &Request<'_, 'a>) {
        self.push_read_into(request, Vec::new());
    }

    /// Adds a read of one key whose value is to replace the contents of `buffer`.
    ///
    /// The buffer comes back as the value's bytes, or by [`Batch::take_buffer`] when no value came.
    pub(crate) fn push_read_into(&mut self, request: &Request<'_, 'a>, mut buffer: Vec<u8>) {
        buffer.clear();
        let (start, position) = (self.output.wire().len(), self.output.len());
        text::encode(request, &mut self.output);
        let (verb, keys, end) = (request.verb(), request.keys_read(), self.output.len());
        self.sent.push(Sent { verb, keys, start, position, end, buffer });
    }

    /// The unused buffer of request `i`; an empty one if it was used or none was given.
    pub(crate) fn take_buffer(&mut self, i: usize) -> Vec<u8> {
        self.sent.get_mut(i).map(|sent| mem::take(&mut sent.buffer)).unwrap_or_default()
    }

    /// The number of requests.
    pub(crate) fn len(&self) -> usize {
        self.sent.len()
    }

    /// The number of bytes to send, with the borrowed ones.
    pub(crate) fn wire_len(&self) -> usize {
        self.output.len()
    }

    /// Fills `out` with the bytes from the first unsent one on; returns how many slices it filled.
    pub(crate) fn slices<'s>(&'s self, from: usize, out: &mut [IoSlice<'s>]) -> usize {
        self.output.slices(from, out)
    }

    /// The name of request `i`.
    pub(crate) fn verb(&self, i: usize) -> Option<Verb> {
        self.sent.get(i).map(|sent| sent.verb)
    }

    /// Did the kernel take the last byte of request `i`, when it took the first `written` of all?
    /// If not, the server surely did not process it.
    pub(crate) fn sent_whole(&self, i: usize, written: usize) -> bool {
        self.sent.get(i).is_some_and(|sent| sent.end <= written)
    }

    pub(super) fn sent(&self, i: usize) -> Option<&Sent> {
        self.sent.get(i)
    }

    pub(super) fn wire(&self) -> &[u8] {
        self.output.wire()
    }
}

/// A buffer that is worth keeping: not one that a rare large batch blew up.
pub(super) fn kept<T>(buffer: Vec<T>) -> Vec<T> {
    const MAX_BYTES: usize = 64 << 10;
    if buffer.capacity() * size_of::<T>() > MAX_BYTES { Vec::new() } else { buffer }
}
