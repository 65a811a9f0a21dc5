//! Tests: the placements against what the original clients answered.

use std::fmt::Write as _;

use serde_json::Value;

use super::*;

/// As the recording orders them.
const RECORDED: [Placement; 4] =
    [Placement::Native, Placement::OldCompat, Placement::NewCompat, Placement::Consistent];

fn whalin() -> Value {
    let text = include_str!("../../tests/vectors/whalin-placement.json");
    serde_json::from_str(text).expect("recorded vectors")
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn number<T: TryFrom<i64, Error: fmt::Debug>>(value: &Value) -> T {
    value.as_i64().expect("a number").try_into().expect("in range")
}

fn digits(value: &Value) -> Vec<usize> {
    text(value).bytes().map(|digit| usize::from(digit - b'0')).collect()
}

/// A recorded pair of names and weights.
fn nodes(set: &Value) -> Vec<RingNode<'_>> {
    let pairs = list(&set[0]).iter().zip(list(&set[1]));
    pairs.map(|(name, weight)| RingNode { name: text(name), weight: number(weight) }).collect()
}

fn ring(placement: Placement, nodes: &[RingNode<'_>]) -> Ring {
    Ring::new(placement, nodes).expect("nodes")
}

#[test]
fn keys_hash_as_in_the_java_client() {
    let hashes = [hash::native, hash::old_compat, hash::new_compat, hash::md5];
    let vectors = whalin();
    assert_eq!(list(&vectors["keys"]).len(), 198);
    for row in list(&vectors["keys"]) {
        for (hash, cell) in hashes.iter().zip([1, 3, 5, 7]) {
            assert_eq!(
                hash(b"", text(&row[0]).as_bytes()),
                number::<i64>(&row[cell]),
                "{}",
                row[0]
            );
        }
    }
}

#[test]
fn keys_live_on_the_servers_of_the_java_client() {
    let vectors = whalin();
    for (placement, cell) in RECORDED.into_iter().zip([2, 4, 6, 8]) {
        let sets = list(&vectors["sets"]);
        let rings: Vec<Ring> = sets.iter().map(|set| ring(placement, &nodes(set))).collect();
        assert_eq!(rings.len(), 3);
        for row in list(&vectors["keys"]) {
            let key = text(&row[0]).as_bytes();
            let found: Vec<usize> = rings.iter().map(|ring| ring.primary(key, None)).collect();
            assert_eq!(found, digits(&row[cell]), "{placement} {}", row[0]);
        }
    }
}

#[test]
fn a_given_hash_leads_to_the_server_of_the_java_client() {
    let vectors = whalin();
    for (placement, cell) in RECORDED.into_iter().zip(1..) {
        let sets = list(&vectors["sets"]);
        let rings: Vec<Ring> = sets.iter().map(|set| ring(placement, &nodes(set))).collect();
        for row in list(&vectors["overrides"]) {
            let hash = Some(number(&row[0]));
            let found: Vec<usize> = rings.iter().map(|ring| ring.primary(b"any", hash)).collect();
            assert_eq!(found, digits(&row[cell]), "{placement} {}", row[0]);
        }
    }
}

#[test]
fn the_consistent_ring_is_that_of_the_java_client_point_for_point() {
    let vectors = whalin();
    for (set, recorded) in list(&vectors["sets"]).iter().zip(list(&vectors["rings"])) {
        let mut counts = vec![0; list(&set[0]).len()];
        let mut lines = String::new();
        for (point, node) in whalin::points(&nodes(set)).iter() {
            counts[node] += 1;
            writeln!(lines, "{point} {node}").expect("to memory");
        }
        let recorded_counts: Vec<i32> = list(&recorded[0]).iter().map(number).collect();
        assert_eq!(counts, recorded_counts);
        assert_eq!(format!("{:x}", md5::compute(lines)), text(&recorded[1]));
    }
}

#[test]
fn a_failed_servers_keys_go_where_the_java_client_takes_them() {
    let vectors = whalin();
    let (mut whole, mut endless) = (0, 0);
    for (set, orders) in vectors["orders"].as_object().expect("by set") {
        for (placement, orders) in orders.as_object().expect("by placement") {
            let nodes = nodes(&vectors["order_sets"][set]);
            let ring = ring(placement.parse().expect("a placement"), &nodes);
            for order in list(orders) {
                let hash = (!order[1].is_null()).then(|| number(&order[1]));
                let found: Vec<usize> = ring.candidates(text(&order[0]).as_bytes(), hash).collect();
                let mut expected: Vec<usize> =
                    list(&order[2]).iter().filter(|n| !n.is_null()).map(number).collect();
                // Where the original searches for ever, the rest follows in list order.
                let rest: Vec<_> = (0..nodes.len()).filter(|n| !expected.contains(n)).collect();
                if rest.is_empty() {
                    whole += 1;
                } else {
                    endless += 1;
                }
                expected.extend(rest);
                assert_eq!(found, expected, "{set}, {placement}: {order}");
            }
        }
    }
    assert_eq!((whole, endless), (256, 24));
}

/// `hosts` as recorded: host, port, weight.
fn ketama(hosts: &Value) -> Ring {
    let names: Vec<String> =
        list(hosts).iter().map(|h| format!("{}:{}", text(&h[0]), h[1])).collect();
    let pairs = names.iter().zip(list(hosts));
    let nodes: Vec<_> = pairs.map(|(name, h)| RingNode { name, weight: number(&h[2]) }).collect();
    ring(Placement::Ketama, &nodes)
}

#[test]
fn ketama_places_keys_as_libmemcached_does() {
    let text_of = include_str!("../../tests/vectors/libmemcached-ketama.json");
    let vectors: Value = serde_json::from_str(text_of).expect("recorded vectors");
    let byte =
        |hex: &[u8]| u8::from_str_radix(std::str::from_utf8(hex).expect("hex"), 16).expect("hex");
    let keys: Vec<Vec<u8>> = list(&vectors["keys"])
        .iter()
        .map(|key| text(key).as_bytes().chunks(2).map(byte).collect())
        .collect();
    assert_eq!(keys.len(), 208);
    for (key, recorded) in keys.iter().zip(list(&vectors["hashes"])) {
        assert_eq!(hash::md5(b"", key), number::<i64>(recorded));
    }
    for (pool, recorded) in vectors["pools"].as_object().expect("by pool") {
        let ring = ketama(&recorded[0]);
        for (key, expected) in keys.iter().zip(digits(&recorded[1])) {
            let found = ring.primary(key, None);
            // There a server of tiny weight gets no key, here a few.
            let few = pool == "3_tiny_weight_starved" && found == 1;
            assert!(found == expected || few, "{pool}: {found} is not {expected}");
        }
    }
}
