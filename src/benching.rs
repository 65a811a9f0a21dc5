//! Doors for the micro-benches into rooms that are private otherwise; not for use.

use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::codec::Transcoder;
use crate::protocol::{Batch, Conversation, Limits, Reply, Request, Scratch, StoreVerb};
use crate::time::Deadline;

/// Appends the value as the default codec stores it; its flags, or `None` when it cannot be stored.
pub fn encode<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Option<u32> {
    Transcoder::default().encode(value, out).ok()
}

/// Reads what [`encode`] made; `None` when it is no `T`.
pub fn decode<T: DeserializeOwned>(flags: u32, bytes: &mut Vec<u8>) -> Option<T> {
    Transcoder::default().decode(flags, bytes).ok()
}

/// Takes a connection from the first server's pool and gives it back unused; whether there was one.
pub fn check_out_and_in(client: &Client) -> bool {
    let now = Instant::now();
    let deadline = Deadline::after(now, Duration::from_secs(1));
    client.router().nodes().first().is_some_and(|node| node.check_out_and_in(deadline, now))
}

/// Both directions of one connection, without the connection.
#[derive(Debug, Default)]
pub struct Wire {
    scratch: Scratch,
    conversation: Conversation,
}

impl Wire {
    /// The wire of a fresh connection.
    pub fn new() -> Self {
        Self { conversation: Conversation::new(Limits::default()), ..Self::default() }
    }

    /// Encodes a store; how many bytes it takes.
    pub fn set(&mut self, key: &[u8], value: &[u8]) -> usize {
        let request = Request::Store { verb: StoreVerb::Set, key, flags: 0, exptime: 0, value };
        self.exchange(&request, None).0
    }

    /// Encodes a read; how many bytes it takes.
    pub fn get(&mut self, keys: &[&[u8]]) -> usize {
        self.exchange(&Request::Get { keys, cas: false }, None).0
    }

    /// Encodes a read and decodes what it was answered; how many values came.
    pub fn get_answered(&mut self, keys: &[&[u8]], answer: &[u8]) -> usize {
        match self.exchange(&Request::Get { keys, cas: false }, Some(answer)).1 {
            Some(Reply::Value(value)) => usize::from(value.is_some()),
            Some(Reply::Values(hits)) => hits.values.len(),
            _ => 0,
        }
    }

    fn exchange(
        &mut self,
        request: &Request<'_, '_>,
        answer: Option<&[u8]>,
    ) -> (usize, Option<Reply>) {
        let mut batch = Batch::reusing(std::mem::take(&mut self.scratch));
        batch.push(request);
        let len = batch.wire_len();
        let reply = answer.and_then(|answer| {
            self.conversation.begin(&batch);
            self.conversation.feed(&mut batch, len, answer).ok()?;
            self.conversation.take(0)
        });
        self.scratch = batch.into_scratch();
        (len, reply)
    }
}
