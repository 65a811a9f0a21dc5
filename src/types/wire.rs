//! The way of a key to the wire: prefix, encoding, the rule for long keys, and the check.

use std::borrow::Cow;
use std::fmt;

use super::key::{KeyError, MAX_KEY};

/// What becomes of a key that is too long for memcached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum LongKeys {
    /// It is an error.
    #[default]
    Refuse,
    /// As in dalli: a key of more than 250 characters, prefix included, becomes its first characters, `:md5:` and the
    /// MD5 of the whole in hexadecimal: 249 characters, or 250 with a prefix.
    Md5,
}

/// What a handle does to each key on its way to the wire.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyRules {
    /// Put before every key, once.
    pub(crate) prefix: Vec<u8>,
    /// Leaves the prefix out where a key chooses its server.
    pub(crate) hash_without_prefix: bool,
    /// URL-encode keys as Whalin's client does.
    pub(crate) sanitize: bool,
    pub(crate) long: LongKeys,
}

impl KeyRules {
    /// Checks that the prefix is legal and leaves room for at least one byte of key.
    pub(crate) fn check_prefix(&self) -> Result<(), KeyError> {
        if self.prefix.len() >= MAX_KEY {
            return Err(KeyError::PrefixTooLong { len: self.prefix.len() });
        }
        Self { prefix: self.prefix.clone(), ..Self::default() }.wire(b"k").map(drop)
    }

    /// As [`Self::wire`], in `room` only if it does not go out as it is.
    pub(crate) fn wire_in<'k>(
        &self,
        key: &'k [u8],
        room: &'k mut Option<WireKey>,
    ) -> Result<&'k [u8], KeyError> {
        if self.rewrites() { Ok(room.insert(self.wire(key)?).as_bytes()) } else { checked(key) }
    }

    /// Whether a key may go over the wire in another form than its own; if not, [`checked`] is all it needs.
    pub(crate) fn rewrites(&self) -> bool {
        !self.prefix.is_empty() || self.sanitize || self.long != LongKeys::Refuse
    }

    /// The key as it goes over the wire, or what is wrong with it.
    pub(crate) fn wire(&self, key: &[u8]) -> Result<WireKey, KeyError> {
        if key.is_empty() {
            return Err(KeyError::Empty);
        }
        let mut wire = WireKey { len: 0, bytes: [0; MAX_KEY] };
        self.write(key, |bytes| wire.push(bytes));
        if wire.len > MAX_KEY && self.long == LongKeys::Md5 {
            let mut whole = Vec::with_capacity(wire.len);
            self.write(key, |bytes| whole.extend_from_slice(bytes));
            wire.len = 0;
            wire.push(&digested(&whole, !self.prefix.is_empty()));
        }
        if wire.len > MAX_KEY {
            return Err(KeyError::TooLong { len: wire.len, given: key.len() });
        }
        checked(wire.as_bytes())?;
        Ok(wire)
    }

    /// How many bytes of a wire key have no say in which server it lives on.
    pub(crate) fn unhashed(&self) -> usize {
        if self.hash_without_prefix { self.prefix.len() } else { 0 }
    }

    fn write(&self, key: &[u8], mut out: impl FnMut(&[u8])) {
        out(&self.prefix);
        if self.sanitize {
            url_encode(key, out);
        } else {
            out(key);
        }
    }
}

/// The key in place of one that is longer than 250 characters; bytes that are no text count as a character each.
fn digested(whole: &[u8], prefixed: bool) -> Cow<'_, [u8]> {
    let ends: Vec<usize> = match std::str::from_utf8(whole) {
        Ok(text) => text.char_indices().map(|(at, c)| at + c.len_utf8()).collect(),
        Err(_) => (1..=whole.len()).collect(),
    };
    if ends.len() <= MAX_KEY {
        return whole.into();
    }
    let digest = format!(":md5:{:x}", md5::compute(whole));
    let kept = MAX_KEY - usize::from(!prefixed) - digest.len();
    let end = ends.get(kept - 1).copied().unwrap_or(whole.len());
    [whole.get(..end).unwrap_or(whole), digest.as_bytes()].concat().into()
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
#[inline]
pub(crate) fn checked(key: &[u8]) -> Result<&[u8], KeyError> {
    if key.len() > MAX_KEY {
        return Err(KeyError::TooLong { len: key.len(), given: key.len() });
    }
    if key.is_empty() {
        return Err(KeyError::Empty);
    }
    let is_illegal = |byte: u8| byte <= b' ' || byte == 0x7f;
    // Without a way out in its middle this takes many bytes at a time.
    if !key.iter().fold(false, |found, byte| found | is_illegal(*byte)) {
        return Ok(key);
    }
    match key.iter().copied().enumerate().find(|(_, byte)| is_illegal(*byte)) {
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

    fn too_long(len: usize, given: usize) -> Result<String, KeyError> {
        Err(KeyError::TooLong { len, given })
    }

    #[test]
    fn a_key_that_is_too_long_is_told_with_the_length_that_was_given() {
        for (len, given, start) in [
            (251, 251, "the key has 251 bytes, 250 are allowed"),
            (251, 247, "the key has 247 bytes, 251 as it would be sent, 250 are allowed"),
        ] {
            let text = KeyError::TooLong { len, given }.to_string();
            assert!(text.starts_with(start), "{text}");
        }
        let prefixed = |len| KeyRules { prefix: vec![b'p'; len], ..KeyRules::default() };
        assert_eq!(prefixed(249).check_prefix(), Ok(()));
        let error = prefixed(250).check_prefix().expect_err("no room for a key").to_string();
        assert_eq!(error, "the prefix has 250 bytes, 249 are allowed: a key follows");
    }

    #[test]
    fn plain_keys_go_out_as_they_are_up_to_250_bytes() {
        let rules = KeyRules::default();
        assert_eq!(wire(&rules, "user:42"), Ok("user:42".to_owned()));
        assert_eq!(wire(&rules, &"k".repeat(250)), Ok("k".repeat(250)));
        assert_eq!(wire(&rules, &"k".repeat(251)), too_long(251, 251));
        assert_eq!(wire(&rules, &"k".repeat(100_000)), too_long(100_000, 100_000));
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
        let rules = KeyRules { prefix: b"app:".to_vec(), ..KeyRules::default() };
        assert_eq!(wire(&rules, "k"), Ok("app:k".to_owned()));
        assert_eq!(wire(&rules, &"k".repeat(247)), too_long(251, 247));
        assert_eq!(wire(&rules, ""), Err(KeyError::Empty));
    }

    /// Recorded from dalli 3.0.6.
    #[test]
    fn long_keys_are_digested_as_by_dalli() {
        let plain = KeyRules { long: LongKeys::Md5, ..KeyRules::default() };
        let spaced = KeyRules { prefix: b"ns:".to_vec(), ..plain.clone() };
        for (rules, len, kept, digest) in [
            (&plain, 300, 212, "5a69e4537adaa28f65c3e6cc605b46dd"),
            (&spaced, 300, 210, "85d26c0c7a94895d412f9fecf14786d8"),
            (&plain, 251, 212, "f0506ef804c48c4c4a9816dcef0b6091"),
            (&spaced, 248, 210, "91e51f8b3d532a6a166cd75a00f4c7ea"),
        ] {
            let prefix = String::from_utf8_lossy(&rules.prefix);
            let expected = format!("{prefix}{}:md5:{digest}", "k".repeat(kept));
            assert_eq!(wire(rules, &"k".repeat(len)), Ok(expected));
        }
        assert_eq!(wire(&plain, &"k".repeat(250)), Ok("k".repeat(250)));
        assert_eq!(wire(&spaced, &"k".repeat(247)), Ok(format!("ns:{}", "k".repeat(247))));
    }

    #[test]
    fn a_long_key_is_measured_in_characters_and_what_is_left_in_bytes() {
        let rules = KeyRules { long: LongKeys::Md5, ..KeyRules::default() };
        assert_eq!(wire(&rules, &"é".repeat(250)), too_long(500, 500));
        assert_eq!(wire(&rules, &"é".repeat(251)), too_long(2 * 212 + 37, 502));
        let mixed = "k".repeat(230) + &"é".repeat(21);
        let wired = wire(&rules, &mixed).expect("212 letters and a digest");
        assert!(wired.starts_with(&("k".repeat(212) + ":md5:")) && wired.len() == 249, "{wired}");
    }

    #[test]
    fn a_prefix_has_no_say_in_the_server_where_that_is_asked_for() {
        let rules = KeyRules { prefix: b"app:".to_vec(), ..KeyRules::default() };
        assert_eq!(rules.unhashed(), 0);
        assert_eq!(KeyRules { hash_without_prefix: true, ..rules }.unhashed(), 4);
    }
}
