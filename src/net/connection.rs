//! One connection and one exchange at a time on it: the whole batch out, every reply in.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use super::buffer::Buffer;
use super::error::{NetError, Trouble};
use super::stream::{Pulse, Stream};
use crate::error::Phase;
use crate::protocol::{Batch, Conversation, Limits, Reply};
use crate::time::Deadline;

/// Slices handed to one `sendmsg`.
const SLICES: usize = 16;
/// Writes and reads in a row, before others and the clock are looked at.
const STEPS: usize = 4;

/// A connection; from the first byte of an exchange until its last reply is complete it is not reusable.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: Stream,
    buffer: Buffer,
    conversation: Conversation,
    sent: usize,
    /// When the peer was last heard of in this exchange, or when the exchange began.
    heard: Instant,
}

/// What an unfinished exchange waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Replies.
    Read,
    /// Replies, and room to send the rest.
    ReadWrite,
    /// Nothing: the exchange is complete.
    Nothing,
}

impl Connection {
    pub(crate) fn new(stream: Stream, limits: Limits, now: Instant) -> Self {
        Self {
            stream,
            buffer: Buffer::default(),
            conversation: Conversation::new(limits),
            sent: 0,
            heard: now,
        }
    }

    /// Whether the next exchange may use this connection: nothing unfinished, in doubt or unread.
    pub(crate) fn is_reusable(&self) -> bool {
        self.conversation.reusable()
    }

    /// Whether an idle connection is still open with nothing unasked in it; one system call.
    pub(crate) fn is_quiet(&self) -> bool {
        self.stream.pulse() == Pulse::Quiet
    }

    /// Starts an exchange; from here on the connection is poisoned until the last reply is complete.
    pub(crate) fn begin(&mut self, batch: &Batch<'_>, now: Instant) {
        self.sent = 0;
        self.heard = now;
        self.conversation.begin(batch);
    }

    /// Sends the batch and reads every reply, blocking under the deadline.
    ///
    /// With `busy_poll` it looks for a reply that long, yielding, before it lets the kernel wait.
    pub(crate) fn exchange(
        &mut self,
        batch: &mut Batch<'_>,
        deadline: Deadline,
        busy_poll: Duration,
    ) -> Result<(), NetError> {
        while !self.step(batch, deadline, busy_poll)? {}
        Ok(())
    }

    /// Sends what is left of the batch and waits for something to come back; true when every reply is here.
    pub(crate) fn step(
        &mut self,
        batch: &mut Batch<'_>,
        deadline: Deadline,
        busy_poll: Duration,
    ) -> Result<bool, NetError> {
        while !self.is_sent(batch) && !self.conversation.is_done() {
            if deadline.passed(Instant::now()) {
                return Err(self.timed_out(batch, deadline));
            }
            if !self.try_write(batch)? {
                self.stream.wait(deadline).map_err(|e| self.broken(Phase::Write, e, batch))?;
                // A server may refuse a large value before it has all of it.
                self.try_read(batch)?;
            }
        }
        if !busy_poll.is_zero() {
            let until = deadline.min(Deadline::after(Instant::now(), busy_poll));
            while !self.conversation.is_done() && !until.passed(Instant::now()) {
                if self.try_read(batch)? {
                    return Ok(self.conversation.is_done());
                }
                std::thread::yield_now();
            }
        }
        if !self.conversation.is_done() {
            match self.receive(|stream, into| stream.recv(into, deadline)) {
                Ok(0) => return Err(self.lost(batch)),
                Ok(_) => {
                    self.understand(batch)?;
                    if !self.conversation.is_done() {
                        self.heard = Instant::now();
                    }
                }
                Err(e) => return Err(self.failed(e, batch, deadline)),
            }
        }
        Ok(self.conversation.is_done())
    }

    /// Reads what has come, without waiting; true when every reply is here.
    ///
    /// It comes back in time also from a peer that never stops sending.
    pub(crate) fn collect(&mut self, batch: &mut Batch<'_>) -> Result<bool, NetError> {
        for _ in 0..STEPS {
            if self.conversation.is_done() || !self.try_read(batch)? {
                break;
            }
        }
        Ok(self.conversation.is_done())
    }

    /// Sends what the kernel takes at once, without looking for replies yet, and says what to wait for.
    pub(crate) fn launch(&mut self, batch: &mut Batch<'_>) -> Result<Need, NetError> {
        self.try_write(batch)?;
        Ok(self.need(batch))
    }

    /// Does what can be done without waiting, and says what to wait for: for batches and several nodes at once.
    ///
    /// It comes back in time also from a peer that never stops sending.
    pub(crate) fn advance(&mut self, batch: &mut Batch<'_>) -> Result<Need, NetError> {
        for _ in 0..STEPS {
            let wrote = self.try_write(batch)?;
            let read = !self.conversation.is_done() && self.try_read(batch)?;
            if self.conversation.is_done() {
                return Ok(Need::Nothing);
            }
            if !wrote && !read {
                break;
            }
        }
        Ok(self.need(batch))
    }

    /// The error of an exchange that its deadline ended.
    pub(crate) fn timed_out(&self, batch: &Batch<'_>, deadline: Deadline) -> NetError {
        let phase = if self.is_sent(batch) { Phase::Read } else { Phase::Write };
        // That this thread woke late is no silence of the peer.
        let now = Deadline::after(Instant::now(), Duration::ZERO);
        let silent = deadline.min(now).left(self.heard);
        NetError { phase, trouble: Trouble::TimedOut { silent }, sent: self.is_sent(batch) }
    }

    /// Takes the reply to request `i`, once; also after an error, for those that are beyond doubt.
    pub(crate) fn take(&mut self, i: usize) -> Option<Reply> {
        self.conversation.take(i)
    }

    /// Takes what is known of the first reply that is not complete, after an error, with the place of its request.
    pub(crate) fn take_part(&mut self, batch: &Batch<'_>) -> Option<(usize, Reply)> {
        self.conversation.take_part(batch)
    }

    /// How many bytes of the batch the kernel took.
    pub(crate) fn sent(&self) -> usize {
        self.sent
    }

    /// What an exchange waits for that is not complete.
    fn need(&self, batch: &Batch<'_>) -> Need {
        if self.is_sent(batch) { Need::Read } else { Need::ReadWrite }
    }

    fn is_sent(&self, batch: &Batch<'_>) -> bool {
        self.sent >= batch.wire_len()
    }

    /// Sends what the kernel takes now; true when something moved.
    fn try_write(&mut self, batch: &mut Batch<'_>) -> Result<bool, NetError> {
        if self.is_sent(batch) {
            return Ok(false);
        }
        let mut slices = [IoSlice::new(&[]); SLICES];
        let n = batch.slices(self.sent, &mut slices);
        match self.stream.try_send(slices.get(..n).unwrap_or_default()) {
            Ok(Some(n)) => {
                self.sent += n;
                Ok(n > 0)
            }
            Ok(None) => Ok(false),
            Err(e) => match self.hear_last_words(batch) {
                true => Ok(true),
                false => Err(self.broken(Phase::Write, e, batch)),
            },
        }
    }

    /// Reads what the peer said before it hung up; true if that ends the exchange. A refusal says more than a lost connection.
    fn hear_last_words(&mut self, batch: &mut Batch<'_>) -> bool {
        while !self.conversation.is_done() && matches!(self.try_read(batch), Ok(true)) {}
        self.conversation.is_done()
    }

    fn try_read(&mut self, batch: &mut Batch<'_>) -> Result<bool, NetError> {
        match self.receive(Stream::try_recv) {
            Ok(Some(0)) => Err(self.lost(batch)),
            Ok(Some(_)) => {
                self.heard = Instant::now();
                self.understand(batch)?;
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(e) => Err(self.broken(Phase::Read, e, batch)),
        }
    }

    /// Receives straight into the large value under way, if there is one, else into the buffer.
    fn receive<T>(
        &mut self,
        run: impl FnOnce(&mut Stream, &mut Vec<u8>) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.buffer.is_full() {
            // The decoder's line limit is below the buffer's size, so it never leaves a full one.
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a line without an end"));
        }
        match self.conversation.body() {
            Some(body) => run(&mut self.stream, body),
            None => run(&mut self.stream, self.buffer.room()),
        }
    }

    /// Feeds what was received to the conversation.
    fn understand(&mut self, batch: &mut Batch<'_>) -> Result<(), NetError> {
        match self.conversation.feed(batch, self.sent, self.buffer.unread()) {
            Ok(n) => {
                self.buffer.consume(n);
                Ok(())
            }
            Err(violation) => Err(NetError {
                phase: Phase::Read,
                trouble: Trouble::Violation(violation),
                sent: self.is_sent(batch),
            }),
        }
    }

    /// The error of a blocking read; a time-out that the system reports is a lost connection, and none of ours.
    fn failed(&self, e: io::Error, batch: &Batch<'_>, deadline: Deadline) -> NetError {
        if e.kind() == io::ErrorKind::TimedOut && e.raw_os_error().is_none() {
            return self.timed_out(batch, deadline);
        }
        self.broken(Phase::Read, e, batch)
    }

    fn broken(&self, phase: Phase, e: io::Error, batch: &Batch<'_>) -> NetError {
        NetError { phase, trouble: Trouble::Io(e), sent: self.is_sent(batch) }
    }

    fn lost(&self, batch: &Batch<'_>) -> NetError {
        NetError { phase: Phase::Read, trouble: Trouble::Eof, sent: self.is_sent(batch) }
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Request;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    #[test]
    fn what_a_peer_has_sent_already_is_collected_a_few_reads_at_a_time() {
        const REQUESTS: usize = 30;
        let now = Instant::now();
        let (ours, mut theirs) = UnixStream::pair().expect("sockets");
        let stream = Stream::new(ours.into(), Duration::from_secs(20)).expect("a stream");
        let mut connection = Connection::new(stream, Limits::default(), now);
        let mut batch = Batch::new();
        (0..REQUESTS).for_each(|_| batch.push(&Request::Get { keys: &[b"k"], cas: false }));
        connection.begin(&batch, now);
        connection.launch(&mut batch).expect("sent");
        // In all more than a few of the buffer's fills, and less than the socket holds.
        let reply = format!("VALUE k 0 3000\r\n{}\r\nEND\r\n", "x".repeat(3000));
        theirs.write_all(reply.repeat(REQUESTS).as_bytes()).expect("there is room");
        assert!(!connection.collect(&mut batch).expect("some"), "not all at once");
        while !connection.collect(&mut batch).expect("more") {}
        assert!((0..REQUESTS).all(|i| connection.take(i).is_some()));
    }
}
