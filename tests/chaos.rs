//! Many threads, all verbs, three servers and seeded trouble: no wrong value, no late call, nothing lost.
//!
//! `MCPOOL_CHAOS_SECONDS` (20) and `MCPOOL_CHAOS_SEED` (random) set length and dice; the seed is printed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]
#![allow(clippy::print_stdout, reason = "the figures are what a reader runs it for")]

mod support;

#[path = "chaos/callers.rs"]
mod callers;
#[path = "chaos/trouble.rs"]
mod trouble;

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use callers::{Caller, Tally};
use mcpool::{Client, NodeState, Ttl};
use support::memcached::Memcached;
use support::over::Over;
use support::watch::{HANG, SLACK, until};
use trouble::World;

const CALLERS: u64 = 16;
const MAX_CONNECTIONS: u32 = 4;
const TIMEOUT: Duration = Duration::from_millis(400);
/// The longest back-off is 2 s and a probe has 250 ms; the rest is for a busy machine.
const RECOVERY: Duration = Duration::from_secs(15);

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is not a whole number: {text}")))
}

fn client(addresses: Vec<String>) -> Client {
    Client::builder()
        .servers(addresses)
        .max_connections(MAX_CONNECTIONS)
        .timeout(TIMEOUT)
        .maintenance_interval(Duration::from_millis(200))
        .build()
        .expect("a client")
}

#[test]
fn no_trouble_makes_a_wrong_value_a_late_call_or_a_lost_connection() {
    let seed = setting("MCPOOL_CHAOS_SEED").unwrap_or_else(|| RandomState::new().hash_one(0));
    let length = Duration::from_secs(setting("MCPOOL_CHAOS_SECONDS").unwrap_or(20));
    println!("chaos: MCPOOL_CHAOS_SEED={seed}, {length:?}");
    let mut world = World::start(seed);
    let client = client(world.addresses());
    let before = Process::now();
    let over = AtomicBool::new(false);
    let tally = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|n| {
                let (client, over) = (client.clone(), &over);
                scope.spawn(move || Caller::new(client, seed ^ n, TIMEOUT + SLACK).run(over))
            })
            .collect();
        let stop = Over(&over);
        world.trouble(length);
        drop(stop);
        callers.into_iter().fold(Tally::default(), |sum, caller| {
            sum.add(caller.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    });
    world.calm();
    let recovered = recovery(&client);
    let status = client.status();
    println!(
        "chaos: {tally}; {} faults injected, {} kills and restarts, {} pauses; {} dials; all servers back after {recovered:?}",
        world.injected(),
        world.kills,
        world.pauses,
        status.servers.iter().map(|s| s.dials).sum::<u64>(),
    );
    assert!(tally.calls > 1000 && tally.hits > 100, "hardly anything happened: {tally}");
    let patient = client.with_timeout(HANG).expect("a handle");
    for n in 0..2000 {
        let key = format!("after:{n}");
        patient.set(&key, &key, Ttl::NEVER).expect("no faults any more");
        assert_eq!(patient.get::<String>(&key).expect("no faults any more"), Some(key));
    }
    // Upkeep may just be opening one.
    until("every connection is back", || {
        let servers = client.status().servers;
        assert!(servers.iter().all(|s| s.connections <= MAX_CONNECTIONS as usize), "{servers:?}");
        servers.iter().all(|s| s.waiting == 0 && s.idle == s.connections)
    });
    before.is_as_before();
}

/// Waits until every server is up and answers; the time that took.
fn recovery(client: &Client) -> Duration {
    let started = Instant::now();
    loop {
        let up = client.status().servers.iter().all(|s| s.state == NodeState::Up);
        let answers = client.version().into_result();
        if up && answers.is_ok() {
            return started.elapsed();
        }
        assert!(started.elapsed() < RECOVERY, "{answers:?} {:?}", client.status());
        std::thread::yield_now();
    }
}

/// Threads and memory of this process, where the system tells.
struct Process {
    threads: usize,
    resident: usize,
}

impl Process {
    fn now() -> Self {
        let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        let pages = statm.split(' ').nth(1).and_then(|n| n.parse::<usize>().ok()).unwrap_or(0);
        Self { threads, resident: pages * 4096 }
    }

    /// Waits for the proxies' last pumps; the client itself must not have grown.
    fn is_as_before(&self) {
        // A pump of the proxies for each direction of each connection may still live.
        let most = self.threads + 2 * 3 * MAX_CONNECTIONS as usize;
        until("the threads end", || Self::now().threads <= most);
        let grown = Self::now().resident.saturating_sub(self.resident);
        assert!(grown < 64 << 20, "memory grew by {grown} bytes");
    }
}

#[test]
fn a_restarted_server_costs_its_callers_no_failed_call_once_it_is_back() {
    const RESTARTS: u32 = 20;
    const LONG: Duration = Duration::from_secs(2);
    let mut server = Memcached::start();
    let client = Client::builder()
        .servers(server.address())
        .max_connections(8)
        .timeout(LONG)
        .connect_timeout(LONG)
        .build()
        .expect("a client");
    client.set("k", "v", Ttl::NEVER).expect("stored");
    let over = AtomicBool::new(false);
    let (failed, calls, after, slowest) = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..32)
            .map(|_| {
                let (client, over) = (client.clone(), &over);
                scope.spawn(move || {
                    let (mut failed, mut calls) = (0_u64, 0_u64);
                    while !over.load(Ordering::SeqCst) {
                        calls += 1;
                        let started = Instant::now();
                        if let Err(e) = client.get::<String>("k") {
                            assert!(e.is_server_down() || e.may_retry(), "{e}");
                            assert!(started.elapsed() < LONG + SLACK, "slow: {e}");
                            failed += 1;
                            std::thread::yield_now();
                        }
                    }
                    (failed, calls)
                })
            })
            .collect();
        let (mut after, mut slowest) = (0_u64, Duration::ZERO);
        let stop = Over(&over);
        for _ in 0..RESTARTS {
            server.restart_on_same_port();
            let listening = Instant::now();
            while client.get::<String>("k").is_err() {
                assert!(listening.elapsed() < RECOVERY, "{:?}", client.status());
                std::thread::yield_now();
            }
            slowest = slowest.max(listening.elapsed());
            // From here on the server is back: nothing may fail, though most sockets are stale.
            for n in 0..200 {
                let outcome = client.set(format!("k{n}"), "v", Ttl::NEVER);
                after += u64::from(outcome.is_err());
            }
        }
        drop(stop);
        let totals = callers.into_iter().map(|c| c.join().unwrap());
        let (failed, calls) = totals.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        (failed, calls, after, slowest)
    });
    println!(
        "restarts: {RESTARTS}, 32 threads, {calls} calls; {} failed per restart while it was down, {after} after it was back; slowest first success {slowest:?} after it listened",
        failed / u64::from(RESTARTS)
    );
    assert_eq!(after, 0, "calls failed although the server was back");
}
