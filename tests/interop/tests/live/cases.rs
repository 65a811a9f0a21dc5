//! What is asked of every peer; each peer's own file says with which settings, and what the right answers are.

use std::error::Error as _;
use std::fmt::Debug;

use mcpool::{Client, ClientBuilder, Codec, DecodeError, DecodeErrorKind, Error, ErrorKind, Ttl};
use mcpool_interop_tests::cluster::{Cluster, Place, client};
use mcpool_interop_tests::dice::{Dice, Letters};
use mcpool_interop_tests::peer::Peer;
use mcpool_interop_tests::value::Value;

use crate::samples;

/// Cluster sizes in the tests of placements.
const SIZES: [usize; 5] = [2, 3, 5, 8, 12];
/// Keys that each side stores on each cluster.
const KEYS: usize = 400;
/// The most weight that a server gets.
const HEAVIEST: usize = 10;

/// Bytes above which ours compresses where that is tested.
const LARGE: usize = 1000;

/// A peer with its settings, and ours that match them.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    /// The name of the driver.
    pub(crate) peer: &'a str,
    pub(crate) options: &'a [(&'a str, &'a str)],
    /// The names of ours that match: the preset, and the placement where the peer's is not the preset's.
    pub(crate) preset: &'a str,
    pub(crate) placement: Option<&'a str>,
    /// What stands before its keys on the servers.
    pub(crate) prefix: &'a str,
    /// What its keys may be made of.
    pub(crate) letters: Letters,
    /// Whether its servers get weights.
    pub(crate) weighted: bool,
}

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
    /// Our client on these servers, with settings that match.
    fn ours(&self, servers: &[Place]) -> Client {
        client(servers, |builder| self.set_up(builder))
    }

    fn set_up(&self, builder: ClientBuilder) -> ClientBuilder {
        set_up(builder, self.preset, self.placement).key_prefix(self.prefix)
    }

    /// The same, and the peer on the same servers.
    fn both(&self, servers: &[Place]) -> (Client, Peer) {
        let mut peer = Peer::start(self.peer);
        peer.open(servers, self.options);
        (self.ours(servers), peer)
    }

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

    /// Both sides store on clusters of many sizes, and each finds what the other stored, one by one and many at once.
    pub(crate) fn same_servers(&self) {
        let cluster = Cluster::start(SIZES[SIZES.len() - 1]);
        let mut dice = Dice::new(self.peer);
        let mut peer = Peer::start(self.peer);
        for size in SIZES {
            let servers = self.some_servers(&cluster, size, &mut dice);
            peer.open(&servers, self.options);
            let ours = self.ours(&servers);
            let told = servers.iter().map(Place::text).collect::<Vec<_>>();
            let theirs = self.keys(&mut dice);
            self.ours_finds(&cluster, &ours, &mut peer, &theirs, &told);
            let mine = self.keys(&mut dice);
            self.peer_finds(&ours, &mut peer, &mine, &told);
        }
    }

    fn ours_finds(
        &self,
        cluster: &Cluster,
        ours: &Client,
        peer: &mut Peer,
        keys: &[String],
        told: &[String],
    ) {
        let values = keys.iter().map(|key| (key.clone(), Value::Text(key.clone())));
        peer.set_all(&values.collect::<Vec<_>>());
        let mut wrong = Vec::new();
        let on_the_wire = |key: &String| format!("{}{key}", self.prefix);
        let holders = cluster.holders(&keys.iter().map(on_the_wire).collect::<Vec<_>>());
        for key in keys {
            let held = holders.get(&on_the_wire(key)).map(Vec::as_slice);
            let said = ours.server_for(key).expect("a good key");
            if !held.is_some_and(|held| held.len() == 1 && held[0].to_string() == said) {
                wrong.push(format!("{key}: is on {held:?}, ours says {said}"));
            }
        }
        assert_none(&wrong, keys.len(), self, told);
        for (key, value) in ours.get_many::<String, _>(keys).into_result().expect("answers") {
            assert_eq!(value.as_ref(), Some(key), "ours reads what the peer stored on {told:?}");
        }
    }

    fn peer_finds(&self, ours: &Client, peer: &mut Peer, keys: &[String], told: &[String]) {
        let values = keys.iter().map(|key| (key, key));
        ours.set_many(values, Ttl::NEVER).into_result().expect("stored");
        let is_there = |key: &String, found: Option<&Value>| {
            found.is_some_and(|v| v.is(&Value::Text(key.clone())))
        };
        let found = peer.get_all(keys);
        let missed = keys.iter().zip(&found).filter(|(key, v)| !is_there(key, v.as_ref()));
        let wrong: Vec<_> = missed.map(|(key, v)| format!("{key}: the peer gets {v:?}")).collect();
        assert_none(&wrong, keys.len(), self, told);
        for keys in keys.chunks(100) {
            let found = peer.many(keys);
            let missed = keys.iter().filter(|key| !is_there(key, found.get(*key)));
            let wrong: Vec<_> = missed.map(|key| format!("{key}: not among many")).collect();
            assert_none(&wrong, keys.len(), self, told);
        }
    }

    /// What the peer computes for very many keys, without a word to a server.
    pub(crate) fn same_servers_for(&self, count: usize) {
        let mut dice = Dice::new("many keys");
        let mut peer = Peer::start(self.peer);
        let servers: Vec<Place> = (0..7)
            .map(|at| Place {
                addr: ([10, 0, 0, at], u16::try_from(dice.between(1, 65535)).expect("16 bits"))
                    .into(),
                weight: self.weight(&mut dice),
            })
            .collect();
        peer.open(&servers, self.options);
        let ours = self.ours(&servers);
        let told = servers.iter().map(Place::text).collect::<Vec<_>>();
        let keys: Vec<_> = (0..count).map(|_| self.key(&mut dice)).collect();
        let said = peer.servers_for(&keys);
        let pairs = keys.iter().zip(&said).map(|(key, theirs)| (key, theirs, ours.server_for(key)));
        let wrong: Vec<_> = pairs
            .filter(|(_, theirs, mine)| mine.as_ref().ok() != Some(theirs))
            .map(|(key, theirs, mine)| format!("{key}: the peer says {theirs}, ours {mine:?}"))
            .collect();
        assert_none(&wrong, keys.len(), self, &told);
    }

    /// Large values that the peer compresses and ours reads, and the reverse; neither makes a value larger.
    pub(crate) fn compressed_values(&self) {
        let cluster = Cluster::start(1);
        let mut peer = Peer::start(self.peer);
        peer.open(&cluster.places(), self.options);
        let ours = client(&cluster.places(), |builder| self.set_up(builder).compress_above(LARGE));
        let raw = client(&cluster.places(), |builder| builder.codec(Codec::Raw));
        let held = |key: &str| raw.get_raw(key).expect("answers").expect("stored").bytes.len();
        let dull = "All work and no play. ".repeat(3000);
        let wild = Dice::new("wild").text(Letters::Ascii, 60_000);
        for (name, text, most) in
            [("dull", &dull, dull.len() / 10), ("wild", &wild, wild.len() + 64)]
        {
            let key = format!("theirs-{name}");
            peer.set(&key, &Value::Text(text.clone())).expect("stored");
            assert!(held(&key) <= most, "{}: stores {name} in {} bytes", self.peer, held(&key));
            assert_eq!(ours.get::<String>(&key).expect("is read").as_ref(), Some(text));
            let key = format!("ours-{name}");
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
        let right = [start.with_number("9"), start.with_number("9 ")];
        assert!(right.iter().any(|right| right.is(&nine)), "{} reads {nine:?}", self.peer);
    }

    fn some_servers(&self, cluster: &Cluster, size: usize, dice: &mut Dice) -> Vec<Place> {
        let mut servers = dice.some(&cluster.places(), size);
        for server in &mut servers {
            server.weight = self.weight(dice);
        }
        servers
    }

    fn weight(&self, dice: &mut Dice) -> u32 {
        if !self.weighted {
            return 1;
        }
        u32::try_from(dice.between(1, HEAVIEST)).expect("small")
    }

    fn keys(&self, dice: &mut Dice) -> Vec<String> {
        let mut keys: Vec<_> = (0..KEYS).map(|_| self.key(dice)).collect();
        keys.sort();
        keys.dedup();
        keys
    }

    /// Up to 240 bytes, so that a prefix has room.
    fn key(&self, dice: &mut Dice) -> String {
        let longest = if self.letters == Letters::Ascii { 240 } else { 60 };
        let length = if dice.between(0, 3) == 0 { longest } else { 20 };
        let length = dice.between(4, length);
        dice.text(self.letters, length)
    }
}

/// Settings by their names.
pub(crate) fn set_up(
    builder: ClientBuilder,
    preset: &str,
    placement: Option<&str>,
) -> ClientBuilder {
    let codec = match preset {
        "php_memcached" => Codec::PhpMemcached,
        "pecl_memcache" => Codec::PeclMemcache,
        "pymemcache" => Codec::Pymemcache,
        "pylibmc" => Codec::Pylibmc,
        "python_memcached" => Codec::PythonMemcached,
        "perl_cache_memcached" => Codec::PerlCacheMemcached,
        "dalli" => Codec::Dalli,
        "dalli_json" => Codec::DalliJson,
        "spymemcached" | "spymemcached_ketama" => Codec::Spymemcached,
        "whalin" => Codec::Whalin,
        "gomemcache" | "libmemcached" => Codec::Gomemcache,
        "rust_memcache" => Codec::RustMemcache,
        _ => panic!("{preset}"),
    };
    let builder = builder.codec(codec);
    match placement.map(str::parse) {
        Some(placement) => builder.placement(placement.unwrap_or_else(|e| panic!("{e}"))),
        None => builder,
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

fn assert_none(wrong: &[String], of: usize, case: &Case<'_>, told: &[String]) {
    let shown = wrong.iter().take(5).map(|line| format!("\n  {line}")).collect::<String>();
    assert!(
        wrong.is_empty(),
        "{} {:?} on {told:?}: {} of {of} keys are wrong{shown}",
        case.peer,
        case.options,
        wrong.len()
    );
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
