//! A server of either kind, with clients and a raw socket beside them.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use mcpool::testing::TestServer;
use mcpool::{Client, ClientBuilder};

use crate::support::memcached::Memcached;

pub(crate) struct Stand {
    address: String,
    _server: Kind,
}

enum Kind {
    Embedded(TestServer),
    Real(Memcached),
}

impl Stand {
    pub(crate) fn embedded() -> Self {
        let server = TestServer::start().expect("an embedded server");
        Self { address: server.address(), _server: Kind::Embedded(server) }
    }

    pub(crate) fn real() -> Self {
        let server = Memcached::start();
        Self { address: server.address(), _server: Kind::Real(server) }
    }

    pub(crate) fn real_unix() -> Self {
        let server = Memcached::start_unix();
        Self { address: server.address(), _server: Kind::Real(server) }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// A builder for this server, with a deadline that only a hang would reach.
    pub(crate) fn builder(&self) -> ClientBuilder {
        Client::builder()
            .servers(self.address.as_str())
            .timeout(Duration::from_secs(20))
            .maintenance_interval(Duration::ZERO)
    }

    pub(crate) fn client(&self) -> Client {
        self.builder().build().expect("a client")
    }

    /// What the server answers to these bytes, up to `end`.
    pub(crate) fn raw(&self, command: &str, end: &str) -> String {
        match self.address.strip_prefix("unix:") {
            Some(path) => talk(UnixStream::connect(path).expect("connected"), command, end),
            None => talk(TcpStream::connect(&self.address).expect("connected"), command, end),
        }
    }
}

fn talk(mut socket: impl Read + Write, command: &str, end: &str) -> String {
    socket.write_all(command.as_bytes()).expect("sent");
    let mut reply = Vec::new();
    let mut byte = [0];
    while !reply.ends_with(end.as_bytes()) {
        socket.read_exact(&mut byte).expect("a reply");
        reply.push(byte[0]);
    }
    // Bytes one to one, so that binary values can be compared as text.
    reply.into_iter().map(char::from).collect()
}
