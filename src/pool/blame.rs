//! What a node last failed with, kept for those who are turned away while it is down.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::error::Error;
use crate::net::NetError;

/// The last failure that counted against a node.
#[derive(Debug, Default)]
pub(super) struct Blame(Mutex<Option<(Instant, Arc<str>)>>);

/// The same, seen from a later call.
#[derive(Debug, Clone)]
pub(crate) struct Fall {
    pub(super) why: Arc<str>,
    pub(super) ago: Duration,
}

impl Blame {
    pub(super) fn put(&self, now: Instant, e: &NetError) {
        self.put_text(now, Error::from(e.again(false)).detail());
    }

    pub(super) fn put_text(&self, now: Instant, why: &str) {
        let why = Arc::from(why);
        *self.0.lock() = Some((now, why));
    }

    pub(super) fn seen(&self, now: Instant) -> Option<Fall> {
        let (at, why) = self.0.lock().clone()?;
        Some(Fall { why, ago: now.saturating_duration_since(at) })
    }
}
