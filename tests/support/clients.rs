//! Clients with the settings that most tests want, and what a test asks them about a server.

use std::time::Duration;

use mcpool::{BackOff, Client, ClientBuilder, DownAfter, NodeState, ServerList, ServerStatus};

use super::watch::HANG;

/// Connecting takes longer only where nobody accepts; thirty threads of a busy machine may need more than the default.
pub(crate) const CONNECT: Duration = Duration::from_secs(5);

/// Settings under which only what hangs comes to its deadline.
pub(crate) fn patient(servers: impl Into<ServerList>) -> ClientBuilder {
    Client::builder().servers(servers).timeout(HANG).connect_timeout(CONNECT)
}

/// The same, and no connection is opened but for a call.
pub(crate) fn passive(servers: impl Into<ServerList>) -> ClientBuilder {
    patient(servers).min_connections(0)
}

/// Patient settings under which a server is never taken out, so that each call meets the fault itself.
pub(crate) fn steady(servers: impl Into<ServerList>) -> ClientBuilder {
    patient(servers).down_after(never())
}

/// Patient settings under which the first failure takes a server out, for a short while.
pub(crate) fn hasty(servers: impl Into<ServerList>) -> ClientBuilder {
    patient(servers)
        .down_after(DownAfter::new(1, Duration::from_secs(10)))
        .back_off(BackOff::new(Duration::from_millis(50), Duration::from_millis(200)))
}

/// So many failures in so short a time do not happen: a server is never taken out.
pub(crate) fn never() -> DownAfter {
    DownAfter::new(1000, Duration::from_nanos(1))
}

/// Keys that live on the server of this name, all beginning with `word`.
pub(crate) fn keys_on(client: &Client, server: &str, word: &str) -> impl Iterator<Item = String> {
    (0..)
        .map(move |i| format!("{word}{i}"))
        .filter(move |key| client.server_for(key).expect("a legal key") == server)
}

/// One such key.
pub(crate) fn key_on(client: &Client, server: &str, word: &str) -> String {
    keys_on(client, server, word).next().expect("keys do not end")
}

/// A snapshot of one server.
pub(crate) fn status(client: &Client, server: &str) -> ServerStatus {
    let servers = client.status().servers;
    servers.into_iter().find(|s| s.name == server).expect("a server of this client")
}

pub(crate) fn state(client: &Client, server: &str) -> NodeState {
    status(client, server).state
}
