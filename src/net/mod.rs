//! Moves bytes under a deadline: names, connects, sockets, one exchange on one connection.

mod buffer;
mod connection;
mod dial;
mod error;
mod resolve;
mod stream;

pub(crate) use connection::{Connection, Need};
pub(crate) use dial::{DialOptions, Dialer, Dialing, LOOK};
pub(crate) use error::{NetError, Trouble};
pub(crate) use resolve::Spawn;
pub(crate) use stream::timespec;
