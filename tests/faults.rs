//! Faults that users of other clients met, and what users of this one get instead: a test or more for each.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::print_stdout, reason = "marks what a test writes")]

mod support;

#[path = "faults/addresses.rs"]
mod addresses;
#[path = "faults/admin.rs"]
mod admin;
#[path = "faults/auth.rs"]
mod auth;
#[path = "faults/cas.rs"]
mod cas;
#[path = "faults/compression.rs"]
mod compression;
#[path = "faults/counters.rs"]
mod counters;
#[path = "faults/dead_server.rs"]
mod dead_server;
#[path = "faults/distribution.rs"]
mod distribution;
#[path = "faults/expiry.rs"]
mod expiry;
#[path = "faults/keys.rs"]
mod keys;
#[path = "faults/meta.rs"]
mod meta;
#[path = "faults/multi_get.rs"]
mod multi_get;
#[path = "faults/noreply.rs"]
mod noreply;
#[path = "faults/pool.rs"]
mod pool;
#[path = "faults/process.rs"]
mod process;
#[path = "faults/proxies.rs"]
mod proxies;
#[path = "contract/stand.rs"]
mod stand;
#[path = "faults/tls.rs"]
mod tls;
#[path = "faults/types.rs"]
mod types;
#[path = "faults/values.rs"]
mod values;
