//! Login is not built: a server that demands it is a typed error, and credentials in an address are refused unseen.

use std::io::Write;

use mcpool::{Client, ErrorKind, Server, Ttl};

use crate::stand::Stand;
use crate::support::clients::patient;
use crate::support::memcached::Memcached;

#[test]
fn f198_a_server_that_demands_a_login_is_an_error_and_never_a_miss() {
    let file = std::env::temp_dir().join(format!("mcpool-users-{}", std::process::id()));
    std::fs::File::create(&file).unwrap().write_all(b"user1:pass1\n").unwrap();
    let server = Memcached::start_with(&["-Y", file.to_str().unwrap()]);
    std::fs::remove_file(&file).unwrap();
    for alive_check in [false, true] {
        let builder = patient(server.address()).alive_check(alive_check);
        let client = builder.build().unwrap();
        for error in [
            client.get::<String>("k").unwrap_err(),
            client.set("k", "v", Ttl::NEVER).unwrap_err(),
            client.delete("k").unwrap_err(),
            client.incr("k", 1).unwrap_err(),
            client.version().into_result().unwrap_err(),
            client.get_many::<String, _>(["k", "l"]).into_result().unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
            assert!(error.to_string().contains("authenticat"), "{error}");
            assert_eq!(error.server(), Some(server.address().as_str()));
        }
    }
    // A refusal is no outage: it is not turned into a miss.
    let lenient = patient(server.address()).errors_as_misses(true);
    assert!(lenient.build().unwrap().get::<String>("k").is_err());
}

#[test]
fn f202_credentials_in_an_address_are_refused_and_shown_nowhere() {
    for secret in ["s3cret", "with:colon", "p%40ss", "pä55", "s p", &"s".repeat(300)] {
        for address in [
            format!("memcache://user:{secret}@127.0.0.1:11211"),
            format!("user:{secret}@127.0.0.1:11211"),
            format!("memcache://:{secret}@127.0.0.1:11211?weight=2"),
        ] {
            let direct = Server::new(&address).unwrap_err();
            let built = Client::new(address.as_str()).unwrap_err();
            let builder = Client::builder().servers(address.as_str());
            assert_eq!(built.kind(), ErrorKind::Config);
            let shown = [
                direct.to_string(),
                format!("{direct:?}"),
                built.to_string(),
                format!("{built:?}"),
                format!("{builder:?}"),
            ];
            for text in shown {
                assert!(!text.contains(secret), "{text}");
            }
        }
    }
    // A server without login is sent no such thing.
    let stand = Stand::real();
    stand.client().set("k", "v", Ttl::NEVER).unwrap();
    let items = stand.client().stats().into_result().unwrap().remove(0).1;
    assert_eq!(items["cmd_set"], "1");
}
