//! Tests: the placements of spymemcached and xmemcached against what they answered.

use std::net::IpAddr;

use serde_json::Value;

use super::*;
use crate::ring::hash::{Dialect, Hasher};
use crate::ring::{KeyHash, NameForm, Placement};

fn recorded() -> Value {
    let text = include_str!("../../../tests/vectors/java-placement.json");
    serde_json::from_str(text).expect("recorded vectors")
}

fn keys(vectors: &Value) -> Vec<Vec<u8>> {
    list(&vectors["keys"]).iter().map(|key| text(key).as_bytes().to_vec()).collect()
}

/// The hash that the Java clients call so.
fn hash(name: &str) -> KeyHash {
    match name {
        "NATIVE_HASH" => KeyHash::Native,
        "CRC_HASH" | "CRC32_HASH" => KeyHash::Crc,
        "FNV1_64_HASH" => KeyHash::Fnv1_64,
        "FNV1A_64_HASH" => KeyHash::Fnv1a64,
        "FNV1_32_HASH" => KeyHash::Fnv1_32,
        "FNV1A_32_HASH" => KeyHash::Fnv1a32,
        "KETAMA_HASH" | "ELECTION_HASH" => KeyHash::Md5,
        "MYSQL_HASH" => KeyHash::Mysql,
        "ELF_HASH" => KeyHash::Elf,
        "RS_HASH" => KeyHash::Rs,
        "LUA_HASH" => KeyHash::Lua,
        "ONE_AT_A_TIME" => KeyHash::OneAtATime,
        other => panic!("{other}"),
    }
}

/// The placement of a recorded client, and whether it was given the weights.
fn placement(client: &str) -> (Placement, bool) {
    let words: Vec<&str> = client.split(' ').collect();
    let hash = hash(words[2]);
    match (words[0], words[1], words.get(3).copied()) {
        ("spymemcached", "ARRAY_MOD", _) => (Placement::SpymemcachedArray.with_hash(hash), true),
        ("spymemcached", "CONSISTENT", form) => {
            let names = match form {
                Some("LIBMEMCACHED") => NameForm::Short,
                _ => NameForm::JavaBare,
            };
            let placement = Placement::SpymemcachedKetama.with_hash(hash).with_names(names);
            (placement, words.contains(&"weighted"))
        }
        ("xmemcached", "Array", _) => (Placement::XmemcachedArray.with_hash(hash), true),
        ("xmemcached", "PHPMemcache", _) => (Placement::XmemcachedPhp.with_hash(hash), true),
        ("xmemcached", "Election", _) => (Placement::XmemcachedElection.with_hash(hash), true),
        ("xmemcached", "Ketama", mode) => {
            let names = match mode {
                Some("nginx") => NameForm::Ip,
                Some("gwhalin") => NameForm::HostPort,
                _ => NameForm::Java,
            };
            (Placement::XmemcachedKetama.with_hash(hash).with_names(names), true)
        }
        ("xmemcached", "LibmemcachedKetama", Some(points)) => {
            let points = points.parse().expect("a number");
            (Placement::XmemcachedLibmemcached.with_hash(hash).with_points(points), true)
        }
        _ => panic!("{client}"),
    }
}

/// The servers under the names that the placement's form gives them.
fn ring(placement: Placement, weighted: bool, set: &Value) -> Ring {
    let nodes: Vec<_> = list(set)
        .iter()
        .map(|server| {
            let ip: IpAddr = text(&server[1]).parse().expect("an address");
            let host = server[0].as_str().unwrap_or_default();
            let name = placement.names().format(host, Some(ip), number(&server[2]));
            let weight = if weighted { number(&server[3]) } else { 1 };
            node(name.expect("with its address every server has a name"), weight)
        })
        .collect();
    Ring::new(placement, &nodes).expect("nodes")
}

#[test]
fn keys_hash_as_in_the_java_clients() {
    let vectors = recorded();
    let mut compared = 0;
    for (name, hashes) in vectors["hashes"].as_object().expect("by name") {
        let (_, name) = name.split_once(' ').expect("client and hash");
        let hasher = Hasher { hash: hash(name), dialect: Dialect::Java };
        for (key, expected) in keys(&vectors).iter().zip(list(hashes)) {
            if expected.as_i64() != Some(-1) {
                let found = hasher.of(&[key]) & 0xffff_ffff;
                assert_eq!(
                    found,
                    number::<u64>(expected),
                    "{name} {}",
                    text(&(expected.to_string().into()))
                );
                compared += 1;
            }
        }
    }
    // 20 hashes of 201 keys, but the empty key where xmemcached refuses it.
    assert_eq!(compared, 20 * 201 - 3);
}

#[test]
fn keys_live_on_the_servers_of_the_java_clients() {
    let vectors = recorded();
    let keys = keys(&vectors);
    let (mut tables, mut compared) = (0, 0);
    for table in list(&vectors["tables"]) {
        let client = text(&table["client"]);
        let (placement, weighted) = placement(client);
        let what = format!("{client} on {}", table["set"]);
        let ring = ring(placement, weighted, &vectors["sets"][text(&table["set"])]);
        assert_points(&ring, &table["ring"], !client.contains("CRC"), &what);
        if table["closed"].is_null() {
            compared += assert_picks(&ring, &keys, &picks(&table["picks"]), &what);
        }
        tables += 1;
    }
    assert_eq!((tables, compared), (296, 46_381));
}

#[test]
fn keys_of_a_failed_server_live_where_xmemcached_takes_them() {
    let vectors = recorded();
    let mut compared = 0;
    for table in list(&vectors["tables"]).iter().filter(|table| !table["closed"].is_null()) {
        let client = text(&table["client"]);
        let (placement, weighted) = placement(client);
        let ring = ring(placement, weighted, &vectors["sets"][text(&table["set"])]);
        let closed: usize = number(&table["closed"]);
        for (key, pick) in keys(&vectors).iter().zip(picks(&table["picks"])) {
            // The failed server itself is the answer when the original has searched in vain.
            let Some(pick) = pick.filter(|pick| *pick != closed) else { continue };
            let found = ring.candidates(key, None).find(|node| *node != closed);
            assert_eq!(
                found,
                Some(pick),
                "{client} on {}: {}",
                table["set"],
                String::from_utf8_lossy(key)
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 12_965);
}

#[test]
fn keys_of_failed_servers_live_where_spymemcached_takes_them() {
    let vectors = recorded();
    let mut compared = 0;
    for table in list(&vectors["tables"]).iter().filter(|table| !table["fallback"].is_null()) {
        let client = text(&table["client"]);
        let (placement, weighted) = placement(client);
        let ring = ring(placement, weighted, &vectors["sets"][text(&table["set"])]);
        for (key, tried) in keys(&vectors).iter().zip(list(&table["fallback"])) {
            let mut expected = Vec::new();
            let home = ring.primary(key, None);
            for node in std::iter::once(Some(home)).chain(picks(tried)).flatten() {
                if !expected.contains(&node) {
                    expected.push(node);
                }
            }
            let found: Vec<usize> = ring.candidates(key, None).take(expected.len()).collect();
            assert_eq!(
                found,
                expected,
                "{client} on {}: {}",
                table["set"],
                String::from_utf8_lossy(key)
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 3440);
}
