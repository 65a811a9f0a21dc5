//! Tests: what holds for every placement, whatever the servers.

use super::*;

fn names(count: usize) -> Vec<String> {
    (1..=count).map(|i| format!("10.0.0.{i}:11211")).collect()
}

fn keys(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|i| format!("user:{i}"))
}

/// The names with the weights, which are repeated as often as needed.
fn ring(placement: Placement, names: &[String], weights: &[u32]) -> Ring {
    let pairs = names.iter().zip(weights.iter().cycle());
    let nodes: Vec<_> =
        pairs.map(|(name, weight)| RingNode { name: name.clone(), weight: *weight }).collect();
    Ring::new(placement, &nodes).expect("nodes")
}

#[test]
fn every_server_is_tried_once_and_the_keys_own_first() {
    for placement in Placement::all() {
        for count in 1..=12 {
            for weights in [&[1][..], &[1, 7, 2], &[40, 1]] {
                let ring = ring(placement, &names(count), weights);
                for key in keys(10).chain([String::new(), "日本語".into()]) {
                    for hash in [None, Some(i32::MIN)] {
                        let mut order: Vec<usize> = ring.candidates(key.as_bytes(), hash).collect();
                        assert_eq!(order[0], ring.primary(key.as_bytes(), hash));
                        order.sort_unstable();
                        assert!(
                            order.into_iter().eq(0..count),
                            "{placement} {count} {weights:?} {key}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn many_keys_go_where_each_goes_alone() {
    let keys: Vec<String> = keys(100).chain(["日本語".into(), "k".repeat(250)]).collect();
    for placement in Placement::all() {
        for (count, given) in [(1, None), (5, None), (5, Some(-7))] {
            let ring = ring(placement, &names(count), &[1]);
            let keys = keys.iter().map(|key| (key.as_bytes(), given));
            let alone: Vec<usize> =
                keys.clone().map(|(key, hash)| ring.primary(key, hash)).collect();
            assert_eq!(ring.primaries(keys.clone()), alone, "{placement} {count} {given:?}");
        }
    }
}

#[test]
fn a_server_that_leaves_the_consistent_ring_moves_its_own_keys_only() {
    let names = names(7);
    let whole = ring(Placement::Consistent, &names, &[1]);
    for gone in 0..7 {
        let mut rest = names.clone();
        rest.remove(gone);
        let smaller = ring(Placement::Consistent, &rest, &[1]);
        let mut moved = 0;
        for key in keys(2000) {
            let before = whole.primary(key.as_bytes(), None);
            let after = smaller.primary(key.as_bytes(), None);
            match before == gone {
                true => moved += 1,
                false => assert_eq!(names[before], rest[after], "{key}"),
            }
        }
        // A seventh of 2000 is 286.
        assert!((190..400).contains(&moved), "{moved} keys of server {gone}");
    }
}

#[test]
fn a_ketama_servers_keys_go_to_the_next_server_on_the_ring() {
    let names = names(5);
    let whole = ring(Placement::Ketama, &names, &[1]);
    for key in keys(500) {
        let order: Vec<usize> = whole.candidates(key.as_bytes(), None).collect();
        let mut rest = names.clone();
        rest.remove(order[0]);
        let smaller = ring(Placement::Ketama, &rest, &[1]);
        assert_eq!(rest[smaller.primary(key.as_bytes(), None)], names[order[1]], "{key}");
    }
}

#[test]
fn a_given_hash_stands_for_the_keys_own_on_a_ring() {
    for placement in [Placement::Consistent, Placement::Ketama] {
        let ring = ring(placement, &names(9), &[1, 2]);
        for key in keys(200) {
            let [a, b, c, d, ..] = md5::compute(&key).0;
            let hash = i32::from_le_bytes([a, b, c, d]);
            let (own, given) = (ring.primary(key.as_bytes(), None), ring.primary(b"", Some(hash)));
            assert_eq!(own, given, "{placement} {key}");
        }
    }
}

#[test]
fn weights_share_the_points_and_no_server_is_left_without() {
    let points = |weights: [u32; 3]| {
        let names = names(3);
        let pairs = names.iter().zip(weights);
        let nodes: Vec<_> =
            pairs.map(|(name, weight)| RingNode { name: name.clone(), weight }).collect();
        let ring = Ring::new(Placement::Consistent, &nodes).expect("nodes");
        let Table::Ring(continuum) = &ring.table else { panic!("a ring") };
        let mut counts = [0; 3];
        continuum.iter().for_each(|(_, node)| counts[node] += 1);
        counts
    };
    assert_eq!(points([1, 2, 2]), [96, 192, 192]);
    // The original: 476, 0, 0.
    assert_eq!(points([1000, 1, 1]), [476, 4, 4]);
}

#[test]
fn of_equal_points_the_later_server_owns_them_in_consistent_and_the_earlier_in_ketama() {
    let names = ["a:1", "a:1", "b:1"].map(String::from);
    for (placement, owners) in [(Placement::Consistent, [1, 2]), (Placement::Ketama, [0, 2])] {
        let ring = ring(placement, &names, &[1]);
        for key in keys(200) {
            assert!(owners.contains(&ring.primary(key.as_bytes(), None)), "{placement} {key}");
        }
    }
}

/// Those for which weights do not count.
const EVEN: [Placement; 5] = [
    Placement::LibmemcachedModula,
    Placement::SpymemcachedArray,
    Placement::XmemcachedLibmemcached,
    Placement::Rendezvous,
    Placement::RustMemcache,
];

#[test]
fn servers_get_the_share_of_keys_that_their_weights_say() {
    for placement in Placement::all() {
        let expected = match EVEN.contains(&placement) {
            true => [2667, 2667, 2667],
            false => [1000, 2000, 5000],
        };
        // Texts as alike as these differ in few bits of the hash that these have by default.
        let placement = match placement {
            Placement::XmemcachedPhp | Placement::PeclConsistent => {
                placement.with_hash(KeyHash::Md5)
            }
            _ => placement,
        };
        let ring = ring(placement, &names(3), &[1, 2, 5]);
        let mut counts = [0_i32; 3];
        keys(8000).for_each(|key| counts[ring.primary(key.as_bytes(), None)] += 1);
        for (count, expected) in counts.iter().zip(expected) {
            assert!((count - expected).abs() < expected / 3, "{placement}: {counts:?}");
        }
    }
}

#[test]
fn servers_that_make_no_ring_are_refused() {
    for placement in Placement::all() {
        assert_eq!(Ring::new(placement, &[]).err(), Some(RingError::NoNode));
        let nodes =
            [("a", 1), ("b", 0)].map(|(name, weight)| RingNode { name: name.into(), weight });
        let error = Ring::new(placement, &nodes).expect_err("weight 0").to_string();
        assert_eq!(error, "the weight of server b is 0");
    }
}

#[test]
fn a_ring_of_no_points_or_too_many_is_refused() {
    let nodes = |weight| {
        [("a", weight), ("b", 1)].map(|(name, weight)| RingNode { name: name.into(), weight })
    };
    let error = |placement, weight| Ring::new(placement, &nodes(weight)).expect_err("no ring");
    assert_eq!(error(Placement::Ketama.with_points(3), 1), RingError::NoPoint);
    assert_eq!(error(Placement::Dalli.with_points(0), 1), RingError::NoPoint);
    assert_eq!(
        error(Placement::XmemcachedKetama.with_points(1000), 10_000),
        RingError::TooManyPoints
    );
    assert!(Ring::new(Placement::Ketama.with_points(4), &nodes(1)).is_ok());
}
