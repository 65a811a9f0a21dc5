//! Connecting: over every address of a server, within one budget of time, by one who may have other things to do meanwhile.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{set_socket_keepalive, socket_error};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect};

use super::error::{NetError, Trouble};
use super::resolve::{LookUp, Resolver, Spawn, Unresolved};
use super::stream::{Stream, timespec};
use crate::error::Phase;
use crate::time::Deadline;
use crate::types::Endpoint;

/// How long to wait before another look where nothing tells of a change.
pub(crate) const LOOK: Duration = Duration::from_millis(2);

/// How sockets are made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DialOptions {
    /// Share of a call that connecting may use.
    pub(crate) connect_timeout: Duration,
    /// The time-out that a fresh socket is armed with.
    pub(crate) io_timeout: Duration,
    pub(crate) nodelay: bool,
    pub(crate) keepalive: bool,
}

/// Opens connections to one endpoint.
#[derive(Debug)]
pub(crate) struct Dialer {
    place: Place,
    options: DialOptions,
}

#[derive(Debug)]
enum Place {
    Address(SocketAddr),
    Name(Resolver),
    Unix(std::path::PathBuf),
}

impl Dialer {
    pub(crate) fn new(endpoint: &Endpoint, options: DialOptions, spawn: Spawn) -> Self {
        let place = match endpoint {
            Endpoint::Literal(addr) => Place::Address(*addr),
            Endpoint::Named { host, port } => Place::Name(Resolver::new(host, *port, spawn)),
            Endpoint::Unix(path) => Place::Unix(path.clone()),
        };
        Self { place, options }
    }

    /// Starts to connect, to be through within `connect_timeout` and by `deadline`, whichever ends first.
    pub(crate) fn dial(&self, deadline: Deadline) -> Dialing<'_> {
        let now = Instant::now();
        let deadline = deadline.min(Deadline::after(now, self.options.connect_timeout));
        match &self.place {
            Place::Address(addr) => self.any(Arc::from([*addr]), deadline),
            Place::Unix(path) => {
                Dialing { step: Step::Unix(path), ..self.any(Arc::default(), deadline) }
            }
            Place::Name(resolver) => {
                // Half of the time, so that some is left to connect with the last good addresses.
                let until = Deadline::after(now, deadline.left(now) / 2);
                let step = Step::Resolving(resolver.ask(), until);
                Dialing { step, ..self.any(Arc::default(), deadline) }
            }
        }
    }

    fn any(&self, addresses: Arc<[SocketAddr]>, deadline: Deadline) -> Dialing<'_> {
        let last = io::ErrorKind::AddrNotAvailable.into();
        let options = self.options;
        Dialing { options, deadline, step: Step::Next, addresses, tried: 0, last }
    }
}

/// A connect under way. Several addresses are tried in turn, each with an equal share of the time left.
#[derive(Debug)]
pub(crate) struct Dialing<'d> {
    options: DialOptions,
    deadline: Deadline,
    step: Step<'d>,
    addresses: Arc<[SocketAddr]>,
    tried: usize,
    /// What became of the last address.
    last: io::Error,
}

#[derive(Debug)]
enum Step<'d> {
    /// The addresses of a name are awaited, until then.
    Resolving(LookUp<'d>, Deadline),
    /// The next address is to be tried.
    Next,
    /// An address is being tried, until then.
    Connecting(OwnedFd, SocketAddr, Deadline),
    /// Nothing tells when the backlog of a unix socket has room: it is tried again and again.
    Unix(&'d Path),
}

impl<'d> Dialing<'d> {
    /// Does what can be done without waiting; `None` while there is something to wait for.
    ///
    /// # Errors
    /// The last address' error, or that the name has no address.
    pub(crate) fn advance(&mut self) -> Option<Result<Stream, NetError>> {
        loop {
            let now = Instant::now();
            self.step = match std::mem::replace(&mut self.step, Step::Next) {
                Step::Resolving(look_up, until) => match look_up.answer(until.passed(now)) {
                    None => return self.pause(Step::Resolving(look_up, until)),
                    Some(Err(e)) => return Some(Err(unresolved(e))),
                    Some(Ok(addresses)) => {
                        self.addresses = addresses;
                        Step::Next
                    }
                },
                Step::Next => match self.next_address(now) {
                    Ok(step) => step,
                    Err(e) => return Some(Err(connecting(e))),
                },
                Step::Connecting(socket, addr, until) => match connected(&socket) {
                    Ok(true) => return Some(self.finish_tcp(socket, addr).map_err(connecting)),
                    Ok(false) if !until.passed(now) => {
                        return self.pause(Step::Connecting(socket, addr, until));
                    }
                    Ok(false) => self.failed(io::ErrorKind::TimedOut.into()),
                    Err(e) => self.failed(e),
                },
                Step::Unix(path) => match unix(path) {
                    Ok(Some(socket)) => return Some(self.finish(socket).map_err(connecting)),
                    Ok(None) if !self.deadline.passed(now) => return self.pause(Step::Unix(path)),
                    Ok(None) => self.failed(io::ErrorKind::TimedOut.into()),
                    Err(e) => self.failed(e),
                },
            };
        }
    }

    /// The socket that has room to send once it is connected; `None` where only another look shows whether
    /// something has changed.
    pub(crate) fn socket(&self) -> Option<BorrowedFd<'_>> {
        match &self.step {
            Step::Connecting(socket, ..) => Some(socket.as_fd()),
            _ => None,
        }
    }

    /// When it has to be looked at whatever has happened.
    pub(crate) fn due(&self) -> Deadline {
        match &self.step {
            Step::Resolving(_, until) | Step::Connecting(_, _, until) => *until,
            Step::Next | Step::Unix(_) => self.deadline,
        }
    }

    /// Waits until there may be something to do.
    pub(crate) fn wait(&self) {
        let left = self.due().left(Instant::now());
        match &self.step {
            Step::Resolving(look_up, until) => look_up.wait(*until),
            Step::Connecting(socket, ..) => {
                let mut fds = [PollFd::new(socket, PollFlags::OUT)];
                // Whatever ends it, the next look tells more.
                _ = poll(&mut fds, Some(&timespec(left)));
            }
            Step::Next | Step::Unix(_) => thread::sleep(LOOK.min(left)),
        }
    }

    fn pause<T>(&mut self, step: Step<'d>) -> Option<T> {
        self.step = step;
        None
    }

    /// Begins with the next address; without one the last one's error stands.
    fn next_address(&mut self, now: Instant) -> io::Result<Step<'d>> {
        while let Some(addr) = self.addresses.get(self.tried).copied() {
            let left = self.deadline.left(now);
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let others = u32::try_from(self.addresses.len() - self.tried).unwrap_or(u32::MAX);
            self.tried += 1;
            match tcp(addr) {
                Ok(socket) => {
                    let until = Deadline::after(now, left / others);
                    return Ok(Step::Connecting(socket, addr, until));
                }
                Err(e) => self.last = e,
            }
        }
        Err(std::mem::replace(&mut self.last, io::ErrorKind::Other.into()))
    }

    /// Notes what became of an address; the next one is due.
    fn failed(&mut self, e: io::Error) -> Step<'d> {
        self.last = e;
        Step::Next
    }

    fn finish_tcp(&self, socket: OwnedFd, addr: SocketAddr) -> io::Result<Stream> {
        let socket = TcpStream::from(socket);
        // With no listener there, a port in the ephemeral range can connect to itself.
        if socket.local_addr()? == addr {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        socket.set_nodelay(self.options.nodelay)?;
        if self.options.keepalive {
            set_socket_keepalive(&socket, true)?;
        }
        self.finish(socket.into())
    }

    /// The stream of a connected socket, which blocks from now on.
    fn finish(&self, socket: OwnedFd) -> io::Result<Stream> {
        rustix::io::ioctl_fionbio(&socket, false)?;
        Stream::new(socket, self.options.io_timeout)
    }
}

/// A socket that does not block, and is not handed to other programs.
fn socket(family: AddressFamily) -> io::Result<OwnedFd> {
    let socket = rustix::net::socket(family, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    // Elsewhere each send asks for it.
    #[cfg(target_os = "macos")]
    rustix::net::sockopt::set_socket_nosigpipe(&socket, true)?;
    Ok(socket)
}

/// A socket that begins to connect.
fn tcp(addr: SocketAddr) -> io::Result<OwnedFd> {
    let family = if addr.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket(family)?;
    match connect(&socket, &addr) {
        // A signal does not end it.
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(socket),
        Err(e) => Err(e.into()),
    }
}

/// Whether a socket that began to connect is through.
fn connected(socket: &OwnedFd) -> io::Result<bool> {
    let mut fds = [PollFd::new(socket, PollFlags::OUT)];
    match poll(&mut fds, Some(&timespec(Duration::ZERO))) {
        Ok(0) | Err(Errno::INTR) => return Ok(false),
        Ok(_) => socket_error(socket)??,
        Err(e) => return Err(e.into()),
    }
    Ok(true)
}

/// Connects to a unix socket, unless its backlog is full.
fn unix(path: &Path) -> io::Result<Option<OwnedFd>> {
    let address = SocketAddrUnix::new(path)?;
    let socket = socket(AddressFamily::UNIX)?;
    match connect(&socket, &address) {
        Ok(()) => Ok(Some(socket)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

fn unresolved(e: Unresolved) -> NetError {
    let trouble = match e {
        Unresolved::Late => Trouble::TimedOut { silent: Duration::ZERO },
        Unresolved::Queued => Trouble::Hurried,
        Unresolved::Failed(why) => Trouble::Io(io::Error::other(why)),
    };
    NetError::unsent(Phase::Resolve, trouble)
}

fn connecting(e: io::Error) -> NetError {
    let trouble = match e.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
            Trouble::TimedOut { silent: Duration::ZERO }
        }
        _ => Trouble::Io(e),
    };
    NetError::unsent(Phase::Connect, trouble)
}

#[cfg(test)]
#[path = "../../tests/support/blackhole.rs"]
#[allow(dead_code, clippy::expect_used, reason = "integration tests use more of it")]
mod blackhole;

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn dialer(addr: SocketAddr) -> Dialer {
        let options = DialOptions {
            connect_timeout: Duration::from_secs(5),
            io_timeout: Duration::from_secs(1),
            nodelay: true,
            keepalive: true,
        };
        Dialer::new(&Endpoint::Literal(addr), options, Arc::new(drop))
    }

    /// Waits for the end of a connect to one of these addresses.
    fn dial(dialer: &Dialer, addresses: &[SocketAddr]) -> Result<Stream, NetError> {
        let by = Deadline::after(Instant::now(), Duration::from_millis(600));
        let mut dialing = dialer.any(addresses.into(), by);
        loop {
            match dialing.advance() {
                Some(end) => return end,
                None => dialing.wait(),
            }
        }
    }

    #[test]
    fn a_names_addresses_are_tried_in_turn_and_none_uses_up_the_time_of_the_next() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let good = listener.local_addr().expect("an address");
        let refusing = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr();
        let refusing = refusing.expect("an address");
        let hole = blackhole::blackhole();
        let dialer = dialer(good);
        dial(&dialer, &[refusing, hole.addr(), good]).expect("the last one accepts");
        let e = dial(&dialer, &[hole.addr(), refusing]).expect_err("nobody accepts");
        assert!(matches!(e.trouble, Trouble::Io(_)), "{e:?}");
        let start = Instant::now();
        let e = dial(&dialer, &[hole.addr(), hole.addr()]).expect_err("nobody answers");
        assert!(matches!(e.trouble, Trouble::TimedOut { .. }), "{e:?}");
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }
}
