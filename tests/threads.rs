//! A client's threads: two at most, none for maintenance where that is off, and all gone after the client.
//!
//! Apart from the other tests, since the threads of a process have names and no owners.
#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, reason = "a test")]

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use mcpool::testing::TestServer;
use mcpool::{Client, Ttl};

/// What takes longer than this hangs.
const HANG: Duration = Duration::from_secs(20);

/// The names, as the kernel cuts them, of this process' threads that are the client's.
fn threads() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").expect("the kernel's list");
    let names = tasks.filter_map(|task| {
        // One that ends in between has no name any more.
        let name = fs::read_to_string(task.ok()?.path().join("comm")).ok()?;
        name.starts_with("mcpool-").then(|| name.trim_end().to_owned())
    });
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names
}

fn until_threads_are(expected: &[&str]) {
    let start = Instant::now();
    while threads() != expected {
        assert!(start.elapsed() < HANG, "{:?} instead of {expected:?}", threads());
        thread::yield_now();
    }
}

#[test]
fn a_clients_threads_end_with_it() {
    let servers = [TestServer::start().expect("a port"), TestServer::start().expect("a port")];
    let addresses = servers.each_ref().map(TestServer::address);
    assert!(threads().is_empty());

    let client = Client::new(addresses.clone()).expect("settings");
    client.set("k", "v", Ttl::NEVER).expect("stored");
    until_threads_are(&["mcpool-maintena", "mcpool-worker"]);
    client.close();
    until_threads_are(&["mcpool-worker"]);
    drop(client);
    until_threads_are(&[]);

    // Without a close, on another thread, in the middle of maintenance's work.
    for _ in 0..20 {
        let client = Client::builder()
            .servers(addresses.clone())
            .initial_connections(4)
            .maintenance_interval(Duration::from_millis(1))
            .build()
            .expect("settings");
        thread::spawn(move || drop(client)).join().expect("dropped");
    }
    until_threads_are(&[]);

    let quiet = Client::builder()
        .servers(addresses)
        .maintenance_interval(Duration::ZERO)
        .build()
        .expect("settings");
    quiet.set("k", "v", Ttl::NEVER).expect("stored");
    assert_eq!(threads(), ["mcpool-worker"]);
    drop(quiet);
    until_threads_are(&[]);
}
