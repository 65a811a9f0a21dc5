//! A loopback address that swallows connections: a listener with a full backlog that never accepts.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use rustix::net::listen;

/// Far more than any system's smallest backlog.
const MOST: usize = 64;
/// Long for a handshake on loopback, and shorter than the first repetition of a dropped one.
const HANDSHAKE: Duration = Duration::from_millis(200);

/// Keep it: dropping it makes the address one that refuses.
#[derive(Debug)]
pub(crate) struct Blackhole {
    addr: SocketAddr,
    listener: TcpListener,
    backlog: Vec<TcpStream>,
}

/// Connecting to it neither succeeds nor fails.
pub(crate) fn blackhole() -> Blackhole {
    // One of std's, which no program that is started meanwhile inherits.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listen(&listener, 0).expect("a backlog of 0");
    let addr = listener.local_addr().expect("an address");
    let mut backlog = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&addr, HANDSHAKE) {
        backlog.push(stream);
        assert!(backlog.len() < MOST, "the backlog does not fill up");
    }
    Blackhole { addr, listener, backlog }
}

impl Blackhole {
    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    pub(crate) fn address(&self) -> String {
        self.addr.to_string()
    }

    /// Ends the swallowing: whoever has the listener accepts, those first that were swallowed and have gone.
    pub(crate) fn open(self) -> TcpListener {
        drop(self.backlog);
        listen(&self.listener, 128).expect("a longer backlog");
        self.listener
    }
}
