//! Named bundles of codec, placement and key rules: what another client's cluster needs.

use std::fmt;
use std::str::FromStr;

use crate::codec::Codec;
use crate::ring::Placement;

/// Another client whose cluster is to be shared; see [`ClientBuilder::preset`](crate::ClientBuilder::preset).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preset {
    /// Greg Whalin's Java client, 2.0.1 to 3.0.2, with its defaults: its flags and layouts, native hashing,
    /// URL-encoded keys. Servers need the same order and weights as there.
    Whalin,
}

/// What a preset sets.
#[derive(Debug)]
pub(crate) struct Bundle {
    pub(crate) codec: Codec,
    pub(crate) placement: Placement,
    pub(crate) sanitize_keys: bool,
}

impl Preset {
    pub(crate) fn bundle(self) -> Bundle {
        match self {
            Self::Whalin => {
                Bundle { codec: Codec::Whalin, placement: Placement::Native, sanitize_keys: true }
            }
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whalin => f.write_str("whalin"),
        }
    }
}

impl FromStr for Preset {
    type Err = PresetError;

    fn from_str(name: &str) -> Result<Self, PresetError> {
        match name {
            "whalin" => Ok(Self::Whalin),
            _ => Err(PresetError(name.to_owned())),
        }
    }
}

/// A name that no preset has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresetError(String);

impl fmt::Display for PresetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no preset is called `{}`; known is whalin", self.0)
    }
}

impl std::error::Error for PresetError {}
