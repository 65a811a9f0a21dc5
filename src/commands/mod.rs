//! The verbs of a client, one family a file.

mod admin;
mod body;
mod counter;
mod delete;
mod get;
mod multi;
mod outcomes;
mod plan;
mod reply;
mod seen;
mod shapes;
mod store;

pub use admin::{DumpedKey, PerServer};
pub use get::{CasToken, Item};
pub use outcomes::{Hits, MultiGet, Outcomes};
pub use store::CasOutcome;
