//! Tests: the placements against what the original clients answered, for every recorded key.

mod java;
mod others;
mod whalin;

use std::fmt::Debug;

use serde_json::Value;

use super::{Ring, RingNode, Table};

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn number<T: TryFrom<i64, Error: Debug>>(value: &Value) -> T {
    value.as_i64().expect("a number").try_into().expect("in range")
}

/// A server for each key; `None` where the client refused it or was not asked.
fn picks(value: &Value) -> Vec<Option<usize>> {
    text(value).chars().map(|c| c.to_digit(10).map(|digit| digit as usize)).collect()
}

/// A ring's points and the nodes they belong to.
fn points(ring: &Ring) -> Vec<(u32, usize)> {
    match &ring.table {
        Table::Ring(continuum) => continuum.iter().collect(),
        _ => Vec::new(),
    }
}

/// Compares a ring with the number of points recorded, the lowest of them and whose they are.
///
/// `apart`: whether no two servers lay claim to one point. Else each claim may be counted, and whose the point is
/// shows in where the keys are.
fn assert_points(ring: &Ring, recorded: &Value, apart: bool, what: &str) {
    if recorded.is_null() {
        return;
    }
    let found = points(ring);
    let count: usize = number(&recorded[0]);
    assert!(found.len() == count || !apart && found.len() < count, "{what}: {}", found.len());
    let lowest = list(&recorded[1]).iter().map(number::<u32>).zip(picks(&recorded[2]));
    for ((point, node), (expected, owner)) in found.into_iter().zip(lowest) {
        assert_eq!(point, expected, "{what}");
        assert!(Some(node) == owner || !apart, "{what}: {point}");
    }
}

/// Compares where a ring has the keys with where they were; the number of keys compared.
fn assert_picks(ring: &Ring, keys: &[Vec<u8>], recorded: &[Option<usize>], what: &str) -> usize {
    let compared = keys.iter().zip(recorded).filter_map(|(key, pick)| Some((key, (*pick)?)));
    let mut count = 0;
    for (key, pick) in compared {
        let found = ring.primary(key, None);
        assert_eq!(found, pick, "{what}: {}", String::from_utf8_lossy(key));
        count += 1;
    }
    count
}

fn node(name: String, weight: u32) -> RingNode {
    RingNode { name, weight }
}
