//! Faults of server addresses: IPv6, names with several addresses, unix sockets, equal ones.

use mcpool::testing::TestServer;
use mcpool::{Client, ErrorKind, Server, ServerList, Ttl};

use crate::support::clients::passive;
use crate::support::memcached::Memcached;

fn client(servers: impl Into<ServerList>) -> Client {
    passive(servers).build().expect("a client")
}

/// Every call of the API on one server.
fn use_all_of_it(client: &Client) {
    client.set("n", &1, Ttl::NEVER).expect("stored");
    assert_eq!(client.incr("n", 1).expect("answered"), Some(2));
    assert_eq!(client.get_many::<u64, _>(["n", "m"]).get("n"), Some(&2));
    assert!(client.touch("n", Ttl::NEVER).expect("answered"));
    assert_eq!(client.version().into_iter().filter(|(_, v)| v.is_ok()).count(), 1);
    assert!(client.delete("n").expect("answered"));
}

#[test]
fn f179_ipv6_addresses_are_read_and_connected_to() {
    let server = TestServer::builder().bind("[::1]:0".parse().expect("an address")).start();
    let port = server.as_ref().expect("a server").addr().expect("TCP").port();
    // The zone of a link-local address is one of the host's interfaces, by name or by number.
    for text in
        [format!("[::1]:{port}"), format!("[0:0:0:0:0:0:0:1]:{port}"), format!("[::1%1]:{port}")]
    {
        use_all_of_it(&client(text));
    }
    for (text, address) in [
        ("[::1]", "[::1]:11211"),
        ("::1", "[::1]:11211"),
        ("0:0:0:0:0:0:0:1", "[::1]:11211"),
        ("[2001:db8::2]:11212", "[2001:db8::2]:11212"),
        ("[2001:db8::2]:11212?weight=3", "[2001:db8::2]:11212"),
        ("[fe80::1%lo]:11212", "[fe80::1%lo]:11212"),
        ("fe80::1%eth0", "[fe80::1%eth0]:11211"),
    ] {
        let server = text.parse::<Server>().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(server.address(), address, "{text}");
    }
}

#[test]
fn f179_what_is_no_ipv6_address_is_shown_in_the_error() {
    for text in [
        "[::1",
        "::1]:12341",
        "[::1]x",
        "[::1]:",
        "[::1]:0",
        "[::1]:70000",
        "[]",
        "[]:1",
        "[10.0.0.1",
        "1::2::3",
        "[fe80::1%]:1",
        "[%lo]:1",
        "[fe80::1%l o]:1",
        "10.0.0.1%lo",
    ] {
        let error = text.parse::<Server>().expect_err(text).to_string();
        assert!(error.contains(&format!("`{text}`")), "{error}");
    }
}

#[test]
fn f180_a_name_with_several_addresses_reaches_the_one_that_listens() {
    // `localhost` is often both ::1 and 127.0.0.1; only one of them listens.
    let server = TestServer::start().expect("a server");
    let port = server.addr().expect("TCP").port();
    use_all_of_it(&client(format!("localhost:{port}")));
}

#[test]
fn f181_the_documented_forms_of_a_unix_socket_work_for_every_call() {
    let server = Memcached::start_unix();
    let path = server.path().to_str().expect("text");
    for text in
        [format!("unix:{path}"), format!("unix://{path}"), format!("unix:{path}?name=local")]
    {
        use_all_of_it(&client(text));
    }
}

#[test]
fn f181_a_socket_path_may_hold_colons_and_blanks() {
    let path = std::env::temp_dir().join(format!("mcpool a:b {}.sock", std::process::id()));
    let server = TestServer::builder().unix(&path).start().expect("a server");
    // In a list of addresses a blank separates: one with blanks is parsed by itself.
    use_all_of_it(&client(Server::new(&server.address()).expect("an address")));
}

#[test]
fn f181_a_socket_path_that_cannot_be_is_a_clear_error() {
    let long = format!("unix:/{}", "x".repeat(200));
    for (text, word) in [
        ("/run/mc.sock", "`unix:`"),
        ("unix:run/mc.sock", "absolute"),
        ("unix:", "absolute"),
        ("unix:/", "absolute"),
        (long.as_str(), "too long"),
    ] {
        let error = Client::new(text).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::Config, "{error}");
        assert!(error.to_string().contains(word), "{text}: {error}");
    }
    // The longest path that the system takes is taken.
    let limit = if cfg!(target_os = "linux") { 107 } else { 103 };
    let longest = format!("unix:/{}", "x".repeat(limit - 1));
    let error = client(longest.as_str()).get::<String>("k").expect_err("no such file");
    assert!(error.is_server_down() && error.to_string().contains("No such file"), "{error}");
    Client::new(format!("{longest}x")).expect_err("a byte more");
}

#[test]
fn f182_unix_sockets_take_weights_beside_tcp_servers() {
    let unix = [(); 2].map(|()| TestServer::start_unix().expect("a server"));
    let tcp = TestServer::start().expect("a server");
    let texts = [
        unix[0].address(),
        format!("{}?weight=3", unix[1].address()),
        format!("{}?weight=1", tcp.address()),
    ];
    let parsed = texts.clone().map(|text| text.parse::<Server>().expect("an address"));
    let by_setter = [
        Server::new(&unix[0].address()).expect("an address"),
        Server::new(&unix[1].address()).expect("an address").with_weight(3),
        Server::new(&tcp.address()).expect("an address"),
    ];
    for client in [client(texts.join(",")), client(parsed), client(by_setter)] {
        let mut shares = [0_u32; 3];
        for n in 0..10_000 {
            let home = client.server_for(format!("key{n}")).expect("a good key");
            let names = [unix[0].address(), unix[1].address(), tcp.address()];
            shares[names.iter().position(|name| *name == home).expect("one of them")] += 1;
        }
        // A fifth, three fifths, a fifth.
        for (share, even) in shares.into_iter().zip([2000.0, 6000.0, 2000.0]) {
            let off = (f64::from(share) - even).abs() / even;
            assert!(off < 0.35, "{shares:?}");
        }
    }
    client(texts.join(","))
        .set_many((0..100).map(|n| (format!("k{n}"), n)), Ttl::NEVER)
        .into_result()
        .unwrap();
    for server in [&unix[0], &unix[1], &tcp] {
        assert!(!server.commands().is_empty(), "{} is used", server.address());
    }
}

#[test]
fn f186_two_names_of_one_address_are_two_servers_and_one_name_twice_is_refused() {
    let server = TestServer::start().expect("a server");
    let port = server.addr().expect("TCP").port();
    let texts = [format!("localhost:{port}"), format!("127.0.0.1:{port}")];
    let client = client(texts.join(","));
    let names: Vec<String> = client.status().servers.into_iter().map(|s| s.name).collect();
    assert_eq!(names, texts);
    let stats = client.stats().into_result().expect("both answer");
    assert_eq!(stats.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), texts);
    let homes = (0..100).map(|n| client.server_for(format!("k{n}")).expect("a good key"));
    assert!((20..=80).contains(&homes.filter(|home| *home == texts[0]).count()), "both have keys");
    let twice = Client::new([texts[0].as_str(), texts[0].as_str()]).expect_err("twice");
    assert_eq!(twice.kind(), ErrorKind::Config);
    assert!(twice.to_string().contains(&texts[0]), "{twice}");
}
