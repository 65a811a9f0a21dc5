//! What the rooms below report, as errors of a call.

use super::{Error, ErrorKind, Phase};
use crate::codec::{DecodeError, EncodeError};
use crate::protocol::{Refusal, RefusalKind, Violation};
use crate::types::{KeyError, ServerError, TtlError};

impl From<KeyError> for Error {
    fn from(e: KeyError) -> Self {
        Self::new(ErrorKind::InvalidKey, e.to_string()).with_phase(Phase::Prepare).with_source(e)
    }
}

impl From<TtlError> for Error {
    fn from(e: TtlError) -> Self {
        Self::new(ErrorKind::InvalidTtl, e.to_string()).with_phase(Phase::Prepare).with_source(e)
    }
}

impl From<ServerError> for Error {
    fn from(e: ServerError) -> Self {
        Self::config("servers", &e).with_source(e)
    }
}

impl From<EncodeError> for Error {
    fn from(e: EncodeError) -> Self {
        Self::new(ErrorKind::Encode, e.to_string()).with_phase(Phase::Prepare).with_source(e)
    }
}

impl From<DecodeError> for Error {
    fn from(e: DecodeError) -> Self {
        let (text, bytes, flags) = (e.to_string(), e.bytes().to_vec(), e.flags());
        Self::new(ErrorKind::Decode, text)
            .with_phase(Phase::Decode)
            .with_raw(bytes, flags)
            .with_source(e)
    }
}

impl From<Violation> for Error {
    fn from(e: Violation) -> Self {
        let kind = match e {
            Violation::ValueTooLarge { .. } => ErrorKind::ValueTooLarge,
            _ => ErrorKind::Protocol,
        };
        Self::new(kind, e.to_string()).with_phase(Phase::Read).with_source(e)
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        let kind = match refusal.kind {
            RefusalKind::TooLarge => ErrorKind::ValueTooLarge,
            RefusalKind::NotANumber => ErrorKind::NotANumber,
            _ => ErrorKind::Refused,
        };
        Self::new(kind, format!("the server answered `{}`", refusal.text))
    }
}
