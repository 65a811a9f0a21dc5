//! A blocking, pooled memcached client.
//!
//! [`Client`] is a handle on one pool of connections per server. It is cheap to clone, can be shared by any
//! number of threads, needs no async runtime, and ends every call by one deadline. Its pool and its settings
//! follow Greg Whalin's Java client, whose clusters it can share.
//!
//! ```
//! # let server = mcpool::testing::TestServer::start()?;
//! # let address = server.address();
//! use std::time::Duration;
//!
//! let client = mcpool::Client::builder()
//!     .servers([address]) // "10.0.0.1:11211", "cache-b?weight=2", "unix:/run/memcached.sock"
//!     .max_connections(16)
//!     .timeout(Duration::from_millis(500))
//!     .build()?; // checks every setting, connects to nothing
//!
//! client.set("visits", &41, Duration::from_secs(600))?;
//! assert_eq!(client.incr("visits", 1)?, Some(42));
//! assert_eq!(client.get::<u64>("visits")?, Some(42));
//! assert_eq!(client.get::<String>("nobody")?, None); // a server said so; an outage is an error
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to look
//!
//! - Settings, each with its default: [`ClientBuilder`]. Addresses: [`Server`]. Lifetimes of values: [`Ttl`].
//! - What a type becomes on the server, and how to read what other clients wrote: [`Codec`], [`Preset`].
//! - Which server a key lives on: [`Placement`], [`KeyHash`], [`NameForm`], [`Key::routed`]; where other clients look: [`interop::explain`]. What happens when it fails: [`Failover`],
//!   [`BackOff`], [`DownAfter`].
//! - What went wrong, where, and whether it may have been applied: [`Error`], [`ErrorKind`].
//! - Many keys in one call, each with its own outcome: [`MultiGet`], [`Outcomes`].
//! - The pools from outside: [`Client::status`], [`Client::warm_up`], [`Client::restore`].
//! - Tests without a memcached: the module `testing`, behind the feature of that name.
//!
//! The repository's `docs/` has more: `semantics.md` (what each result means, what is retried, what happens
//! to a key when its server dies), `from-whalin.md` (each setting and method of the Java client and what it
//! is here), `interop.md` (clusters shared with other clients), `performance.md` (what a call costs), `architecture.md`
//! (how the house is built).
//!
//! # Floor plan
//!
//! Rooms are folders, and imports go downward only. A call comes in at the top with a typed value, goes down
//! once, and comes back up the same stairs.
//!
//! ```text
//! commands   the verbs: a key and a value become a request, a reply becomes a result
//! client     the handle: settings, the frame of a call, its deadline
//! codec      a value to bytes and flags, and back                           pure
//! router     which server, the next one, once more?     looks into ring     pure
//! pool       one server's connections                   looks into health   pure
//! net        bytes under a deadline
//! protocol   requests to bytes, bytes to replies, "still in step?"          no socket
//! types      keys, expiry times, addresses that cannot hold an illegal value
//! ```
//!
//! # Forks
//!
//! Build a client after the fork, not before it; or turn [`fork_check`](ClientBuilder::fork_check) on.
#![forbid(unsafe_code)]

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("mcpool supports Linux and macOS only");

#[cfg(feature = "_fuzzing")]
#[doc(hidden)]
pub mod benching;
mod client;
mod codec;
mod commands;
mod error;
#[cfg(feature = "_fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod health;
pub mod interop;
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
pub use codec::{Codec, CustomCodec, DecodeError, DecodeErrorKind, EncodeError, FlagMeaning};
pub use commands::{CasOutcome, CasToken, DumpedKey, Hits, Item, MultiGet, Outcomes, PerServer};
pub use error::{Error, ErrorKind, Phase, Result};
pub use health::{BackOff, DownAfter, NodeState};
pub use interop::{Preset, PresetError};
pub use ring::{KeyHash, NameForm, Placement, PlacementError};
pub use router::Failover;
pub use types::{
    Key, KeyError, LongKeys, Payload, Server, ServerError, ServerList, ToKey, Ttl, TtlError,
};

/// Runs the examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Runs the examples of the guide to shared clusters as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/interop.md")]
struct Interop;

/// Runs the examples of the migration guide as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/from-whalin.md")]
struct FromWhalin;
