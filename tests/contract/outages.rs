//! A server that is gone: an error that says so, or a miss where that is asked for, and told to the observer once.

use std::sync::{Arc, Mutex};

use mcpool::{CasOutcome, ErrorKind, Ttl};

use crate::stand::Stand;
use crate::support::calls::{MANY, SINGLE};

pub(crate) fn an_outage_is_every_verbs_miss_where_that_is_asked_for(stand: &Stand) {
    let client = stand.builder().errors_as_misses(true).build().unwrap();
    client.set("k", "v", Ttl::NEVER).unwrap();
    let token = client.gets::<String>("k").unwrap().unwrap().cas;
    stand.stop();
    assert_eq!(client.get::<String>("k").unwrap(), None);
    assert!(client.gets::<String>("k").unwrap().is_none());
    assert_eq!(client.get_raw("k").unwrap(), None);
    let mut buffer = b"old".to_vec();
    assert_eq!(client.get_raw_into("k", &mut buffer).unwrap(), None);
    assert!(buffer.is_empty());
    assert_eq!(client.get_and_touch::<String>("k", Ttl::NEVER).unwrap(), None);
    assert!(!client.contains_key("k").unwrap());
    client.set("k", "v", Ttl::NEVER).unwrap();
    client.set_raw("k", "v", 0, Ttl::NEVER).unwrap();
    client.set_counter("n", 1, Ttl::NEVER).unwrap();
    assert!(!client.add("k", "v", Ttl::NEVER).unwrap());
    assert!(!client.replace("k", "v", Ttl::NEVER).unwrap());
    assert!(!client.append("k", "v").unwrap());
    assert!(!client.prepend("k", "v").unwrap());
    assert!(!client.delete("k").unwrap());
    assert!(!client.touch("k", Ttl::NEVER).unwrap());
    assert_eq!(client.cas("k", "v", Ttl::NEVER, &token).unwrap(), CasOutcome::Missing);
    assert_eq!(client.incr("n", 1).unwrap(), None);
    assert_eq!(client.decr("n", 1).unwrap(), None);
    assert_eq!(client.incr_or_init("n", 1, 1, Ttl::NEVER).unwrap(), None);
    assert_eq!(client.decr_or_init("n", 1, 1, Ttl::NEVER).unwrap(), None);
    assert_eq!(client.counter("n").unwrap(), None);
    assert_eq!(client.status().absorbed_errors, 21, "each of them is counted");
    assert_eq!(
        client.get_many::<String, _>(["a", "b"]).into_result().unwrap(),
        [("a", None), ("b", None)]
    );
    assert!(client.gets_many::<String, _>(["a"]).into_result().unwrap()[0].1.is_none());
    client.set_many([("a", 1)], Ttl::NEVER).into_result().unwrap();
    assert_eq!(client.delete_many(["a"]).into_result().unwrap(), [("a", false)]);
    assert_eq!(client.status().absorbed_errors, 26, "those of many keys key by key");
}

pub(crate) fn errors_as_misses_hides_no_mistake_of_the_caller(stand: &Stand) {
    let client = stand.builder().errors_as_misses(true).max_value_bytes(9).build().unwrap();
    client.set("k", "text", Ttl::NEVER).unwrap();
    let kinds = [
        (client.get::<String>("bad key").unwrap_err(), ErrorKind::InvalidKey),
        (client.set("k", &f64::NAN, Ttl::NEVER).unwrap_err(), ErrorKind::Encode),
        (client.set("k", "much too long", Ttl::NEVER).unwrap_err(), ErrorKind::ValueTooLarge),
        (client.get::<u32>("k").unwrap_err(), ErrorKind::Decode),
        (client.incr("k", 1).unwrap_err(), ErrorKind::NotANumber),
        (client.touch("k", std::time::Duration::MAX).unwrap_err(), ErrorKind::InvalidTtl),
    ];
    for (error, kind) in kinds {
        assert_eq!(error.kind(), kind, "{error}");
    }
    let found = client.get_many::<String, _>(["k", "bad key"]);
    assert_eq!(found.failures().count(), 1);
    assert_eq!(client.status().absorbed_errors, 0);
    client.close();
    assert_eq!(client.get::<String>("k").unwrap_err().kind(), ErrorKind::Closed);
}

pub(crate) fn the_observer_hears_of_each_failed_call_exactly_once(stand: &Stand) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = heard.clone();
    let settings =
        stand.builder().observer(move |error| ear.lock().unwrap().push(error.to_string()));
    let client = settings.build().unwrap();
    client.set("k", "text", Ttl::NEVER).unwrap();
    let token = client.gets::<String>("k").unwrap().unwrap().cas;
    let once = |name: &str, shown: String| {
        assert_eq!(*heard.lock().unwrap(), [shown], "{name}");
        heard.lock().unwrap().clear();
    };
    let every_call = |key: &str| {
        for call in SINGLE {
            once(call.name, (call.run)(&client, key, &token).unwrap_err().to_string());
        }
        for call in &MANY[..4] {
            let errors = (call.run)(&client, &[key.to_owned(), key.to_owned()]);
            assert_eq!(errors.len(), 2, "{}", call.name);
            once(call.name, errors[0].to_string());
        }
    };
    every_call("bad key");
    once("stats_of", client.stats_of("").into_result().unwrap_err().to_string());
    let beyond = client.flush_all(std::time::Duration::MAX);
    once("flush_all", beyond.into_result().unwrap_err().to_string());
    assert_eq!(client.get::<String>("none").unwrap(), None);
    assert!(heard.lock().unwrap().is_empty(), "a miss is no failure");
    stand.stop();
    every_call("k");
    for call in &MANY[4..] {
        once(call.name, (call.run)(&client, &[])[0].to_string());
    }
    once("warm_up", client.warm_up().into_result().unwrap_err().to_string());
    client.close();
    every_call("k");
    for call in &MANY[4..] {
        once(call.name, (call.run)(&client, &[])[0].to_string());
    }
    once("warm_up", client.warm_up().into_result().unwrap_err().to_string());
}

pub(crate) fn every_call_to_a_server_that_is_gone_says_so(stand: &Stand) {
    let client = stand.builder().build().unwrap();
    client.set("k", "text", Ttl::NEVER).unwrap();
    let token = client.gets::<String>("k").unwrap().unwrap().cas;
    stand.stop();
    // The first may find the connection closed under it; from then on none can be made.
    client.get::<String>("k").unwrap_err();
    for call in SINGLE {
        let error = (call.run)(&client, "k", &token).expect_err(call.name);
        assert!(error.is_server_down() && error.may_retry(), "{}: {error}", call.name);
        assert!(!error.may_have_been_applied(), "{}: {error}", call.name);
        assert_eq!(error.server(), Some(stand.address()), "{}: {error}", call.name);
        assert_eq!(error.key(), Some(&b"k"[..]), "{}: {error}", call.name);
        assert!(error.elapsed().is_some(), "{}: {error}", call.name);
    }
    let server = &client.status().servers[0];
    assert_eq!((server.connections, server.idle, server.waiting), (0, 0, 0), "no slot is lost");
}
