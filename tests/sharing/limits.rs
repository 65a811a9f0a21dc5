//! How much travels together, and on which connections.

use std::thread;

use mcpool::Ttl;
use mcpool::testing::{Event, Fault, TestServer, When};

use crate::scene::{BRIEF, PATIENCE, Scene, done, is_command, settings, until};

#[test]
fn no_more_than_64_requests_travel_together() {
    let scene = Scene::new(|b| b);
    thread::scope(|scope| {
        let first = scene.occupy(scope, |_| {});
        let reads: Vec<_> =
            (0..70).map(|n| scene.gather(scope, move |c| c.get::<u32>(format!("k{n}")))).collect();
        scene.release(first).expect("answered");
        reads.into_iter().for_each(|read| assert_eq!(done(read).expect("answered"), None));
    });
    let commands = scene.server.commands();
    let keys = |line: &String| line.split(' ').count() - 1;
    assert_eq!(commands[1..].iter().map(keys).collect::<Vec<_>>(), [64, 6], "{commands:?}");
}

#[test]
fn no_more_than_64_kib_are_taken_along() {
    let scene = Scene::new(|b| b);
    let value = "x".repeat(4000);
    thread::scope(|scope| {
        let first = scene.occupy(scope, |_| {});
        let opens = scene.gather(scope, |c| c.get::<String>("opens"));
        let stores: Vec<_> = (10..30)
            .map(|n| {
                let value = &value;
                scene.gather(scope, move |c| c.set(format!("s{n}"), value, Ttl::NEVER))
            })
            .collect();
        let closes = scene.gather(scope, |c| c.get::<String>("closes"));
        scene.release(first).expect("answered");
        stores.into_iter().for_each(|store| done(store).expect("stored"));
        assert_eq!(done(opens).expect("answered"), None);
        assert_eq!(done(closes).expect("answered"), None);
    });
    let commands = scene.server.commands();
    let trains = commands[1..].split(|line| line.starts_with("get"));
    let trains: Vec<_> = trains.map(<[String]>::len).filter(|stores| *stores > 0).collect();
    // 16 of them are 64 320 bytes.
    assert_eq!(trains, [16, 4], "{commands:?}");
}

/// The connection over which a command came.
fn came_over(scene: &Scene, line: &str) -> u64 {
    let events = scene.server.events();
    let over = events.iter().find_map(|e| match e {
        Event::Command { connection, .. } if is_command(e, line) => Some(*connection),
        _ => None,
    });
    over.unwrap_or_else(|| panic!("no {line:?} in {events:?}"))
}

#[test]
fn up_to_four_callers_have_a_connection_each_without_waiting() {
    let server = TestServer::start().expect("a port");
    let client = settings(&server).max_connections(8).build().expect("a client");
    server.fault(Fault::Late(PATIENCE), When::always().verb("touch"));
    thread::scope(|scope| {
        let calls = [0, 1, 2, 3].map(|n| {
            let client = &client;
            let call = scope.spawn(move || client.touch(format!("k{n}"), Ttl::NEVER));
            until("it is under way", || server.commands().len() > n);
            call
        });
        server.clear_faults();
        server.hurry();
        calls.into_iter().for_each(|call| assert!(!done(call).expect("answered")));
    });
    let status = client.status();
    assert_eq!((status.servers[0].dials, status.servers[0].waits), (4, 0));
}

#[test]
fn a_connection_past_its_lifetime_is_not_handed_on() {
    let scene = Scene::new(|b| b.max_lifetime(BRIEF / 10));
    scene.server.fault(Fault::Late(BRIEF / 4), When::next(1).verb("touch"));
    thread::scope(|scope| {
        let first = scope.spawn(|| scene.client.touch("first", Ttl::NEVER));
        until("it is under way", || scene.server.commands().iter().any(|c| c.starts_with("touch")));
        let waiting = scene.gather(scope, |c| c.incr("n", 1));
        assert!(!done(first).expect("answered"));
        assert_eq!(done(waiting).expect("counted"), Some(2));
    });
    assert_ne!(came_over(&scene, "touch first 0"), came_over(&scene, "incr n 1"));
    until("the first is closed", || scene.server.connections() == 1);
}

#[test]
fn a_connection_older_than_the_loss_of_another_is_not_handed_on() {
    let scene = Scene::new(|b| b.max_connections(2).min_connections(2));
    // Maintenance may be about to open some of them itself.
    until("both are open", || scene.client.status().servers[0].idle == 2);
    scene.server.fault(Fault::Late(BRIEF), When::next(1).verb("touch"));
    scene.server.fault(Fault::CloseAfter(0), When::next(1).verb("prepend"));
    scene.server.fault(Fault::Late(PATIENCE), When::next(1).verb("append"));
    let seen = |text: &str| scene.server.commands().iter().any(|c| c.starts_with(text));
    thread::scope(|scope| {
        let old = scope.spawn(|| scene.client.touch("old", Ttl::NEVER));
        until("it is under way", || seen("touch old"));
        scene.client.prepend("lost", "x").expect_err("cut");
        // This one opens a connection in place of the lost one, and keeps it.
        let fresh = scope.spawn(|| scene.client.append("fresh", "x"));
        until("it is under way", || seen("append fresh"));
        let waiting = scene.gather(scope, |c| c.incr("n", 1));
        assert!(!done(old).expect("answered"));
        assert_eq!(done(waiting).expect("counted"), Some(2));
        scene.server.clear_faults();
        assert!(!done(fresh).expect("answered"));
    });
    let old = came_over(&scene, "touch old 0");
    assert_ne!(came_over(&scene, "incr n 1"), old);
    let closed = |e: &[Event]| {
        e.iter().any(|e| matches!(e, Event::Closed { connection } if *connection == old))
    };
    assert!(scene.server.wait_for(closed, PATIENCE));
}
