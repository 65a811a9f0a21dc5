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
#[cfg(feature = "compression")]
#[path = "faults/compressed.rs"]
mod compressed;
#[path = "faults/compression.rs"]
mod compression;
#[path = "faults/counters.rs"]
mod counters;
#[path = "faults/dead_server.rs"]
mod dead_server;
#[path = "faults/desync.rs"]
mod desync;
#[path = "faults/distribution.rs"]
mod distribution;
#[path = "faults/errors.rs"]
mod errors;
#[path = "faults/expiry.rs"]
mod expiry;
#[path = "faults/half_dead.rs"]
mod half_dead;
#[path = "faults/keys.rs"]
mod keys;
#[path = "faults/meta.rs"]
mod meta;
#[path = "faults/multi_get.rs"]
mod multi_get;
#[path = "faults/noreply.rs"]
mod noreply;
#[path = "faults/parsing.rs"]
mod parsing;
#[path = "faults/pool.rs"]
mod pool;
#[path = "faults/pool_size.rs"]
mod pool_size;
#[path = "faults/process.rs"]
mod process;
#[path = "faults/proxies.rs"]
mod proxies;
#[path = "faults/recovery.rs"]
mod recovery;
#[path = "faults/server_limits.rs"]
mod server_limits;
#[path = "contract/stand.rs"]
mod stand;
#[path = "faults/timeouts.rs"]
mod timeouts;
#[path = "faults/tls.rs"]
mod tls;
#[path = "faults/types.rs"]
mod types;
#[path = "faults/values.rs"]
mod values;
