//! Presets: what they set, by themselves and beside other settings, and that every call keeps to it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::collections::HashMap;

use mcpool::testing::TestServer;
use mcpool::{Client, ClientBuilder, Codec, KeyHash, LongKeys, Placement, Preset, Ttl, interop};

fn shown(builder: &ClientBuilder) -> String {
    format!("{builder:?}")
}

#[test]
fn a_preset_leaves_alone_what_is_set_by_itself_before_it_or_behind_it() {
    let placement = Placement::Ketama.with_hash(KeyHash::Murmur);
    for preset in Preset::all() {
        let builder = Client::builder;
        let behind = builder().preset(preset).placement(placement).codec(Codec::Raw);
        let before = builder().placement(placement).codec(Codec::Raw).preset(preset);
        assert_eq!(shown(&behind), shown(&before));
        assert!(shown(&before).contains("Placement(ketama+murmur)"), "{}", shown(&before));
        assert!(shown(&before).contains("codec: Raw"), "{}", shown(&before));

        let behind = builder().preset(preset).sanitize_keys(false).hash_prefix(true);
        let before = builder().hash_prefix(true).sanitize_keys(false).preset(preset);
        assert_eq!(shown(&behind), shown(&before));
        let behind = builder().preset(preset).long_keys(LongKeys::Md5);
        assert_eq!(shown(&behind), shown(&builder().long_keys(LongKeys::Md5).preset(preset)));
    }
}

#[test]
fn of_two_presets_the_second_counts() {
    for first in Preset::all() {
        let twice = Client::builder().preset(first).preset(Preset::PerlCacheMemcached);
        let once = Client::builder().preset(Preset::PerlCacheMemcached);
        assert_eq!(shown(&twice), shown(&once), "{first}");
    }
}

/// Three servers, and a client on each that sees keys as they are stored.
fn cluster() -> (Vec<TestServer>, HashMap<String, Client>) {
    let servers: Vec<_> = (0..3).map(|_| TestServer::start().unwrap()).collect();
    let plain = servers.iter().map(|s| (s.address(), Client::new(s.address()).unwrap())).collect();
    (servers, plain)
}

#[test]
fn every_call_finds_a_key_under_the_same_name_on_the_same_server() {
    let (servers, plain) = cluster();
    let addresses: Vec<_> = servers.iter().map(TestServer::address).collect();
    for preset in Preset::all() {
        let settings = Client::builder().servers(&addresses[..]).preset(preset);
        let client = settings.key_prefix("app:").build().unwrap();
        let long = "k".repeat(300);
        let mut keys: Vec<String> = (0..30).map(|i| format!("{preset}/{i}")).collect();
        if preset == Preset::Dalli {
            keys.push(long);
        }
        for key in &keys {
            client.set(key, key, Ttl::NEVER).unwrap();
            // Under a name that begins with the prefix, once, and nowhere else.
            let home = client.server_for(key).unwrap();
            for (address, plain) in &plain {
                let stored = plain.dump_keys().into_iter().flat_map(|(_, keys)| keys.unwrap());
                let stored: Vec<_> = stored.map(|item| item.key).collect();
                assert_eq!(stored.len(), usize::from(*address == home), "{preset} {key}");
                for name in stored {
                    let name = String::from_utf8(name).unwrap();
                    assert!(name.starts_with("app:") && !name[1..].contains("app:"), "{name}");
                }
            }
            assert!(client.delete(key).unwrap());
        }
        let pairs = keys.iter().map(|key| (key, key));
        client.set_many(pairs, Ttl::NEVER).into_result().unwrap();
        for key in &keys {
            assert_eq!(client.get::<String>(key).unwrap().as_ref(), Some(key), "{preset}");
        }
        assert_eq!(client.get_many::<String, _>(&keys).into_iter().count(), keys.len(), "{preset}");
        let deleted = client.delete_many(&keys).into_result().unwrap();
        assert!(deleted.iter().all(|(_, deleted)| *deleted), "{preset}");
    }
}

#[test]
fn a_prefix_moves_keys_unless_the_preset_leaves_it_out_of_the_choice() {
    let addresses: Vec<String> = (1..=9).map(|i| format!("10.0.0.{i}:11211")).collect();
    for preset in Preset::all() {
        let client = Client::builder().servers(&addresses[..]).preset(preset).build().unwrap();
        let prefixed = client.with_prefix("another.").unwrap();
        let moved = (0..200)
            .map(|i| format!("key{i}"))
            .any(|key| client.server_for(&key).unwrap() != prefixed.server_for(&key).unwrap());
        let apart = matches!(
            preset,
            Preset::Libmemcached
                | Preset::LibmemcachedConsistent
                | Preset::LibmemcachedKetama
                | Preset::PhpMemcached
                | Preset::PhpMemcachedConsistent
                | Preset::PhpMemcachedKetama
                | Preset::Pymemcache
                | Preset::PerlCacheMemcached
        );
        assert_eq!(moved, !apart, "{preset}");
        let hashed = Client::builder().servers(&addresses[..]).preset(preset).hash_prefix(true);
        let hashed = hashed.key_prefix("another.").build().unwrap();
        let whole = |key: &String| client.server_for(format!("another.{key}")).unwrap();
        for key in (0..50).map(|i| format!("key{i}")) {
            assert_eq!(hashed.server_for(&key).unwrap(), whole(&key), "{preset} {key}");
        }
    }
}

#[test]
fn an_explanation_names_the_servers_that_clients_with_the_presets_use() {
    let addresses: Vec<String> = (1..=9).map(|i| format!("10.0.0.{i}:1121{i}")).collect();
    for i in 0..20 {
        let key = format!("some key:{i}").replace(' ', if i == 0 { " " } else { "_" });
        let explanation = interop::explain(&key, &addresses[..]).unwrap();
        assert_eq!(explanation.homes().len(), Preset::all().count());
        for preset in Preset::all() {
            let home = explanation.home(preset).unwrap();
            let client = Client::builder().servers(&addresses[..]).preset(preset).build().unwrap();
            match client.server_for(&key) {
                Ok(server) => {
                    assert_eq!((home.server(), home.problem()), (Some(&*server), None), "{preset}");
                    assert_eq!(home.servers().len(), 9);
                }
                Err(e) => assert!(e.to_string().contains(home.problem().unwrap()), "{e}"),
            }
        }
    }
    let blank = interop::explain("a b", "10.0.0.1").unwrap();
    assert_eq!(blank.home(Preset::Whalin).unwrap().wire_key(), Some(&b"a+b"[..]));
    assert_eq!(blank.home(Preset::Pymemcache).unwrap().wire_key(), None);
}

#[test]
fn an_explanation_says_what_a_client_would_have_to_be_told() {
    let explanation = interop::explain("key", ["cache1", "cache2"]).unwrap();
    let java = explanation.home(Preset::XmemcachedKetama).unwrap();
    assert!(java.problem().unwrap().contains("`?name=`"), "{java:?}");
    let text = explanation.to_string();
    assert!(text.contains("gomemcache                cache"), "{text}");
    assert!(text.contains("PhpMemcached              0 text or bytes, "), "{text}");
    let row = |codec: &Codec| {
        let name = format!("{codec:?} ");
        text.lines().filter(|line| line.starts_with(&name)).count()
    };
    for (codec, _) in explanation.flags(0) {
        assert_eq!(row(&codec), 1, "{codec:?} in {text}");
    }
    for preset in Preset::all() {
        assert_eq!(preset.codec().map_or(1, |codec| row(&codec)), 1, "{preset} in {text}");
    }
    for (codec, said) in [
        (Codec::DalliJson, "32768 JSON"),
        (Codec::Json, "32768 JSON"),
        (Codec::Pymemcache, "32784 JSON"),
        (Codec::PythonBinaryMemcached, "32768 JSON"),
    ] {
        let line = text.lines().find(|line| line.starts_with(&format!("{codec:?} ")));
        assert!(line.is_some_and(|line| line.contains(said)), "{codec:?}: {line:?}");
    }
    assert!(interop::explain("key", "cache1?wait=1").is_err());
    // Flags 4: a number of pylibmc's, a serialized PHP array.
    let meanings: Vec<_> = explanation.flags(4).into_iter().filter_map(|(_, said)| said).collect();
    assert!(meanings.len() > 2, "{meanings:?}");
}

#[test]
fn a_server_without_the_name_that_a_ring_needs_is_an_error_that_says_so() {
    let builder = || Client::builder().preset(Preset::SpymemcachedKetama);
    let error = builder().servers(["cache1", "cache2"]).build().unwrap_err().to_string();
    assert!(error.contains("cache1:11211") && error.contains("?name="), "{error}");
    let named = ["cache1?name=cache1/10.0.0.1:11211", "10.0.0.2"];
    builder().servers(named).build().unwrap();
}
