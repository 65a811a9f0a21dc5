//! Faults between a client and its process: threads that share it, many clients one after the other.
//!
//! Forks, signals, the clock and scarce descriptors need unsafe code and are in `tests/process`.

use mcpool::Ttl;
use mcpool::testing::TestServer;

use crate::support::alone::{alone, descriptors, threads};
use crate::support::clients::{passive, patient};
use crate::support::watch::until;

#[test]
fn f219_one_client_serves_any_number_of_threads() {
    fn shareable<T: Send + Sync + Clone + 'static>(_: &T) {}
    const THREADS: usize = 1500;
    let server = TestServer::start().expect("a server");
    let client = passive(server.address()).max_connections(8).build().expect("a client");
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
            let client = patient(server.address()).build().expect("a client");
            assert_eq!(client.get::<String>("k").expect("answered"), None);
        };
        let before = (descriptors(), threads());
        for _ in 0..300 {
            use_one();
        }
        until("all of them are gone", || descriptors() <= before.0 && threads() <= before.1);
    });
}
