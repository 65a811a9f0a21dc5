//! A process that runs out of descriptors or threads: typed errors, no blame for the server, and it recovers.

use std::time::Duration;

use mcpool::testing::TestServer;
use mcpool::{Client, ErrorKind, NodeState, Ttl};
use mcpool_process_tests::{fork, without_descriptors, without_threads};

fn settings(addresses: Vec<String>) -> mcpool::ClientBuilder {
    let settings = Client::builder().servers(addresses).min_connections(0);
    settings.timeout(Duration::from_secs(20)).maintenance_interval(Duration::ZERO)
}

#[test]
fn without_descriptors_calls_fail_typed_and_the_server_is_not_blamed() {
    let servers = [(); 2].map(|()| TestServer::start().expect("a server"));
    let addresses = servers.each_ref().map(TestServer::address).to_vec();
    let client = settings(addresses.clone()).build().expect("a client");
    let mut keys = (0..).map(|n| format!("k{n}"));
    let mut of = |n: usize| keys.find(|k| client.server_for(k).expect("a key") == addresses[n]);
    let (warm, cold) = (of(0).expect("a key"), of(1).expect("a key"));
    client.set(&warm, "v", Ttl::NEVER).expect("stored");
    servers[1].put(&cold, "v", 0);
    without_descriptors(|| {
        for _ in 0..10 {
            let error = client.get::<String>(&cold).expect_err("no socket can be made");
            assert_eq!(error.kind(), ErrorKind::OutOfResources, "{error}");
            let time = format!("{:.1?}", error.elapsed().expect("every call's error has its time"));
            let text = format!(
                "get \"{cold}\" on {} failed while connecting after {time}: Too many open files (os error 24); \
                 look for leaks in this process, or raise its limits",
                addresses[1]
            );
            assert_eq!(error.to_string(), text);
            assert!(error.may_retry() && !error.is_server_down() && !error.is_timeout());
            let error = client.incr(&cold, 1).expect_err("no socket can be made");
            assert!(!error.may_have_been_applied(), "{error}");
            let found = client.get_many::<String, _>([&warm, &cold]);
            assert_eq!(found.get(&warm).map(String::as_str), Some("v"));
            assert_eq!(found.failures().map(|(k, _)| *k).collect::<Vec<_>>(), [&cold]);
            // An open connection serves on.
            assert_eq!(client.get::<String>(&warm).expect("read").as_deref(), Some("v"));
        }
    });
    let pool = &client.status().servers[1];
    assert_eq!((pool.state, pool.failovers, pool.connections), (NodeState::Up, 0, 0), "{pool:?}");
    assert_eq!(client.get::<String>(&cold).expect("it recovers").as_deref(), Some("v"));
}

#[cfg(target_os = "linux")]
#[test]
fn without_room_for_a_thread_building_a_client_is_an_error_and_no_panic() {
    // In a child, since there is no way back.
    fork(|| {
        without_threads();
        for interval in [Duration::ZERO, Duration::from_secs(30)] {
            let built =
                settings(vec!["127.0.0.1:1".to_owned()]).maintenance_interval(interval).build();
            let error = built.expect_err("it needs a thread");
            assert_eq!(error.kind(), ErrorKind::OutOfResources, "{error}");
        }
    })
    .join();
}
