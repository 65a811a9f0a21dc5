//! Faults that users of other clients met, and what users of this one get instead: a test or more for each.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::print_stdout, reason = "marks what a test writes")]

mod support;

#[path = "faults/addresses.rs"]
mod addresses;
#[path = "faults/cas.rs"]
mod cas;
#[path = "faults/dead_server.rs"]
mod dead_server;
#[path = "faults/distribution.rs"]
mod distribution;
#[path = "faults/expiry.rs"]
mod expiry;
#[path = "faults/multi_get.rs"]
mod multi_get;
#[path = "faults/pool.rs"]
mod pool;
#[path = "faults/process.rs"]
mod process;
#[path = "faults/proxies.rs"]
mod proxies;
