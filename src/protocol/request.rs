//! What can be asked of a server, free of any dialect.

use std::fmt;

/// One request. Keys are those of [`WireKey`](crate::types::WireKey): checked, as they go over the wire.
///
/// Keys are copied into a batch; a value may be borrowed by it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Request<'k, 'v> {
    /// Stores a value.
    Store { verb: StoreVerb, key: &'k [u8], flags: u32, exptime: i32, value: &'v [u8] },
    /// Reads the values of one or more distinct keys, with their cas tokens if asked for.
    Get { keys: &'k [&'k [u8]], cas: bool },
    /// Reads values and sets the expiry time of those found.
    GetAndTouch { keys: &'k [&'k [u8]], exptime: i32, cas: bool },
    /// Sets an expiry time.
    Touch { key: &'k [u8], exptime: i32 },
    /// Removes a value.
    Delete { key: &'k [u8] },
    /// Adds to a decimal number, wrapping at 2^64.
    Incr { key: &'k [u8], by: u64 },
    /// Subtracts from a decimal number, stopping at 0.
    Decr { key: &'k [u8], by: u64 },
    /// Asks for a list of named figures.
    Stats { argument: Option<StatsArgument<'k>> },
    /// Asks for the server's version.
    Version,
    /// Forgets everything, at once or in so many seconds.
    FlushAll { delay: Option<u32> },
    /// Sets how much the server logs.
    Verbosity { level: u32 },
    /// Lists all keys, one raw line each. Must be the only request of its batch: memcached drops
    /// what comes behind it unread, and refuses it behind another.
    DumpKeys,
}

/// How a store treats what is already there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreVerb {
    /// Whatever is there.
    Set,
    /// Only if nothing is there.
    Add,
    /// Only if something is there.
    Replace,
    /// Behind what is there.
    Append,
    /// Before what is there.
    Prepend,
    /// Only if what is there still has this token.
    Cas(u64),
}

impl StoreVerb {
    /// The request's name.
    pub(crate) fn verb(self) -> Verb {
        match self {
            Self::Set => Verb::Set,
            Self::Add => Verb::Add,
            Self::Replace => Verb::Replace,
            Self::Append => Verb::Append,
            Self::Prepend => Verb::Prepend,
            Self::Cas(_) => Verb::Cas,
        }
    }
}

/// What may stand behind `stats`: words of printable ASCII that cannot end the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StatsArgument<'a>(&'a str);

impl<'a> StatsArgument<'a> {
    /// The longest argument, in bytes; servers take about 250 for one word.
    const MAX: usize = 250;

    /// The argument, unless it is empty, too long or holds anything but printable ASCII and single spaces.
    pub(crate) fn new(text: &'a str) -> Option<Self> {
        let word = |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_graphic());
        (text.len() <= Self::MAX && text.split(' ').all(word)).then_some(Self(text))
    }

    pub(crate) fn as_str(self) -> &'a str {
        self.0
    }

    /// Whether it asks the server to do something, which is answered by a word and not by figures.
    fn is_order(self) -> bool {
        matches!(self.0.split(' ').next(), Some("reset" | "detail"))
    }
}

/// A request's name: what errors call it, and what may be done when its fate is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Verb {
    Set,
    Add,
    Replace,
    Append,
    Prepend,
    Cas,
    Get,
    Gets,
    Gat,
    Gats,
    Touch,
    Delete,
    Incr,
    Decr,
    Stats,
    /// A `stats` that asks the server to do something.
    StatsOrder,
    Version,
    FlushAll,
    Verbosity,
    DumpKeys,
}

impl Request<'_, '_> {
    /// The request's name.
    pub(crate) fn verb(&self) -> Verb {
        match *self {
            Self::Store { verb, .. } => verb.verb(),
            Self::Get { cas: false, .. } => Verb::Get,
            Self::Get { cas: true, .. } => Verb::Gets,
            Self::GetAndTouch { cas: false, .. } => Verb::Gat,
            Self::GetAndTouch { cas: true, .. } => Verb::Gats,
            Self::Touch { .. } => Verb::Touch,
            Self::Delete { .. } => Verb::Delete,
            Self::Incr { .. } => Verb::Incr,
            Self::Decr { .. } => Verb::Decr,
            Self::Stats { argument: Some(argument) } if argument.is_order() => Verb::StatsOrder,
            Self::Stats { .. } => Verb::Stats,
            Self::Version => Verb::Version,
            Self::FlushAll { .. } => Verb::FlushAll,
            Self::Verbosity { .. } => Verb::Verbosity,
            Self::DumpKeys => Verb::DumpKeys,
        }
    }

    /// How many keys a reading request names; 0 for every other.
    pub(super) fn keys_read(&self) -> usize {
        match self {
            Self::Get { keys, .. } | Self::GetAndTouch { keys, .. } => keys.len(),
            _ => 0,
        }
    }
}

impl Verb {
    /// The name, as the text protocol spells it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::Add => "add",
            Self::Replace => "replace",
            Self::Append => "append",
            Self::Prepend => "prepend",
            Self::Cas => "cas",
            Self::Get => "get",
            Self::Gets => "gets",
            Self::Gat => "gat",
            Self::Gats => "gats",
            Self::Touch => "touch",
            Self::Delete => "delete",
            Self::Incr => "incr",
            Self::Decr => "decr",
            Self::Stats | Self::StatsOrder => "stats",
            Self::Version => "version",
            Self::FlushAll => "flush_all",
            Self::Verbosity => "verbosity",
            Self::DumpKeys => "lru_crawler metadump",
        }
    }

    /// May it be sent again when it may have been processed already? Twice must then be as good as once.
    pub(crate) fn is_repeatable(self) -> bool {
        use Verb::{Gat, Gats, Get, Gets, Set, Stats, StatsOrder, Touch, Version};
        matches!(self, Get | Gets | Gat | Gats | Touch | Set | Stats | StatsOrder | Version)
    }

    /// Does it ask for something and change no value?
    pub(crate) fn is_read(self) -> bool {
        self.reads_keys()
            || matches!(self, Self::Stats | Self::StatsOrder | Self::Version | Self::DumpKeys)
    }

    /// Does it name keys, and is it answered at once?
    pub(super) fn is_about_keys(self) -> bool {
        use Verb::{DumpKeys, FlushAll, Stats, StatsOrder, Verbosity, Version};
        !matches!(self, Stats | StatsOrder | Version | FlushAll | Verbosity | DumpKeys)
    }

    /// Is it answered by the values of the keys it names?
    pub(super) fn reads_keys(self) -> bool {
        matches!(self, Self::Get | Self::Gets | Self::Gat | Self::Gats)
    }

    /// Does it carry a value, which a server that refuses the command may run as the next one?
    pub(super) fn is_store(self) -> bool {
        use Verb::{Add, Append, Cas, Prepend, Replace, Set};
        matches!(self, Set | Add | Replace | Append | Prepend | Cas)
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stats_argument_cannot_become_a_second_command() {
        for good in ["items", "detail on", "cachedump 1 10", "proxy:x"] {
            assert_eq!(StatsArgument::new(good).map(StatsArgument::as_str), Some(good));
        }
        let long = "a".repeat(251);
        for bad in ["", " ", "a ", "a  b", "a\r\nflush_all", "a\nb", "a\tb", "ä", "\0", &long] {
            assert_eq!(StatsArgument::new(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn only_verbs_that_may_run_twice_are_repeated() {
        use Verb::*;
        for verb in [Get, Gets, Gat, Gats, Touch, Set, Stats, Version] {
            assert!(verb.is_repeatable(), "{verb}");
        }
        for verb in
            [Add, Replace, Append, Prepend, Cas, Delete, Incr, Decr, FlushAll, Verbosity, DumpKeys]
        {
            assert!(!verb.is_repeatable(), "{verb}");
        }
    }
}
