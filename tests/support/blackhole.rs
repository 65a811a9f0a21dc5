//! A loopback address that swallows connections: a listener with a full backlog that never accepts.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, bind, listen, socket};

/// Far more than any system's smallest backlog.
const MOST: usize = 64;
/// Long for a handshake on loopback, and shorter than the first repetition of a dropped one.
const HANDSHAKE: Duration = Duration::from_millis(200);

/// Keep it: dropping it opens the address to be refused.
#[derive(Debug)]
pub(crate) struct Blackhole {
    addr: SocketAddr,
    _listener: TcpListener,
    _backlog: Vec<TcpStream>,
}

/// Connecting to it neither succeeds nor fails.
pub(crate) fn blackhole() -> Blackhole {
    let listener = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    bind(&listener, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listen(&listener, 0).expect("a backlog of 0");
    let listener = TcpListener::from(listener);
    let addr = listener.local_addr().expect("an address");
    let mut backlog = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&addr, HANDSHAKE) {
        backlog.push(stream);
        assert!(backlog.len() < MOST, "the backlog does not fill up");
    }
    Blackhole { addr, _listener: listener, _backlog: backlog }
}

impl Blackhole {
    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    pub(crate) fn address(&self) -> String {
        self.addr.to_string()
    }
}
