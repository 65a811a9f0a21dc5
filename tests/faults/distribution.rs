//! Faults of key placement: unstable, unequal, slow, or other than that of the clients it should agree with.

use std::collections::BTreeMap;
use std::time::Duration;

use mcpool::testing::TestServer;
use mcpool::{Client, Placement, Server, Ttl};
use serde_json::Value;

use crate::support::alone::alone;
use crate::support::clients::patient;
use crate::support::watch::{HANG, timed};

const PLACEMENTS: [Placement; 5] = [
    Placement::Consistent,
    Placement::Native,
    Placement::OldCompat,
    Placement::NewCompat,
    Placement::Ketama,
];

fn client(placement: Placement, servers: Vec<Server>) -> Client {
    let settings = Client::builder().servers(servers).placement(placement);
    // Nobody is asked anything, so no threads are needed.
    settings.maintenance_interval(Duration::ZERO).build().expect("a client")
}

/// Names that nobody looks up.
fn names(n: usize) -> Vec<Server> {
    (1..=n).map(|i| format!("10.0.0.{i}:11211").parse().expect("an address")).collect()
}

fn home(client: &Client, key: impl AsRef<[u8]>) -> String {
    client.server_for(key.as_ref()).expect("a good key")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("recorded vectors")
}

#[test]
fn f187_f189_keys_live_where_a_table_recorded_from_another_program_says() {
    let vectors = json(include_str!("../vectors/whalin-placement.json"));
    let placements =
        [Placement::Native, Placement::OldCompat, Placement::NewCompat, Placement::Consistent];
    let mut compared = 0;
    for (set, nodes) in vectors["sets"].as_array().unwrap().iter().enumerate() {
        let weights = nodes[1].as_array().unwrap().iter().map(|w| w.as_u64().unwrap());
        let servers: Vec<Server> = nodes[0]
            .as_array()
            .unwrap()
            .iter()
            .zip(weights)
            .map(|(name, weight)| {
                let server: Server = name.as_str().unwrap().parse().expect("an address");
                server.with_weight(weight.try_into().unwrap())
            })
            .collect();
        for (placement, cell) in placements.into_iter().zip([2, 4, 6, 8]) {
            let client = client(placement, servers.clone());
            for row in vectors["keys"].as_array().unwrap() {
                let key = row[0].as_str().unwrap();
                // Keys that this client refuses have no place.
                let Ok(found) = client.server_for(key) else { continue };
                let recorded = row[cell].as_str().unwrap().as_bytes()[set] - b'0';
                assert_eq!(found, servers[usize::from(recorded)].name(), "{placement} {key}");
                compared += 1;
            }
        }
    }
    assert!(compared > 2000, "{compared} compared");
}

#[test]
fn f187_every_process_and_every_instance_maps_alike() {
    let map = || {
        let clients = [(); 2].map(|()| client(Placement::Consistent, names(3)));
        let homes = |client: &Client| {
            (0..1000).map(|n| home(client, format!("key{n}"))).collect::<Vec<_>>().join(" ")
        };
        let both = clients.each_ref().map(homes);
        assert_eq!(both[0], both[1]);
        both[0].clone()
    };
    let name = "distribution::f187_every_process_and_every_instance_maps_alike";
    if let Some(output) = alone(name, || print!("{}", map())) {
        assert_eq!(output.stdout, map(), "another process maps otherwise");
    }
}

#[test]
fn f188_ketama_places_keys_where_libmemcached_does() {
    let vectors = json(include_str!("../vectors/other-placement.json"));
    let keys: Vec<Vec<u8>> = vectors["keys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hex| {
            let digits = hex.as_str().unwrap().as_bytes().chunks(2);
            let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
            digits.map(byte).collect()
        })
        .collect();
    let mut compared = 0;
    let tables = vectors["tables"].as_array().unwrap();
    for table in tables.iter().filter(|t| t["client"] == "libmemcached KETAMA_WEIGHTED MD5") {
        let set = &table["set"];
        let servers: Vec<Server> = vectors["sets"][set.as_str().unwrap()]
            .as_array()
            .unwrap()
            .iter()
            .map(|host| {
                let address = format!("{}:{}", host[0].as_str().unwrap(), host[1]);
                let server: Server = address.parse().expect("an address");
                server.with_weight(host[2].as_u64().unwrap().try_into().unwrap())
            })
            .collect();
        let client = client(Placement::Ketama, servers.clone());
        for (key, digit) in keys.iter().zip(table["picks"].as_str().unwrap().bytes()) {
            let Ok(found) = client.server_for(key) else { continue };
            assert_eq!(found, servers[usize::from(digit - b'0')].name(), "{set} {key:x?}");
            compared += 1;
        }
    }
    assert!(compared > 1000, "{compared} compared");
}

#[test]
fn f190_keys_that_differ_only_at_their_end_spread_evenly() {
    let client = client(Placement::default(), names(9));
    let uuid = |n: u64| {
        // A bijection that looks random.
        let x = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!(
            "{:08x}-{:04x}-4{:03x}-8000-{:012x}",
            x >> 32,
            (x >> 16) & 0xffff,
            x & 0xfff,
            x >> 16
        )
    };
    type Kind = (&'static str, fn(u64) -> String);
    let kinds: [Kind; 3] = [
        ("counted", |n| format!("a_:stat:{n}")),
        ("uuids", uuid),
        ("in the middle", |n| format!("user:{n}:profile")),
    ];
    for (kind, key) in kinds {
        let mut shares = BTreeMap::new();
        for n in 0..10_000 {
            *shares.entry(home(&client, key(n))).or_insert(0_u32) += 1;
        }
        assert_eq!(shares.len(), 9, "{kind}: {shares:?}");
        for (server, share) in &shares {
            let even = 10_000.0 / 9.0;
            let off = (f64::from(*share) - even).abs() / even;
            assert!(off < 0.35, "{kind}: {server} has {share} of 10000");
        }
    }
}

/// How many of 1000 keys of the other servers move when the fourth of ten is taken out.
fn moved(placement: Placement) -> usize {
    let all = names(10);
    let gone = all[3].name().to_owned();
    let fewer = all.iter().filter(|s| s.name() != gone).cloned().collect();
    let (before, after) = (client(placement, all), client(placement, fewer));
    let keys = (0..).map(|n| format!("key{n}"));
    let kept = keys.map(|key| (home(&before, &key), home(&after, &key)));
    kept.filter(|(before, _)| *before != gone).take(1000).filter(|(b, a)| b != a).count()
}

#[test]
fn f191_taking_a_server_out_moves_only_its_own_keys_on_a_ring() {
    for ring in [Placement::Consistent, Placement::Ketama] {
        let moved = moved(ring);
        assert!(moved < 50, "{ring}: {moved} of 1000 keys of other servers moved");
    }
    // What the documentation says of the others: nearly all move.
    for modulo in [Placement::Native, Placement::OldCompat, Placement::NewCompat] {
        assert!(moved(modulo) > 700, "{modulo}");
    }
}

#[test]
fn f192_the_order_of_the_servers_makes_no_difference_on_a_ring() {
    for placement in [Placement::Consistent, Placement::Ketama] {
        let mut servers = names(3);
        let one = client(placement, servers.clone());
        servers.rotate_left(2);
        let other = client(placement, servers);
        for n in 0..1000 {
            let key = format!("key{n}");
            assert_eq!(home(&one, &key), home(&other, &key), "{placement} {key}");
        }
    }
}

#[test]
fn f193_weights_that_mean_nothing_are_refused_by_name() {
    for text in
        ["a:1?weight=0", "a:1?weight=-1", "a:1?weight=", "a:1?weight=1.5", "a:1?weight=10001"]
    {
        let error = text.parse::<Server>().expect_err(text).to_string();
        assert!(error.contains("weight"), "{text}: {error}");
    }
    for weight in [0, 10_001, u32::MAX] {
        let servers: Vec<Server> =
            names(2).into_iter().map(|server| server.with_weight(weight)).collect();
        let error = Client::builder().servers(servers).build().expect_err("no weight");
        assert_eq!(error.kind(), mcpool::ErrorKind::Config);
        assert!(error.to_string().contains("10.0.0.1:11211"), "{error}");
        assert!(error.to_string().contains(&weight.to_string()), "{error}");
    }
    // The rest of the list makes a zero no better.
    let error = Client::new("10.0.0.1?weight=1,10.0.0.2?weight=0").expect_err("no weight");
    assert!(error.to_string().contains("10.0.0.2"), "{error}");
}

#[test]
fn f194_a_hundred_heavy_servers_are_set_up_and_looked_up_quickly() {
    for (weight, placement) in [(100, Placement::Consistent), (10_000, Placement::Ketama)]
        .into_iter()
        .chain(PLACEMENTS.map(|placement| (10_000, placement)))
    {
        let servers = names(100).into_iter().map(|server| server.with_weight(weight)).collect();
        let (client, built) = timed(|| client(placement, servers));
        assert!(built < HANG, "{placement} x {weight}: built in {built:?}");
        let look_up = || (0..10_000).for_each(|n| drop(home(&client, format!("key{n}"))));
        let ((), looked_up) = timed(look_up);
        assert!(looked_up < HANG, "{placement}: 10000 look-ups in {looked_up:?}");
    }
}

#[test]
fn f196_the_prefix_takes_part_in_hashing_for_every_operation() {
    let servers = [(); 3].map(|()| TestServer::start().expect("a server"));
    let addresses: Vec<String> = servers.iter().map(TestServer::address).collect();
    let plain = patient(addresses.clone()).build().expect("a client");
    let prefixed = plain.with_prefix("app:").expect("a legal prefix");
    let mut elsewhere = 0;
    for n in 0..50 {
        let key = format!("key{n}");
        let home = prefixed.server_for(&key).expect("a good key");
        assert_eq!(home, plain.server_for(format!("app:{key}")).expect("a good key"));
        elsewhere += usize::from(home != plain.server_for(&key).expect("a good key"));
        let server = &servers[addresses.iter().position(|a| *a == home).expect("one of them")];
        server.clear_events();
        prefixed.set(&key, &1, Ttl::NEVER).expect("stored");
        prefixed.add(&key, &1, Ttl::NEVER).expect("answered");
        prefixed.get::<u64>(&key).expect("answered");
        let token = prefixed.gets::<u64>(&key).expect("answered").expect("a value").cas;
        let _ = prefixed.cas(&key, &2, Ttl::NEVER, &token).expect("answered");
        prefixed.incr(&key, 1).expect("answered");
        prefixed.touch(&key, Ttl::NEVER).expect("answered");
        prefixed.append(&key, "0").expect("answered");
        prefixed.set_many([(&key, 5)], Ttl::NEVER).into_result().expect("stored");
        assert_eq!(prefixed.get_many::<u64, _>([&key]).get(&key), Some(&5));
        prefixed.delete_many([&key]).into_result().expect("answered");
        prefixed.delete(&key).expect("answered");
        let verbs: Vec<String> =
            server.commands().iter().map(|c| c.split(' ').next().unwrap().to_owned()).collect();
        let expected = [
            "set", "add", "get", "gets", "cas", "incr", "touch", "append", "set", "get", "delete",
            "delete",
        ];
        assert_eq!(verbs, expected, "{key}");
    }
    assert!(elsewhere > 10, "the prefix moves keys");
}

#[test]
fn f197_the_placement_has_a_name_and_a_wrong_name_is_an_error() {
    assert_eq!(Placement::default().to_string(), "consistent");
    for placement in PLACEMENTS {
        assert_eq!(placement.to_string().parse(), Ok(placement));
    }
    for name in ["", "Consistent", "crc32", "modulo", "ketama "] {
        let error = name.parse::<Placement>().expect_err("no such placement").to_string();
        assert!(error.contains("consistent") && error.contains("ketama"), "{error}");
    }
}
