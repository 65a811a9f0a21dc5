//! Admin calls: every server answers for itself, whole, and success is what the server said.

use std::time::Duration;

use mcpool::testing::{Fault, Proxy, TestServer, Weather, When};
use mcpool::{Client, ErrorKind, Ttl};

use crate::stand::Stand;
use crate::support::clients::patient;
use crate::support::memcached::Memcached;
use crate::support::watch::{HANG, SLACK, timed};

/// Nothing but the test's calls talks to the servers.
fn client(servers: &[String], timeout: Duration) -> Client {
    let servers = servers.join(",");
    let builder = patient(servers.as_str()).timeout(timeout);
    builder.maintenance_interval(Duration::ZERO).build().unwrap()
}

#[test]
fn f220_f221_a_figure_is_the_whole_rest_of_its_line_or_empty() {
    let server = TestServer::start().unwrap();
    let client = client(&[server.address()], HANG);
    client.set("k", "v", Ttl::NEVER).unwrap();
    for (reply, expected) in [
        (
            &b"STAT version 1.4.14 (Ubuntu)\r\nSTAT logger standard error\r\nEND\r\n"[..],
            &[("version", "1.4.14 (Ubuntu)"), ("logger", "standard error")][..],
        ),
        (b"STAT ep_initfile \r\nSTAT x\r\nEND\r\n", &[("ep_initfile", ""), ("x", "")]),
        (b"STAT a 1\r\nSTAT a 2\r\nSTAT b \xff\r\nEND\r\n", &[("a", "2"), ("b", "\u{fffd}")]),
        (b"END\r\n", &[]),
    ] {
        server.fault(Fault::Reply(reply.into()), When::next(1).verb("stats"));
        let stats = client.stats().into_result().unwrap().remove(0).1;
        let stats: Vec<_> = stats.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(stats, expected);
        assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("v"));
    }
    // One without a name has none; a line without room for a name is no figure.
    server.fault(Fault::Reply(b"STAT \r\nEND\r\n".into()), When::next(1).verb("stats"));
    let stats = client.stats().into_result().unwrap().remove(0).1;
    assert_eq!(stats.into_iter().collect::<Vec<_>>(), [(String::new(), String::new())]);
    server.fault(Fault::Reply(b"STAT\r\nEND\r\n".into()), When::next(2).verb("stats"));
    assert_eq!(client.stats().into_result().unwrap_err().kind(), ErrorKind::Protocol);
    assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("v"));
}

#[test]
fn f222_every_kind_of_statistics_ends_with_figures_or_a_typed_error() {
    let stand = Stand::real();
    let client = stand.client();
    client.set("k", "v", Ttl::NEVER).unwrap();
    let kinds = [
        "items",
        "slabs",
        "settings",
        "sizes",
        "conns",
        "cachedump 1 2",
        "detail on",
        "detail dump",
        "detail off",
        "reset",
        "nonsense",
        "detail",
    ];
    for kind in kinds {
        let outcome = client.stats_of(kind).into_result();
        match kind {
            "items" | "slabs" | "settings" | "conns" => {
                assert!(!outcome.unwrap().remove(0).1.is_empty(), "{kind}");
            }
            "nonsense" | "detail" => assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Refused),
            "cachedump 1 2" => assert!(outcome.unwrap().remove(0).1.contains_key("k")),
            "detail dump" | "sizes" => _ = outcome.unwrap(),
            _ => assert!(outcome.unwrap().remove(0).1.is_empty(), "{kind}"),
        }
        assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("v"), "after {kind}");
    }
}

#[test]
fn f223_long_lists_come_whole_however_they_are_cut() {
    let server = Memcached::start();
    let proxy = Proxy::start(server.address(), 1).unwrap();
    let mut pieces = Weather::calm();
    pieces.split = 1.0;
    proxy.weather(pieces);
    let direct = client(&[server.address()], HANG);
    let keys: Vec<String> = (0..30_000).map(|i| format!("key-{i:05}")).collect();
    let stored = direct.set_many(keys.iter().map(|k| (k, "v")), Ttl::NEVER);
    assert_eq!(stored.failures().count(), 0);
    let listed = direct.dump_keys().into_result().unwrap().remove(0).1;
    let mut names: Vec<_> = listed.into_iter().map(|k| String::from_utf8(k.key).unwrap()).collect();
    names.sort_unstable();
    assert!(names == keys, "{} of {} keys", names.len(), keys.len());
    let cut = client(&[proxy.address()], HANG);
    let figures = |c: &Client| c.stats_of("settings").into_result().unwrap().remove(0).1;
    assert_eq!(figures(&cut), figures(&direct));
    assert_eq!(cut.get::<String>("key-00007").unwrap().as_deref(), Some("v"));
}

#[test]
fn f224_one_bad_server_spoils_no_others_answer_and_takes_no_longer_than_the_call() {
    let (live, odd, paused, dead) = (
        TestServer::start().unwrap(),
        TestServer::start().unwrap(),
        Memcached::start(),
        TestServer::start().unwrap(),
    );
    dead.stop();
    paused.pause();
    odd.fault(Fault::Reply(b"ERROR\r\n".into()), When::always());
    let addresses = [live.address(), odd.address(), paused.address(), dead.address()];
    let timeout = Duration::from_secs(1);
    let client = client(&addresses, timeout);
    let ((stats, versions), took) = timed(|| (client.stats(), client.version()));
    assert!(took < 2 * timeout + SLACK, "{took:?}");
    paused.resume();
    let kind = |e: &mcpool::Error| (e.kind(), e.server().map(str::to_owned));
    let kinds: Vec<_> = stats.iter().map(|(_, r)| r.as_ref().err().map(kind)).collect();
    let at = |i: usize| Some(addresses[i].clone());
    assert_eq!(
        kinds,
        [
            None,
            Some((ErrorKind::Refused, at(1))),
            Some((ErrorKind::Timeout, at(2))),
            Some((ErrorKind::ServerDown, at(3)))
        ]
    );
    let live = stats.server(&addresses[0]).unwrap().as_ref().unwrap();
    assert!(live.contains_key("curr_items"));
    let told: Vec<_> = versions.iter().map(|(_, r)| r.is_ok()).collect();
    assert_eq!(told, [true, false, false, false]);
}

#[test]
fn f226_no_command_line_has_a_blank_too_many() {
    let server = TestServer::start().unwrap();
    let client = client(&[server.address()], HANG);
    client.set("k", &1, Ttl::NEVER).unwrap();
    let token = client.gets::<u32>("k").unwrap().unwrap().cas;
    client.add("k", "", Ttl::IMMEDIATE).unwrap();
    client.replace("k", "1", Duration::from_secs(60)).unwrap();
    client.append("k", "1").unwrap();
    client.prepend("k", "").unwrap();
    _ = client.cas("k", "2", Ttl::NEVER, &token).unwrap();
    client.incr("k", 1).unwrap();
    client.decr("k", 1).unwrap();
    client.touch("k", Ttl::NEVER).unwrap();
    client.get_and_touch::<Vec<u8>>("k", Ttl::NEVER).unwrap();
    client.get_many::<Vec<u8>, _>(["k", "l"]).into_result().unwrap();
    client.delete_many(["k", "l"]).into_result().unwrap();
    client.verbosity(1).into_result().unwrap();
    client.version().into_result().unwrap();
    client.stats().into_result().unwrap();
    client.stats_of("items").into_result().unwrap();
    for spaced in [" items", "items ", "a  b", " "] {
        _ = client.stats_of(spaced).into_result();
    }
    client.dump_keys().into_result().unwrap();
    client.flush_all(Duration::ZERO).into_result().unwrap();
    client.flush_all(Duration::from_millis(1)).into_result().unwrap();
    let commands = server.commands();
    assert!(commands.len() >= 20, "{commands:?}");
    for line in commands {
        assert!(line.split(' ').all(|word| !word.is_empty()), "{line:?}");
    }
}

#[test]
fn f227_a_flush_succeeds_only_where_the_server_said_so() {
    let (refusing, willing, dead) =
        (Memcached::start_with(&["-F"]), Memcached::start(), TestServer::start().unwrap());
    dead.stop();
    let addresses = [refusing.address(), willing.address(), dead.address()];
    let client = client(&addresses, HANG);
    for delay in [Duration::ZERO, Duration::from_secs(60)] {
        let outcome = client.flush_all(delay);
        let of = |i: usize| outcome.server(&addresses[i]).unwrap();
        let refused = of(0).as_ref().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Refused);
        assert!(refused.to_string().contains("flush_all not allowed"), "{refused}");
        assert!(refused.to_string().contains(&addresses[0]), "{refused}");
        assert!(of(1).is_ok());
        assert_eq!(of(2).as_ref().unwrap_err().kind(), ErrorKind::ServerDown);
        assert!(outcome.into_result().is_err());
    }
}

#[test]
fn f228_a_delayed_flush_takes_what_is_stored_before_its_time_and_nothing_after() {
    let server = TestServer::start().unwrap();
    server.clock().freeze();
    let client = client(&[server.address()], HANG);
    client.set("before", "v", Ttl::NEVER).unwrap();
    client.flush_all(Duration::from_millis(1001)).into_result().unwrap();
    assert_eq!(server.commands().last().unwrap(), "flush_all 2");
    client.set("between", "v", Ttl::NEVER).unwrap();
    assert!(client.contains_key("before").unwrap());
    server.clock().advance(Duration::from_secs(3));
    assert!(!client.contains_key("before").unwrap() && !client.contains_key("between").unwrap());
    client.set("after", "v", Ttl::NEVER).unwrap();
    assert!(client.contains_key("after").unwrap());
    client.flush_all(Duration::ZERO).into_result().unwrap();
    assert_eq!(server.commands().last().unwrap(), "flush_all");
    // Over 30 days the server would take the number for a date, long past, and flush at once.
    let month = Duration::from_secs(30 * 24 * 3600);
    for delay in [month, month + Duration::from_secs(1), 2 * month] {
        client.set("kept", "v", Ttl::NEVER).unwrap();
        _ = client.flush_all(delay).into_result();
        assert!(client.contains_key("kept").unwrap(), "{delay:?}");
    }
    let stand = Stand::real();
    let real = stand.client();
    real.set("kept", "v", Ttl::NEVER).unwrap();
    _ = real.flush_all(2 * month).into_result();
    assert!(real.contains_key("kept").unwrap(), "two months have not passed");
}

#[test]
fn f229_no_admin_call_leaves_a_connection_in_another_mode() {
    let stand = Stand::real();
    let client = stand.client();
    client.set("k", "v", Ttl::NEVER).unwrap();
    for level in [0, 1, 99, u32::MAX] {
        client.verbosity(level).into_result().unwrap();
        assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("v"));
    }
    // What is no kind of statistics cannot become another command.
    for kind in ["items\r\nwatch fetchers", "\nquit", "items\r", "\0"] {
        let error = client.stats_of(kind).into_result().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("v"));
    }
    assert_eq!(client.status().servers[0].dials, 1);
}
