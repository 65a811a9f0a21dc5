//! The one error: what was tried, on which server, for which key, how long it took, and what to do now.

mod causes;
mod text;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::protocol::Verb;

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call could not find out, or could not do, what was asked.
///
/// A miss, a refused `add` and a changed cas token are values, not errors. The predicates say what
/// can be done next; [`Error::kind`] names the culprit.
#[derive(Clone)]
pub struct Error(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    phase: Option<Phase>,
    /// What was tried: the command, or the method where no command stands for it.
    call: Option<&'static str>,
    server: Option<Arc<str>>,
    key: Option<Box<[u8]>>,
    elapsed: Option<Duration>,
    detail: String,
    fate: Fate,
    raw: Option<(Vec<u8>, u32)>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// Who or what stands behind an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A setting, a server address or a cas token is wrong; the text names it.
    Config,
    /// The key is empty, too long or has illegal bytes; nothing was sent.
    InvalidKey,
    /// The expiry time is beyond what memcached can express; nothing was sent.
    InvalidTtl,
    /// The value, sent or received, is above `max_value_bytes`, or the server said that it is too large.
    ValueTooLarge,
    /// The value cannot be turned into bytes by the codec in use; nothing was sent.
    Encode,
    /// The stored bytes cannot be read as the type asked for; [`Error::raw_value`] has them.
    Decode,
    /// A counter call met a value that is not a decimal number.
    NotANumber,
    /// The deadline passed while talking to the server, or so soon while connecting that it says nothing of the server.
    Timeout,
    /// The deadline passed while waiting for a connection: all of them were in use.
    PoolExhausted,
    /// This process or its machine has no descriptor, memory or thread to spare; the server was not reached.
    OutOfResources,
    /// The server refuses connections, cannot be reached, or is known to be down.
    ServerDown,
    /// The connection broke during the exchange.
    ConnectionLost,
    /// The server answered with something that the protocol does not allow.
    Protocol,
    /// The server answered with an error line, which the text quotes.
    Refused,
    /// The delete reached a substitute; the key's own server may still hold the old value.
    Substituted,
    /// The client was closed.
    Closed,
}

/// The step of a call in which it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Checking and encoding the arguments; nothing was sent.
    Prepare,
    /// Waiting for a free connection.
    Wait,
    /// Looking up the server's name.
    Resolve,
    /// Connecting.
    Connect,
    /// Sending the request.
    Write,
    /// Waiting for the reply or reading it.
    Read,
    /// Decoding the value.
    Decode,
}

/// What is known of a request whose call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It surely had no effect.
    NotApplied,
    /// Its last byte went out and no reply was read.
    Unknown,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, detail: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            kind,
            phase: None,
            call: None,
            server: None,
            key: None,
            elapsed: None,
            detail: detail.into(),
            fate: Fate::NotApplied,
            raw: None,
            source: None,
        }))
    }

    /// A wrong setting, named as the builder's method.
    pub(crate) fn config(setting: &str, why: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Config, format!("setting `{setting}`: {why}"))
    }

    /// What stands behind the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The step in which the call failed, if it got as far as having one.
    pub fn phase(&self) -> Option<Phase> {
        self.0.phase
    }

    /// The name of the server, if one was chosen.
    pub fn server(&self) -> Option<&str> {
        self.0.server.as_deref()
    }

    /// The key, if the call had one: as it was sent, with prefix and encoding; as it was given, if it could not
    /// be sent and in calls for many keys.
    pub fn key(&self) -> Option<&[u8]> {
        self.0.key.as_deref()
    }

    /// How long the call had taken when it failed.
    pub fn elapsed(&self) -> Option<Duration> {
        self.0.elapsed
    }

    /// Bytes and flags of a value that could not be decoded, or that is not a number.
    pub fn raw_value(&self) -> Option<(&[u8], u32)> {
        self.0.raw.as_ref().map(|(bytes, flags)| (bytes.as_slice(), *flags))
    }

    /// What came of it, without its context.
    pub(crate) fn detail(&self) -> &str {
        &self.0.detail
    }

    /// Whether the deadline passed, in the exchange or while waiting for a connection.
    pub fn is_timeout(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Timeout | ErrorKind::PoolExhausted)
    }

    /// Whether the server could not be reached or is known to be down.
    pub fn is_server_down(&self) -> bool {
        self.0.kind == ErrorKind::ServerDown
    }

    /// Whether the same call may succeed later without anything being changed: a failure of a server, of
    /// time or of this machine's resources. These are what [`errors_as_misses`](crate::ClientBuilder::errors_as_misses) turns into misses.
    ///
    /// Look at [`Error::may_have_been_applied`] before repeating a call that is not idempotent.
    pub fn may_retry(&self) -> bool {
        matches!(
            self.0.kind,
            ErrorKind::Timeout
                | ErrorKind::PoolExhausted
                | ErrorKind::OutOfResources
                | ErrorKind::ServerDown
                | ErrorKind::ConnectionLost
                | ErrorKind::Protocol
                | ErrorKind::Substituted
        )
    }

    /// Whether a write may have taken effect although its reply was never read. Never true of a call that only reads.
    ///
    /// True of [`ErrorKind::Substituted`], too: the substitute did carry the delete out.
    pub fn may_have_been_applied(&self) -> bool {
        self.0.fate == Fate::Unknown
    }

    fn inner(&mut self) -> &mut Inner {
        Arc::make_mut(&mut self.0)
    }

    pub(crate) fn with_phase(mut self, phase: Phase) -> Self {
        self.inner().phase = Some(phase);
        self
    }

    pub(crate) fn with_fate(mut self, fate: Fate) -> Self {
        self.inner().fate = fate;
        self
    }

    pub(crate) fn with_server(mut self, server: &Arc<str>) -> Self {
        if self.0.server.is_none() {
            self.inner().server = Some(server.clone());
        }
        self
    }

    pub(crate) fn with_call(mut self, verb: Verb, key: Option<&[u8]>) -> Self {
        let inner = self.inner();
        inner.call = Some(verb.name());
        if inner.key.is_none() {
            inner.key = key.map(Into::into);
        }
        // What only reads has no effect that could be in doubt.
        if verb.is_read() {
            inner.fate = Fate::NotApplied;
        }
        self
    }

    /// As [`Self::with_call`] where no command stands for what was tried.
    pub(crate) fn with_method(mut self, method: &'static str) -> Self {
        self.inner().call = Some(method);
        self
    }

    pub(crate) fn with_elapsed(mut self, elapsed: Duration) -> Self {
        self.inner().elapsed = Some(elapsed);
        self
    }

    pub(crate) fn with_raw(mut self, bytes: Vec<u8>, flags: u32) -> Self {
        self.inner().raw = Some((bytes, flags));
        self
    }

    /// Says how large the value was that turned out to be too large.
    pub(crate) fn with_size(mut self, bytes: usize) -> Self {
        if self.0.kind == ErrorKind::ValueTooLarge {
            let inner = self.inner();
            inner.detail = format!("the value has {bytes} bytes, and {}", inner.detail);
        }
        self
    }

    pub(crate) fn with_source(
        mut self,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        self.inner().source = Some(Arc::new(source));
        self
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|s| s as _)
    }
}
