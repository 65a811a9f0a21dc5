//! A blocking, pooled memcached client.
#![forbid(unsafe_code)]

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("mcpool supports Linux and macOS only");

mod client;
mod codec;
mod commands;
mod error;
#[cfg(feature = "_fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod health;
mod interop;
mod net;
mod pool;
mod protocol;
mod ring;
mod router;
mod stats;
#[cfg(feature = "testing")]
pub mod testing;
mod time;
mod types;

pub use client::{Client, ClientBuilder, ServerStatus, Status};
pub use codec::{Codec, CustomCodec, DecodeError, DecodeErrorKind, EncodeError};
pub use commands::{CasOutcome, CasToken, DumpedKey, Hits, Item, MultiGet, Outcomes, PerServer};
pub use error::{Error, ErrorKind, Phase, Result};
pub use health::{BackOff, DownAfter, NodeState};
pub use interop::{Preset, PresetError};
pub use ring::{Placement, PlacementError};
pub use router::Failover;
pub use types::{Key, KeyError, Payload, Server, ServerError, ServerList, ToKey, Ttl, TtlError};
