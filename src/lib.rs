//! A blocking, pooled memcached client.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("mcpool supports Linux and macOS only");

mod health;
mod ring;
mod protocol;
mod time;
mod types;

pub use health::{BackOff, DownAfter, NodeState};
pub use ring::{Placement, PlacementError};
pub use types::{Key, KeyError, Server, ServerError, ServerList, ToKey, Ttl, TtlError};
mod codec;
mod time;
mod types;

pub use codec::{Codec, CustomCodec, DecodeError, DecodeErrorKind, EncodeError};
pub use types::{Key, KeyError, Payload, Server, ServerError, ServerList, ToKey, Ttl, TtlError};
