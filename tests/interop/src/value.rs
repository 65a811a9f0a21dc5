//! Values as tests speak of them, and their words in the language of the drivers.

use std::fmt::Write as _;

use mcpool::{Client, Result, Ttl};

/// A value that languages have in common, or what a driver calls what it got.
#[derive(Debug, Clone)]
pub enum Value {
    Null,
    Bool(bool),
    I8(i8),
    I16(i16),
    I32(i32),
    /// An integer in a language that has one size, a `long` in Java.
    Int(i64),
    /// Above `i64::MAX`.
    Big(u64),
    F32(f32),
    Float(f64),
    /// One UTF-16 unit.
    Char(char),
    /// Milliseconds since 1970.
    Date(i64),
    Text(String),
    Bytes(Vec<u8>),
    /// A list or a map.
    Json(serde_json::Value),
    /// A string in a language that does not tell text from bytes.
    String(Vec<u8>),
    /// Something of the language's own, by its text.
    Object(String),
}

impl Value {
    /// Stores it with our client, as the Rust type that it is.
    ///
    /// # Errors
    /// Those of [`Client::set`].
    pub fn store(&self, client: &Client, key: &str) -> Result<()> {
        match self {
            Self::Null => client.set(key, &None::<u8>, Ttl::NEVER),
            Self::Bool(value) => client.set(key, value, Ttl::NEVER),
            Self::I8(value) => client.set(key, value, Ttl::NEVER),
            Self::I16(value) => client.set(key, value, Ttl::NEVER),
            Self::I32(value) => client.set(key, value, Ttl::NEVER),
            Self::Int(value) | Self::Date(value) => client.set(key, value, Ttl::NEVER),
            Self::Big(value) => client.set(key, value, Ttl::NEVER),
            Self::F32(value) => client.set(key, value, Ttl::NEVER),
            Self::Float(value) => client.set(key, value, Ttl::NEVER),
            Self::Char(value) => client.set(key, value, Ttl::NEVER),
            Self::Text(value) | Self::Object(value) => client.set(key, value, Ttl::NEVER),
            Self::Bytes(value) | Self::String(value) => client.set(key, value, Ttl::NEVER),
            Self::Json(value) => client.set(key, value, Ttl::NEVER),
        }
    }

    /// Reads the key with our client as the Rust type of this value.
    ///
    /// # Errors
    /// Those of [`Client::get`].
    pub fn load(&self, client: &Client, key: &str) -> Result<Option<Self>> {
        Ok(match self {
            Self::Null => {
                let found = client.get::<Option<String>>(key)?;
                found.map(|value| value.map_or(Self::Null, Self::Text))
            }
            Self::Bool(_) => client.get(key)?.map(Self::Bool),
            Self::I8(_) => client.get(key)?.map(Self::I8),
            Self::I16(_) => client.get(key)?.map(Self::I16),
            Self::I32(_) => client.get(key)?.map(Self::I32),
            Self::Int(_) => client.get(key)?.map(Self::Int),
            Self::Big(_) => client.get(key)?.map(Self::Big),
            Self::F32(_) => client.get(key)?.map(Self::F32),
            Self::Float(_) => client.get(key)?.map(Self::Float),
            Self::Char(_) => client.get(key)?.map(Self::Char),
            Self::Date(_) => client.get(key)?.map(Self::Date),
            Self::Text(_) => client.get(key)?.map(Self::Text),
            Self::Bytes(_) => client.get(key)?.map(Self::Bytes),
            Self::Json(_) => client.get(key)?.map(Self::Json),
            Self::String(_) => client.get(key)?.map(Self::String),
            Self::Object(_) => client.get(key)?.map(Self::Object),
        })
    }

    /// The whole number that it is, or that it says as text with blanks around it.
    #[must_use]
    pub fn number(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Bytes(text) | Self::String(text) => {
                std::str::from_utf8(text).ok()?.trim().parse().ok()
            }
            _ => None,
        }
    }

    /// Whether a peer that got `other` has got this value.
    ///
    /// A float is compared by its bits, all NaNs being one. A string is the text or the bytes that it holds.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Float(a), Self::Float(b)) => {
                a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
            }
            (Self::F32(a), Self::F32(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            (Self::Json(a), Self::Json(b)) => a == b,
            (Self::String(a), Self::Text(b)) | (Self::Text(b), Self::String(a)) => {
                a == b.as_bytes()
            }
            (Self::String(a), Self::Bytes(b)) | (Self::Bytes(b), Self::String(a)) => a == b,
            _ => self.words() == other.words(),
        }
    }

    /// The kind and the bytes, as a driver reads them.
    #[must_use]
    pub fn words(&self) -> String {
        let (kind, bytes) = match self {
            Self::Null => ("null", Vec::new()),
            Self::Bool(value) => ("bool", value.to_string().into()),
            Self::I8(value) => ("i8", value.to_string().into()),
            Self::I16(value) => ("i16", value.to_string().into()),
            Self::I32(value) => ("i32", value.to_string().into()),
            Self::Int(value) => ("int", value.to_string().into()),
            Self::Big(value) => ("int", value.to_string().into()),
            Self::F32(value) => ("f32", value.to_be_bytes().into()),
            Self::Float(value) => ("float", value.to_be_bytes().into()),
            Self::Char(value) => ("char", value.to_string().into()),
            Self::Date(value) => ("date", value.to_string().into()),
            Self::Text(value) => ("text", value.clone().into()),
            Self::Bytes(value) => ("bytes", value.clone()),
            Self::Json(value) => ("json", value.to_string().into()),
            Self::String(value) => ("string", value.clone()),
            Self::Object(value) => ("object", value.clone().into()),
        };
        format!("{kind} {}", hex(&bytes))
    }

    /// What a driver's words mean; none when they mean nothing.
    #[must_use]
    pub fn from_words(kind: &str, word: &str) -> Option<Self> {
        let bytes = unhex(word)?;
        let text = || String::from_utf8(bytes.clone()).ok();
        Some(match kind {
            "null" => Self::Null,
            "bool" => Self::Bool(text()?.parse().ok()?),
            "i8" => Self::I8(text()?.parse().ok()?),
            "i16" => Self::I16(text()?.parse().ok()?),
            "i32" => Self::I32(text()?.parse().ok()?),
            "int" => match text()?.parse() {
                Ok(value) => Self::Int(value),
                Err(_) => Self::Big(text()?.parse().ok()?),
            },
            "f32" => Self::F32(f32::from_be_bytes(bytes.try_into().ok()?)),
            "float" => Self::Float(f64::from_be_bytes(bytes.try_into().ok()?)),
            "char" => Self::Char(text()?.parse().ok()?),
            "date" => Self::Date(text()?.parse().ok()?),
            "text" => Self::Text(text()?),
            "bytes" => Self::Bytes(bytes),
            "json" => Self::Json(serde_json::from_slice(&bytes).ok()?),
            "string" => Self::String(bytes),
            "object" => Self::Object(text()?),
            _ => return None,
        })
    }
}

/// Two digits a byte; a stroke for none.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "-".to_owned();
    }
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        _ = write!(text, "{byte:02x}");
        text
    })
}

/// The way back from [`hex`].
#[must_use]
pub fn unhex(word: &str) -> Option<Vec<u8>> {
    if word == "-" {
        return Some(Vec::new());
    }
    let digits = word.as_bytes().chunks(2);
    digits.map(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok()).collect()
}
