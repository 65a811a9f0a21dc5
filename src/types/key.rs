//! Keys: what a caller names, checked and made into what goes over the wire.

use std::fmt;

/// The longest key memcached takes, in bytes (`KEY_MAX_LENGTH` in protocol.txt: 250 characters).
const MAX_KEY: usize = 250;

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
    /// More than 250 bytes, counted after prefix and encoding.
    TooLong {
        /// The length reached, in bytes.
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
            Self::Empty => f.write_str("the key is empty"),
            Self::TooLong { len } => {
                write!(f, "the key has {len} bytes with its prefix, {MAX_KEY} are allowed")
            }
            Self::IllegalByte { byte, at } => write!(
                f,
                "the key has the byte 0x{byte:02x} at position {at}; spaces and control characters are not allowed"
            ),
        }
    }
}

impl std::error::Error for KeyError {}

/// What a handle does to each key on its way to the wire.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyRules {
    /// Put before every key, once.
    pub(crate) prefix: Vec<u8>,
    /// URL-encode keys as Whalin's client does.
    pub(crate) sanitize: bool,
}

impl KeyRules {
    /// Checks that the prefix is legal and leaves room for at least one byte of key.
    pub(crate) fn check_prefix(&self) -> Result<(), KeyError> {
        Self { prefix: self.prefix.clone(), sanitize: false }.wire(b"k").map(drop)
    }

    /// As [`Self::wire`], in `room` only if it does not go out as it is.
    pub(crate) fn wire_in<'k>(
        &self,
        key: &'k [u8],
        room: &'k mut Option<WireKey>,
    ) -> Result<&'k [u8], KeyError> {
        if self.prefix.is_empty() && !self.sanitize {
            return checked(key);
        }
        Ok(room.insert(self.wire(key)?).as_bytes())
    }

    /// The key as it goes over the wire, or what is wrong with it.
    pub(crate) fn wire(&self, key: &[u8]) -> Result<WireKey, KeyError> {
        if key.is_empty() {
            return Err(KeyError::Empty);
        }
        let mut wire = WireKey { len: 0, bytes: [0; MAX_KEY] };
        wire.push(&self.prefix);
        if self.sanitize {
            url_encode(key, |bytes| wire.push(bytes));
        } else {
            wire.push(key);
        }
        if wire.len > MAX_KEY {
            return Err(KeyError::TooLong { len: wire.len });
        }
        checked(wire.as_bytes())?;
        Ok(wire)
    }
}

/// A key that a server takes: 1 to 250 bytes, none of them blank or a control character.
#[derive(Clone, Copy)]
pub(crate) struct WireKey {
    len: usize,
    bytes: [u8; MAX_KEY],
}

impl WireKey {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len.min(MAX_KEY)]
    }

    /// Adds bytes; what no longer fits is counted only.
    fn push(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        if let Some(room) = self.bytes.get_mut(self.len..end) {
            room.copy_from_slice(bytes);
        }
        self.len = end;
    }
}

/// The bytes, if a server takes them as a key.
fn checked(key: &[u8]) -> Result<&[u8], KeyError> {
    if key.len() > MAX_KEY {
        return Err(KeyError::TooLong { len: key.len() });
    }
    if key.is_empty() {
        return Err(KeyError::Empty);
    }
    match key.iter().copied().enumerate().find(|(_, byte)| *byte <= b' ' || *byte == 0x7f) {
        Some((at, byte)) => Err(KeyError::IllegalByte { byte, at }),
        None => Ok(key),
    }
}

impl fmt::Debug for WireKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WireKey({:?})", String::from_utf8_lossy(self.as_bytes()))
    }
}

/// URL form encoding as `java.net.URLEncoder` does it: letters, digits and `.-*_` stay, a space
/// becomes `+`, every other byte `%XX` in upper case.
fn url_encode(key: &[u8], mut out: impl FnMut(&[u8])) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for &byte in key {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => out(&[byte]),
            b' ' => out(b"+"),
            _ => out(&[b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By both ways, which have to agree.
    fn wire(rules: &KeyRules, key: &str) -> Result<String, KeyError> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let wire = rules.wire(key.as_bytes()).map(|k| text(k.as_bytes()));
        assert_eq!(rules.wire_in(key.as_bytes(), &mut None).map(text), wire);
        wire
    }

    #[test]
    fn plain_keys_go_out_as_they_are_up_to_250_bytes() {
        let rules = KeyRules::default();
        assert_eq!(wire(&rules, "user:42"), Ok("user:42".to_owned()));
        assert_eq!(wire(&rules, &"k".repeat(250)), Ok("k".repeat(250)));
        assert_eq!(wire(&rules, &"k".repeat(251)), Err(KeyError::TooLong { len: 251 }));
        assert_eq!(wire(&rules, &"k".repeat(100_000)), Err(KeyError::TooLong { len: 100_000 }));
        assert_eq!(wire(&rules, "grün"), Ok("grün".to_owned()));
    }

    #[test]
    fn bytes_that_would_split_the_command_line_are_named() {
        let rules = KeyRules::default();
        for (key, byte, at) in
            [("a b", b' ', 1), ("x\r\nflush_all", b'\r', 1), ("\0", 0, 0), ("ab\x7f", 0x7f, 2)]
        {
            assert_eq!(wire(&rules, key), Err(KeyError::IllegalByte { byte, at }), "{key:?}");
        }
        assert_eq!(wire(&rules, ""), Err(KeyError::Empty));
    }

    #[test]
    fn a_prefix_counts_toward_the_limit_and_does_not_hide_an_empty_key() {
        let rules = KeyRules { prefix: b"app:".to_vec(), sanitize: false };
        assert_eq!(wire(&rules, "k"), Ok("app:k".to_owned()));
        assert_eq!(wire(&rules, &"k".repeat(247)), Err(KeyError::TooLong { len: 251 }));
        assert_eq!(wire(&rules, ""), Err(KeyError::Empty));
    }
}
