//! A blocking, pooled memcached client.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("mcpool supports Linux and macOS only");

#[cfg(feature = "testing")]
pub mod testing;
mod time;
mod types;

pub use types::{Key, KeyError, Server, ServerError, ServerList, ToKey, Ttl, TtlError};
