//! Calls about the server itself.

use std::time::Duration;

use mcpool::{ErrorKind, Ttl};

use crate::stand::Stand;

pub(crate) fn every_server_tells_its_version_and_figures(stand: &Stand) {
    let client = stand.client();
    client.set("k", "v", Ttl::NEVER).unwrap();
    let versions = client.version().into_result().unwrap();
    assert_eq!(versions.len(), 1);
    assert_eq!(versions[0].0, stand.address());
    assert!(versions[0].1.starts_with(|c: char| c.is_ascii_digit()), "{versions:?}");
    let stats = client.stats().into_result().unwrap().remove(0).1;
    assert_eq!((stats["curr_items"].as_str(), stats["cmd_set"].as_str()), ("1", "1"));
    let items = client.stats_of("items").into_result().unwrap().remove(0).1;
    assert!(items.keys().all(|name| name.starts_with("items:")) && !items.is_empty(), "{items:?}");
    client.verbosity(0).into_result().unwrap();
    for bad in ["", "a\r\nflush_all", "ü"] {
        let error = client.stats_of(bad).into_result().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config, "{bad:?}");
    }
    assert!(client.contains_key("k").unwrap());
}

pub(crate) fn flush_all_forgets_everything(stand: &Stand) {
    let client = stand.client();
    client.set("k", "v", Ttl::NEVER).unwrap();
    client.flush_all(Duration::from_secs(3600)).into_result().unwrap();
    assert!(client.contains_key("k").unwrap(), "an hour has not passed");
    client.flush_all(Duration::ZERO).into_result().unwrap();
    assert!(!client.contains_key("k").unwrap());
}

pub(crate) fn keys_can_be_listed(stand: &Stand) {
    let client = stand.client();
    client.set("a", "v", Ttl::NEVER).unwrap();
    client.set("ü%b", "v", Duration::from_secs(3600)).unwrap();
    let mut keys = client.dump_keys().into_result().unwrap().remove(0).1;
    keys.sort_by(|a, b| a.key.cmp(&b.key));
    let names: Vec<_> = keys.iter().map(|k| String::from_utf8_lossy(&k.key).into_owned()).collect();
    assert_eq!(names, ["a", "ü%b"]);
    assert_eq!(keys[0].expires, None);
    assert!(keys[1].expires.is_some() && keys[1].size.is_some());
    assert_eq!(
        client.get::<String>("a").unwrap().as_deref(),
        Some("v"),
        "the connection is in step"
    );
}

pub(crate) fn warm_up_opens_the_initial_connections(stand: &Stand) {
    let client = stand.client_with(|settings| settings.initial_connections(4));
    assert_eq!(client.status().servers[0].connections, 0);
    assert_eq!(client.warm_up().into_result().unwrap(), [(stand.address().to_owned(), 4)]);
    let server = &client.status().servers[0];
    assert_eq!((server.connections, server.idle), (4, 4));
    assert_eq!(client.warm_up().into_result().unwrap()[0].1, 0);
}
