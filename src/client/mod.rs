//! The way in: the builder, the handle, and what a handle shows of itself.

mod builder;
mod config;
mod core;
mod handle;
mod observer;
mod status;

pub use builder::ClientBuilder;
pub use handle::Client;
pub(crate) use handle::{Call, Scratched};
pub use status::{ServerStatus, Status};
