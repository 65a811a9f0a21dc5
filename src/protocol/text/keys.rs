//! Which keys a line asks for, and which of them were answered.

use super::super::Verb;
use super::encode::MAX_KEYS_PER_LINE;

/// The keys of one get, gets, gat or gats line, as they stand among the bytes sent.
///
/// Nothing is copied: keys are read again from the line, found by its place.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Asked {
    /// Where the first key begins.
    start: usize,
    /// Where the last key ends.
    end: usize,
    /// The key behind the last one answered: its place, and its number in the line.
    cursor: (usize, u32),
    /// One bit for each key, set once it is answered.
    answered: u128,
}

const _: () = assert!(MAX_KEYS_PER_LINE <= 128, "one bit for each key of a line");

impl Asked {
    /// The keys of the line that begins at `at`.
    pub(crate) fn by_line(verb: Verb, wire: &[u8], at: usize) -> Self {
        let line = wire.get(at..).unwrap_or_default();
        let len = memchr::memchr(b'\r', line).unwrap_or(line.len());
        // The command's name, and the expiry time of a gat.
        let name = verb.name().len() + 1;
        let head = match verb {
            Verb::Gat | Verb::Gats => {
                let rest = line.get(name..).unwrap_or_default();
                memchr::memchr(b' ', rest).map_or(len, |space| name + space + 1)
            }
            _ => name,
        };
        let start = at + head;
        Self { start, end: at + len, cursor: (start, 0), answered: 0 }
    }

    /// All keys of the line, with blanks in between.
    pub(crate) fn keys<'w>(&self, wire: &'w [u8]) -> &'w [u8] {
        wire.get(self.start..self.end).unwrap_or_default()
    }

    /// Where the next line begins.
    pub(crate) fn next_line(&self) -> usize {
        self.end + b"\r\n".len()
    }

    /// How many keys the line asks for.
    pub(crate) fn count(&self, wire: &[u8]) -> u32 {
        let blanks = memchr::memchr_iter(b' ', self.keys(wire)).count();
        u32::try_from(blanks + 1).unwrap_or(u32::MAX)
    }

    /// The number in its line of a key that is answered now, unless it was not asked for or was
    /// answered before.
    ///
    /// Servers answer in the order of the line and leave out misses; a proxy that asked several
    /// servers may answer in any order.
    pub(crate) fn answer(&mut self, wire: &[u8], key: &[u8]) -> Option<u32> {
        let (place, number) = if self.is_next(wire, key) {
            self.cursor
        } else {
            self.find(wire, self.cursor, key).or_else(|| self.find(wire, (self.start, 0), key))?
        };
        self.answered |= bit(number);
        self.cursor = (place + key.len() + 1, number + 1);
        Some(number)
    }

    /// Whether it is the key behind the last one answered, as it nearly always is, and unanswered.
    fn is_next(&self, wire: &[u8], key: &[u8]) -> bool {
        let (place, number) = self.cursor;
        let rest = wire.get(place..self.end).and_then(|keys| keys.strip_prefix(key));
        rest.is_some_and(|rest| matches!(rest.first(), None | Some(b' ')))
            && self.answered & bit(number) == 0
    }

    /// Place and number of an unanswered key at or behind `from`.
    fn find(&self, wire: &[u8], from: (usize, u32), key: &[u8]) -> Option<(usize, u32)> {
        let (mut place, first) = from;
        let keys = wire.get(place..self.end)?;
        for (number, asked) in (first..).zip(keys.split(|b| *b == b' ')) {
            if asked == key && self.answered & bit(number) == 0 {
                return Some((place, number));
            }
            place += asked.len() + 1;
        }
        None
    }
}

/// The bit of a key; none for a number that no line reaches.
fn bit(number: u32) -> u128 {
    1_u128.checked_shl(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_answered_once_in_any_order() {
        let wire = b"version\r\nget a bb a c\r\nget d\r\n";
        let mut asked = Asked::by_line(Verb::Get, wire, 9);
        assert_eq!(asked.count(wire), 4);
        assert_eq!(asked.answer(wire, b"bb"), Some(1));
        assert_eq!(asked.answer(wire, b"c"), Some(3));
        assert_eq!(asked.answer(wire, b"a"), Some(0));
        assert_eq!(asked.answer(wire, b"a"), Some(2));
        for key in [&b"a"[..], b"bb", b"c", b"d", b"b", b"", b"get", b"a bb"] {
            assert_eq!(asked.answer(wire, key), None, "{key:?}");
        }
        let mut next = Asked::by_line(Verb::Get, wire, asked.next_line());
        assert_eq!((next.count(wire), next.answer(wire, b"d")), (1, Some(0)));
    }

    #[test]
    fn the_expiry_time_of_a_gat_is_not_one_of_its_keys() {
        let wire = b"gats 60 60x 7\r\n";
        let mut asked = Asked::by_line(Verb::Gats, wire, 0);
        assert_eq!(asked.answer(wire, b"60"), None);
        assert_eq!(asked.answer(wire, b"7"), Some(1));
        assert_eq!(asked.count(wire), 2);
    }
}
