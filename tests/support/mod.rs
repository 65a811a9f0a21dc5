//! What integration tests share: servers real, scripted and swallowing, lists of all calls, wire transcripts, a process of one's own.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::expect_used, clippy::panic, reason = "what goes wrong here fails the test")]

pub(crate) mod alone;
pub(crate) mod binary;
pub(crate) mod blackhole;
pub(crate) mod calls;
pub(crate) mod clients;
pub(crate) mod events;
pub(crate) mod memcached;
pub(crate) mod over;
pub(crate) mod ports;
pub(crate) mod script;
pub(crate) mod transcript;
pub(crate) mod watch;
