//! What the caller did: settings, keys, times, values, a closed client; and what no text may show.

use std::time::Duration;

use mcpool::testing::{Fault, When};
use mcpool::{Client, Codec, ErrorKind, Key, Phase, Server, Ttl};

use crate::support::clients::status;
use crate::told::{NEVER, Told, client, lone, start, tells};

#[test]
fn a_wrong_setting_is_named() {
    let server = start();
    for (error, text) in [
        (
            Client::builder().servers("a").timeout(Duration::ZERO).build().unwrap_err(),
            "setting `timeout`: has to be above zero",
        ),
        (Client::builder().build().unwrap_err(), "setting `servers`: at least one is needed"),
        (
            Client::new("[::1").unwrap_err(),
            "setting `servers`: server address `[::1`: the bracket of an IPv6 address is not closed",
        ),
        (
            client(&server).stats_of("a\r\n").into_result().unwrap_err(),
            "stats on SERVER failed after TIME: the kind of statistics has to be printable words",
        ),
    ] {
        let told = Told { kind: ErrorKind::Config, phase: None, advice: NEVER, text };
        tells(&error, &server.address(), &told);
    }
}

#[test]
fn a_bad_key_is_shown_with_what_is_wrong_with_it() {
    let server = start();
    let client = client(&server);
    let long = "k".repeat(251);
    let shown = format!(
        "get \"{}…\" failed while preparing the request after TIME: the key has 251 bytes, \
         250 are allowed; shorten or hash it",
        "k".repeat(80)
    );
    for (key, text) in [
        (
            "",
            "get \"\" failed while preparing the request after TIME: the key is empty; it needs a byte at least",
        ),
        (
            "a\r\nb",
            "get \"a\\r\\nb\" failed while preparing the request after TIME: the key has the byte 0x0d at position 1; \
             spaces and control characters are not allowed: encode them, by `sanitize_keys` say",
        ),
        (long.as_str(), shown.as_str()),
    ] {
        let phase = Some(Phase::Prepare);
        let told = Told { kind: ErrorKind::InvalidKey, phase, advice: NEVER, text };
        for error in [
            client.get::<String>(key).unwrap_err(),
            client.get_many::<String, _>([key]).into_result().unwrap_err(),
        ] {
            tells(&error, "", &told);
            assert_eq!(error.key(), Some(key.as_bytes()));
            assert_eq!(error.server(), None);
        }
    }
    assert_eq!(server.events(), []);
}

#[test]
fn a_key_of_any_bytes_is_shown_as_text_and_cut() {
    let server = start();
    let client = client(&server);
    server.fault(Fault::Reply("ERROR\r\n".into()), When::always());
    let odd = [b"\xff\xfeq\"".as_slice(), &[0xc3, 0xbc].repeat(60)].concat();
    let error = client.delete(&odd[..]).unwrap_err();
    let shown = format!("\u{fffd}\u{fffd}q\\\"{}", "ü".repeat(38));
    let text = format!(
        "delete \"{shown}…\" on SERVER failed after TIME: the server answered `ERROR`; \
         look at the server's settings, memory and version"
    );
    let told = Told { kind: ErrorKind::Refused, phase: None, advice: NEVER, text: &text };
    tells(&error, &server.address(), &told);
    assert_eq!(error.key(), Some(&odd[..]), "the bytes themselves are whole");
    // Where a key lives is no part of its name.
    let error = client.delete(Key::routed("k", "elsewhere")).unwrap_err();
    assert!(error.to_string().starts_with("delete \"k\" on "), "{error}");
}

#[test]
fn an_expiry_beyond_memcacheds_is_told_with_the_largest() {
    let server = start();
    let client = client(&server);
    let told = |text| Told {
        kind: ErrorKind::InvalidTtl,
        phase: Some(Phase::Prepare),
        advice: NEVER,
        text,
    };
    let error = client.set("k", "v", Duration::MAX).unwrap_err();
    let text = "set \"k\" failed while preparing the request after TIME: the expiry time 18446744073709551615 is \
                beyond 2147483647 seconds, the largest that memcached keeps; use Ttl::NEVER or a nearer time";
    tells(&error, "", &told(text));
    let error = client.flush_all(Duration::MAX).into_result().unwrap_err();
    let text = "flush_all on SERVER failed while preparing the request after TIME: the expiry time \
                18446744073709551615 is beyond 2147483647 seconds, the largest that memcached keeps; \
                use Ttl::NEVER or a nearer time";
    tells(&error, &server.address(), &told(text));
}

#[test]
fn a_value_too_large_is_told_with_its_size_and_whose_limit_it_is() {
    let server = start();
    let limited = lone(&server.address()).max_value_bytes(10).build().unwrap();
    let told = |phase, text| Told { kind: ErrorKind::ValueTooLarge, phase, advice: NEVER, text };
    let error = limited.set("k", "eleven long", Ttl::NEVER).unwrap_err();
    let text = "set \"k\" failed while preparing the request after TIME: the value has 11 bytes, `max_value_bytes` \
                allows 10; nothing was sent; store less, or raise the limit: `max_value_bytes` here, `-I` at the server";
    tells(&error, "", &told(Some(Phase::Prepare), text));
    server.put("k", "eleven long", 0);
    let error = limited.get::<String>("k").unwrap_err();
    let text = "get \"k\" on SERVER failed while reading the reply after TIME: the server announced a value of \
                11 bytes, at most 10 are read; store less, or raise the limit: `max_value_bytes` here, `-I` at the server";
    tells(&error, &server.address(), &told(Some(Phase::Read), text));
    let error = client(&server).set("k", &vec![7_u8; 2 << 20], Ttl::NEVER).unwrap_err();
    let text = "set \"k\" on SERVER failed after TIME: the value has 2097152 bytes, and the server answered \
                `SERVER_ERROR object too large for cache`; store less, or raise the limit: `max_value_bytes` here, \
                `-I` at the server";
    tells(&error, &server.address(), &told(None, text));
}

#[test]
fn a_value_that_cannot_be_stored_or_read_is_told_with_its_types() {
    let server = start();
    let client = client(&server);
    let error = client.set("k", &f64::NAN, Ttl::NEVER).unwrap_err();
    let text = "set \"k\" failed while preparing the request after TIME: a value of type `f64` cannot be stored with \
                the Json codec: JSON has no NaN and no infinity; primitives_as_strings stores them as text";
    let phase = Some(Phase::Prepare);
    tells(&error, "", &Told { kind: ErrorKind::Encode, phase, advice: NEVER, text });
    let told =
        |text| Told { kind: ErrorKind::Decode, phase: Some(Phase::Decode), advice: NEVER, text };
    server.put("k", "abc", 0);
    let error = client.get::<u32>("k").unwrap_err();
    let text = "get \"k\" on SERVER failed while decoding the value after TIME: 3 bytes with flags 0 (Json codec: \
                text or bytes) cannot be read as `u32`: `abc` is not a whole number that u32 holds; read it as the \
                type it was stored as, or use get_raw for the bytes";
    tells(&error, &server.address(), &told(text));
    assert_eq!(error.raw_value(), Some((&b"abc"[..], 0)));
    server.put("k", "abc", 7);
    let error = client.get::<u32>("k").unwrap_err();
    let text = "get \"k\" on SERVER failed while decoding the value after TIME: 3 bytes with flags 7 (not known to \
                the Json codec) cannot be read as `u32`: another client or codec stored it; use that codec, or \
                get_raw for the bytes";
    tells(&error, &server.address(), &told(text));
    let whalin = client.with_codec(Codec::Whalin);
    whalin.set("n", &5, Ttl::NEVER).unwrap();
    let error = whalin.counter("n").unwrap_err();
    let text = "get \"n\" on SERVER failed while decoding the value after TIME: 4 bytes with flags 4 (Whalin codec: \
                Integer) cannot be read as `counter`: a number in binary form, in which the server cannot count; \
                store counters with set_counter or with primitives_as_strings, or read this one with get";
    tells(&error, &server.address(), &told(text));
}

#[test]
fn a_closed_client_says_so_in_every_call() {
    let server = start();
    let client = client(&server);
    client.close();
    for (error, call) in [
        (client.get::<String>("k").unwrap_err(), "get \"k\""),
        (client.delete_many(["k"]).into_result().unwrap_err(), "delete \"k\""),
        (client.version().into_result().unwrap_err(), "version on SERVER"),
        (client.warm_up().into_result().unwrap_err(), "warm_up on SERVER"),
    ] {
        let text = format!("{call} failed after TIME: the client was closed; build another one");
        let told = Told { kind: ErrorKind::Closed, phase: None, advice: NEVER, text: &text };
        tells(&error, &server.address(), &told);
    }
}

#[test]
fn nothing_that_is_shown_holds_credentials_or_values() {
    const SECRET: &str = "hunter2";
    let server = start();
    let client = lone(&server.address()).key_prefix("app:").build().unwrap();
    client.set("k", SECRET, Ttl::NEVER).unwrap();
    let item = client.gets::<String>("k").unwrap().unwrap();
    let address = format!("memcache://user:{SECRET}@127.0.0.1:11211");
    server.fault(Fault::CloseAfter(0), When::next(1));
    let lost = client.append("k", SECRET).unwrap_err();
    server.fault(Fault::Reply("SERVER_ERROR no\r\n".into()), When::next(1));
    let refused = client.set("k", SECRET, Ttl::NEVER).unwrap_err();
    let foreign = lone("127.0.0.1:1").build().unwrap();
    let shown = [
        format!("{client:?}"),
        format!("{:?}", client.status()),
        format!("{:?}", status(&client, &server.address())),
        format!("{:?}", item.cas),
        format!("{server:?}"),
        format!("{:?} {0}", Server::new(&address).unwrap_err()),
        format!("{:?}", Client::builder().servers(address.as_str())),
        format!("{:?} {0}", Client::new(address.as_str()).unwrap_err()),
        format!("{lost:?} {lost}"),
        format!("{refused:?} {refused}"),
        format!("{:?} {0}", foreign.cas("k", SECRET, Ttl::NEVER, &item.cas).unwrap_err()),
    ];
    for text in shown {
        assert!(!text.contains(SECRET), "{text}");
    }
}
