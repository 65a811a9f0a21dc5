//! Words that cannot hold an illegal value: keys, expiry times, server addresses, stored payloads.

mod addr;
mod key;
mod payload;
mod ttl;
mod wire;

pub(crate) use addr::Endpoint;
pub use addr::{Server, ServerError, ServerList};
pub(crate) use key::KeyRef;
pub use key::{Key, KeyError, ToKey};
pub use payload::Payload;
pub use ttl::{Ttl, TtlError};
pub use wire::LongKeys;
pub(crate) use wire::{KeyRules, WireKey, checked};
