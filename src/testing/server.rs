//! A test server's life: started, refusing, stopped, started again, dropped.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{fmt, thread};

use super::clock::Clock;
use super::connections::Connections;
use super::door::Door;
use super::endpoint::{Endpoint, Listener, Stream};
use super::events::{Event, Events};
use super::fault::{Fault, Script, When};
use super::lock;
use super::session::{Session, Shared};
use super::store::Store;

/// memcached's own default, 1 MiB.
const MAX_ITEM_SIZE: usize = 1024 * 1024;

/// A memcached of your own, in the test's process; see the [module](super) for an example.
///
/// Every method takes `&self`, so that a test's threads can share a server. Dropping it closes the listener and every
/// connection, joins its threads, and passes on the panic of one that panicked.
pub struct TestServer {
    /// The port is known from the first start on, and kept.
    endpoint: Endpoint,
    shared: Arc<Shared>,
    /// None while nothing is listened on.
    door: Mutex<Doorway>,
}

/// Where connections come in.
enum Doorway {
    Open(Door),
    /// Nobody gets in, and nobody else gets the port.
    Shut(Option<OwnedFd>),
}

/// Settings of a [`TestServer`], from [`TestServer::builder`].
#[derive(Debug, Clone)]
pub struct TestServerBuilder {
    endpoint: Endpoint,
    max_item_size: usize,
    record_commands: bool,
}

impl TestServer {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// Those of listening.
    pub fn start() -> io::Result<Self> {
        Self::builder().start()
    }

    /// Starts a server on a unix socket in the system's directory for temporary files.
    ///
    /// # Errors
    /// Those of listening.
    pub fn start_unix() -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("mcpool-{}-{count}.sock", std::process::id());
            match Self::builder().unix(std::env::temp_dir().join(name)).start() {
                // A process that was killed has left the file behind, and had the same id.
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                started => return started,
            }
        }
    }

    /// Settings other than the defaults.
    ///
    /// ```
    /// use mcpool::testing::TestServer;
    /// let server = TestServer::builder().bind("[::1]:0".parse()?).max_item_size(4096).start()?;
    /// assert!(server.address().starts_with("[::1]:"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn builder() -> TestServerBuilder {
        TestServerBuilder {
            endpoint: Endpoint::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
            max_item_size: MAX_ITEM_SIZE,
            record_commands: true,
        }
    }

    /// The address as a client takes it: `127.0.0.1:port`, `[::1]:port` or `unix:/path`.
    #[must_use]
    pub fn address(&self) -> String {
        self.endpoint.address()
    }

    /// The socket address; none for a unix socket.
    #[must_use]
    pub fn addr(&self) -> Option<SocketAddr> {
        match &self.endpoint {
            Endpoint::Tcp(addr) => Some(*addr),
            Endpoint::Unix(_) => None,
        }
    }

    /// The path of the unix socket; none for TCP.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.endpoint {
            Endpoint::Tcp(_) => None,
            Endpoint::Unix(path) => Some(path),
        }
    }

    /// The clock that expiry obeys.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.shared.clock.clone()
    }

    /// Answers wrongly from now on: how, and to which commands. Faults add up.
    ///
    /// ```
    /// use mcpool::testing::{Fault, TestServer, When};
    /// let server = TestServer::start()?;
    /// server.fault(Fault::Reply("SERVER_ERROR out of memory\r\n".into()), When::next(3).verb("set"));
    /// server.fault(Fault::Hang, When::always().verb("incr"));
    /// server.clear_faults();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn fault(&self, fault: Fault, when: When) {
        self.shared.script.add(fault, when);
    }

    /// Forgets all faults: what is late or dribbles comes at once. Connections that hang already go on hanging.
    pub fn clear_faults(&self) {
        self.shared.script.clear();
        self.hurry();
    }

    /// What is late or dribbles just now comes at once; the faults stay for later commands.
    ///
    /// So a test holds a reply back until it has seen what it waits for, and no longer:
    ///
    /// ```
    /// use mcpool::testing::{Event, Fault, TestServer, When};
    /// use std::time::Duration;
    /// let server = TestServer::start()?;
    /// let client = mcpool::Client::new(server.address())?;
    /// server.fault(Fault::Late(Duration::from_secs(3600)), When::next(1));
    /// std::thread::scope(|scope| {
    ///     let call = scope.spawn(|| client.get::<String>("k"));
    ///     let asked = |events: &[Event]| events.iter().any(|e| matches!(e, Event::Command { .. }));
    ///     assert!(server.wait_for(asked, Duration::from_secs(10)));
    ///     server.hurry();
    ///     assert!(call.join().unwrap().is_ok());
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hurry(&self) {
        self.shared.connections.hurry();
    }

    /// What has happened since the start or the last [`clear_events`](Self::clear_events).
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        self.shared.events.all()
    }

    /// The command lines among the [`events`](Self::events), without the values of stores.
    #[must_use]
    pub fn commands(&self) -> Vec<String> {
        let lines = self.events().into_iter().filter_map(|event| match event {
            Event::Command { line, .. } => Some(line),
            _ => None,
        });
        lines.collect()
    }

    /// Forgets the events so far.
    pub fn clear_events(&self) {
        self.shared.events.clear();
    }

    /// Waits until the events are such as the caller wants; false when that takes longer than `timeout`.
    ///
    /// The events are locked while `seen` runs: it must not call the server.
    ///
    /// ```
    /// use mcpool::testing::{Event, TestServer};
    /// use std::time::Duration;
    /// let server = TestServer::start()?;
    /// let _socket = std::net::TcpStream::connect(server.address())?;
    /// let come = server.wait_for(|events| events.contains(&Event::Connected { connection: 1 }), Duration::from_secs(5));
    /// assert!(come);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn wait_for(&self, seen: impl Fn(&[Event]) -> bool, timeout: Duration) -> bool {
        self.shared.events.wait_for(seen, timeout)
    }

    /// The number of connections open now.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.count()
    }

    /// An item's value and flags, if it is there; not counted as a read.
    #[must_use]
    pub fn item(&self, key: impl AsRef<[u8]>) -> Option<(Vec<u8>, u32)> {
        let now = self.shared.clock.unix();
        let mut store = self.shared.settled(now);
        store.peek(key.as_ref(), now).map(|item| (item.value.clone(), item.flags))
    }

    /// Puts an item there that never expires, as another client might; key and size are not checked.
    pub fn put(&self, key: impl AsRef<[u8]>, value: impl Into<Vec<u8>>, flags: u32) {
        let now = self.shared.clock.unix();
        self.shared.settled(now).put(key.as_ref(), value.into(), flags, None, now);
    }

    /// Stops listening: new connections are refused, open ones go on, and the port stays this server's to
    /// [`listen`](Self::listen) on again.
    pub fn refuse(&self) {
        let mut door = lock(&self.door);
        *door = match std::mem::replace(&mut *door, Doorway::Shut(None)) {
            Doorway::Open(open) => {
                if let Err(panic) = open.shut() {
                    self.shared.connections.record(panic);
                }
                Doorway::Shut(self.endpoint.hold())
            }
            shut => shut,
        };
    }

    /// Listens again at the same address; nothing happens if it does so already.
    ///
    /// # Errors
    /// Those of listening, as when it was started.
    pub fn listen(&self) -> io::Result<()> {
        let mut door = lock(&self.door);
        if let Doorway::Shut(hold) = &mut *door {
            drop(hold.take());
            self.endpoint.clear();
            let listener = self.endpoint.clone().listen()?;
            *door = Doorway::Open(open(listener, &self.shared)?);
        }
        Ok(())
    }

    /// Closes every open connection; new ones are still accepted.
    pub fn close_connections(&self) {
        self.shared.connections.close_all();
    }

    /// Stops the server as if its machine had gone: refuses new connections and closes the open ones. The items stay,
    /// for a later [`listen`](Self::listen).
    pub fn stop(&self) {
        self.refuse();
        self.shared.connections.close_all();
        self.shared.connections.join();
    }

    /// Stops and starts again at the same address and without items, like a process that was restarted. Clock, faults
    /// and events stay.
    ///
    /// # Errors
    /// As of [`listen`](Self::listen).
    pub fn restart(&self) -> io::Result<()> {
        self.stop();
        let max_item_size = lock(&self.shared.store).max_item_size();
        *lock(&self.shared.store) = Store::new(max_item_size);
        *lock(&self.shared.started) = self.shared.clock.unix();
        self.listen()
    }
}

impl fmt::Debug for TestServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestServer").field("address", &self.address()).finish_non_exhaustive()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.stop();
        self.endpoint.clear();
        self.shared.connections.pass_on();
    }
}

impl TestServerBuilder {
    /// The address to listen on; port 0 is a free one. Default: `127.0.0.1:0`.
    #[must_use]
    pub fn bind(mut self, addr: SocketAddr) -> Self {
        self.endpoint = Endpoint::Tcp(addr);
        self
    }

    /// Listens on a unix socket at this path instead. A file that is there already is an error at the start; the
    /// socket's own file is removed when the server is dropped.
    #[must_use]
    pub fn unix(mut self, path: impl Into<PathBuf>) -> Self {
        self.endpoint = Endpoint::Unix(path.into());
        self
    }

    /// The largest item in bytes, key and memcached's overhead of some 60 bytes included. Default: 1 MiB.
    #[must_use]
    pub fn max_item_size(mut self, bytes: usize) -> Self {
        self.max_item_size = bytes;
        self
    }

    /// Whether [`Event::Command`] is logged; a test that sends millions of commands may want their memory.
    /// Default: true.
    #[must_use]
    pub fn record_commands(mut self, record: bool) -> Self {
        self.record_commands = record;
        self
    }

    /// Starts the server.
    ///
    /// # Errors
    /// Those of listening.
    pub fn start(self) -> io::Result<TestServer> {
        let mut endpoint = self.endpoint;
        let listener = endpoint.listen()?;
        let clock = Clock::new();
        let shared = Arc::new(Shared {
            address: endpoint.address(),
            store: Mutex::new(Store::new(self.max_item_size)),
            started: Mutex::new(clock.unix()),
            clock,
            events: Events::new(self.record_commands),
            script: Script::default(),
            connections: Connections::default(),
        });
        let door = open(listener, &shared)?;
        Ok(TestServer { endpoint, shared, door: Mutex::new(Doorway::Open(door)) })
    }
}

fn open(listener: Listener, shared: &Arc<Shared>) -> io::Result<Door> {
    let shared = Arc::clone(shared);
    Door::open(listener, move |stream| admit(stream, &shared))
}

fn admit(stream: Stream, shared: &Arc<Shared>) -> io::Result<()> {
    let connection = shared.connections.admit(vec![stream.try_clone()?]);
    shared.events.push(Event::Connected { connection });
    let session = Session::new(connection, stream, Arc::clone(shared));
    let thread = thread::Builder::new()
        .name(format!("memcached {connection}"))
        .spawn(move || session.run())?;
    shared.connections.keep(thread);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::panic;

    use super::*;

    #[test]
    fn a_panic_of_a_thread_comes_out_when_the_server_is_dropped() {
        let server = TestServer::start().unwrap();
        server.shared.connections.keep(thread::spawn(|| panic::panic_any("a bug")));
        let dropped = panic::catch_unwind(panic::AssertUnwindSafe(|| drop(server)));
        assert_eq!(dropped.unwrap_err().downcast_ref(), Some(&"a bug"));
    }
}
