//! What servers and the network did: refused, silent, gone, wrong, and whether the call may have been applied.

use std::time::Duration;

use mcpool::testing::{Fault, When};
use mcpool::{ErrorKind, Failover, NodeState, Phase, Ttl};

use crate::support::blackhole::blackhole;
use crate::support::clients::{hasty, key_on, keys_on, steady};
use crate::support::events::asked;
use crate::support::memcached::Memcached;
use crate::support::ports::refusing;
use crate::support::watch::{HANG, until};
use crate::told::{
    DOWN, IN_DOUBT, LATE, LATE_IN_DOUBT, LATER, NEVER, Told, client, lone, start, tells,
};

/// The words of the system.
fn os(errno: rustix::io::Errno) -> String {
    std::io::Error::from_raw_os_error(errno.raw_os_error()).to_string()
}

#[test]
fn a_value_that_cannot_be_counted_is_told_in_the_servers_words() {
    let server = start();
    server.put("k", "abc", 0);
    let error = client(&server).incr("k", 1).unwrap_err();
    let text = "incr \"k\" on SERVER failed after TIME: the server answered `CLIENT_ERROR cannot increment or \
                decrement non-numeric value`; store counters with `set_counter` or as decimal text";
    let told = Told { kind: ErrorKind::NotANumber, phase: None, advice: NEVER, text };
    tells(&error, &server.address(), &told);
}

#[test]
fn a_time_out_says_whether_the_call_may_have_been_applied() {
    let server = Memcached::start();
    let client = lone(&server.address()).build().unwrap();
    client.set_counter("n", 1, Ttl::NEVER).unwrap();
    server.pause();
    let hurried = client.with_timeout(Duration::from_millis(500)).unwrap();
    let told =
        |advice, text| Told { kind: ErrorKind::Timeout, phase: Some(Phase::Read), advice, text };
    let error = hurried.incr("n", 1).unwrap_err();
    let text = "incr \"n\" on SERVER failed while reading the reply after TIME: the deadline passed; it may have \
                been applied; look at the server's load and network, or raise `timeout`";
    tells(&error, &server.address(), &told(LATE_IN_DOUBT, text));
    let error = hurried.get::<u64>("n").unwrap_err();
    let text = "get \"n\" on SERVER failed while reading the reply after TIME: the deadline passed; \
                look at the server's load and network, or raise `timeout`";
    tells(&error, &server.address(), &told(LATE, text));
    let error = hurried.version().into_result().unwrap_err();
    let text = "version on SERVER failed while reading the reply after TIME: the deadline passed; \
                look at the server's load and network, or raise `timeout`";
    tells(&error, &server.address(), &told(LATE, text));
    assert!(error.elapsed().unwrap() >= Duration::from_millis(480), "{error}");
}

#[test]
fn a_pool_without_a_free_connection_is_told_from_a_silent_server() {
    let server = start();
    let client = client(&server);
    server.fault(Fault::Late(HANG), When::next(1));
    let hurried = client.with_timeout(Duration::from_millis(100)).unwrap();
    std::thread::scope(|scope| {
        let holder = scope.spawn(|| client.get::<String>("k"));
        assert!(server.wait_for(|events| asked(events, "get") == 1, HANG));
        let error = hurried.incr("n", 1).unwrap_err();
        let text = "incr \"n\" on SERVER failed while waiting for a connection after TIME: every connection was in \
                    use; raise `max_connections` or `timeout`, or call from fewer threads";
        let phase = Some(Phase::Wait);
        let told = Told { kind: ErrorKind::PoolExhausted, phase, advice: LATE, text };
        tells(&error, &server.address(), &told);
        server.clear_faults();
        holder.join().unwrap().unwrap();
    });
}

#[test]
fn a_server_that_cannot_be_reached_is_told_with_the_reason() {
    fn told(phase: Option<Phase>, text: &str) -> Told<'_> {
        Told { kind: ErrorKind::ServerDown, phase, advice: DOWN, text }
    }
    let server = refusing();
    let client = lone(&server).build().unwrap();
    let refused = os(rustix::io::Errno::CONNREFUSED);
    for (error, call) in [
        (client.get::<String>("user:42").unwrap_err(), "get \"user:42\""),
        (client.version().into_result().unwrap_err(), "version"),
        (client.warm_up().into_result().unwrap_err(), "warm_up"),
    ] {
        let text = format!(
            "{call} on SERVER failed while connecting after TIME: {refused}; \
             check that memcached runs there; the server is probed again by itself"
        );
        tells(&error, &server, &told(Some(Phase::Connect), &text));
        let source = std::error::Error::source(&error).expect("the system's error");
        assert_eq!(source.to_string(), refused);
    }
    let down = hasty(server.as_str()).build().unwrap();
    until("it is known to be down", || down.get::<String>("k").unwrap_err().phase().is_none());
    let error = down.get::<String>("k").unwrap_err();
    let began = "the server is down (last failure ";
    let cause = format!(" ago: {refused}); check that memcached runs there");
    let text = error.to_string();
    assert!(text.contains(began) && text.contains(&cause), "{text}");
    assert_eq!((error.kind(), error.phase()), (ErrorKind::ServerDown, None));
    let swallowing = blackhole();
    let client = lone(&swallowing.address()).build().unwrap();
    let hasty = client.with_timeout(Duration::from_millis(10)).unwrap();
    let error = hasty.get::<String>("k").unwrap_err();
    assert_eq!((error.kind(), error.phase()), (ErrorKind::Timeout, Some(Phase::Connect)));
    let text = error.to_string();
    assert!(text.contains("while connecting") && text.contains("the deadline passed"), "{text}");
    assert_eq!(hasty.status().servers[0].state, NodeState::Up, "it says nothing of the server");
    let hole = blackhole();
    let client = lone(&hole.address()).connect_timeout(Duration::from_millis(50)).build().unwrap();
    let error = client.get::<String>("k").unwrap_err();
    let text = "get \"k\" on SERVER failed while connecting after TIME: no answer in time; \
                check that memcached runs there; the server is probed again by itself";
    tells(&error, &hole.address(), &told(Some(Phase::Connect), text));
    let full = start();
    full.fault(Fault::TurnAway("ERROR Too many open connections\r\n".into()), When::always());
    let error = self::client(&full).append("k", "v").unwrap_err();
    let text = "append \"k\" on SERVER failed while connecting after TIME: ERROR Too many open connections; \
                check that memcached runs there; the server is probed again by itself";
    tells(&error, &full.address(), &told(Some(Phase::Connect), text));
    let error = lone("no-such-host.invalid").build().unwrap().get::<String>("k").unwrap_err();
    let text = error.to_string();
    let start = "get \"k\" on no-such-host.invalid:11211 failed while resolving the name after ";
    assert!(text.starts_with(start), "{text}");
    assert!(
        text.ends_with("; check that memcached runs there; the server is probed again by itself"),
        "{text}"
    );
}

#[test]
fn a_connection_that_ends_is_told_from_a_peer_that_is_no_memcached() {
    let server = start();
    let client = client(&server);
    let phase = Some(Phase::Read);
    server.fault(Fault::CloseAfter(0), When::always());
    let told = |advice, text| Told { kind: ErrorKind::ConnectionLost, phase, advice, text };
    let error = client.append("k", "v").unwrap_err();
    let text = "append \"k\" on SERVER failed while reading the reply after TIME: the server closed the connection; \
                it may have been applied; the connection was closed and the next call opens another";
    tells(&error, &server.address(), &told(IN_DOUBT, text));
    let error = client.get::<String>("k").unwrap_err();
    let text = "get \"k\" on SERVER failed while reading the reply after TIME: the server closed the connection; \
                the connection was closed and the next call opens another";
    tells(&error, &server.address(), &told(LATER, text));
    server.clear_faults();
    server.fault(Fault::Reply("nonsense\r\n".into()), When::always());
    let told = |advice, text| Told { kind: ErrorKind::Protocol, phase, advice, text };
    let error = client.set("k", "v", Ttl::NEVER).unwrap_err();
    let text = "set \"k\" on SERVER failed while reading the reply after TIME: the server answered set with \
                `nonsense`; it may have been applied; check that the address is a memcached's; the connection was closed";
    tells(&error, &server.address(), &told(IN_DOUBT, text));
    let error = client.get::<String>("k").unwrap_err();
    let text = "get \"k\" on SERVER failed while reading the reply after TIME: the server answered get with \
                `nonsense`; check that the address is a memcached's; the connection was closed";
    tells(&error, &server.address(), &told(LATER, text));
}

#[test]
fn a_refusal_quotes_the_server() {
    let server = start();
    server.fault(
        Fault::Reply("SERVER_ERROR out of memory storing object\r\n".into()),
        When::always(),
    );
    let error = client(&server).set("k", "v", Ttl::NEVER).unwrap_err();
    let text = "set \"k\" on SERVER failed after TIME: the server answered `SERVER_ERROR out of memory storing \
                object`; look at the server's settings, memory and version";
    let told = Told { kind: ErrorKind::Refused, phase: None, advice: NEVER, text };
    tells(&error, &server.address(), &told);
}

#[test]
fn a_delete_on_a_substitute_names_both_servers() {
    let (first, second) = (refusing(), start());
    let client = steady([first.clone(), second.address()])
        .failover(Failover::NextServer)
        .maintenance_interval(Duration::ZERO)
        .build()
        .unwrap();
    let key = key_on(&client, &first, "k");
    let text = format!(
        "delete \"{key}\" on SERVER failed after TIME: the server could not be asked and the delete reached {} \
         in its place; it may have been applied; delete again once its own server is back",
        second.address()
    );
    let told = Told { kind: ErrorKind::Substituted, phase: None, advice: IN_DOUBT, text: &text };
    for error in
        [client.delete(&key).unwrap_err(), client.delete_many([&key]).into_result().unwrap_err()]
    {
        tells(&error, &first, &told);
    }
}

#[test]
fn each_key_of_a_call_for_many_has_an_error_that_names_its_server() {
    let (server, other) = (Memcached::start(), start());
    let client = steady([server.address(), other.address()])
        .failover(Failover::Off)
        .timeout(Duration::from_secs(1))
        .build()
        .unwrap();
    let keys: Vec<_> = keys_on(&client, &server.address(), "k").take(2).collect();
    server.pause();
    let found = client.get_many::<String, _>(&keys);
    for key in &keys {
        let text = format!(
            "get \"{key}\" on SERVER failed while reading the reply after TIME: the deadline passed; \
             look at the server's load and network, or raise `timeout`"
        );
        let phase = Some(Phase::Read);
        let told = Told { kind: ErrorKind::Timeout, phase, advice: LATE, text: &text };
        let error = found.outcome(key).unwrap().as_ref().unwrap_err();
        tells(error, &server.address(), &told);
        assert_eq!(error.key(), Some(key.as_bytes()));
    }
}

#[test]
fn a_call_for_many_keys_whose_time_is_over_before_it_began_says_so() {
    let server = start();
    let client = client(&server).with_timeout(Duration::from_nanos(1)).unwrap();
    let error = client.get_many::<String, _>(["k"]).into_result().unwrap_err();
    let text = "get \"k\" on SERVER failed while preparing the request after TIME: the deadline passed; \
                give it less to do in one call, or raise `timeout`";
    let phase = Some(Phase::Prepare);
    let told = Told { kind: ErrorKind::Timeout, phase, advice: LATE, text };
    tells(&error, &server.address(), &told);
}
