//! One connected socket, blocking under a deadline or not blocking at all.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, sendmsg};

use crate::time::Deadline;

/// A socket time-out may exceed the rest of a deadline by this much before it is set anew: it saves
/// a system call per call and costs at most this much beyond the deadline.
const SLACK: Duration = Duration::from_millis(20);

/// A connected socket and the time-out for receiving that the kernel holds for it.
#[derive(Debug)]
pub(crate) struct Stream {
    socket: OwnedFd,
    limit: Duration,
}

/// What a peek at an idle socket shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pulse {
    /// Nothing to read, not closed.
    Quiet,
    /// Closed by the peer, or bytes that nobody asked for.
    Dead,
}

impl Stream {
    /// Takes a connected, blocking socket and arms its time-out.
    pub(crate) fn new(socket: OwnedFd, limit: Duration) -> io::Result<Self> {
        let mut stream = Self { socket, limit: Duration::MAX };
        stream.limit(limit)?;
        Ok(stream)
    }

    /// Appends received bytes to the spare room of `into`, waiting for some until `deadline`; 0 is the end.
    ///
    /// # Errors
    /// `TimedOut` once the deadline has passed; what the system reports.
    pub(crate) fn recv(&mut self, into: &mut Vec<u8>, deadline: Deadline) -> io::Result<usize> {
        let mut slack = SLACK;
        loop {
            let left = deadline.left(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            if self.limit > left + slack {
                self.limit(left)?;
            }
            match recv_on(&self.socket, into, RecvFlags::empty()) {
                Ok(n) => return Ok(n),
                Err(rustix::io::Errno::INTR) => {}
                Err(e) if would_block(e) => {
                    // An earlier, shorter deadline may have armed the socket: wait for the rest.
                    let left = deadline.left(Instant::now());
                    if !left.is_zero() {
                        self.limit(left)?;
                    }
                }
                Err(e) => return Err(e.into()),
            }
            slack = Duration::ZERO;
        }
    }

    /// Waits for room to send, or for something to receive, until `deadline`; a signal may end it early.
    ///
    /// # Errors
    /// What the system reports.
    pub(crate) fn wait(&self, deadline: Deadline) -> io::Result<()> {
        let mut fds = [PollFd::new(&self.socket, PollFlags::IN | PollFlags::OUT)];
        match poll(&mut fds, Some(&timespec(deadline.left(Instant::now())))) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    /// Sends what the kernel takes now; `None` when it takes nothing.
    pub(crate) fn try_send(&mut self, slices: &[IoSlice<'_>]) -> io::Result<Option<usize>> {
        retry(|| sendmsg_on(&self.socket, slices, SendFlags::DONTWAIT))
    }

    /// Receives what is there now; `None` when nothing is.
    pub(crate) fn try_recv(&mut self, into: &mut Vec<u8>) -> io::Result<Option<usize>> {
        retry(|| recv_on(&self.socket, into, RecvFlags::DONTWAIT))
    }

    /// Looks at an idle socket without waiting and without taking anything.
    pub(crate) fn pulse(&self) -> Pulse {
        let mut byte = [0_u8; 1];
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        match retry(|| recv(&self.socket, &mut byte, flags).map(|(n, _)| n)) {
            Ok(None) => Pulse::Quiet,
            _ => Pulse::Dead,
        }
    }

    fn limit(&mut self, limit: Duration) -> io::Result<()> {
        // Zero would mean "for ever", and some systems round to microseconds.
        let limit = limit.max(Duration::from_millis(1));
        set_socket_timeout(&self.socket, Timeout::Recv, Some(limit))?;
        self.limit = limit;
        Ok(())
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// How long `poll` may wait.
pub(crate) fn timespec(left: Duration) -> Timespec {
    Timespec {
        tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: left.subsec_nanos().into(),
    }
}

fn sendmsg_on(
    socket: &OwnedFd,
    slices: &[IoSlice<'_>],
    flags: SendFlags,
) -> rustix::io::Result<usize> {
    // A peer that went away must be an error, not a signal, also where the program reset SIGPIPE.
    #[cfg(target_os = "linux")]
    let flags = flags | SendFlags::NOSIGNAL;
    sendmsg(socket, slices, &mut SendAncillaryBuffer::default(), flags)
}

fn recv_on(socket: &OwnedFd, into: &mut Vec<u8>, flags: RecvFlags) -> rustix::io::Result<usize> {
    recv(socket, spare_capacity(into), flags).map(|(_, n)| n)
}

fn retry(mut run: impl FnMut() -> rustix::io::Result<usize>) -> io::Result<Option<usize>> {
    loop {
        match run() {
            Ok(n) => return Ok(Some(n)),
            Err(rustix::io::Errno::INTR) => {}
            Err(e) if would_block(e) => return Ok(None),
            Err(e) => return Err(e.into()),
        }
    }
}

fn would_block(e: rustix::io::Errno) -> bool {
    e == rustix::io::Errno::AGAIN || e == rustix::io::Errno::WOULDBLOCK
}
