//! Three servers: where keys live, who answers calls about the servers, and what is left when one is gone.

use std::time::Duration;

use mcpool::{Client, Key, Placement, Ttl};

use crate::stand::{Stand, patient};
use crate::support::calls::MANY;

const PLACEMENTS: [Placement; 5] = [
    Placement::Consistent,
    Placement::Native,
    Placement::OldCompat,
    Placement::NewCompat,
    Placement::Ketama,
];

fn client_of(stands: &[&Stand], placement: Placement) -> Client {
    let addresses: Vec<_> = stands.iter().map(|stand| stand.address()).collect();
    patient(Client::builder().servers(&addresses[..])).placement(placement).build().unwrap()
}

/// The addresses of the servers that hold a key, asked without the client.
fn holders<'a>(stands: &[&'a Stand], key: &str) -> Vec<&'a str> {
    let holds = |stand: &Stand| stand.raw(&format!("get {key}\r\n"), "END\r\n") != "END\r\n";
    stands.iter().filter(|stand| holds(stand)).map(|stand| stand.address()).collect()
}

pub(crate) fn server_for_names_the_server_that_really_holds_the_key(stand: &Stand) {
    let (second, third) = (stand.another(), stand.another());
    let stands = [stand, &second, &third];
    for placement in PLACEMENTS {
        let client = client_of(&stands, placement);
        let handle = client.with_prefix("app:").unwrap();
        for n in 0..10 {
            let key = format!("{placement}:{n}");
            client.set(&key, "v", Ttl::NEVER).unwrap();
            assert_eq!(holders(&stands, &key), [client.server_for(&key).unwrap()], "{key}");
            handle.set_many([(&key, "v")], Ttl::NEVER).into_result().unwrap();
            let home = handle.server_for(&key).unwrap();
            assert_eq!(holders(&stands, &format!("app:{key}")), [home], "app:{key}");
        }
    }
}

pub(crate) fn a_routed_key_lives_where_its_route_lives_and_a_hash_chooses_the_server(
    stand: &Stand,
) {
    let (second, third) = (stand.another(), stand.another());
    let stands = [stand, &second, &third];
    for placement in PLACEMENTS {
        let client = client_of(&stands, placement);
        for n in 0..10 {
            let (user, name) = (format!("user:{n}"), format!("{placement}:orders:{n}"));
            let key = Key::routed(name.as_str(), user.as_str());
            client.set(&key, &n, Ttl::NEVER).unwrap();
            let home = client.server_for(&user).unwrap();
            assert_eq!(client.server_for(&key).unwrap(), home, "{name}");
            assert_eq!(holders(&stands, &name), [home], "{name}");
            assert_eq!(client.get::<i32>(&key).unwrap(), Some(n));
            let found = client.get_many::<i32, _>([&key]);
            assert_eq!(found.get(&key), Some(&n), "also among many");
            assert!(client.delete_many([&key]).into_result().unwrap()[0].1);
            assert_eq!(holders(&stands, &name), [""; 0]);
        }
    }
    // Whalin's rule: the hash modulo the servers, without its sign.
    let client = client_of(&stands, Placement::Native);
    for hash in [0, 1, 2, 3, 100, i32::MAX, -1, -2, i32::MIN] {
        let name = format!("hashed:{hash}");
        let key = Key::hashed(name.as_str(), hash);
        client.set(&key, "v", Ttl::NEVER).unwrap();
        let home = stands[usize::try_from(hash.unsigned_abs() % 3).unwrap()].address();
        assert_eq!(holders(&stands, &name), [home], "{hash}");
        assert_eq!(client.server_for(&key).unwrap(), home);
        assert_eq!(client.get::<String>(&key).unwrap().as_deref(), Some("v"));
    }
}

pub(crate) fn many_keys_go_to_their_servers_over_one_connection_each(stand: &Stand) {
    let (second, third) = (stand.another(), stand.another());
    let stands = [stand, &second, &third];
    let client = client_of(&stands, Placement::Consistent);
    let keys: Vec<String> = (0..300).map(|n| format!("key:{n}")).collect();
    client.set_many(keys.iter().map(|key| (key, key)), Ttl::NEVER).into_result().unwrap();
    let found = client.get_many::<String, _>(&keys).into_result().unwrap();
    assert!(found.iter().all(|(key, value)| value.as_ref() == Some(*key)), "{found:?}");
    let counts = client.stats().into_result().unwrap().into_iter().map(|(server, stats)| {
        let homes = keys.iter().filter(|key| client.server_for(key).unwrap() == server);
        let items: usize = stats["curr_items"].parse().unwrap();
        assert_eq!(items, homes.count(), "{server}");
        items
    });
    assert!(counts.collect::<Vec<_>>().iter().all(|items| *items > 30), "each has a fair part");
    for server in &client.status().servers {
        assert_eq!((server.dials, server.connections, server.idle), (1, 1, 1), "{}", server.name);
    }
    assert!(client.delete_many(&keys).into_result().unwrap().iter().all(|(_, gone)| *gone));
}

pub(crate) fn a_server_that_is_gone_fails_only_its_own_result(stand: &Stand) {
    let (second, third) = (stand.another(), stand.another());
    let stands = [stand, &second, &third];
    let client = client_of(&stands, Placement::Consistent);
    let names = stands.map(Stand::address);
    assert_eq!(client.version().iter().map(|(name, _)| name).collect::<Vec<_>>(), names);
    second.stop();
    for call in &MANY[4..] {
        let errors = (call.run)(&client, &[]);
        assert_eq!(errors.len(), 1, "{}: {errors:?}", call.name);
        let error = &errors[0];
        assert!(error.may_retry(), "{}: {error}", call.name);
        assert_eq!(error.server(), Some(second.address()), "{}: {error}", call.name);
    }
    let warmed = client.warm_up();
    let versions = client.version();
    for (at, name) in names.iter().enumerate() {
        assert_eq!(warmed.server(name).unwrap().is_ok(), at != 1, "{name}");
        assert_eq!(versions.server(name).unwrap().is_ok(), at != 1, "{name}");
    }
    assert!(versions.server("nobody").is_none());
    let flushed = client.flush_all(Duration::ZERO);
    assert!(flushed.into_result().unwrap_err().is_server_down());
    assert!(!client.restore("nobody"));
    assert!(client.restore(second.address()));
    client.restore_all();
}
