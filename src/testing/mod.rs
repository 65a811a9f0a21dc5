//! An in-process memcached for tests: real sockets, scripted faults, a settable clock, an event log.
//!
//! [`TestServer`] speaks memcached's classic text protocol on a free loopback port (or a unix socket), so code under
//! test needs no installed memcached and can meet failures that a healthy one never shows. It was written from the
//! protocol's description and from what memcached 1.6.18 answers, error texts and oddities included; the transcripts
//! in `tests/testing_server.rs` are run over both.
//!
//! ```
//! use mcpool::testing::{Fault, TestServer, When};
//! use std::io::{Read, Write};
//! use std::net::TcpStream;
//! use std::time::Duration;
//!
//! let server = TestServer::start()?;
//! let mut socket = TcpStream::connect(server.address())?;
//!
//! socket.write_all(b"set greeting 0 60 5\r\nhello\r\n")?;
//! let mut reply = [0; 8];
//! socket.read_exact(&mut reply)?;
//! assert_eq!(&reply, b"STORED\r\n");
//! assert_eq!(server.item("greeting"), Some((b"hello".to_vec(), 0)));
//!
//! // A minute later it is gone.
//! server.clock().advance(Duration::from_secs(60));
//! assert_eq!(server.item("greeting"), None);
//!
//! // The next get is cut off in the middle of its reply.
//! server.put("greeting", "hello again", 0);
//! server.fault(Fault::CloseAfter(10), When::next(1).verb("get"));
//! socket.write_all(b"get greeting\r\n")?;
//! let mut cut = String::new();
//! socket.read_to_string(&mut cut)?;
//! assert_eq!(cut, "VALUE gree");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! For trouble by chance instead of by script there is a [`Proxy`] with [`Weather`], in front of this server or a real
//! one.
//!
//! What differs from a real memcached: time has no one-second grain (an item with an expiry of 10 lives for 10 seconds
//! exactly), nothing is evicted, what a `flush_all` dropped never comes back, the meta and binary dialects are not spoken,
//! and `stats` shows what makes sense here. What it does not know it answers with `ERROR` and logs as [`Event::Unknown`].

mod clock;
mod command;
mod connections;
mod dice;
mod door;
mod dump;
mod endpoint;
mod events;
mod fault;
mod number;
mod perform;
mod proxy;
mod server;
mod session;
mod stats;
mod store;

pub use clock::Clock;
pub use dice::Dice;
pub use events::Event;
pub use fault::{Fault, When};
pub use proxy::{Proxy, Weather};
pub use server::{TestServer, TestServerBuilder};

/// What memcached's `version` says of the release whose behaviour is followed.
const VERSION: &str = "1.6.18";

/// Locks, also after a thread panicked while holding the lock: the panic itself is reported when the server is dropped.
fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
