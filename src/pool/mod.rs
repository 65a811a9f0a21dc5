//! One node's connections: who may have one, when it is opened, and what is done with it afterwards.
//!
//! `line` decides who goes next, `permits` (r2d2) keeps the cap, `lease` has a connection out or dials, `exchange`
//! runs one request, `shared` those of several callers together, `flight` batches for several nodes at once, `boarding` is how
//! such a batch comes by its connection, `waiting` how callers wait, `upkeep` is what
//! maintenance does to one node, `maintenance` the thread that does it, `blame` what a node last failed with.

mod blame;
mod boarding;
mod config;
mod crowd;
mod error;
mod exchange;
mod flight;
mod lease;
mod line;
mod maintenance;
mod node;
mod patience;
mod permits;
mod process;
mod shared;
#[cfg(test)]
mod solo;
mod sync;
mod ticket;
mod upkeep;
mod waiting;
mod wake;

pub(crate) use config::PoolConfig;
pub(crate) use error::PoolError;
pub(crate) use exchange::in_doubt;
pub(crate) use flight::{Fleet, Outcome};
pub(crate) use maintenance::Maintenance;
pub(crate) use node::{NodePool, NodeSetup};
pub(crate) use permits::Worker;
pub(crate) use process::Process;
