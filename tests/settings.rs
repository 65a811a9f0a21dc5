//! Settings: defaults, what is wrong with a configuration, what several servers and dead ones get.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::net::SocketAddr;
use std::time::Duration;

use mcpool::testing::TestServer;
use mcpool::{
    BackOff, Client, ClientBuilder, DownAfter, Error, ErrorKind, Key, Placement, Server,
    ServerList, Ttl,
};

#[test]
fn clients_and_errors_go_anywhere_and_errors_are_small() {
    fn anywhere<T: Send + Sync + Clone + std::fmt::Debug + 'static>() {}
    anywhere::<Client>();
    anywhere::<Error>();
    anywhere::<Server>();
    assert!(size_of::<Error>() <= 16);
}

#[test]
fn every_default_is_as_documented() {
    let mut shown = format!("{:?}", Client::builder());
    for setting in [
        "ClientBuilder { config: Config",
        "servers: ServerList([])",
        "pool: PoolConfig",
        "keys: KeyRules",
        "down_after: DownAfter { failures: 3, within: 10s }",
        "back_off: BackOff { first: 200ms, max: 2s }",
        "initial_connections: 0",
        "min_connections: 1",
        "max_connections: 32",
        "max_idle: 300s",
        "max_lifetime: 1800s",
        "max_busy: 30s",
        "maintenance_interval: 30s",
        " timeout: 1s",
        "attempt_timeout: None",
        "connect_timeout: 250ms",
        "alive_check: false",
        "nodelay: true",
        "keepalive: true",
        "failover: NextServer",
        "failback: true",
        "placement: Placement(consistent)",
        "codec: Json",
        "primitives_as_strings: false",
        "compress_above: None",
        "sanitize: false",
        "hash_without_prefix: false",
        "long: Refuse",
        "prefix: []",
        "errors_as_misses: false",
        "observer: false",
        "max_value_bytes: None",
        "max_reply_value: 134217728",
        "max_dials: 2",
        "share: true",
        "share_target: 2",
        "busy_poll: 0ns",
        "fork_check: false",
    ] {
        assert!(shown.contains(setting), "{setting} is not in {shown}");
        shown = shown.replacen(setting, "", 1);
    }
    let left = shown.replace([' ', ',', '{', '}'], "");
    assert_eq!(left, "", "a setting whose default is not pinned here");
    assert_eq!("host".parse::<Server>().unwrap().weight(), 1);
}

#[test]
fn a_wrong_setting_is_named() {
    let zero = Duration::ZERO;
    let one = || Client::builder().servers("127.0.0.1:1");
    let cases: Vec<(ClientBuilder, &str)> = vec![
        (Client::builder(), "`servers`: at least one"),
        (Client::builder().servers(""), "`servers`: at least one"),
        (Client::builder().servers(["a:1", "a:1"]), "`a:1` is there twice"),
        (Client::builder().servers(["a:1?name=x", "b:1?name=x"]), "`x` is there twice"),
        (Client::builder().servers(["127.0.0.1:1", "127.0.0.1:1?name=x"]), "there twice"),
        (Client::builder().servers("a:1?weight=0"), "weight 0"),
        (Client::builder().servers(Server::new("a:1").unwrap().with_weight(0)), "weight 0"),
        (Client::builder().servers("a:1?wait=3"), "unknown parameter `wait`"),
        (Client::builder().servers("redis://a:1"), "unknown scheme `redis`"),
        (one().max_connections(0), "`max_connections`"),
        (one().min_connections(33), "`min_connections`: 33 is above `max_connections`, 32"),
        (one().initial_connections(33), "`initial_connections`"),
        (one().max_connections(65_536), "`max_connections`: 65536 is above 65535"),
        (one().max_connections(u32::MAX), "`max_connections`"),
        (one().max_dials(0), "`max_dials`"),
        (one().share_target(0), "`share_target`"),
        (one().timeout(zero), "`timeout`"),
        (one().timeout(Duration::from_secs(31)), "`max_busy`"),
        (one().connect_timeout(zero), "`connect_timeout`"),
        (one().attempt_timeout(zero), "`attempt_timeout`"),
        (one().max_idle(zero), "`max_idle`"),
        (one().max_lifetime(zero), "`max_lifetime`"),
        (one().max_value_bytes(0), "`max_value_bytes`"),
        (one().key_prefix("a b"), "`key_prefix`"),
        (one().key_prefix("p".repeat(250)), "`key_prefix`"),
        (one().back_off(BackOff::new(zero, zero)), "`back_off`"),
        (one().down_after(DownAfter::new(3, zero)), "`down_after`"),
    ];
    for (builder, named) in cases {
        let error = builder.build().expect_err(named);
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(error.to_string().contains(named), "{error} does not name {named}");
    }
}

#[test]
fn building_connects_to_nothing() {
    let started = std::time::Instant::now();
    let client = Client::builder()
        .servers(["192.0.2.1:1", "no-such-host.invalid"])
        .min_connections(0)
        .build()
        .unwrap();
    assert!(started.elapsed() < Duration::from_secs(5));
    assert!(client.status().servers.iter().all(|s| s.connections == 0));
}

#[test]
fn server_lists_take_every_form() {
    let addr: SocketAddr = "127.0.0.1:3".parse().unwrap();
    for (list, names) in [
        (ServerList::from("a:1, b:2 c:3"), vec!["a:1", "b:2", "c:3"]),
        (ServerList::from(vec!["a:1".to_owned()]), vec!["a:1"]),
        (ServerList::from(addr), vec!["127.0.0.1:3"]),
        (ServerList::from([Server::new("a").unwrap().with_name("n")]), vec!["n"]),
    ] {
        let client = Client::builder().servers(list).build().unwrap();
        let status = client.status();
        assert_eq!(status.servers.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), names);
    }
}

#[test]
fn a_name_that_does_not_resolve_is_a_fast_typed_error() {
    let client = Client::builder()
        .servers("no-such-host.invalid")
        .timeout(Duration::from_secs(10))
        .build()
        .unwrap();
    let error = client.get::<String>("k").unwrap_err();
    assert!(error.is_server_down(), "{error}");
    assert_eq!(error.server(), Some("no-such-host.invalid:11211"));
}

#[test]
fn a_routed_key_lives_where_its_route_lives_and_a_hash_takes_the_place_of_the_keys() {
    let addresses: Vec<String> = (1..=8).map(|n| format!("10.0.0.{n}:11211")).collect();
    let client =
        Client::builder().servers(&addresses[..]).placement(Placement::Native).build().unwrap();
    for n in 0..50 {
        let routed = Key::routed(format!("user:{n}:orders"), format!("user:{n}"));
        assert_eq!(
            client.server_for(&routed).unwrap(),
            client.server_for(format!("user:{n}")).unwrap()
        );
        // Whalin's rule: the remainder by the number of buckets.
        let hashed = Key::hashed("any", n);
        assert_eq!(client.server_for(&hashed).unwrap(), addresses[usize::try_from(n).unwrap() % 8]);
    }
}

#[test]
fn an_unreadable_value_is_quoted_in_part_only() {
    let server = TestServer::start().unwrap();
    let client = Client::new(server.address()).unwrap();
    let secret = "s3cr3t".repeat(10_000);
    client.set("k", &vec![Some(&secret)], Ttl::NEVER).unwrap();
    let error = client.get::<Vec<u32>>("k").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode);
    let source = std::error::Error::source(&error).unwrap();
    for text in [error.to_string(), format!("{error:?}"), source.to_string(), format!("{source:?}")]
    {
        assert!(text.len() < 700, "{} bytes: {}", text.len(), &text[..700]);
    }
}
