//! The protocol without sockets: requests to bytes, bytes to replies, and "is the connection in step?".
//!
//! A [`Batch`] holds what goes out, in order. A [`Conversation`], which lives as long as its connection,
//! reads what comes back and alone decides whether the connection may be used again. The dialect's words
//! stand in `text/`; everything beside it is free of them.

mod batch;
mod body;
mod conversation;
mod event;
mod limits;
mod output;
mod part;
mod reply;
mod request;
mod scan;
mod text;
mod violation;

pub(crate) use batch::{Batch, Scratch};
pub(crate) use conversation::Conversation;
pub(crate) use limits::Limits;
pub(crate) use reply::{Hits, Refusal, RefusalKind, Reply, Rest, Value};
pub(crate) use request::{Request, StatsArgument, StoreVerb, Verb};
pub(crate) use violation::Violation;
