//! Why a value could not be stored, and why stored bytes could not be read.

use std::error::Error;
use std::fmt;

use crate::types::Payload;

use super::compress::{self, Form};
use super::layout::Layout;

type Source = Box<dyn Error + Send + Sync>;

/// A reason is cut here: serde's messages quote the value, which may be large or not for a log.
const SHOWN: usize = 160;

/// A value that the codec cannot hold. Nothing was sent.
#[derive(Debug)]
pub struct EncodeError(Box<EncodeInner>);

#[derive(Debug)]
struct EncodeInner {
    type_name: &'static str,
    codec: &'static str,
    why: String,
    source: Option<Source>,
}

impl EncodeError {
    pub(super) fn new(type_name: &'static str, codec: &'static str, why: String) -> Self {
        Self(Box::new(EncodeInner { type_name, codec, why: short(&why), source: None }))
    }

    pub(super) fn custom(type_name: &'static str, source: Source) -> Self {
        let (codec, why) = ("Custom", short(&source.to_string()));
        Self(Box::new(EncodeInner { type_name, codec, why, source: Some(source) }))
    }

    /// The Rust type of the value.
    pub fn type_name(&self) -> &'static str {
        self.0.type_name
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EncodeInner { type_name, codec, why, .. } = &*self.0;
        write!(f, "a value of type `{type_name}` cannot be stored with the {codec} codec: {why}")
    }
}

impl Error for EncodeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        source(self.0.source.as_ref())
    }
}

/// A stored value that cannot be read as the type asked for. Its bytes and flags are here.
///
/// It is no miss: the key is there, and the connection is in order.
#[derive(Debug)]
pub struct DecodeError(Box<DecodeInner>);

struct DecodeInner {
    asked: &'static str,
    codec: &'static str,
    meaning: Option<String>,
    kind: DecodeErrorKind,
    why: String,
    stored: Payload,
    source: Option<Source>,
}

impl fmt::Debug for DecodeInner {
    /// Without the value, which may be large or a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecodeInner")
            .field("asked", &self.asked)
            .field("codec", &self.codec)
            .field("kind", &self.kind)
            .field("why", &self.why)
            .field("flags", &self.stored.flags)
            .field("len", &self.stored.bytes.len())
            .finish_non_exhaustive()
    }
}

/// The start of a reason.
fn short(why: &str) -> String {
    match why.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", why.get(..end).unwrap_or_default()),
        None => why.to_owned(),
    }
}

/// What hindered the reading of a stored value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The flags are not the codec's: another client or another codec stored the value.
    UnknownFlags,
    /// The bytes hold no value of the type asked for, or not what their flags say.
    Mismatch,
    /// A Java object stream, which only Java can read.
    JavaObject,
    /// A Python pickle of something else than `None`, a `bool` or a `float`.
    Pickle,
    /// Ruby's `Marshal` of an array, a hash, an object or a string in another encoding than UTF-8.
    Marshal,
    /// Perl's `Storable`, which only Perl can read.
    Storable,
    /// PHP's `serialize` of an object, an enum or a reference.
    PhpObject,
    /// PHP's igbinary, which only PHP can read.
    Igbinary,
    /// MessagePack, as php-memcached stores it when told to.
    MessagePack,
    /// The value is compressed in a way that is not built into this program; the text names it.
    Compressed,
    /// The value is marked as compressed, and its bytes are damaged or cut short.
    Corrupt,
    /// The value is compressed, and larger than the client's largest value when inflated.
    TooLarge,
    /// A counter was asked for, and the number is stored in binary form.
    BinaryCounter,
    /// The custom codec refused it.
    Custom,
}

/// Why bytes under flags have no reading.
pub(super) enum Unreadable {
    UnknownFlags,
    Foreign(Format),
    Compressed(Form),
    #[cfg(feature = "compression")]
    Corrupt(Form),
    #[cfg(feature = "compression")]
    TooLarge(usize),
    BinaryCounter,
    Mismatch(serde_json::Error),
}

/// A way to store objects that only its own language reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Java,
    Pickle,
    Marshal,
    Storable,
    Php,
    Igbinary,
    MessagePack,
}

impl Format {
    /// What the bytes are.
    pub(super) fn what(self) -> &'static str {
        self.explain().1
    }

    /// The kind of the error, what the bytes are, and what to store instead.
    fn explain(self) -> (DecodeErrorKind, &'static str, &'static str) {
        match self {
            Self::Java => (
                DecodeErrorKind::JavaObject,
                "a serialized Java object",
                "a String, byte[] or number",
            ),
            Self::Pickle => (DecodeErrorKind::Pickle, "a Python pickle", "a str, bytes or int"),
            Self::Marshal => (
                DecodeErrorKind::Marshal,
                "a Ruby array, hash or object of Marshal",
                "a String or number, or use Dalli's serializer JSON",
            ),
            Self::Storable => (
                DecodeErrorKind::Storable,
                "a Perl structure of Storable",
                "a string, for instance of JSON",
            ),
            Self::Php => (
                DecodeErrorKind::PhpObject,
                "a serialized PHP object, enum or reference",
                "an array, a scalar or JSON",
            ),
            Self::Igbinary => (
                DecodeErrorKind::Igbinary,
                "a PHP value of igbinary",
                "a scalar, or use the serializer json or php",
            ),
            Self::MessagePack => (
                DecodeErrorKind::MessagePack,
                "a PHP value of msgpack",
                "a scalar, or use the serializer json or php",
            ),
        }
    }
}

impl DecodeError {
    /// An error of a layout, which read the value under `flags`: those stored, or those that a custom
    /// codec made of them.
    pub(super) fn new(
        asked: &'static str,
        layout: &dyn Layout,
        flags: u32,
        stored: Payload,
        unreadable: Unreadable,
    ) -> Self {
        let (kind, why) = unreadable.explain();
        Self(Box::new(DecodeInner {
            asked,
            codec: layout.name(),
            meaning: compress::meaning(layout, flags),
            kind,
            why,
            stored,
            source: None,
        }))
    }

    pub(super) fn custom(asked: &'static str, stored: Payload, source: Source) -> Self {
        Self(Box::new(DecodeInner {
            asked,
            codec: "Custom",
            meaning: None,
            kind: DecodeErrorKind::Custom,
            why: short(&source.to_string()),
            stored,
            source: Some(source),
        }))
    }

    /// What hindered the reading.
    pub fn kind(&self) -> DecodeErrorKind {
        self.0.kind
    }

    /// The Rust type asked for, or `counter`.
    pub fn asked(&self) -> &'static str {
        self.0.asked
    }

    /// The stored flags.
    pub fn flags(&self) -> u32 {
        self.0.stored.flags
    }

    /// The stored bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0.stored.bytes
    }

    /// The stored bytes and flags, without a copy.
    pub fn into_payload(self) -> Payload {
        self.0.stored
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DecodeInner { asked, codec, meaning, why, stored, .. } = &*self.0;
        let Payload { bytes, flags } = stored;
        write!(f, "{} bytes with flags {flags} (", bytes.len())?;
        match meaning {
            Some(meaning) => write!(f, "{codec} codec: {meaning}")?,
            None => write!(f, "not known to the {codec} codec")?,
        }
        write!(f, ") cannot be read as `{asked}`: {why}")
    }
}

impl Error for DecodeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        source(self.0.source.as_ref())
    }
}

impl Unreadable {
    /// The kind, and what to say about it: what is wrong and what to do.
    fn explain(self) -> (DecodeErrorKind, String) {
        match self {
            Self::Mismatch(error) => {
                let why = short(&error.to_string());
                let remedy = "read it as the type it was stored as, or use get_raw for the bytes";
                (DecodeErrorKind::Mismatch, format!("{why}; {remedy}"))
            }
            Self::UnknownFlags => (
                DecodeErrorKind::UnknownFlags,
                "another client or codec stored it; use that codec, or get_raw for the bytes"
                    .to_owned(),
            ),
            Self::Foreign(format) => {
                let (kind, what, instead) = format.explain();
                (kind, format!("{what}; have it stored as {instead}, or get_raw gives the bytes"))
            }
            Self::Compressed(form) => {
                let hindrance = match form {
                    Form::Zstd => "which this crate does not read; have zlib used",
                    _ => "and the feature `compression` is not built into this program",
                };
                let why = format!("compressed with {form}, {hindrance}; get_raw gives the bytes");
                (DecodeErrorKind::Compressed, why)
            }
            #[cfg(feature = "compression")]
            Self::Corrupt(form) => (
                DecodeErrorKind::Corrupt,
                format!("marked as compressed, but no whole {form} data; get_raw gives the bytes"),
            ),
            #[cfg(feature = "compression")]
            Self::TooLarge(most) => (
                DecodeErrorKind::TooLarge,
                format!("more than {most} bytes when inflated; max_value_bytes sets the limit"),
            ),
            Self::BinaryCounter => (
                DecodeErrorKind::BinaryCounter,
                "a number in binary form, in which the server cannot count; store counters with \
                 set_counter or with primitives_as_strings, or read this one with get"
                    .to_owned(),
            ),
        }
    }
}

fn source(source: Option<&Source>) -> Option<&(dyn Error + 'static)> {
    source.map(|source| &**source as &(dyn Error + 'static))
}
