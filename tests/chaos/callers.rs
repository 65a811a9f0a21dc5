//! The callers: every verb, on keys whose values say which key they belong to.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mcpool::testing::Dice;
use mcpool::{CasOutcome, Client, Error, ErrorKind, Ttl};

const KEYS: usize = 200;

/// What came of the calls.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Tally {
    pub(crate) calls: u64,
    pub(crate) hits: u64,
    misses: u64,
    errors: u64,
    longest: Duration,
}

impl Tally {
    pub(crate) fn add(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            hits: self.hits + other.hits,
            misses: self.misses + other.misses,
            errors: self.errors + other.errors,
            longest: self.longest.max(other.longest),
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, hits, misses, errors, longest } = self;
        write!(
            f,
            "{calls} calls, {hits} right values, 0 wrong ones, {misses} misses, {errors} errors, longest call {longest:?}"
        )
    }
}

pub(crate) struct Caller {
    client: Client,
    dice: Dice,
    most: Duration,
    tally: Tally,
}

impl Caller {
    pub(crate) fn new(client: Client, seed: u64, most: Duration) -> Self {
        Self { client, dice: Dice::new(seed), most, tally: Tally::default() }
    }

    pub(crate) fn run(mut self, over: &AtomicBool) -> Tally {
        while !over.load(Ordering::SeqCst) {
            let started = Instant::now();
            self.call();
            let took = started.elapsed();
            self.tally.calls += 1;
            self.tally.longest = self.tally.longest.max(took);
            assert!(took <= self.most, "a call took {took:?}");
        }
        self.tally
    }

    fn call(&mut self) {
        let key = format!("k{}", self.dice.below(KEYS));
        match self.dice.below(14) {
            0..=3 => {
                let found = self.client.get::<String>(&key);
                self.read(&key, found);
            }
            4..=5 => {
                let outcome = self.client.set(&key, &self.value(&key), Ttl::NEVER);
                self.done(outcome);
            }
            6 => {
                let value = self.value(&key);
                let outcome = self.client.add(&key, &value, Ttl::NEVER);
                self.done(outcome);
                let outcome = self.client.replace(&key, &value, Ttl::NEVER);
                self.done(outcome);
            }
            7 => {
                let outcome = self.client.delete(&key);
                self.done(outcome);
            }
            8 => self.compare_and_set(&key),
            9 => {
                // Counters have keys of their own; a number is never anything else.
                let counter = format!("n{}", self.dice.below(20));
                let outcome = self.client.incr_or_init(&counter, 1, 1, Ttl::NEVER);
                self.done(outcome);
                let outcome = self.client.counter(&counter);
                self.done(outcome);
            }
            10 => {
                let outcome = self.client.append(&key, "+tail");
                self.done(outcome);
                let outcome = self.client.touch(&key, Ttl::NEVER);
                self.done(outcome);
            }
            11 => self.get_many(),
            12 => {
                let keys: Vec<_> = (0..20).map(|_| format!("k{}", self.dice.below(KEYS))).collect();
                let entries: Vec<_> = keys.iter().map(|key| (key, self.value(key))).collect();
                for (_, outcome) in self.client.set_many(entries, Ttl::NEVER) {
                    self.done(outcome);
                }
            }
            _ => {
                let raw = self.client.get_raw(&key);
                let found =
                    raw.map(|raw| raw.map(|raw| String::from_utf8(raw.bytes).expect("text")));
                self.read(&key, found);
            }
        }
    }

    fn compare_and_set(&mut self, key: &str) {
        let item = match self.client.gets::<String>(key) {
            Ok(Some(item)) => item,
            Ok(None) => return self.tally.misses += 1,
            Err(e) => return self.failed(&e),
        };
        assert!(belongs(key, &item.value), "gets {key} gave {}", item.value);
        let outcome = self.client.cas(key, &self.value(key), Ttl::NEVER, &item.cas);
        if let Ok(outcome) = &outcome {
            assert!(matches!(
                outcome,
                CasOutcome::Stored | CasOutcome::Changed | CasOutcome::Missing
            ));
        }
        self.done(outcome);
    }

    fn get_many(&mut self) {
        let keys: Vec<_> = (0..50).map(|_| format!("k{}", self.dice.below(KEYS))).collect();
        let started = Instant::now();
        for (key, outcome) in self.client.get_many::<String, _>(keys).outcomes().iter() {
            match outcome {
                Ok(found) => self.check(key, found.as_deref()),
                Err(e) => self.failed(e),
            }
        }
        assert!(
            started.elapsed() <= self.most,
            "a call for many keys took {:?}",
            started.elapsed()
        );
    }

    fn read(&mut self, key: &str, outcome: Result<Option<String>, Error>) {
        match outcome {
            Ok(found) => self.check(key, found.as_deref()),
            Err(e) => self.failed(&e),
        }
    }

    fn check(&mut self, key: &str, found: Option<&str>) {
        match found {
            Some(value) => {
                assert!(belongs(key, value), "{key} gave {value}");
                self.tally.hits += 1;
            }
            None => self.tally.misses += 1,
        }
    }

    fn done<T>(&mut self, outcome: Result<T, Error>) {
        if let Err(e) = outcome {
            self.failed(&e);
        }
    }

    /// Trouble makes errors of servers and of time, and no others: a reply is never taken for another's.
    fn failed(&mut self, e: &Error) {
        assert!(
            e.may_retry() || e.kind() == ErrorKind::Substituted,
            "trouble on the way made an error of another kind: {e}"
        );
        assert_ne!(e.kind(), ErrorKind::Protocol, "a real server never breaks the protocol: {e}");
        self.tally.errors += 1;
    }

    /// A value that begins with its key, of a length of its own.
    fn value(&self, key: &str) -> String {
        let mut dice = self.dice.clone();
        let long = if dice.roll(0.05) { 20_000 } else { 200 };
        format!("{key}={}", "v".repeat(dice.below(long)))
    }
}

/// Whether a value was stored under this key, with anything that `append` put behind it.
fn belongs(key: &str, value: &str) -> bool {
    value.strip_prefix(key).is_some_and(|rest| {
        rest.strip_prefix('=')
            .is_some_and(|rest| rest.trim_end_matches("+tail").bytes().all(|b| b == b'v'))
    })
}
