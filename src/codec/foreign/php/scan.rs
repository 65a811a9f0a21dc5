//! The grammar: one token at a time, and the check of a whole value before anything is made of it.

use serde::de::Error as _;
use serde_json::Error;

use crate::codec::error::{Format, Unreadable};
use crate::codec::text;

/// Arrays inside arrays, at most; as deep as serde_json goes.
const DEEPEST: usize = 128;

/// What a value begins with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Bytes(&'a [u8]),
    /// An array of so many pairs of key and value; they and a `}` follow.
    Array(usize),
}

/// The bytes that are still to be read.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    whole: &'a [u8],
    rest: &'a [u8],
    /// How many arrays were entered.
    arrays: usize,
    /// Which of all arrays are lists, in the order in which they are entered; once that is asked for.
    lists: Option<Vec<bool>>,
}

/// Whether the bytes are one whole value without objects; nothing is kept of them.
pub(in crate::codec) fn check(bytes: &[u8]) -> Result<(), Unreadable> {
    let mut scanner = Scanner::new(bytes);
    scanner.skip()?;
    if scanner.rest.is_empty() { Ok(()) } else { Err(malformed("more bytes behind the value")) }
}

impl<'a> Scanner<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { whole: bytes, rest: bytes, arrays: 0, lists: None }
    }

    /// The next token.
    pub(super) fn token(&mut self) -> Result<Token<'a>, Unreadable> {
        let (kind, rest) = match self.rest {
            [b'N', b';', rest @ ..] => {
                self.rest = rest;
                return Ok(Token::Null);
            }
            [b'O' | b'C' | b'E' | b'R' | b'r', b':', ..] => {
                return Err(Unreadable::Foreign(Format::Php));
            }
            [kind, b':', rest @ ..] => (*kind, rest),
            _ => return Err(malformed("no value where one should be")),
        };
        self.rest = rest;
        match kind {
            b'b' => match self.until(b';')? {
                b"0" => Ok(Token::Bool(false)),
                b"1" => Ok(Token::Bool(true)),
                _ => Err(malformed("no boolean")),
            },
            b'i' => Ok(Token::Int(parse(self.until(b';')?)?)),
            b'd' => Ok(Token::Float(parse(self.until(b';')?)?)),
            b's' => self.bytes(),
            b'a' => {
                let count = parse(self.until(b':')?)?;
                self.expect(b"{")?;
                self.arrays += 1;
                Ok(Token::Array(count))
            }
            _ => Err(malformed("a value of no known kind")),
        }
    }

    /// The end of an array.
    pub(super) fn close(&mut self) -> Result<(), Unreadable> {
        self.expect(b"}")
    }

    /// Whether the next value is `null`; takes it if so.
    pub(super) fn take_null(&mut self) -> bool {
        let rest = self.rest.strip_prefix(super::NULL);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Whether the keys of the array that was just entered are 0, 1, 2 and so on.
    ///
    /// The first question looks through all arrays at once: a look ahead at each would take as often as many as they are deep.
    pub(super) fn is_list(&mut self) -> bool {
        let (whole, entered) = (self.whole, self.arrays);
        let lists = self.lists.get_or_insert_with(|| {
            let mut lists = Vec::new();
            // It was checked.
            _ = Scanner::new(whole).pass(0, &mut |array, is_list| {
                if lists.len() <= array {
                    lists.resize(array + 1, true);
                }
                if let Some(known) = lists.get_mut(array) {
                    *known &= is_list;
                }
            });
            lists
        });
        entered.checked_sub(1).and_then(|array| lists.get(array)).copied().unwrap_or(true)
    }

    /// Passes over one value.
    pub(super) fn skip(&mut self) -> Result<(), Unreadable> {
        self.pass(0, &mut |_, _| {})
    }

    /// Passes over one value that stands this deep; `note` is told of each key whether its array, by number, may be a list.
    fn pass(&mut self, depth: usize, note: &mut impl FnMut(usize, bool)) -> Result<(), Unreadable> {
        let Token::Array(count) = self.token()? else { return Ok(()) };
        if depth == DEEPEST {
            return Err(malformed("arrays too deep inside each other"));
        }
        let array = self.arrays - 1;
        for index in 0..count {
            let key = self.token()?;
            if !matches!(key, Token::Int(_) | Token::Bytes(_)) {
                return Err(malformed("a key that is no integer and no string"));
            }
            note(array, i64::try_from(index).is_ok_and(|index| key == Token::Int(index)));
            self.pass(depth + 1, note)?;
        }
        self.close()
    }

    fn bytes(&mut self) -> Result<Token<'a>, Unreadable> {
        let length = parse(self.until(b':')?)?;
        self.expect(b"\"")?;
        let cut = self.rest.split_at_checked(length);
        let (bytes, rest) = cut.ok_or_else(|| malformed("a string is cut short"))?;
        self.rest = rest;
        self.expect(b"\";")?;
        Ok(Token::Bytes(bytes))
    }

    /// The bytes before the next `end`, which is passed over. Numbers are short, so is the search.
    fn until(&mut self, end: u8) -> Result<&'a [u8], Unreadable> {
        const LONGEST: usize = 40;
        let at = self.rest.iter().take(LONGEST).position(|byte| *byte == end);
        let (found, rest) = at
            .and_then(|at| Some((self.rest.get(..at)?, self.rest.get(at + 1..)?)))
            .ok_or_else(|| malformed("a number without an end"))?;
        self.rest = rest;
        Ok(found)
    }

    fn expect(&mut self, wanted: &[u8]) -> Result<(), Unreadable> {
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.ok_or_else(|| malformed("a value is cut short"))?;
        Ok(())
    }
}

fn parse<N: std::str::FromStr>(bytes: &[u8]) -> Result<N, Unreadable> {
    text::parse(bytes, "a number").map_err(Unreadable::Mismatch)
}

fn malformed(what: &str) -> Unreadable {
    Unreadable::Mismatch(Error::custom(format_args!("no PHP value: {what}")))
}
