//! The public choice of placement, and its names in text.

use std::fmt;
use std::str::FromStr;

/// Which server a key lives on.
///
/// All clients of one cluster must agree on it, and on the servers' names, weights and order; else each
/// misses what the others stored.
///
/// The text forms are `consistent`, `native`, `old_compat`, `new_compat` and `ketama`:
///
/// ```
/// use mcpool::Placement;
/// let placement: Placement = "ketama".parse()?;
/// assert_eq!(placement, Placement::Ketama);
/// assert_eq!(Placement::default().to_string(), "consistent");
/// # Ok::<(), mcpool::PlacementError>(())
/// ```
///
/// # Placements of the Java client by Greg Whalin
/// `Native`, `OldCompat`, `NewCompat` and `Consistent` are its hashing algorithms 0 to 3, with the same servers
/// for the same keys. When a server fails, a decimal 0, 1, 2, … is put before the key until it hashes to a server
/// not tried yet. The original may search for ever; here a search ends after 10 000 tries, and the servers
/// that are left follow in list order. With `OldCompat` and 3, 11 or 33 servers most searches come to that, which takes
/// 0.1 to 2 ms by the key's length; another placement serves better there.
///
/// # Small weights
/// On a ring (`Consistent`, `Ketama`) every server has at least four points. The originals give a server
/// whose weight is relatively very small no point at all, and so no keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Placement {
    /// A ring of MD5 points, 160 for each server of average weight, made from `name-j`; keys hashed with MD5.
    ///
    /// A server that comes or goes moves only its own share of the keys.
    #[default]
    Consistent,
    /// Java's `String.hashCode` (factor 31, 32 bits), modulo the servers, each repeated by its weight.
    Native,
    /// The same with factor 33 and 64 bits.
    OldCompat,
    /// Bits 16 to 30 of the key's CRC-32, modulo the servers, each repeated by its weight.
    ///
    /// Also the placement of the old Perl and Python clients.
    NewCompat,
    /// The weighted ketama ring of libmemcached (`KETAMA_WEIGHTED`, `LIBKETAMA_COMPATIBLE` in PHP).
    ///
    /// As `Consistent`, but in single precision, and a port of 11211 is left out of the point's name. A failed server's keys
    /// go to the next server on the ring.
    Ketama,
}

const NAMES: [(Placement, &str); 5] = [
    (Placement::Consistent, "consistent"),
    (Placement::Native, "native"),
    (Placement::OldCompat, "old_compat"),
    (Placement::NewCompat, "new_compat"),
    (Placement::Ketama, "ketama"),
];

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(placement, _)| placement == self);
        f.pad(name.map_or("", |(_, name)| name))
    }
}

impl FromStr for Placement {
    type Err = PlacementError;

    fn from_str(text: &str) -> Result<Self, PlacementError> {
        let named = NAMES.iter().find(|(_, name)| *name == text);
        named.map(|(placement, _)| *placement).ok_or_else(|| PlacementError(text.to_owned()))
    }
}

/// A text that names no [`Placement`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacementError(String);

impl fmt::Display for PlacementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = NAMES.map(|(_, name)| name).join(", ");
        write!(f, "unknown placement `{}`; known are {known}", self.0)
    }
}

impl std::error::Error for PlacementError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_names_are_read_and_written() {
        for (name, placement) in [
            ("consistent", Placement::Consistent),
            ("native", Placement::Native),
            ("old_compat", Placement::OldCompat),
            ("new_compat", Placement::NewCompat),
            ("ketama", Placement::Ketama),
        ] {
            assert_eq!(name.parse(), Ok(placement));
            assert_eq!(placement.to_string(), name);
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = "Ketamo".parse::<Placement>().expect_err("no such placement").to_string();
        assert!(error.contains("`Ketamo`") && error.contains("native, old_compat"), "{error}");
    }
}
