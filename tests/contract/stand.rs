//! A server of one kind, with clients and a raw socket beside it; in the end no client may have lost a connection.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::{Ipv6Addr, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use mcpool::testing::{TestServer, TestServerBuilder};
use mcpool::{Client, ClientBuilder};

use crate::support::clients::CONNECT;
use crate::support::memcached::{Memcached, temporary};
use crate::support::watch::HANG;

pub(crate) struct Stand {
    start: Start,
    address: String,
    server: RefCell<Box<dyn Server>>,
    clients: RefCell<Vec<Client>>,
}

/// Starts a server whose largest item has so many MiB.
type Start = fn(usize) -> Box<dyn Server>;

trait Server {
    fn address(&self) -> String;
    fn stop(&mut self);
}

impl Stand {
    pub(crate) fn embedded() -> Self {
        Self::start(|mib| embedded(mib, |server| server))
    }

    pub(crate) fn embedded_v6() -> Self {
        Self::start(|mib| embedded(mib, |server| server.bind((Ipv6Addr::LOCALHOST, 0).into())))
    }

    pub(crate) fn embedded_unix() -> Self {
        Self::start(|mib| embedded(mib, |server| server.unix(temporary("sock"))))
    }

    pub(crate) fn real() -> Self {
        Self::start(|mib| Box::new(Memcached::start_with(&["-I", &format!("{mib}m")])))
    }

    pub(crate) fn real_v6() -> Self {
        Self::start(|mib| {
            let args = ["-I", &format!("{mib}m")];
            Box::new(Memcached::start_on(Ipv6Addr::LOCALHOST.into(), &args))
        })
    }

    pub(crate) fn real_unix() -> Self {
        Self::start(|mib| Box::new(Memcached::start_unix_with(&["-I", &format!("{mib}m")])))
    }

    fn start(start: Start) -> Self {
        Self::with(start, 1)
    }

    fn with(start: Start, mib: usize) -> Self {
        let server = start(mib);
        let address = server.address();
        Self { start, address, server: server.into(), clients: RefCell::default() }
    }

    /// Another server of the same kind.
    pub(crate) fn another(&self) -> Self {
        Self::start(self.start)
    }

    /// Another server of the same kind, whose largest item has so many MiB.
    pub(crate) fn another_with_items_up_to(&self, mib: usize) -> Self {
        Self::with(self.start, mib)
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Ends the server: its connections close, and new ones are refused.
    pub(crate) fn stop(&self) {
        self.server.borrow_mut().stop();
    }

    /// A builder for this server, with a deadline that only a hang would reach.
    pub(crate) fn builder(&self) -> ClientBuilder {
        patient(Client::builder().servers(self.address.as_str()))
    }

    pub(crate) fn client(&self) -> Client {
        self.client_with(|settings| settings)
    }

    pub(crate) fn client_with(&self, set: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Client {
        let client = set(self.builder()).build().expect("a client");
        self.clients.borrow_mut().push(client.clone());
        client
    }

    /// Checks that every exchange was complete, and that every connection that a client opened is there and free.
    pub(crate) fn nothing_is_lost(&self) {
        for client in self.clients.borrow().iter() {
            let server = &client.status().servers[0];
            assert_eq!((server.failures, server.failed_dials, server.waiting), (0, 0, 0));
            let open = usize::try_from(server.dials).expect("few");
            assert_eq!((server.connections, server.idle), (open, open), "of those opened");
        }
    }

    /// What the server answers to these bytes, up to `end`.
    pub(crate) fn raw(&self, command: &str, end: &str) -> String {
        match self.address.strip_prefix("unix:") {
            Some(path) => talk(UnixStream::connect(path).expect("connected"), command, end),
            None => talk(TcpStream::connect(&self.address).expect("connected"), command, end),
        }
    }
}

/// Settings with which only a hang reaches the deadline, and no connection is opened but for a call.
pub(crate) fn patient(settings: ClientBuilder) -> ClientBuilder {
    settings.timeout(HANG).connect_timeout(CONNECT).maintenance_interval(Duration::ZERO)
}

fn embedded(
    mib: usize,
    place: impl FnOnce(TestServerBuilder) -> TestServerBuilder,
) -> Box<dyn Server> {
    let settings = TestServer::builder().max_item_size(mib << 20);
    Box::new(place(settings).start().expect("an embedded server"))
}

impl Server for TestServer {
    fn address(&self) -> String {
        Self::address(self)
    }

    fn stop(&mut self) {
        Self::stop(self);
    }
}

impl Server for Memcached {
    fn address(&self) -> String {
        Self::address(self)
    }

    fn stop(&mut self) {
        self.kill();
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
