//! How the client behaves when servers refuse, fall silent, lie, die and return, and when callers are too many.

#![allow(clippy::expect_used, clippy::panic, reason = "a test")]

mod support;

#[path = "failure/common.rs"]
mod common;

#[path = "failure/batches.rs"]
mod batches;
#[path = "failure/deadlines.rs"]
mod deadlines;
#[path = "failure/failover.rs"]
mod failover;
#[path = "failure/lifecycle.rs"]
mod lifecycle;
#[path = "failure/many.rs"]
mod many;
#[path = "failure/names.rs"]
mod names;
#[path = "failure/pool.rs"]
mod pool;
#[path = "failure/restart.rs"]
mod restart;
#[path = "failure/retry.rs"]
mod retry;
#[path = "failure/sync.rs"]
mod sync;
