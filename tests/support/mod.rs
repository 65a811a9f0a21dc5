//! What integration tests share: a real memcached, and an address that swallows connections, wire transcripts.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::expect_used, clippy::panic, reason = "what goes wrong here fails the test")]

pub(crate) mod blackhole;
pub(crate) mod memcached;
pub(crate) mod transcript;
