//! Faults between a client and its process: threads that share it, many clients one after the other.
//!
//! Forks, signals, the clock and scarce descriptors need unsafe code and are in `tests/process`.

use std::time::{Duration, Instant};

use mcpool::testing::TestServer;
use mcpool::{Client, Ttl};

use crate::support::alone::{alone, descriptors, threads};

/// Longer than anything here takes; whoever waits that long hangs.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn f219_one_client_serves_any_number_of_threads() {
    fn shareable<T: Send + Sync + Clone + 'static>(_: &T) {}
    const THREADS: usize = 1500;
    let server = TestServer::start().expect("a server");
    let client = Client::builder()
        .servers(server.address())
        .min_connections(0)
        .max_connections(8)
        .timeout(Duration::from_secs(20))
        .build()
        .expect("a client");
    shareable(&client);
    std::thread::scope(|scope| {
        for t in 0..THREADS {
            let client = client.clone();
            let spawned =
                std::thread::Builder::new().stack_size(256 * 1024).spawn_scoped(scope, move || {
                    for n in 0..5 {
                        let key = format!("{t}:{n}");
                        client.set(&key, &key, Ttl::NEVER).expect("stored");
                        assert_eq!(client.get::<String>(&key).expect("read"), Some(key));
                    }
                });
            spawned.expect("a thread");
        }
    });
    let pool = &client.status().servers[0];
    assert!(pool.dials <= 8, "{pool:?}");
    assert_eq!((pool.idle, pool.waiting), (pool.connections, 0), "{pool:?}");
}

#[test]
fn f219_clients_that_come_and_go_leave_no_descriptor_and_no_thread() {
    alone("process::f219_clients_that_come_and_go_leave_no_descriptor_and_no_thread", || {
        let server = TestServer::start().expect("a server");
        let use_one = || {
            let client = Client::new(server.address()).expect("a client");
            assert_eq!(client.get::<String>("k").expect("answered"), None);
        };
        let settled = |most: (usize, usize)| {
            let started = Instant::now();
            loop {
                let now = (descriptors(), threads());
                if now.0 <= most.0 && now.1 <= most.1 {
                    return;
                }
                assert!(
                    started.elapsed() < PATIENCE,
                    "(descriptors, threads): {most:?}, then {now:?}"
                );
                std::thread::yield_now();
            }
        };
        let before = (descriptors(), threads());
        for _ in 0..300 {
            use_one();
        }
        settled(before);
    });
}
