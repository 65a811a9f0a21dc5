//! Errors worth reading: the whole text of each kind, and what it says of trying again.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;

#[path = "error_texts/callers.rs"]
mod callers;
#[path = "error_texts/servers.rs"]
mod servers;
#[path = "error_texts/told.rs"]
mod told;
