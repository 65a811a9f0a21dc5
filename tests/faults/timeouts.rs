//! Faults of time-outs: none, the wrong one, several that add up.

use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use mcpool::testing::{Fault, Proxy, TestServer, Weather, When};
use mcpool::{Client, ErrorKind, Failover, Phase, Ttl};

use crate::support::blackhole::blackhole;
use crate::support::clients::passive;
use crate::support::memcached::Memcached;
use crate::support::script::{Peer, Script};
use crate::support::watch::{HANG, SLACK, timed};

#[test]
fn f059_the_deadline_holds_for_a_server_that_does_not_read_and_for_one_that_does_not_answer() {
    let (release, held) = channel::<()>();
    let held = Mutex::new(held);
    let deaf = Script::start(move |peer: &mut Peer| {
        peer.line();
        // Open, and not read from, until the test is over.
        _ = held.lock().expect("no panic").recv();
    });
    // Dropped before the server, which waits for it.
    let _release = release;
    let mute = Script::start(Peer::until_closed);
    let cases = [(deaf.address(), 32 << 20, Phase::Write), (mute.address(), 10, Phase::Read)];
    for (server, size, phase) in cases {
        let client = passive(server).timeout(Duration::from_millis(600)).build().expect("built");
        let value = vec![0_u8; size];
        let (outcome, took) = timed(|| client.set_raw("k", &value, 0, Ttl::NEVER));
        let error = outcome.expect_err("no answer");
        assert_eq!((error.kind(), error.phase()), (ErrorKind::Timeout, Some(phase)), "{error}");
        assert!(took < client.timeout() + SLACK, "{took:?}");
    }
}

#[test]
fn f060_a_hundred_threads_on_a_busy_machine_meet_no_time_out_with_a_patient_deadline() {
    let server = Memcached::start();
    let client = passive(server.address()).build().expect("built");
    let value = "v".repeat(1024);
    std::thread::scope(|scope| {
        for t in 0..100 {
            let (client, value) = (&client, &value);
            scope.spawn(move || {
                for n in 0..100 {
                    client.set(format!("k{t}:{n}"), value, Ttl::NEVER).expect("stored");
                }
            });
        }
    });
    assert!(client.status().servers[0].connections <= 32);
}

#[test]
fn f061_the_deadline_is_that_of_the_whole_call_and_the_next_call_works() {
    let server = Memcached::start();
    let proxy = Proxy::start(server.addr(), 1).expect("a proxy");
    let client = passive(proxy.address()).build().expect("built");
    client.set("big", &vec![7_u8; 900_000], Ttl::NEVER).expect("stored");
    client.set("small", "s", Ttl::NEVER).expect("stored");
    let mut slow = Weather::calm();
    slow.delay = Duration::from_millis(20)..Duration::from_millis(21);
    slow.requests = false;
    proxy.weather(slow);
    // Each piece comes in time, all together do not.
    let hasty = client.with_timeout(Duration::from_millis(300)).expect("a handle");
    let error = hasty.get::<Vec<u8>>("big").expect_err("too slow as a whole");
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    proxy.weather(Weather::calm());
    assert_eq!(client.get::<String>("small").expect("read").as_deref(), Some("s"));
}

#[test]
fn f062_connecting_has_a_limit_of_its_own() {
    let hole = blackhole();
    for (limit, timeout) in [(100, 5_000), (600, 5_000)] {
        let client = passive(hole.address())
            .connect_timeout(Duration::from_millis(limit))
            .timeout(Duration::from_millis(timeout))
            .build()
            .expect("built");
        let (outcome, took) = timed(|| client.get::<String>("k"));
        assert_eq!(outcome.expect_err("swallowed").phase(), Some(Phase::Connect));
        assert!(
            took >= Duration::from_millis(limit) && took < Duration::from_millis(limit) + SLACK,
            "{took:?}"
        );
    }
}

#[test]
fn f063_a_zero_limit_is_refused_and_extreme_ones_do_no_harm() {
    let server = TestServer::start().expect("a server");
    for builder in [
        passive(server.address()).timeout(Duration::ZERO),
        passive(server.address()).connect_timeout(Duration::ZERO),
        passive(server.address()).attempt_timeout(Duration::ZERO),
        passive(server.address()).timeout(Duration::MAX),
    ] {
        assert_eq!(builder.build().expect_err("refused").kind(), ErrorKind::Config);
    }
    let tiny = passive(server.address()).timeout(Duration::from_nanos(1)).build().expect("built");
    assert!(tiny.get::<String>("k").expect_err("too short").may_retry());
    let huge = passive(server.address())
        .max_busy(Duration::MAX)
        .timeout(Duration::MAX)
        .connect_timeout(Duration::MAX)
        .attempt_timeout(Duration::MAX)
        .max_idle(Duration::MAX)
        .max_lifetime(Duration::MAX)
        .maintenance_interval(Duration::MAX)
        .build()
        .expect("built");
    huge.set("k", "v", Ttl::NEVER).expect("stored");
    assert_eq!(huge.get::<String>("k").expect("read").as_deref(), Some("v"));
    assert_eq!(huge.get_many::<String, _>(["k"]).iter().count(), 1);
}

#[test]
fn f064_a_stopped_server_does_not_take_the_others_values_out_of_a_call_for_many_keys() {
    let (live, stopped) = (Memcached::start(), Memcached::start());
    let client = passive([live.address(), stopped.address()])
        .failover(Failover::Off)
        .timeout(Duration::from_millis(1500))
        .build()
        .expect("built");
    let keys: Vec<String> = (0..50).map(|n| format!("k{n}")).collect();
    let patient = client.with_timeout(HANG).expect("a handle");
    patient.set_many(keys.iter().map(|k| (k, k)), Ttl::NEVER).into_result().expect("stored");
    stopped.pause();
    let (found, took) = timed(|| client.get_many::<String, _>(&keys));
    assert!(took < client.timeout() + SLACK, "{took:?}");
    for (key, outcome) in found.outcomes().iter() {
        let home = client.server_for(key).expect("legal");
        match outcome {
            Ok(value) => assert_eq!((value.as_ref(), home), (Some(*key), live.address())),
            Err(e) => assert!(e.is_timeout() && home == stopped.address(), "{e}"),
        }
    }
    stopped.resume();
}

#[test]
fn f065_a_default_deadline_ends_every_call_to_a_silent_server() {
    let server = TestServer::start().expect("a server");
    server.fault(Fault::Hang, When::always());
    let client = Client::new(server.address()).expect("built");
    std::thread::scope(|scope| {
        for _ in 0..50 {
            scope.spawn(|| {
                let (outcome, took) = timed(|| client.get::<String>("k"));
                assert!(outcome.expect_err("no answer").may_retry());
                assert!(took < Duration::from_secs(1) + SLACK, "{took:?}");
            });
        }
    });
}
