//! twemproxy, which chooses servers for clients that choose none.

use mcpool::{Codec, Ttl};
use mcpool_interop_tests::cluster::{Cluster, Place, client, holders};
use mcpool_interop_tests::dice::{Dice, Letters};
use mcpool_interop_tests::proxy::{Twemproxy, Way};

use crate::case::set_up;

/// Its names of the hashes that it has, and ours.
const HASHES: [(&str, &str); 11] = [
    ("one_at_a_time", "one_at_a_time"),
    ("md5", "md5"),
    ("crc16", "crc16"),
    ("crc32", "crc"),
    ("crc32a", "crc32"),
    ("fnv1_64", "fnv1_64"),
    ("fnv1a_64", "fnv1a_64"),
    ("fnv1_32", "fnv1_32"),
    ("fnv1a_32", "fnv1a_32"),
    ("murmur", "murmur"),
    ("jenkins", "jenkins"),
];

/// What stands behind the proxy in each of these tests, with weights.
fn servers(cluster: &Cluster) -> Vec<Place> {
    let mut servers = cluster.places();
    for (server, weight) in servers.iter_mut().zip([3, 1, 2, 10, 7, 1, 4]) {
        server.weight = weight;
    }
    servers
}

#[test]
fn same_servers() {
    let cluster = Cluster::start(7);
    let servers = servers(&cluster);
    let ways: Vec<(Way, String)> = HASHES
        .iter()
        .flat_map(|(hash, name)| {
            ["ketama", "modula"].map(|distribution| {
                (Way { hash, distribution }, format!("twemproxy_{distribution}+{name}"))
            })
        })
        .collect();
    let proxy = Twemproxy::start(&ways.iter().map(|(way, _)| *way).collect::<Vec<_>>(), &servers);
    let mut dice = Dice::new("twemproxy");
    for (way, placement) in &ways {
        let ours = client(&servers, |builder| {
            set_up(builder, "twemproxy", Some(placement)).codec(Codec::Raw)
        });
        let through =
            client(&[], |builder| builder.servers([proxy.address(*way)]).codec(Codec::Raw));
        let keys: Vec<_> = (0..300).map(|_| dice.text(Letters::Unicode, 20)).collect();
        let values = || keys.iter().map(|key| (key, key));
        through.set_many(values(), Ttl::NEVER).into_result().expect("stored");
        let holders = holders(&servers, &keys);
        for key in &keys {
            let said = ours.server_for(key).expect("a good key");
            assert_eq!(holders[key], [said], "{way:?}: the server of {key}");
        }
        for (key, found) in ours.get_many::<String, _>(&keys).into_result().expect("answers") {
            assert_eq!(found.as_ref(), Some(key), "{way:?}: ours reads what went through it");
        }
        let keys: Vec<_> = (0..100).map(|_| dice.text(Letters::Ascii, 20)).collect();
        let values = keys.iter().map(|key| (key, key));
        ours.set_many(values, Ttl::NEVER).into_result().expect("stored");
        for (key, found) in through.get_many::<String, _>(&keys).into_result().expect("answers") {
            assert_eq!(found.as_ref(), Some(key), "{way:?}: it finds what ours stored");
        }
    }
}
