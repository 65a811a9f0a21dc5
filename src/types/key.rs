//! Keys: what a caller names, how it chooses a server, and what can be wrong with it.

use std::fmt;

/// The longest key memcached takes, in bytes (`KEY_MAX_LENGTH` in protocol.txt: 250 characters).
pub(super) const MAX_KEY: usize = 250;

/// A key with a say in which server it lives on.
///
/// Most calls take a plain `&str`, `String` or `&[u8]`. A `Key` is for two cases: bytes that should
/// live beside another key ([`Key::routed`]) and a hash computed elsewhere ([`Key::hashed`], the
/// place of the `hashCode` argument of Whalin's client).
///
/// ```
/// use mcpool::Key;
/// let profile = Key::routed("user:42:profile", "user:42");
/// let same_server = Key::routed("user:42:orders", "user:42");
/// # let _ = (profile, same_server);
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Key {
    bytes: Vec<u8>,
    route: Route,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Route {
    Itself,
    By(Vec<u8>),
    Hash(i32),
}

impl Key {
    /// A key that is placed by its own bytes, as a plain `&str` is.
    pub fn new(key: impl Into<Vec<u8>>) -> Self {
        Self { bytes: key.into(), route: Route::Itself }
    }

    /// A key that lives on the server which `by` belongs to.
    ///
    /// `by` is hashed as it stands, without prefix and without URL-encoding.
    pub fn routed(key: impl Into<Vec<u8>>, by: impl Into<Vec<u8>>) -> Self {
        Self { bytes: key.into(), route: Route::By(by.into()) }
    }

    /// A key whose hash is given: it replaces the placement's own hash for the first choice of a server.
    ///
    /// As in Whalin's client, failover hashes the key's text again.
    pub fn hashed(key: impl Into<Vec<u8>>, hash: i32) -> Self {
        Self { bytes: key.into(), route: Route::Hash(hash) }
    }

    /// The key's bytes, before prefix and encoding.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({:?})", String::from_utf8_lossy(&self.bytes))
    }
}

impl From<&str> for Key {
    fn from(key: &str) -> Self {
        Self::new(key)
    }
}

impl From<String> for Key {
    fn from(key: String) -> Self {
        Self::new(key)
    }
}

impl From<&[u8]> for Key {
    fn from(key: &[u8]) -> Self {
        Self::new(key)
    }
}

mod sealed {
    /// Keeps `ToKey` closed, so that it can grow.
    pub trait Sealed {}
}

/// What can stand for a key: `str`, `String`, byte slices and arrays, [`Key`], and references to them.
///
/// The trait is sealed. A key has 1 to 250 bytes after prefix and encoding, none of them at or below
/// 0x20 and none 0x7f; each call checks that before any I/O (protocol.txt, "Keys", and the control
/// characters that some servers let through).
pub trait ToKey: sealed::Sealed {
    /// The key's bytes and how it chooses a server; of no use outside the crate.
    #[doc(hidden)]
    fn to_key(&self) -> KeyRef<'_>;
}

/// A borrowed key with its way to a server.
#[derive(Debug, Clone, Copy)]
pub struct KeyRef<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) by: Option<&'a [u8]>,
    pub(crate) hash: Option<i32>,
}

impl<'a> KeyRef<'a> {
    fn plain(bytes: &'a [u8]) -> Self {
        Self { bytes, by: None, hash: None }
    }

    /// What chooses the server of this key, whose form on the wire is `wire`, of which the first `unhashed` bytes
    /// have no say.
    pub(crate) fn place(self, wire: &'a [u8], unhashed: usize) -> &'a [u8] {
        self.by.unwrap_or_else(|| wire.get(unhashed..).unwrap_or(wire))
    }
}

macro_rules! plain_key {
    ($($kind:ty),+) => {$(
        impl sealed::Sealed for $kind {}
        impl ToKey for $kind {
            fn to_key(&self) -> KeyRef<'_> {
                KeyRef::plain(self.as_ref())
            }
        }
    )+};
}

plain_key!(str, String, [u8], Vec<u8>);

impl<const N: usize> sealed::Sealed for [u8; N] {}
impl<const N: usize> ToKey for [u8; N] {
    fn to_key(&self) -> KeyRef<'_> {
        KeyRef::plain(self)
    }
}

impl sealed::Sealed for Key {}
impl ToKey for Key {
    fn to_key(&self) -> KeyRef<'_> {
        let (by, hash) = match &self.route {
            Route::Itself => (None, None),
            Route::By(by) => (Some(by.as_slice()), None),
            Route::Hash(hash) => (None, Some(*hash)),
        };
        KeyRef { bytes: &self.bytes, by, hash }
    }
}

impl<T: ToKey + ?Sized> sealed::Sealed for &T {}
impl<T: ToKey + ?Sized> ToKey for &T {
    fn to_key(&self) -> KeyRef<'_> {
        (**self).to_key()
    }
}

/// Why a key cannot go to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// No bytes at all.
    Empty,
    /// More than 250 bytes, counted after prefix, encoding and [`LongKeys`](crate::LongKeys).
    TooLong {
        /// The length reached, in bytes.
        len: usize,
        /// The length that the program gave, in bytes.
        given: usize,
    },
    /// A prefix that leaves no room for a key.
    PrefixTooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// A space, a control character or DEL, which would end or split the command line.
    IllegalByte {
        /// The byte.
        byte: u8,
        /// Its position in the key as it would be sent.
        at: usize,
    },
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the key is empty; it needs a byte at least"),
            Self::TooLong { len, given } => {
                write!(f, "the key has {given} bytes, ")?;
                if len != given {
                    write!(f, "{len} as it would be sent, ")?;
                }
                write!(f, "{MAX_KEY} are allowed; shorten or hash it")
            }
            Self::PrefixTooLong { len } => {
                write!(f, "the prefix has {len} bytes, {} are allowed: a key follows", MAX_KEY - 1)
            }
            Self::IllegalByte { byte, at } => write!(
                f,
                "the key has the byte 0x{byte:02x} at position {at}; spaces and control characters are not allowed: encode \
                 them, by `sanitize_keys` say"
            ),
        }
    }
}

impl std::error::Error for KeyError {}
