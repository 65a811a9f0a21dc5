//! Callers that share a connection: who travels with whom, and what each gets when something goes wrong on the way.

#![allow(clippy::expect_used, clippy::panic, reason = "a test")]

use std::thread;
use std::time::Duration;

use mcpool::testing::{Fault, TestServer, When};
use mcpool::{DownAfter, Error, ErrorKind, Result, Ttl};

#[path = "sharing/limits.rs"]
mod limits;
#[path = "sharing/mates.rs"]
mod mates;
#[path = "sharing/patience.rs"]
mod patience;
#[path = "sharing/scene.rs"]
mod scene;
#[path = "sharing/users_code.rs"]
mod users_code;

use scene::{BRIEF, PATIENCE, Scene, done, settings, until};

#[test]
fn requests_that_wait_go_out_together_reads_as_one_and_each_caller_gets_its_own_answer() {
    let scene = Scene::new(|b| b);
    for n in 0..3 {
        scene.client.set(format!("k{n}"), &format!("value {n}"), Ttl::NEVER).expect("stored");
    }
    scene.server.clear_events();
    thread::scope(|scope| {
        let first = scene.occupy(scope, |_| {});
        let reads: Vec<_> = [2, 0, 7, 1, 0]
            .map(|n| (n, scene.gather(scope, move |c| c.get::<String>(format!("k{n}")))))
            .into();
        let store = scene.gather(scope, |c| c.set("new", "stored", Ttl::NEVER));
        let count = scene.gather(scope, |c| c.incr("n", 5));
        let versioned = scene.gather(scope, |c| c.gets::<u32>("n"));
        let gone = scene.gather(scope, |c| c.delete("nobody"));
        assert!(!scene.release(first).expect("answered"));
        for (n, read) in reads {
            let expected = (n != 7).then(|| format!("value {n}"));
            assert_eq!(done(read).expect("answered"), expected, "k{n}");
        }
        done(store).expect("stored");
        assert_eq!(done(count).expect("counted"), Some(6));
        assert!(done(versioned).expect("answered").is_some_and(|item| item.value == 6));
        assert!(!done(gone).expect("answered"));
    });
    let commands = scene.server.commands();
    let expected = [
        "touch first 0",
        "set new 0 0 6",
        "incr n 5",
        "delete nobody",
        "get k2 k0 k7 k1",
        "gets n",
    ];
    assert_eq!(commands, expected);
    assert_eq!(scene.client.get::<String>("new").expect("read").as_deref(), Some("stored"));
    assert_eq!(scene.server.connections(), 1);
}

#[test]
fn without_sharing_each_request_goes_out_by_itself() {
    let scene = Scene::new(|b| b.share(false));
    thread::scope(|scope| {
        let first = scene.occupy(scope, |_| {});
        let reads = [0, 1].map(|n| scene.gather(scope, move |c| c.get::<String>(format!("k{n}"))));
        scene.release(first).expect("answered");
        for read in reads {
            assert_eq!(done(read).expect("answered"), None);
        }
    });
    assert_eq!(scene.server.commands(), ["touch first 0", "get k0", "get k1"]);
}

#[test]
fn large_values_and_calls_for_many_keys_wait_for_a_connection_of_their_own() {
    let scene = Scene::new(|b| b);
    let large = "x".repeat(13_000);
    thread::scope(|scope| {
        let first = scene.occupy(scope, |_| {});
        let large = scene.gather(scope, |c| c.set("large", &large, Ttl::NEVER));
        let many = scene.gather(scope, |c| c.get_many::<String, _>(&["a", "b"]).into_result());
        let small = scene.gather(scope, |c| c.get::<String>("c"));
        scene.release(first).expect("answered");
        done(large).expect("stored");
        assert!(done(many).expect("answered").iter().all(|(_, value)| value.is_none()));
        assert_eq!(done(small).expect("answered"), None);
    });
    let expected = ["touch first 0", "set large 0 0 13000", "get a b", "get c"];
    assert_eq!(scene.server.commands(), expected);
}

#[test]
fn whoever_runs_out_of_time_leaves_the_connection_to_those_who_have_some() {
    let scene = Scene::new(|b| b);
    scene.client.set("k", "value", Ttl::NEVER).expect("stored");
    scene.server.clear_events();
    thread::scope(|scope| {
        let late = Fault::Late(PATIENCE);
        let first = scene.occupy(scope, |s| s.fault(late, When::next(1).verb("get")));
        let hasty = scene.client.with_timeout(BRIEF).expect("a handle");
        // It comes first and so has the connection first.
        let hasty = scene.gather(scope, move |_| hasty.get::<String>("k"));
        let others = [0, 1].map(|_| scene.gather(scope, |c| c.get::<String>("k")));
        let count = scene.gather(scope, |c| c.incr("n", 5));
        scene.release(first).expect("answered");
        let error = done(hasty).expect_err("too late");
        scene.server.hurry();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        for other in others {
            assert_eq!(done(other).expect("answered").as_deref(), Some("value"));
        }
        assert_eq!(done(count).expect("counted"), Some(6));
    });
    assert_eq!(scene.connects(), 0, "the one connection served all");
    assert_eq!(scene.client.get::<u32>("n").expect("read"), Some(6), "and goes on");
}

#[test]
fn a_rider_that_runs_out_of_time_does_not_know_what_came_of_it_and_harms_nobody() {
    let scene = Scene::new(|b| b);
    thread::scope(|scope| {
        let late = Fault::Late(PATIENCE);
        let first = scene.occupy(scope, |s| s.fault(late, When::next(1).verb("delete")));
        let leader = scene.gather(scope, |c| c.delete("k"));
        let hasty = scene.client.with_timeout(BRIEF).expect("a handle");
        let hasty = scene.gather(scope, move |_| hasty.incr("n", 1));
        let patient = scene.gather(scope, |c| c.incr("n", 10));
        scene.release(first).expect("answered");
        let error = done(hasty).expect_err("too late");
        scene.server.hurry();
        assert_eq!((error.kind(), error.may_have_been_applied()), (ErrorKind::Timeout, true));
        assert!(!done(leader).expect("answered"));
        assert_eq!(done(patient).expect("counted"), Some(12), "after the hasty one's 1");
    });
    assert_eq!(scene.client.incr("n", 0).expect("counted"), Some(12));
    assert_eq!(scene.connects(), 0);
}

#[test]
fn who_runs_out_of_time_while_still_waiting_was_surely_not_sent() {
    let scene = Scene::new(|b| b);
    thread::scope(|scope| {
        let first = scene.occupy(scope, |_| {});
        let hasty = scene.client.with_timeout(BRIEF / 10).expect("a handle");
        let hasty = scene.gather(scope, move |_| hasty.incr("n", 1));
        let error = done(hasty).expect_err("too late");
        assert_eq!(error.kind(), ErrorKind::PoolExhausted, "{error}");
        assert!(!error.may_have_been_applied());
        scene.release(first).expect("answered");
    });
    assert_eq!(scene.client.get::<u32>("n").expect("read"), Some(1));
    assert!(!scene.server.commands().iter().any(|c| c.starts_with("incr")));
}

#[test]
fn a_refusal_of_several_reads_at_once_is_no_answer_to_any_of_them() {
    let scene = Scene::new(|b| b);
    thread::scope(|scope| {
        let refusal = Fault::Reply(b"SERVER_ERROR line too long\r\n".to_vec());
        let first = scene.occupy(scope, |s| s.fault(refusal, When::next(1).verb("get")));
        let reads = [0, 1, 2].map(|_| scene.gather(scope, |c| c.get::<u32>("n")));
        scene.release(first).expect("answered");
        for read in reads {
            assert_eq!(done(read).expect("answered alone"), Some(1));
        }
    });
    let commands = scene.server.commands();
    assert_eq!(commands, ["touch first 0", "get n", "get n", "get n", "get n"]);
}

#[test]
fn what_comes_behind_a_refused_store_is_in_doubt_and_what_came_before_it_is_not() {
    let scene = Scene::new(|b| b);
    let error = |outcome: Result<Option<u64>>| -> Error { outcome.expect_err("in doubt") };
    thread::scope(|scope| {
        let refusal = Fault::Reply(b"CLIENT_ERROR bad data chunk\r\n".to_vec());
        let first = scene.occupy(scope, |s| s.fault(refusal, When::next(1).verb("add")));
        let before = scene.gather(scope, |c| c.incr("n", 1));
        let refused = scene.gather(scope, |c| c.add("a", "x", Ttl::NEVER));
        let behind = scene.gather(scope, |c| c.incr("n", 10));
        let read = scene.gather(scope, |c| c.get::<String>("nobody"));
        scene.release(first).expect("answered");
        assert_eq!(done(before).expect("counted"), Some(2));
        let refused = done(refused).expect_err("refused");
        assert!(!refused.may_have_been_applied(), "{refused}");
        let behind = error(done(behind));
        assert!(behind.may_have_been_applied(), "{behind}");
        assert_eq!(done(read).expect("it may be sent again"), None);
    });
    assert_eq!(scene.client.get::<u32>("n").expect("read"), Some(12));
    assert_eq!(scene.connects(), 1, "the connection was closed, the next one is another");
}

#[test]
fn when_the_connection_dies_each_caller_is_told_what_became_of_its_own_request() {
    let scene = Scene::new(|b| b);
    thread::scope(|scope| {
        let cut = Fault::CloseAfter(0);
        let first = scene.occupy(scope, |s| s.fault(cut, When::next(1).verb("incr")));
        let read = scene.gather(scope, |c| c.get::<u32>("n"));
        let store = scene.gather(scope, |c| c.set("s", "x", Ttl::NEVER));
        let counted = scene.gather(scope, |c| c.incr("n", 1));
        let behind = scene.gather(scope, |c| c.delete("n"));
        scene.release(first).expect("answered");
        assert_eq!(done(read).expect("it may be sent again"), Some(2));
        done(store).expect("answered before");
        let error = done(counted).expect_err("cut");
        assert_eq!(error.kind(), ErrorKind::ConnectionLost, "{error}");
        assert!(error.may_have_been_applied());
        let error = done(behind).expect_err("cut");
        assert!(error.may_have_been_applied(), "{error}");
    });
    assert_eq!(scene.connects(), 1, "the connection was closed, the next one is another");
    assert_eq!(scene.client.get::<String>("s").expect("read").as_deref(), Some("x"));
}

#[test]
fn a_wrong_key_among_shared_reads_gives_nobody_anothers_value() {
    let scene = Scene::new(|b| b);
    for key in ["a", "b"] {
        scene.client.set(key, key, Ttl::NEVER).expect("stored");
    }
    thread::scope(|scope| {
        let wrong = Fault::WrongKey(b"other".to_vec());
        let first = scene.occupy(scope, |s| s.fault(wrong, When::next(1).verb("get")));
        let reads = ["a", "b"].map(|key| scene.gather(scope, move |c| c.get::<String>(key)));
        scene.release(first).expect("answered");
        for (read, key) in reads.into_iter().zip(["a", "b"]) {
            match done(read) {
                Ok(value) => assert_eq!(value.as_deref(), Some(key), "asked again"),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Protocol, "{error}"),
            }
        }
    });
    assert_eq!(scene.connects(), 1, "the connection was closed");
}

#[test]
fn slow_connections_are_joined_by_more_and_quick_ones_are_not() {
    let server = TestServer::start().expect("a port");
    let client = settings(&server).max_connections(8).build().expect("a client");
    client.get::<String>("k").expect("read");
    server.fault(Fault::Late(PATIENCE), When::next(2).verb("touch"));
    thread::scope(|scope| {
        let slow = [0, 1].map(|n| {
            let call = scope.spawn({
                let client = &client;
                move || client.touch(format!("slow{n}"), Ttl::NEVER)
            });
            until("the call is under way", || {
                server.commands().iter().any(|c| c.starts_with(&format!("touch slow{n}")))
            });
            call
        });
        assert_eq!(client.get::<String>("k").expect("read"), None);
        assert!(slow.iter().all(|call| !call.is_finished()), "it did not wait for the slow ones");
        server.clear_faults();
        slow.into_iter().for_each(|call| assert!(!done(call).expect("answered")));
    });
    assert_eq!(server.connections(), 3);
}

#[test]
fn riders_of_a_server_that_goes_down_are_told_at_once() {
    let scene = Scene::new(|b| b.down_after(DownAfter::new(1, Duration::from_secs(10))));
    thread::scope(|scope| {
        let first = scene.occupy(scope, |_| {});
        let waiting = scene.gather(scope, |c| c.incr("n", 1));
        scene.server.stop();
        let _ = scene.release(first).expect_err("its connection is gone");
        let error = done(waiting).expect_err("down");
        assert_eq!(error.kind(), ErrorKind::ServerDown, "{error}");
        assert!(!error.may_have_been_applied());
    });
}

#[test]
fn closing_the_client_ends_the_wait_of_all_who_share() {
    let scene = Scene::new(|b| b);
    thread::scope(|scope| {
        let first = scene.occupy(scope, |_| {});
        let waiting = [0, 1].map(|_| scene.gather(scope, |c| c.incr("n", 1)));
        scene.client.close();
        for waiting in waiting {
            let error = done(waiting).expect_err("closed");
            assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
        }
        scene.release(first).expect("what was under way comes to its end");
    });
    until("the connection is closed", || scene.server.connections() == 0);
}

#[test]
fn a_hundred_threads_on_two_connections_get_right_values_and_no_error() {
    let server = TestServer::builder().record_commands(false).start().expect("a port");
    let client = settings(&server).max_connections(2).build().expect("a client");
    thread::scope(|scope| {
        for t in 0..100_u64 {
            let client = &client;
            scope.spawn(move || {
                let key = format!("own{t}");
                for n in 0..100_u64 {
                    client.set(&key, &(t * 1000 + n), Ttl::NEVER).expect("stored");
                    assert_eq!(client.get::<u64>(&key).expect("read"), Some(t * 1000 + n));
                    assert_eq!(client.incr(&key, 1).expect("counted"), Some(t * 1000 + n + 1));
                    assert!(client.delete(&key).expect("answered"));
                    assert_eq!(client.get::<u64>(&key).expect("read"), None);
                }
            });
        }
    });
    let pool = &client.status().servers[0];
    assert_eq!((pool.idle, pool.waiting, pool.failures), (pool.connections, 0, 0), "{pool:?}");
    assert!(pool.connections <= 2);
}
