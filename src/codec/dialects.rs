//! The tables of the clients that store numbers as text.

use super::compress::{Form, Packing};
use super::dialect::{Booleans, Dialect, Floats, Integers, Reading};
use super::error::Format;
use super::flags;
use super::foreign::{marshal, php, pickle};
use super::notation;

/// Numbers as plain text under flags 0, as programs write them that look at no flags.
const UNTYPED: Dialect = Dialect {
    name: "Gomemcache",
    text: 0,
    plain: 0,
    bytes: 0,
    json: flags::JSON,
    quoted: false,
    none: (flags::NONE, b""),
    booleans: Booleans(0, b"true", b"false"),
    integers: Integers::Text(0),
    floats: Floats::Json(0),
    dress: |_, _, _| {},
    counter: 0,
    significant: u32::MAX,
    readings: &[(0, Reading::Text)],
    packings: &[],
};

pub(super) static GOMEMCACHE: Dialect = UNTYPED;

pub(super) static RUST_MEMCACHE: Dialect = Dialect { name: "RustMemcache", ..UNTYPED };

/// Bit 0 is `Storable`; 4 is the mark that Cache::Memcached::Fast has for text, when told to.
pub(super) static PERL: Dialect = Dialect {
    name: "PerlCacheMemcached",
    booleans: Booleans(0, b"1", b"0"),
    readings: &[(0, Reading::Text), (4, Reading::Text), (1, Reading::Foreign(Format::Storable))],
    packings: &[Packing { keep_below: 80, ..Packing::GZIP }],
    ..UNTYPED
};

/// Bit 0 is `Marshal`, bit 2 text of Dalli 5.0.4 and later; counters are those of `raw: true`.
pub(super) static DALLI: Dialect = Dialect {
    name: "Dalli",
    text: 1,
    bytes: 1,
    integers: Integers::Own(1, marshal::push_integer),
    floats: Floats::Own(1, marshal::push_float),
    booleans: Booleans(1, marshal::TRUE, marshal::FALSE),
    none: (1, marshal::NIL),
    dress: marshal::dress,
    readings: &[(0, Reading::Text), (4, Reading::Text), (1, Reading::MarshalOrJson)],
    packings: &[Packing { bits: 2, form: Form::Zlib, keep_below: 100 }],
    ..UNTYPED
};

/// The same with `serializer: JSON`, which strings pass through, too.
pub(super) static DALLI_JSON: Dialect = Dialect {
    name: "DalliJson",
    text: 0,
    bytes: 0,
    dress: UNTYPED.dress,
    quoted: true,
    json: 1,
    integers: Integers::Text(1),
    floats: Floats::Json(1),
    booleans: Booleans(1, b"true", b"false"),
    none: (1, b"null"),
    readings: &[
        (0, Reading::Text),
        (4, Reading::Text),
        (1, Reading::MarshalOrJson),
        // The structures of the other.
        (flags::JSON, Reading::Json),
    ],
    ..DALLI
};

/// The type is in the low four bits, compression in the next; the upper half is the user's.
pub(super) static PHP_MEMCACHED: Dialect = Dialect {
    name: "PhpMemcached",
    json: 6,
    integers: Integers::Text64(1),
    counter: 1,
    floats: Floats::Text(2, &notation::PHP_MEMCACHED),
    booleans: Booleans(3, b"1", b""),
    none: (4, php::NULL),
    significant: 0xffff,
    readings: &[
        (0, Reading::Text),
        (1, Reading::Integer),
        (2, Reading::Float),
        (3, Reading::Bool),
        (4, Reading::Php),
        (5, Reading::Foreign(Format::Igbinary)),
        (6, Reading::Json),
        (7, Reading::Foreign(Format::MessagePack)),
    ],
    packings: &[
        // It keeps what is smaller by the factor 1.3.
        Packing { bits: 0x30, form: Form::SizedZlib, keep_below: 76 },
        Packing { bits: 0x50, form: Form::FastLz, keep_below: 76 },
        Packing { bits: 0x90, form: Form::Zstd, keep_below: 76 },
    ],
    ..UNTYPED
};

/// The type is in bits 8 to 11, `serialize` and compression below; the upper half is the user's.
pub(super) static PECL_MEMCACHE: Dialect = Dialect {
    name: "PeclMemcache",
    integers: Integers::Text64(0x300),
    counter: 0x300,
    floats: Floats::Text(0x700, &notation::PECL_MEMCACHE),
    booleans: Booleans(0x100, b"1", b"0"),
    none: (1, php::NULL),
    significant: 0xffff,
    readings: &[
        (0, Reading::Text),
        (0x300, Reading::Integer),
        (0x700, Reading::Float),
        (0x100, Reading::Bool),
        (1, Reading::Php),
    ],
    packings: &[Packing { bits: 2, form: Form::Zlib, keep_below: 80 }],
    ..UNTYPED
};

/// Bits 0 to 4: pickle, int, long, zlib, text. JSON is text with a bit that Python does not look at.
pub(super) static PYMEMCACHE: Dialect = Dialect {
    name: "Pymemcache",
    text: 16,
    plain: 16,
    json: 16 | flags::JSON,
    integers: Integers::Text(2),
    counter: 2,
    floats: Floats::Own(1, pickle::push_float),
    booleans: Booleans(1, pickle::TRUE, pickle::FALSE),
    none: (1, pickle::NONE),
    readings: &[
        (0, Reading::Text),
        (16, Reading::Text),
        (2, Reading::Integer),
        (4, Reading::Integer),
        (1, Reading::Pickle),
    ],
    packings: &[Packing::PYTHON],
    ..UNTYPED
};

/// The same with `bool`s as numbers.
pub(super) static PYLIBMC: Dialect = Dialect {
    name: "Pylibmc",
    integers: Integers::Text(4),
    counter: 4,
    booleans: Booleans(2, b"1", b"0"),
    ..PYMEMCACHE
};

/// The same with pickles of protocol 0.
pub(super) static PYTHON_MEMCACHED: Dialect = Dialect {
    name: "PythonMemcached",
    floats: Floats::Own(1, pickle::push_float_0),
    booleans: Booleans(1, pickle::TRUE_0, pickle::FALSE_0),
    none: (1, pickle::NONE_0),
    ..PYMEMCACHE
};

/// The same with text and bytes the other way round.
pub(super) static PYTHON_BINARY_MEMCACHED: Dialect = Dialect {
    name: "PythonBinaryMemcached",
    text: 0,
    plain: 0,
    bytes: 16,
    json: flags::JSON,
    ..PYTHON_MEMCACHED
};
