//! Which codec a client uses: the choice, with every client's table of flags.

use std::sync::Arc;

use super::compress;
use super::custom::CustomCodec;
use super::json::Json;
use super::layout::Layout;
use super::raw::Raw;
use super::whalin::Whalin;
use super::{dialects, serializing};

/// How values become bytes and flags, and back.
///
/// All of them tell apart a miss and a stored `None`, and keep an empty string or byte sequence as a
/// value. What a codec cannot hold is an [`EncodeError`](crate::EncodeError) before anything is sent; what it cannot read
/// is a [`DecodeError`](crate::DecodeError) that carries the bytes.
///
/// Byte sequences need no wrapper type: a sequence or tuple whose elements are all `u8` (`Vec<u8>`,
/// `&[u8]`, `[u8; 4]`, `serde_bytes`) is stored as its bytes. An empty sequence of any type is stored
/// as empty bytes and read back as empty. A `Vec<u8>` inside a structure is a JSON array.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Codec {
    /// Strings as text, bytes as bytes, everything else as JSON. The default.
    ///
    /// Numbers are therefore decimal text, and `incr` works on what `set` stored.
    ///
    /// | stored | flags | bytes |
    /// |---|---|---|
    /// | `str`, `String`, `char` | 0 | UTF-8 |
    /// | numbers, `bool`, structures, enums, `()` | 32768 | JSON |
    /// | `None` | 32832 | none |
    /// | bytes | 36864 | as they are |
    ///
    /// Flags 0 are also what other clients give to text and bytes: they are read as text, as bytes, as
    /// a number or as JSON, whichever the type asked for wants. Other flags are an error that carries
    /// the bytes. The low five bits of our flags are zero, since other clients mark compression and
    /// their own serialization there, and the high half too, since some servers keep 16 bits only. A compressed value
    /// is gzip, with 2 added to its flags.
    ///
    /// What JSON cannot hold is refused: NaN and infinities, and maps whose keys are no strings,
    /// numbers, `bool`s or `char`s. With `primitives_as_strings` a NaN or infinity that is the whole value
    /// is stored as `NaN`, `Infinity` or `-Infinity` and read back.
    #[default]
    Json,
    /// The values of Whalin's Java client (2.0.1 to 3.0.2), byte for byte.
    ///
    /// | stored | flags | bytes |
    /// |---|---|---|
    /// | `i8` | 1 | 1 |
    /// | `i32`, `u16` | 4 | 4, big-endian |
    /// | `char` up to U+FFFF | 16 | 4, big-endian |
    /// | `str`, `String`, other `char`s | 32 | UTF-8 |
    /// | `f32` | 128 | IEEE bits, big-endian |
    /// | `i16`, `u8` | 256 | 4, big-endian, sign-extended |
    /// | `f64` | 512 | IEEE bits, big-endian |
    /// | bytes | 4096 | as they are |
    /// | `bool` | 8192 | 1 or 0 |
    /// | `i64`, `u32`, `u64` | 16384 | 8, big-endian |
    /// | structures, enums, `()`, `i128`, `u128` | 32768 | JSON; Java clients read nothing here |
    /// | `None` | 32832 | none; Java clients read `null` |
    ///
    /// Java has no unsigned numbers: each takes the smallest type that holds every value of it, and a
    /// `u64` above `i64::MAX` is refused. With `primitives_as_strings` numbers, `bool`s and `char`s are
    /// text under flags 32, written as Java writes it.
    ///
    /// Also read: `StringBuffer` (64) and `StringBuilder` (2048) as strings, `Date` (1024) as
    /// milliseconds since 1970 or as a `SystemTime`, and flags 0 as text or bytes. Serialized Java
    /// objects are errors that carry the bytes. A compressed value is gzip, with 2 added to its flags; the
    /// client's own threshold is 30 KiB. Also the values of the `WhalinTranscoder` of spymemcached and
    /// xmemcached.
    Whalin,
    /// The values of spymemcached with its `SerializingTranscoder`, byte for byte.
    ///
    /// | stored | flags | bytes |
    /// |---|---|---|
    /// | `str`, `String`, `char` | 0 | UTF-8 |
    /// | `bool` | 256 | `1` or `0` |
    /// | `i32`, `u8`, `i16`, `u16` | 512 | big-endian, without leading zero bytes |
    /// | `i64`, `u32`, `u64` | 768 | big-endian, without leading zero bytes |
    /// | `i8` | 1280 | 1 |
    /// | `f32` | 1536 | IEEE bits, without leading zero bytes |
    /// | `f64` | 1792 | IEEE bits, without leading zero bytes |
    /// | bytes | 2048 | as they are |
    /// | structures, enums, `()`, `i128`, `u128` | 32 | JSON; Java reads a `String` |
    /// | `None` | 32832 | none; Java reads `null` |
    /// | compressed | + 2 | gzip; the client's own threshold is 16384 bytes |
    ///
    /// What was said of Java's numbers under [`Codec::Whalin`] holds here. Also read: `Date` (1024) as
    /// milliseconds since 1970 or as a `SystemTime`. Serialized Java objects (flags 1), among them its
    /// `Short` and `Character`, are errors that carry the bytes. For its `WhalinTranscoder` take
    /// [`Codec::Whalin`].
    Spymemcached,
    /// The values of xmemcached with its `SerializingTranscoder`: those of [`Codec::Spymemcached`].
    ///
    /// Its compression mode `ZIP` is read, too.
    Xmemcached,
    /// The values of PHP's `Memcached` (php-memcached), byte for byte.
    ///
    /// | stored | flags | bytes |
    /// |---|---|---|
    /// | `str`, `String`, `char`, bytes | 0 | as they are |
    /// | integers | 1 | decimal text; beyond `i64` they are refused |
    /// | `f32`, `f64` | 2 | as the client writes it: `.5`, `3`, `1e+100`, `Infinity`, `NaN` |
    /// | `bool` | 3 | `1`, or none for `false` |
    /// | `None` | 4 | `N;` |
    /// | structures, enums, `()` | 6 | JSON, which the client reads whatever its serializer |
    /// | compressed | + 48 | zlib behind the plain length; the client's own threshold is 2000 bytes |
    ///
    /// Also read: `serialize` of arrays and scalars (flags 4). Objects, enums and references in it,
    /// igbinary (5) and msgpack (7) are errors that carry the bytes. FastLZ (+ 80), the client's default
    /// compression, is read and not written; Zstandard (+ 144) is an error that carries the bytes. Bits 16
    /// and up are the user's and not looked at.
    PhpMemcached,
    /// The values of PHP's `Memcache` (pecl memcache), byte for byte.
    ///
    /// | stored | flags | bytes |
    /// |---|---|---|
    /// | `str`, `String`, `char`, bytes | 0 | as they are |
    /// | `None` | 1 | `N;` (the client itself reads it as `false`) |
    /// | `bool` | 256 | `1` or `0` |
    /// | integers | 768 | decimal text; beyond `i64` they are refused |
    /// | `f32`, `f64` | 1792 | text with all digits (the client itself keeps 14); no NaN, no infinity |
    /// | structures, enums, `()` | 32768 | JSON; PHP reads a string |
    /// | compressed | + 2 | zlib; the client's own threshold is 20000 bytes |
    ///
    /// Also read: `serialize` of arrays and scalars (flags 1); objects, enums and references in it are
    /// errors that carry the bytes. Bits 16 and up are the user's and not looked at.
    PeclMemcache,
    /// The values of pymemcache with its `pickle_serde` or `compressed_serde`, byte for byte.
    ///
    /// | stored | flags | bytes |
    /// |---|---|---|
    /// | bytes | 0 | as they are |
    /// | `None`, `bool`, `f32`, `f64` | 1 | a pickle |
    /// | integers | 2 | decimal text |
    /// | `str`, `String`, `char` | 16 | UTF-8 |
    /// | structures, enums, `()` | 32784 | JSON; Python reads a `str` |
    /// | compressed | + 8 | zlib, which only `compressed_serde` reads; its threshold is 400 bytes |
    ///
    /// Any other pickle is an error that carries the bytes. Ours are of protocol 5, of Python 3.8.
    /// Without a serde the client stores the text of everything under flags 0: take
    /// [`Codec::Gomemcache`] there.
    Pymemcache,
    /// The values of pylibmc, byte for byte: those of [`Codec::Pymemcache`], but for two.
    ///
    /// | stored | flags | bytes |
    /// |---|---|---|
    /// | `bool` | 2 | `1` or `0`; Python reads an `int` |
    /// | integers | 4 | decimal text |
    Pylibmc,
    /// The values of python-memcached: those of [`Codec::Pymemcache`], with pickles of protocol 0.
    PythonMemcached,
    /// The values of python-binary-memcached: those of [`Codec::PythonMemcached`], with strings under
    /// flags 0, bytes under 16 and JSON under 32768.
    PythonBinaryMemcached,
    /// The values of Perl's `Cache::Memcached` and `Cache::Memcached::Fast`, byte for byte.
    ///
    /// | stored | flags | bytes |
    /// |---|---|---|
    /// | `str`, `String`, `char`, bytes | 0 | as they are |
    /// | integers, floats | 0 | decimal text |
    /// | `bool` | 0 | `1` or `0` |
    /// | structures, enums, `()` | 32768 | JSON; Perl reads a string |
    /// | `None` | 32832 | none; Perl reads an empty string |
    /// | compressed | + 2 | gzip |
    ///
    /// Text that Fast marks as such (flags 4) is read; `Storable` (1) is an error that carries the bytes.
    PerlCacheMemcached,
    /// The values of Ruby's Dalli with its default serializer, `Marshal`, byte for byte.
    ///
    /// | stored | flags | bytes |
    /// |---|---|---|
    /// | `str`, `String`, `char` | 1 | a string in UTF-8 |
    /// | bytes | 1 | a binary string |
    /// | integers, floats, `bool`, `None` | 1 | `Integer`, `Float`, `true` or `false`, `nil` |
    /// | structures, enums, `()` | 32768 | JSON; Ruby reads a `String` |
    /// | counters | 0 | decimal text |
    /// | compressed | + 2 | zlib; the client's own threshold is 4096 bytes |
    ///
    /// As in Ruby, the server cannot count in what [`Client::set`](crate::Client::set) stores: use
    /// `set_counter`, or `primitives_as_strings`, which is `raw: true` for numbers. Also read:
    /// symbols as strings, what Ruby stores with `raw: true` (flags 0) and `string_fastpath` (4), and the
    /// JSON of [`Codec::DalliJson`]. Arrays, hashes, objects and strings in other encodings are errors
    /// that carry the bytes.
    Dalli,
    /// The values of Ruby's Dalli with `serializer: JSON`, byte for byte.
    ///
    /// | stored | flags | bytes |
    /// |---|---|---|
    /// | bytes, counters | 0 | as they are; Ruby reads a `String` |
    /// | everything else, strings too | 1 | JSON |
    /// | compressed | + 2 | zlib; the client's own threshold is 4096 bytes |
    ///
    /// What [`Codec::Dalli`] stores is read, too.
    DalliJson,
    /// The values of a Go program with gomemcache, which passes bytes on and keeps no types.
    ///
    /// | stored | flags | bytes |
    /// |---|---|---|
    /// | `str`, `String`, `char`, bytes | 0 | as they are |
    /// | integers, floats, `bool` | 0 | text: `5`, `0.5`, `true` |
    /// | structures, enums, `()` | 32768 | JSON |
    /// | `None` | 32832 | none |
    ///
    /// Our flags are for our own reading: the client shows them in `Item.Flags` and does nothing with
    /// them. [`Codec::Raw`] takes nothing but strings and bytes.
    Gomemcache,
    /// The values of the Rust crate `memcache`: those of [`Codec::Gomemcache`].
    RustMemcache,
    /// Strings and bytes as they are, under flags 0; any other type is an error.
    ///
    /// On reading the flags are not looked at.
    Raw,
    /// What [`Codec::Json`] makes, changed by code of yours.
    Custom(Arc<dyn CustomCodec>),
}

impl Codec {
    /// What these flags say of a value's bytes, in words; `None` when this codec does not know them.
    ///
    /// A custom codec stands behind [`Codec::Json`], whose words these are then.
    ///
    /// ```
    /// use mcpool::Codec;
    /// assert_eq!(Codec::PhpMemcached.meaning(6).as_deref(), Some("JSON"));
    /// assert_eq!(Codec::Pymemcache.meaning(8 + 16).as_deref(), Some("text or bytes, compressed with zlib"));
    /// assert_eq!(Codec::Whalin.meaning(1 << 30), None);
    /// ```
    pub fn meaning(&self, flags: u32) -> Option<String> {
        compress::meaning(self.layout(), flags)
    }

    /// All but [`Codec::Custom`], for those who try each.
    pub(crate) const SHIPPED: [Self; 16] = [
        Self::Json,
        Self::Whalin,
        Self::Spymemcached,
        Self::Xmemcached,
        Self::PhpMemcached,
        Self::PeclMemcache,
        Self::Pymemcache,
        Self::Pylibmc,
        Self::PythonMemcached,
        Self::PythonBinaryMemcached,
        Self::PerlCacheMemcached,
        Self::Dalli,
        Self::DalliJson,
        Self::Gomemcache,
        Self::RustMemcache,
        Self::Raw,
    ];

    /// Its answers.
    pub(super) fn layout(&self) -> &'static dyn Layout {
        match self {
            Self::Json | Self::Custom(_) => &Json,
            Self::Whalin => &Whalin,
            Self::Spymemcached => &serializing::SPYMEMCACHED,
            Self::Xmemcached => &serializing::XMEMCACHED,
            Self::PhpMemcached => &dialects::PHP_MEMCACHED,
            Self::PeclMemcache => &dialects::PECL_MEMCACHE,
            Self::Pymemcache => &dialects::PYMEMCACHE,
            Self::Pylibmc => &dialects::PYLIBMC,
            Self::PythonMemcached => &dialects::PYTHON_MEMCACHED,
            Self::PythonBinaryMemcached => &dialects::PYTHON_BINARY_MEMCACHED,
            Self::PerlCacheMemcached => &dialects::PERL,
            Self::Dalli => &dialects::DALLI,
            Self::DalliJson => &dialects::DALLI_JSON,
            Self::Gomemcache => &dialects::GOMEMCACHE,
            Self::RustMemcache => &dialects::RUST_MEMCACHE,
            Self::Raw => &Raw,
        }
    }
}
