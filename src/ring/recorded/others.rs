//! Tests: the placements of the C, PHP, Python, Perl, Ruby and Go clients and of the proxy twemproxy against what
//! they answered.

use serde_json::Value;

use super::*;
use crate::ring::hash::{Dialect, Hasher};
use crate::ring::{KeyHash, NameForm, Placement};

fn recorded() -> Value {
    let text = include_str!("../../../tests/vectors/other-placement.json");
    serde_json::from_str(text).expect("recorded vectors")
}

fn keys(vectors: &Value) -> Vec<Vec<u8>> {
    let byte =
        |hex: &[u8]| u8::from_str_radix(std::str::from_utf8(hex).expect("hex"), 16).expect("hex");
    let key = |key| text(key).as_bytes().chunks(2).map(byte).collect();
    list(&vectors["keys"]).iter().map(key).collect()
}

/// The hash that libmemcached calls so.
fn hash(name: &str) -> KeyHash {
    match name {
        "DEFAULT" => KeyHash::OneAtATime,
        "MD5" => KeyHash::Md5,
        "CRC" => KeyHash::Crc,
        "FNV1_64" => KeyHash::Fnv1_64,
        "FNV1A_64" => KeyHash::Fnv1a64,
        "FNV1_32" => KeyHash::Fnv1_32,
        "FNV1A_32" => KeyHash::Fnv1a32,
        "MURMUR" => KeyHash::Murmur,
        "MURMUR3" => KeyHash::Murmur3,
        "JENKINS" => KeyHash::Jenkins,
        other => panic!("{other}"),
    }
}

/// The placement of a recorded client.
fn placement(client: &str) -> Placement {
    let (client, last) = client.rsplit_once(' ').unwrap_or((client, ""));
    match client {
        "libmemcached MODULA" => Placement::LibmemcachedModula.with_hash(hash(last)),
        "libmemcached KETAMA" => Placement::LibmemcachedConsistent.with_hash(hash(last)),
        "libmemcached KETAMA,servers,then HASH" => {
            Placement::LibmemcachedLateHash.with_hash(hash(last))
        }
        "libmemcached KETAMA_SPY" => {
            Placement::LibmemcachedConsistent.with_hash(hash(last)).with_names(NameForm::Slashed)
        }
        "libmemcached KETAMA_WEIGHTED+SPY" => Placement::Ketama.with_names(NameForm::Slashed),
        "libmemcached KETAMA_WEIGHTED"
        | "libmemcached KETAMA_WEIGHTED+HASH"
        | "libmemcached KETAMA_WEIGHTED+namespace ns:+HASH_WITH_PREFIX_KEY"
        | "libmemcached SORT_HOSTS+KETAMA_WEIGHTED" => Placement::Ketama.with_hash(hash(last)),
        "php-memcached" => match last {
            "modula" => Placement::LibmemcachedModula,
            "consistent" => Placement::LibmemcachedConsistent,
            _ => Placement::Ketama,
        },
        "pecl memcache standard" => Placement::PeclStandard.with_hash(pecl(last)),
        "pecl memcache consistent" => Placement::PeclConsistent.with_hash(pecl(last)),
        "twemproxy ketama" => Placement::TwemproxyKetama.with_hash(twemproxy(last)),
        "twemproxy modula" => Placement::TwemproxyModula.with_hash(twemproxy(last)),
        "pymemcache" => Placement::Rendezvous,
        "uhashring" => Placement::Uhashring,
        "python-binary-memcached" => Placement::Uhashring.with_names(NameForm::Bmemcached),
        "python-memcached" => Placement::PythonMemcached,
        "Cache::Memcached" => Placement::Perl,
        "dalli" => Placement::Dalli,
        "gomemcache" => Placement::Gomemcache,
        other => panic!("{other}"),
    }
}

fn pecl(name: &str) -> KeyHash {
    if name == "fnv" { KeyHash::Fnv1a32 } else { KeyHash::Crc32 }
}

/// Its names are those of [`KeyHash`], but for two.
fn twemproxy(name: &str) -> KeyHash {
    match name {
        "crc32" => KeyHash::Crc,
        "crc32a" => KeyHash::Crc32,
        name => name.parse().expect("a hash"),
    }
}

/// The servers of a set as the placement names them; `sorted` by host and port, as `SORT_HOSTS` does.
fn ring(placement: Placement, set: &Value, sorted: bool) -> Ring {
    let mut servers: Vec<(&str, u16, u32)> = list(set)
        .iter()
        .map(|server| (text(&server[0]), number(&server[1]), number(&server[2])))
        .collect();
    if sorted {
        servers.sort_unstable();
    }
    let name = |host, port| placement.names().format(host, None, port).expect("a name");
    let nodes: Vec<_> =
        servers.into_iter().map(|(host, port, weight)| node(name(host, port), weight)).collect();
    Ring::new(placement, &nodes).expect("nodes")
}

#[test]
fn keys_hash_as_in_the_c_clients() {
    let vectors = recorded();
    let mut compared = 0;
    for (name, hashes) in vectors["hashes"].as_object().expect("by name") {
        let hasher = Hasher {
            hash: match name.strip_prefix("libmemcached ") {
                Some(name) => hash(name),
                None if name == "gomemcache" => KeyHash::Crc32,
                None => KeyHash::Crc,
            },
            dialect: Dialect::C,
        };
        for (key, expected) in keys(&vectors).iter().zip(list(hashes)) {
            assert_eq!(hasher.of(&[key]), number::<u64>(expected), "{name}");
            compared += 1;
        }
    }
    assert_eq!(compared, 12 * 208);
}

#[test]
fn keys_live_on_the_servers_of_the_other_clients() {
    let vectors = recorded();
    let keys = keys(&vectors);
    let numbered: Vec<Vec<u8>> = (0..30).map(|i| format!("key{i}").into_bytes()).collect();
    let (mut tables, mut compared) = (0, 0);
    for table in list(&vectors["tables"]) {
        let client = text(&table["client"]);
        let what = format!("{client} on {}", table["set"]);
        let placement = placement(client);
        let set = &vectors["sets"][text(&table["set"])];
        let ring = ring(placement, set, client.contains("SORT_HOSTS"));
        assert_points(&ring, &table["ring"], !client.ends_with("CRC"), &what);
        compared += match client {
            _ if client.starts_with("php-memcached") => {
                assert_picks(&ring, &numbered, &picks(&table["key0 to key29"]), &what)
            }
            _ if client.contains("namespace ns:") => {
                let prefixed = |key: &Vec<u8>| [b"ns:", &key[..]].concat();
                let keys: Vec<_> = keys.iter().map(prefixed).collect();
                // Of longer keys the original has no hash, and no server takes them.
                let fits =
                    |(pick, key): (Option<usize>, &Vec<u8>)| pick.filter(|_| key.len() <= 250);
                let picks: Vec<_> =
                    picks(&table["picks"]).into_iter().zip(&keys).map(fits).collect();
                assert_picks(&ring, &keys, &picks, &what)
            }
            _ => assert_picks(&ring, &keys, &picks(&table["picks"]), &what),
        };
        tables += 1;
    }
    assert_eq!((tables, compared), (424, 87_527));
}

#[test]
fn keys_of_failed_servers_live_where_the_originals_take_them() {
    let vectors = recorded();
    let mut compared = 0;
    for table in list(&vectors["tables"]).iter().filter(|table| !table["fallback"].is_null()) {
        let client = text(&table["client"]);
        let ring = ring(placement(client), &vectors["sets"][text(&table["set"])], false);
        for (key, tried) in keys(&vectors).iter().zip(list(&table["fallback"])) {
            let mut expected = Vec::new();
            for node in picks(tried).into_iter().flatten() {
                if !expected.contains(&node) {
                    expected.push(node);
                }
            }
            let found: Vec<usize> = ring.candidates(key, None).take(expected.len()).collect();
            assert_eq!(found, expected, "{client} on {}: {key:?}", table["set"]);
            compared += 1;
        }
    }
    assert_eq!(compared, 240);
}

/// The CRC-32 of the key has nothing in bits 16 to 30. What 1.59 and 1.62 of the client make of it was read off their hash.
#[test]
fn a_hash_of_0_is_1_in_old_versions_of_python_memcached_only() {
    let set = &recorded()["sets"]["3_equal_default_port"];
    for (placement, home) in [(Placement::PythonMemcached159, 1), (Placement::PythonMemcached, 0)] {
        assert_eq!(ring(placement, set, false).primary(b"ob", None), home, "{placement}");
    }
}
