//! The text names of choices: read, written, and listed where a text names none.

use std::fmt;

/// A choice of which each value has a name.
pub(super) trait Named: Copy + PartialEq + Sized + 'static {
    /// What is chosen, for error messages.
    const WHAT: &'static str;
    /// Every value with its name.
    const NAMES: &'static [(Self, &'static str)];

    fn to_name(self) -> &'static str {
        let named = Self::NAMES.iter().find(|(value, _)| *value == self);
        named.map_or("", |(_, name)| name)
    }

    fn by_name(text: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, name)| *name == text).map(|(value, _)| *value)
    }

    fn unknown(text: &str) -> PlacementError {
        let known: Vec<_> = Self::NAMES.iter().map(|(_, name)| *name).collect();
        PlacementError { what: Self::WHAT, text: text.to_owned(), known: known.join(", ") }
    }
}

/// Writes and reads a [`Named`] choice by its name.
macro_rules! named {
    ($choice:ty) => {
        impl std::fmt::Display for $choice {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.to_name())
            }
        }

        impl std::str::FromStr for $choice {
            type Err = $crate::ring::PlacementError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::by_name(text).ok_or_else(|| Self::unknown(text))
            }
        }
    };
}
pub(super) use named;

/// A text that names no [`Placement`](crate::Placement), or no part of one; the message lists what is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacementError {
    what: &'static str,
    text: String,
    known: String,
}

impl fmt::Display for PlacementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, text, known } = self;
        write!(f, "unknown {what} `{text}`; known are {known}")
    }
}

impl std::error::Error for PlacementError {}
