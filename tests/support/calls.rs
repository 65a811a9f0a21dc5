//! Every call of the public face, for tests of what holds for all of them.

use mcpool::{CasToken, Client, Error, Ttl};
use std::time::Duration;

/// A call of one key, by name.
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Client, &str, &CasToken) -> Result<(), Error>,
    /// Whether it may be carried out twice without harm.
    pub(crate) repeatable: bool,
}

macro_rules! calls {
    ($($name:ident $repeatable:literal |$client:ident, $key:ident, $token:pat_param| $run:expr;)*) => {
        &[$(Call {
            name: stringify!($name),
            run: |$client, $key, $token| $run.map(drop),
            repeatable: $repeatable,
        }),*]
    };
}

pub(crate) const SINGLE: &[Call] = calls! {
    get true |client, key, _| client.get::<String>(key);
    gets true |client, key, _| client.gets::<String>(key);
    get_and_touch true |client, key, _| client.get_and_touch::<String>(key, Ttl::NEVER);
    contains_key true |client, key, _| client.contains_key(key);
    get_raw true |client, key, _| client.get_raw(key);
    get_raw_into true |client, key, _| client.get_raw_into(key, &mut Vec::new());
    counter true |client, key, _| client.counter(key);
    set true |client, key, _| client.set(key, "1", Ttl::NEVER);
    set_raw true |client, key, _| client.set_raw(key, b"1", 0, Ttl::NEVER);
    set_counter true |client, key, _| client.set_counter(key, 1, Ttl::NEVER);
    touch true |client, key, _| client.touch(key, Ttl::NEVER);
    add false |client, key, _| client.add(key, "1", Ttl::NEVER);
    replace false |client, key, _| client.replace(key, "1", Ttl::NEVER);
    append false |client, key, _| client.append(key, "1");
    prepend false |client, key, _| client.prepend(key, "1");
    cas false |client, key, token| client.cas(key, "1", Ttl::NEVER, token);
    incr false |client, key, _| client.incr(key, 1);
    decr false |client, key, _| client.decr(key, 1);
    incr_or_init false |client, key, _| client.incr_or_init(key, 1, 1, Ttl::NEVER);
    decr_or_init false |client, key, _| client.decr_or_init(key, 1, 1, Ttl::NEVER);
    delete false |client, key, _| client.delete(key);
};

/// A call of several keys, or of every server; the errors of its parts.
pub(crate) struct Many {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Client, &[String]) -> Vec<Error>,
}

macro_rules! many {
    ($($name:ident |$client:ident, $keys:pat_param| $run:expr;)*) => {
        &[$(Many { name: stringify!($name), run: |$client, $keys| failures($run) }),*]
    };
}

pub(crate) const MANY: &[Many] = many! {
    get_many |client, keys| client.get_many::<String, _>(keys.to_vec()).outcomes().iter().map(|(_, r)| failure(r));
    gets_many |client, keys| client.gets_many::<String, _>(keys.to_vec()).outcomes().iter().map(|(_, r)| failure(r));
    set_many |client, keys| client.set_many(keys.iter().map(|k| (k.clone(), "1")), Ttl::NEVER).iter().map(|(_, r)| failure(r));
    delete_many |client, keys| client.delete_many(keys.to_vec()).iter().map(|(_, r)| failure(r));
    stats |client, _| client.stats().iter().map(|(_, r)| failure(r));
    stats_of |client, _| client.stats_of("items").iter().map(|(_, r)| failure(r));
    dump_keys |client, _| client.dump_keys().iter().map(|(_, r)| failure(r));
    version |client, _| client.version().iter().map(|(_, r)| failure(r));
    verbosity |client, _| client.verbosity(0).iter().map(|(_, r)| failure(r));
    flush_all |client, _| client.flush_all(Duration::from_secs(3600)).iter().map(|(_, r)| failure(r));
};

/// Makes every call once; each by its name with its errors. The last ones are [`MANY`].
pub(crate) fn every_call(
    client: &Client,
    key: &str,
    token: &CasToken,
) -> Vec<(&'static str, Vec<Error>)> {
    let single =
        |call: &Call| (call.name, (call.run)(client, key, token).err().into_iter().collect());
    let keys = [key.to_owned(), format!("{key}2")];
    let many = |call: &Many| (call.name, (call.run)(client, &keys));
    SINGLE.iter().map(single).chain(MANY.iter().map(many)).collect()
}

fn failure<T>(result: &Result<T, Error>) -> Option<Error> {
    result.as_ref().err().cloned()
}

fn failures(parts: impl Iterator<Item = Option<Error>>) -> Vec<Error> {
    parts.flatten().collect()
}
