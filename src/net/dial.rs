//! Connecting: over every address of a server, within one budget of time.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::net::sockopt::{Timeout, set_socket_keepalive, set_socket_timeout};

use super::error::{NetError, Trouble};
use super::resolve::{Resolver, Spawn, Unresolved};
use super::stream::Stream;
use crate::error::Phase;
use crate::time::Deadline;
use crate::types::Endpoint;

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

    /// Connects within `connect_timeout` and `deadline`, whichever ends first.
    ///
    /// Several addresses are tried in turn, each with an equal share of the time left.
    ///
    /// # Errors
    /// The last address' error, or that the name has no address.
    pub(crate) fn dial(&self, deadline: Deadline) -> Result<Stream, NetError> {
        let deadline = deadline.min(Deadline::after(Instant::now(), self.options.connect_timeout));
        match &self.place {
            Place::Address(addr) => self.tcp(*addr, deadline),
            Place::Unix(path) => unix(path, deadline).and_then(|s| self.finish(s)),
            Place::Name(resolver) => {
                let addresses = look_up(resolver, deadline)?;
                return self.any(&addresses, deadline);
            }
        }
        .map_err(connecting)
    }

    fn any(&self, addresses: &[SocketAddr], deadline: Deadline) -> Result<Stream, NetError> {
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for (tried, addr) in addresses.iter().enumerate() {
            let now = Instant::now();
            let others = u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
            match self.tcp(*addr, Deadline::after(now, deadline.left(now) / others)) {
                Ok(stream) => return Ok(stream),
                Err(e) => last = e,
            }
        }
        Err(connecting(last))
    }

    fn tcp(&self, addr: SocketAddr, deadline: Deadline) -> io::Result<Stream> {
        let left = deadline.left(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let socket = TcpStream::connect_timeout(&addr, left)?;
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

    fn finish(&self, socket: std::os::fd::OwnedFd) -> io::Result<Stream> {
        Stream::new(socket, self.options.io_timeout)
    }
}

/// Resolving may use half of the time, so that some is left to connect with the last good addresses.
fn look_up(
    resolver: &Resolver,
    deadline: Deadline,
) -> Result<std::sync::Arc<[SocketAddr]>, NetError> {
    let now = Instant::now();
    resolver.addresses(Deadline::after(now, deadline.left(now) / 2)).map_err(|e| {
        let trouble = match e {
            Unresolved::Late => Trouble::TimedOut { silent: Duration::ZERO },
            Unresolved::Failed(why) => Trouble::Io(io::Error::other(why)),
        };
        NetError::unsent(Phase::Resolve, trouble)
    })
}

/// Connects to a unix socket; a full backlog makes the connect wait as long as a send may.
fn unix(path: &Path, deadline: Deadline) -> io::Result<std::os::fd::OwnedFd> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};
    let address = SocketAddrUnix::new(path)?;
    let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    // std does so for TCP; elsewhere each send asks for it.
    #[cfg(target_os = "macos")]
    rustix::net::sockopt::set_socket_nosigpipe(&socket, true)?;
    loop {
        let left = deadline.left(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        set_socket_timeout(&socket, Timeout::Send, Some(left.max(Duration::from_millis(1))))?;
        match connect(&socket, &address) {
            Ok(()) => return Ok(socket),
            // A signal ended the wait, and nothing of the connect is left under way.
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => return Err(io::ErrorKind::TimedOut.into()),
            Err(e) => return Err(e.into()),
        }
    }
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
    use std::sync::Arc;

    fn dialer(addr: SocketAddr) -> Dialer {
        let options = DialOptions {
            connect_timeout: Duration::from_secs(5),
            io_timeout: Duration::from_secs(1),
            nodelay: true,
            keepalive: true,
        };
        Dialer::new(&Endpoint::Literal(addr), options, Arc::new(drop))
    }

    #[test]
    fn a_names_addresses_are_tried_in_turn_and_none_uses_up_the_time_of_the_next() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let good = listener.local_addr().expect("an address");
        let refusing = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr();
        let refusing = refusing.expect("an address");
        let hole = blackhole::blackhole();
        let dialer = dialer(good);
        let time = || Deadline::after(Instant::now(), Duration::from_millis(600));
        dialer.any(&[refusing, hole.addr(), good], time()).expect("the last one accepts");
        let e = dialer.any(&[hole.addr(), refusing], time()).expect_err("nobody accepts");
        assert!(matches!(e.trouble, Trouble::Io(_)), "{e:?}");
        let start = Instant::now();
        let e = dialer.any(&[hole.addr(), hole.addr()], time()).expect_err("nobody answers");
        assert!(matches!(e.trouble, Trouble::TimedOut { .. }), "{e:?}");
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }
}
