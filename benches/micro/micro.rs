//! Steps of a call, each alone, and a whole call beside the raw loop on a socket that answers at once.

mod peer;
#[path = "../../tests/counted/src/raw.rs"]
mod raw;

use std::collections::HashMap;

use divan::{Bencher, black_box, counter::ItemsCount};
use mcpool::benching::{Wire, check_out_and_in, decode, encode};
use mcpool::{Client, Placement, Ttl};
use serde::{Deserialize, Serialize};

const KEY: &[u8] = b"user:1234567";
const VALUE: &str = "0123456789abcdef0123456789abcdef";

fn main() {
    divan::main();
}

/// The wire form of requests and replies.
mod protocol {
    use super::*;

    #[divan::bench]
    fn encode_get(bencher: Bencher) {
        let mut wire = Wire::new();
        bencher.bench_local(|| wire.get(&[black_box(KEY)]));
    }

    #[divan::bench]
    fn encode_set(bencher: Bencher) {
        let mut wire = Wire::new();
        bencher.bench_local(|| wire.set(black_box(KEY), black_box(VALUE.as_bytes())));
    }

    /// Encoding the request is in it: without one there is no reply.
    #[divan::bench(args = [1, 10, 100])]
    fn encode_and_decode_get(bencher: Bencher, keys: usize) {
        let keys: Vec<_> = (0..keys).map(|n| format!("user:{n}")).collect();
        let keys: Vec<_> = keys.iter().map(String::as_bytes).collect();
        let mut answer = Vec::new();
        for key in &keys {
            answer.extend_from_slice(b"VALUE ");
            answer.extend_from_slice(key);
            answer.extend_from_slice(format!(" 0 32\r\n{VALUE}\r\n").as_bytes());
        }
        answer.extend_from_slice(b"END\r\n");
        let mut wire = Wire::new();
        bencher.counter(ItemsCount::new(keys.len())).bench_local(|| {
            assert_eq!(wire.get_answered(&keys, black_box(&answer)), keys.len());
        });
    }
}

/// Values to bytes and back; `bare` is serde_json alone.
mod codec {
    use super::*;

    #[derive(Clone, Serialize, Deserialize)]
    struct Element {
        id: i32,
        name: String,
        score: f64,
        active: bool,
    }

    fn map() -> HashMap<String, Element> {
        let element = |n: i32| Element {
            id: n,
            name: format!("element number {n}"),
            score: f64::from(n) * 1.5,
            active: n % 2 == 0,
        };
        (0..100).map(|n| (format!("key{n}"), element(n))).collect()
    }

    fn store<T: Serialize + ?Sized>(bencher: Bencher, value: &T) {
        let mut out = Vec::new();
        bencher.bench_local(|| {
            out.clear();
            encode(black_box(value), &mut out)
        });
    }

    fn read<T: Serialize + for<'de> Deserialize<'de>>(bencher: Bencher, value: &T) {
        let mut out = Vec::new();
        let flags = encode(value, &mut out).expect("a value that can be stored");
        bencher.with_inputs(|| out.clone()).bench_local_refs(|bytes| decode::<T>(flags, bytes));
    }

    #[divan::bench]
    fn store_text(bencher: Bencher) {
        store(bencher, VALUE);
    }

    #[divan::bench]
    fn store_number(bencher: Bencher) {
        store(bencher, &1_234_567_u64);
    }

    #[divan::bench]
    fn store_map(bencher: Bencher) {
        store(bencher, &map());
    }

    #[divan::bench]
    fn store_map_bare(bencher: Bencher) {
        let (map, mut out) = (map(), Vec::new());
        bencher.bench_local(|| {
            out.clear();
            serde_json::to_writer(&mut out, black_box(&map)).expect("JSON");
        });
    }

    #[divan::bench]
    fn read_text(bencher: Bencher) {
        read(bencher, &VALUE.to_owned());
    }

    #[divan::bench]
    fn read_number(bencher: Bencher) {
        read(bencher, &1_234_567_u64);
    }

    #[divan::bench]
    fn read_map(bencher: Bencher) {
        read(bencher, &map());
    }

    #[divan::bench]
    fn read_map_bare(bencher: Bencher) {
        let json = serde_json::to_vec(&map()).expect("JSON");
        bencher.bench_local(|| {
            serde_json::from_slice::<HashMap<String, Element>>(black_box(&json)).expect("the map")
        });
    }
}

/// A key's server, of many.
mod ring {
    use super::*;

    fn place(bencher: Bencher, placement: Placement, servers: usize) {
        let servers: Vec<_> = (1..=servers).map(|n| format!("10.0.0.{n}:11211")).collect();
        let client = Client::builder().servers(&*servers).placement(placement).build();
        let client = client.expect("legal settings; nothing is connected to");
        bencher.bench_local(|| client.server_for(black_box(KEY)));
    }

    #[divan::bench(args = [1, 3, 100])]
    fn consistent(bencher: Bencher, servers: usize) {
        place(bencher, Placement::Consistent, servers);
    }

    #[divan::bench(args = [3, 100])]
    fn native(bencher: Bencher, servers: usize) {
        place(bencher, Placement::Native, servers);
    }
}

/// One node's pool, by one thread.
mod pool {
    use super::*;

    /// Takes an idle connection and gives it back; the look at the clock is in it.
    #[divan::bench]
    fn checkout(bencher: Bencher) {
        let client = Client::new(peer::start(VALUE)).expect("a client");
        client.get_raw(KEY).expect("an answer: now there is a connection");
        bencher.bench_local(|| assert!(check_out_and_in(black_box(&client))));
    }
}

/// Whole calls to a peer that answers at once; what a call has beyond the raw loop's is the client's own: deadline,
/// place, check-out, the careful reading, check-in.
mod call {
    use super::*;

    #[divan::bench]
    fn get(bencher: Bencher) {
        let client = Client::new(peer::start(VALUE)).expect("a client");
        let mut value = Vec::new();
        bencher.bench_local(|| client.get_raw_into(KEY, &mut value).expect("an answer"));
    }

    #[divan::bench]
    fn get_raw_loop(bencher: Bencher) {
        let mut raw = raw::Raw::connect(&peer::start(VALUE)).expect("a connection");
        let mut value = Vec::new();
        bencher.bench_local(|| raw.get(KEY, &mut value).expect("an answer"));
    }

    #[divan::bench]
    fn set(bencher: Bencher) {
        let client = Client::new(peer::start(VALUE)).expect("a client");
        bencher.bench_local(|| client.set(KEY, VALUE, Ttl::NEVER).expect("an answer"));
    }

    #[divan::bench]
    fn set_raw_loop(bencher: Bencher) {
        let mut raw = raw::Raw::connect(&peer::start(VALUE)).expect("a connection");
        bencher.bench_local(|| raw.set(KEY, VALUE.as_bytes()).expect("an answer"));
    }
}
