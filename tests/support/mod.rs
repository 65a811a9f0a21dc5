//! What integration tests share: servers real, scripted and swallowing, wire transcripts, a process of one's own.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod alone;
pub(crate) mod blackhole;
pub(crate) mod memcached;
pub(crate) mod script;
pub(crate) mod transcript;
