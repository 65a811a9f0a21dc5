//! How an error is compared: its text with address and time masked, its kind, its step and its advice.

use std::time::Duration;

use mcpool::testing::TestServer;
use mcpool::{Client, ClientBuilder, Error, ErrorKind, Phase};

use crate::support::clients::steady;

/// What an error has to be, whole.
pub(crate) struct Told<'a> {
    pub(crate) kind: ErrorKind,
    pub(crate) phase: Option<Phase>,
    pub(crate) advice: Advice,
    /// With the server's address and the time taken masked.
    pub(crate) text: &'a str,
}

/// What the predicates say.
#[derive(Debug, PartialEq, Eq, Default, Clone, Copy)]
pub(crate) struct Advice {
    may_retry: bool,
    may_have_been_applied: bool,
    is_timeout: bool,
    is_server_down: bool,
}

/// The call itself is wrong: it would fail again.
pub(crate) const NEVER: Advice = Advice {
    may_retry: false,
    may_have_been_applied: false,
    is_timeout: false,
    is_server_down: false,
};
pub(crate) const LATER: Advice = Advice { may_retry: true, ..NEVER };
pub(crate) const IN_DOUBT: Advice = Advice { may_have_been_applied: true, ..LATER };
pub(crate) const LATE: Advice = Advice { is_timeout: true, ..LATER };
pub(crate) const LATE_IN_DOUBT: Advice = Advice { may_have_been_applied: true, ..LATE };
pub(crate) const DOWN: Advice = Advice { is_server_down: true, ..LATER };

#[track_caller]
pub(crate) fn tells(error: &Error, server: &str, told: &Told<'_>) {
    let mut text = error.to_string();
    if let Some(elapsed) = error.elapsed() {
        text = text.replacen(&format!("after {elapsed:.1?}"), "after TIME", 1);
    }
    if !server.is_empty() {
        text = text.replace(server, "SERVER");
    }
    assert_eq!(text, told.text);
    assert_eq!(format!("{error:?}"), format!("Error({:?}: {error})", error.kind()));
    assert_eq!((error.kind(), error.phase()), (told.kind, told.phase), "{error}");
    let advice = Advice {
        may_retry: error.may_retry(),
        may_have_been_applied: error.may_have_been_applied(),
        is_timeout: error.is_timeout(),
        is_server_down: error.is_server_down(),
    };
    assert_eq!(advice, told.advice, "{error}");
}

pub(crate) fn start() -> TestServer {
    TestServer::start().unwrap()
}

/// Nothing but the test's calls talks to the server, over one connection.
pub(crate) fn lone(server: &str) -> ClientBuilder {
    steady(server).max_connections(1).maintenance_interval(Duration::ZERO)
}

pub(crate) fn client(server: &TestServer) -> Client {
    lone(&server.address()).build().unwrap()
}
