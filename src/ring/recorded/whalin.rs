//! Tests: the placements of Whalin's client against what it answered.

use std::fmt::Write as _;

use serde_json::Value;

use super::{list, number, points, text};
use crate::ring::hash::{Dialect, Hasher};
use crate::ring::*;

/// As the recording orders them.
const RECORDED: [Placement; 4] =
    [Placement::Native, Placement::OldCompat, Placement::NewCompat, Placement::Consistent];

fn whalin() -> Value {
    let text = include_str!("../../../tests/vectors/whalin-placement.json");
    serde_json::from_str(text).expect("recorded vectors")
}

fn digits(value: &Value) -> Vec<usize> {
    text(value).bytes().map(|digit| usize::from(digit - b'0')).collect()
}

/// A recorded pair of names and weights.
fn nodes(set: &Value) -> Vec<RingNode> {
    let pairs = list(&set[0]).iter().zip(list(&set[1]));
    pairs
        .map(|(name, weight)| RingNode { name: text(name).into(), weight: number(weight) })
        .collect()
}

fn ring(placement: Placement, nodes: &[RingNode]) -> Ring {
    Ring::new(placement, nodes).expect("nodes")
}

#[test]
fn keys_hash_as_in_the_java_client() {
    let vectors = whalin();
    assert_eq!(list(&vectors["keys"]).len(), 198);
    for row in list(&vectors["keys"]) {
        for (placement, cell) in RECORDED.into_iter().zip([1, 3, 5, 7]) {
            let hasher = Hasher { hash: placement.hash(), dialect: Dialect::Java };
            let found = hasher.of(&[text(&row[0]).as_bytes()]);
            let found = i64::from_ne_bytes(found.to_ne_bytes());
            assert_eq!(found, number::<i64>(&row[cell]), "{placement} {}", row[0]);
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
        for (point, node) in points(&ring(Placement::Consistent, &nodes(set))) {
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
