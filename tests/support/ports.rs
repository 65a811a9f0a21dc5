//! Ports where nobody listens, and that nobody else gets meanwhile: connecting to them is refused.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Mutex;

use rustix::io::{FdFlags, Result, fcntl_setfd};
use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket, sockopt};

/// Kept until the process ends.
static TAKEN: Mutex<Vec<OwnedFd>> = Mutex::new(Vec::new());

/// Takes a port without listening there; port 0 is any that is free. Only a socket that wants to use the address again,
/// as those that listen do, can still be bound to it, and not on every system.
pub(crate) fn hold(addr: SocketAddr) -> Result<OwnedFd> {
    let family = if addr.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket(family, SocketType::STREAM, None)?;
    fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &addr)?;
    Ok(socket)
}

/// The address of a port of 127.0.0.1 where nobody will ever listen.
pub(crate) fn refusing() -> String {
    let socket = hold((Ipv4Addr::LOCALHOST, 0).into()).expect("a free port");
    let addr = getsockname(&socket).expect("an address");
    TAKEN.lock().expect("no panic").push(socket);
    SocketAddr::try_from(addr).expect("TCP").to_string()
}
