//! Faults that users of other clients met, and what users of this one get instead: a test or more for each.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::print_stdout, reason = "marks what a test writes")]

mod support;

#[path = "faults/keys.rs"]
mod keys;
#[allow(dead_code, reason = "the contract suite uses the rest")]
#[path = "contract/stand.rs"]
mod stand;
#[path = "faults/values.rs"]
mod values;
