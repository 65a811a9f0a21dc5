//! Words that cannot hold an illegal value: keys, expiry times, server addresses, stored payloads.

mod addr;
mod key;
mod payload;
mod ttl;

pub(crate) use addr::Endpoint;
pub use addr::{Server, ServerError, ServerList};
pub use key::{Key, KeyError, ToKey};
pub(crate) use key::{KeyRef, KeyRules, WireKey};
pub use payload::Payload;
pub use ttl::{Ttl, TtlError};
