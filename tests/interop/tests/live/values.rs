//! Values of every kind, stored by one side and read by the other.

use std::error::Error as _;
use std::fmt::Debug;

use mcpool::{Codec, DecodeError, DecodeErrorKind, Error, ErrorKind, Ttl};
use mcpool_interop_tests::cluster::{Cluster, client};
use mcpool_interop_tests::dice::{Dice, Letters};
use mcpool_interop_tests::peer::Peer;
use mcpool_interop_tests::value::Value;

use crate::case::Case;
use crate::samples;

/// Bytes above which ours compresses where that is tested.
const LARGE: usize = 1000;

/// What becomes of a value on its way from one side to the other.
#[derive(Debug, Clone)]
pub(crate) enum Arrives {
    Same,
    As(Value),
    /// Ours says that it cannot read it, and why.
    Unreadable(DecodeErrorKind),
    /// The peer finds nothing, or fails.
    Lost,
    /// Whoever is to store it refuses.
    Refused,
    /// The side that is to store it has no such value.
    Unknown,
}

impl Case<'_> {
    /// Values of every kind that the peer stores and ours reads.
    pub(crate) fn reads_its_values(&self, expected: impl Fn(&Value) -> Arrives) {
        let cluster = Cluster::start(1);
        let (ours, mut peer) = self.both(&cluster.places());
        let mut wrong = Wrong::default();
        for (at, value) in samples::all().iter().enumerate() {
            let (key, expected) = (format!("theirs-{at}"), expected(value));
            if matches!(expected, Arrives::Unknown) {
                continue;
            }
            let stored = peer.set(&key, value);
            if matches!(expected, Arrives::Refused) {
                wrong.unless(stored.is_err(), &key, value, &expected, &stored);
                continue;
            }
            if let Err(why) = stored {
                wrong.push(&key, value, &expected, &why);
                continue;
            }
            let wanted = if let Arrives::As(other) = &expected { other } else { value };
            let found = wanted.load(&ours, &key);
            let right = match (&expected, &found) {
                (Arrives::Same | Arrives::As(_), Ok(Some(found))) => wanted.is(found),
                (Arrives::Unreadable(kind), Err(error)) => reason(error) == Some(*kind),
                _ => false,
            };
            let raw = ours.get_raw(key.as_str());
            wrong.unless(right, &key, value, &expected, &(found, raw));
        }
        wrong.report();
    }

    /// Values of every kind that ours stores and the peer reads.
    pub(crate) fn its_reads_of_our_values(&self, expected: impl Fn(&Value) -> Arrives) {
        let cluster = Cluster::start(1);
        let (ours, mut peer) = self.both(&cluster.places());
        let mut wrong = Wrong::default();
        for (at, value) in samples::all().iter().enumerate() {
            let (key, expected) = (format!("ours-{at}"), expected(value));
            if matches!(expected, Arrives::Unknown) {
                continue;
            }
            let stored = value.store(&ours, &key);
            if matches!(expected, Arrives::Refused) {
                let refused = stored.as_ref().is_err_and(|e| e.kind() == ErrorKind::Encode);
                wrong.unless(refused, &key, value, &expected, &stored);
                continue;
            }
            if let Err(why) = stored {
                wrong.push(&key, value, &expected, &why);
                continue;
            }
            let found = peer.get(&key);
            let right = match (&expected, &found) {
                (Arrives::Same, Ok(Some(found))) => value.is(found),
                (Arrives::As(other), Ok(Some(found))) => other.is(found),
                (Arrives::Lost, Ok(None) | Err(_)) => true,
                _ => false,
            };
            let raw = ours.get_raw(key.as_str());
            wrong.unless(right, &key, value, &expected, &(found, raw));
        }
        wrong.report();
    }

    /// Large values that the peer compresses and ours reads, and the reverse; neither makes a value larger.
    pub(crate) fn compressed_values(&self) {
        let cluster = Cluster::start(1);
        let mut peer = Peer::start(self.peer);
        peer.open(&cluster.places(), self.options);
        let ours = client(&cluster.places(), |builder| self.set_up(builder).compress_above(LARGE));
        let raw = client(&cluster.places(), |builder| builder.codec(Codec::Raw));
        let held = |key: &str| raw.get_raw(key).expect("answers").expect("stored").bytes.len();
        let mut dice = Dice::new("texts");
        let dull = "All work and no play. ".repeat(3000);
        let wild = dice.text(Letters::Ascii, 60_000);
        let words: Vec<_> = (0..200).map(|_| dice.text(Letters::Unicode, 6)).collect();
        let mut tale = |length| (0..length).map(|_| &*words[dice.between(0, 199)]).collect();
        let (short_tale, long_tale): (String, String) = (tale(2000), tale(12_000));
        let texts = [
            ("dull", &dull, dull.len() / 10),
            ("wild", &wild, wild.len() + 64),
            ("short tale", &short_tale, short_tale.len() * 2 / 3),
            ("long tale", &long_tale, long_tale.len() * 2 / 3),
        ];
        for (name, text, most) in texts {
            let key = format!("theirs-{}", name.replace(' ', "-"));
            peer.set(&key, &Value::Text(text.clone())).expect("stored");
            assert!(held(&key) <= most, "{}: stores {name} in {} bytes", self.peer, held(&key));
            assert_eq!(ours.get::<String>(&key).expect("is read").as_ref(), Some(text));
            let key = key.replace("theirs", "ours");
            ours.set(&key, text, Ttl::NEVER).expect("stored");
            assert!(held(&key) <= most, "ours stores {name} in {} bytes", held(&key));
            let found = peer.get(&key).expect("is read").expect("is there");
            assert!(found.is(&Value::Text(text.clone())), "{} reads {name} of ours", self.peer);
        }
    }

    /// One side counts on in what the other began; `start` is how the peer stores 40.
    pub(crate) fn counters(&self, start: &Value) {
        let cluster = Cluster::start(1);
        let (ours, mut peer) = self.both(&cluster.places());
        ours.set_counter("ours", 40, Ttl::NEVER).expect("stored");
        assert_eq!(peer.incr("ours", 2), Some(42));
        assert_eq!(ours.counter("ours").expect("a counter"), Some(42));
        peer.set("theirs", start).expect("stored");
        assert_eq!(ours.incr("theirs", 2).expect("a counter"), Some(42));
        assert_eq!(ours.counter("theirs").expect("a counter"), Some(42));
        assert_eq!(peer.incr("theirs", 1), Some(43));
        assert_eq!(peer.incr("nobody's", 1), None);
        // Nine in the room of ten: the server leaves a blank behind it.
        assert_eq!(ours.decr("theirs", 34).expect("a counter"), Some(9));
        let nine = peer.get("theirs").expect("is read").expect("is there");
        assert_eq!(nine.number(), Some(9), "{} reads {nine:?}", self.peer);
    }
}

/// What a value is in a language with one kind of integer and one of float; the sizes are Java's.
pub(crate) fn without_sizes(value: &Value) -> Arrives {
    Arrives::As(match value {
        Value::I8(number) => Value::Int((*number).into()),
        Value::I16(number) => Value::Int((*number).into()),
        Value::I32(number) => Value::Int((*number).into()),
        Value::F32(number) => Value::Float((*number).into()),
        Value::Char(letter) => Value::Text((*letter).into()),
        Value::Date(_) | Value::Object(_) => return Arrives::Unknown,
        _ => return Arrives::Same,
    })
}

/// A number as a client keeps it that writes so many digits.
pub(crate) fn rounded(number: f64, digits: usize) -> f64 {
    format!("{number:.*e}", digits - 1).parse().unwrap_or(number)
}

/// What a language without those sizes has to store.
pub(crate) fn only_unsized(value: &Value) -> Arrives {
    match without_sizes(value) {
        Arrives::As(_) => Arrives::Unknown,
        other => other,
    }
}

/// Why ours could not read a value, if that is what the error says.
fn reason(error: &Error) -> Option<DecodeErrorKind> {
    error.source()?.downcast_ref().map(DecodeError::kind)
}

/// What went wrong, all of it, for one report.
#[derive(Default)]
struct Wrong {
    lines: Vec<String>,
    right: usize,
}

impl Wrong {
    fn unless(
        &mut self,
        right: bool,
        key: &str,
        value: &Value,
        expected: &Arrives,
        found: &dyn Debug,
    ) {
        if right {
            self.right += 1;
        } else {
            self.push(key, value, expected, found);
        }
    }

    fn push(&mut self, key: &str, value: &Value, expected: &Arrives, found: &dyn Debug) {
        let cut = |text: String| text.chars().take(300).collect::<String>();
        let (value, expected) = (cut(format!("{value:?}")), cut(format!("{expected:?}")));
        let found = cut(format!("{found:?}"));
        self.lines.push(format!("{key}, {value}: expected {expected}, got {found}"));
    }

    fn report(self) {
        assert!(self.lines.is_empty(), "{} wrong:\n{}", self.lines.len(), self.lines.join("\n"));
        assert!(self.right > 0, "nothing was asked");
    }
}
