//! Where a server listens, and the sockets of it: TCP and unix alike.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{AddressFamily, SocketType, bind, socket, sockopt};

#[derive(Debug, Clone)]
pub(super) enum Endpoint {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

#[derive(Debug)]
pub(super) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

#[derive(Debug)]
pub(super) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Endpoint {
    /// Begins to listen; where the port was 0 the endpoint has the real one from then on.
    pub(super) fn listen(&mut self) -> io::Result<Listener> {
        match self {
            Self::Tcp(addr) => {
                let listener = TcpListener::bind(*addr)?;
                *addr = listener.local_addr()?;
                Ok(Listener::Tcp(listener))
            }
            Self::Unix(path) => UnixListener::bind(path).map(Listener::Unix),
        }
    }

    /// Takes the port while nobody listens, so that no other program gets it; none for a unix socket, whose path is
    /// its own, or when it is too late.
    pub(super) fn hold(&self) -> Option<OwnedFd> {
        let Self::Tcp(addr) = self else { return None };
        let family = if addr.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = socket(family, SocketType::STREAM, None).ok()?;
        fcntl_setfd(&socket, FdFlags::CLOEXEC).ok()?;
        // Connections of the one that listened may still be there.
        sockopt::set_socket_reuseaddr(&socket, true).ok()?;
        bind(&socket, addr).ok()?;
        Some(socket)
    }

    /// Frees the name of a unix socket that is no longer listened on.
    pub(super) fn clear(&self) {
        if let Self::Unix(path) = self {
            _ = std::fs::remove_file(path);
        }
    }

    pub(super) fn address(&self) -> String {
        match self {
            Self::Tcp(addr) => addr.to_string(),
            Self::Unix(path) => format!("unix:{}", path.display()),
        }
    }
}

impl Listener {
    /// From then on [`accept`](Self::accept) does not wait.
    pub(super) fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            Self::Tcp(listener) => listener.set_nonblocking(true),
            Self::Unix(listener) => listener.set_nonblocking(true),
        }
    }

    /// The next connection, which does wait: on some systems it would have that from the listener.
    pub(super) fn accept(&self) -> io::Result<Stream> {
        match self {
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
            Self::Unix(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                Ok(Stream::Unix(stream))
            }
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(listener) => listener.as_fd(),
            Self::Unix(listener) => listener.as_fd(),
        }
    }
}

impl Stream {
    pub(super) fn try_clone(&self) -> io::Result<Self> {
        match self {
            Self::Tcp(stream) => stream.try_clone().map(Self::Tcp),
            Self::Unix(stream) => stream.try_clone().map(Self::Unix),
        }
    }

    /// Ends the connection for all clones; whoever waits in a read or a write on it wakes up.
    pub(super) fn shutdown(&self) {
        // An error means that it has ended already.
        _ = match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl Read for Stream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buf),
            Self::Unix(stream) => stream.read(buf),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(buf),
            Self::Unix(stream) => stream.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
