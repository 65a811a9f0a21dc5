//! Callers with little time and callers with much, on servers that are slow or silent.

use std::thread;
use std::time::{Duration, Instant};

use mcpool::testing::{Fault, TestServer, When};
use mcpool::{DownAfter, ErrorKind, NodeState, Ttl};

use crate::scene::{PATIENCE, Scene, done, settings, until};

/// How long a server is busy with one call, while others gather.
const BUSY: Duration = Duration::from_millis(400);

#[test]
fn a_silence_counts_against_the_server_also_when_it_began_with_a_caller_too_hasty_to_tell() {
    let scene = Scene::new(|b| {
        b.down_after(DownAfter::new(1, Duration::from_secs(10)))
            .maintenance_interval(Duration::ZERO)
    });
    scene.server.fault(Fault::Late(BUSY), When::next(1).verb("touch"));
    scene.server.fault(Fault::Hang, When::next(1).verb("get"));
    thread::scope(|scope| {
        let first = scope.spawn(|| scene.client.touch("first", Ttl::NEVER));
        until("it is under way", || scene.server.commands().iter().any(|c| c.starts_with("touch")));
        let hasty = scene.client.with_timeout(BUSY + Duration::from_millis(50)).expect("a handle");
        let hasty = scene.gather(scope, move |_| hasty.get::<u32>("n"));
        let patient = scene.client.with_timeout(BUSY * 4).expect("a handle");
        let patient = scene.gather(scope, move |_| patient.get::<u32>("n"));
        assert!(!done(first).expect("answered"));
        done(hasty).expect_err("too late");
        assert_eq!(done(patient).expect_err("too late").kind(), ErrorKind::Timeout);
    });
    assert_eq!(scene.client.status().servers[0].state, NodeState::Down);
}

#[test]
fn whoever_is_taken_along_to_a_silent_server_moves_on_when_its_share_of_time_is_over() {
    const SHARE: Duration = Duration::from_secs(2);
    let servers = [(); 2].map(|()| TestServer::start().expect("a port"));
    let client = settings(&servers[0])
        .servers(servers.iter().map(TestServer::address).collect::<Vec<_>>().join(","))
        .attempt_timeout(SHARE)
        .build()
        .expect("a client");
    let key = (0..).map(|n| format!("k{n}"));
    let key =
        key.into_iter().find(|k| client.server_for(k).expect("a key") == servers[0].address());
    let key = key.expect("one of many");
    client.set_counter(&key, 1, Ttl::NEVER).expect("stored");
    servers[0].fault(Fault::Late(BUSY), When::next(1).verb("incr"));
    servers[0].fault(Fault::Hang, When::always().verb("get"));
    let begun = Instant::now();
    thread::scope(|scope| {
        let first = scope.spawn(|| client.incr(&key, 1));
        until("it is under way", || servers[0].commands().iter().any(|c| c.starts_with("incr")));
        let reads: Vec<_> = (1..=2)
            .map(|n| {
                let read = scope.spawn(|| (client.get::<u64>(&key), begun.elapsed()));
                until("it waits", || {
                    client.status().servers.iter().map(|s| s.waiting).sum::<usize>() == n
                });
                read
            })
            .collect();
        assert_eq!(done(first).expect("counted"), Some(2));
        for read in reads {
            let (value, took) = done(read);
            assert_eq!(value.expect("the other server says so"), None);
            assert!(took < SHARE * 2, "{took:?}");
        }
    });
}

#[test]
fn who_would_run_out_of_time_first_does_not_wait_for_two_long_round_trips_while_connections_are_free()
 {
    let server = TestServer::start().expect("a port");
    let client = settings(&server).max_connections(2).share_target(1).build().expect("a client");
    let busy = |verb: &str, time| server.fault(Fault::Late(time), When::next(1).verb(verb));
    let seen = |text: &str| server.commands().iter().any(|c| c.starts_with(text));
    thread::scope(|scope| {
        // Both connections are in use, so that two callers gather; that makes their round trip a long one.
        busy("touch", BUSY);
        busy("set", BUSY * 2);
        busy("get", BUSY * 2);
        let large = "x".repeat(13_000);
        let alone = scope.spawn(|| {
            let large = large;
            client.set("large", &large, Ttl::NEVER)
        });
        until("it is under way", || seen("set large"));
        let shared = scope.spawn(|| client.touch("shared", Ttl::NEVER));
        until("it is under way", || seen("touch shared"));
        let together = [1, 2].map(|n| {
            let read = scope.spawn(|| client.get::<u32>("k"));
            until("it waits", || client.status().servers[0].waiting == n);
            read
        });
        done(alone).expect("stored");
        done(shared).expect("answered");
        together.into_iter().for_each(|read| assert_eq!(done(read).expect("answered"), None));
    });
    busy("touch", PATIENCE);
    thread::scope(|scope| {
        let slow = scope.spawn(|| client.touch("slow", Ttl::NEVER));
        until("it is under way", || seen("touch slow"));
        let hasty = client.with_timeout(BUSY * 3 / 2).expect("a handle");
        assert_eq!(hasty.get::<u32>("k").expect("there are two connections"), None);
        server.clear_faults();
        done(slow).expect("answered");
    });
}

#[test]
fn an_answer_to_one_forgets_the_failures_before_it_also_when_the_next_one_gets_none() {
    let scene = Scene::new(|b| {
        b.down_after(DownAfter::new(2, Duration::from_secs(10)))
            .maintenance_interval(Duration::ZERO)
    });
    scene.server.fault(Fault::Hang, When::next(2).verb("incr"));
    thread::scope(|scope| {
        let first = scene.client.with_timeout(BUSY * 2).expect("a handle");
        let first = scope.spawn(move || first.incr("n", 1));
        until("it is under way", || scene.server.commands().iter().any(|c| c == "incr n 1"));
        let delete = scene.gather(scope, |c| c.delete("nobody"));
        let count = scene.client.with_timeout(BUSY * 4).expect("a handle");
        let count = scene.gather(scope, move |_| count.incr("n", 2));
        done(first).expect_err("the first failure");
        assert!(!done(delete).expect("answered"));
        done(count).expect_err("the second failure, after an answer");
    });
    let status = &scene.client.status().servers[0];
    assert_eq!((status.state, status.exchanges), (NodeState::Suspect, 2), "{status:?}");
}

#[test]
fn a_connection_lost_after_an_answer_was_none_that_could_not_be_opened() {
    let scene = Scene::new(|b| b);
    scene.server.fault(Fault::Late(BUSY), When::next(1).verb("touch"));
    scene.server.fault(Fault::CloseAfter(0), When::next(1).verb("touch"));
    scene.server.fault(Fault::CloseAfter(0), When::next(1).verb("incr"));
    thread::scope(|scope| {
        let first = scope.spawn(|| scene.client.touch("first", Ttl::NEVER));
        until("it is under way", || scene.server.commands().iter().any(|c| c.starts_with("touch")));
        // These are on their way over a fresh connection.
        let delete = scene.gather(scope, |c| c.delete("nobody"));
        let count = scene.gather(scope, |c| c.incr("n", 1));
        // Sent again, it may be on its way together with what is cut.
        let _ = done(first);
        assert!(!done(delete).expect("answered"));
        done(count).expect_err("cut");
    });
    assert_eq!(scene.client.status().servers[0].failed_dials, 0);
}
