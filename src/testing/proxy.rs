//! A proxy with weather: between a client and a real server it delays, cuts, splits, resets and freezes.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;

use super::connections::Connections;
use super::dice::Dice;
use super::door::Door;
use super::endpoint::{Listener, Stream};
use super::lock;

/// How long the server behind may take to accept.
const CONNECT: Duration = Duration::from_secs(1);
/// The most bytes passed on at once.
const SEGMENT: usize = 16 * 1024;

/// What a [`Proxy`] does to the bytes it passes on. Chances are per segment, from 0 to 1.
///
/// ```
/// use mcpool::testing::Weather;
/// let mut storm = Weather::calm();
/// storm.cut = 0.05;
/// storm.delay = std::time::Duration::ZERO..std::time::Duration::from_millis(5);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Weather {
    /// How long each segment is held back, at random within the range.
    pub delay: Range<Duration>,
    /// The chance that a segment is passed on in small pieces.
    pub split: f64,
    /// The chance that the connection is closed somewhere within a segment.
    pub cut: f64,
    /// The chance that the connection is reset somewhere within a segment.
    pub reset: f64,
    /// The chance that a segment and all that follow it are swallowed while the connection stays open.
    pub swallow: f64,
    /// The chance that nothing passes for `freeze_time`.
    pub freeze: f64,
    /// How long a freeze lasts.
    pub freeze_time: Duration,
    /// The chance that this direction is closed after a segment while the other goes on.
    pub half_close: f64,
    /// The chance that a new connection is closed at once.
    pub turn_away: f64,
    /// Whether requests have this weather.
    pub requests: bool,
    /// Whether replies have this weather.
    pub replies: bool,
}

impl Weather {
    /// Everything passes as it is.
    #[must_use]
    pub fn calm() -> Self {
        Self {
            delay: Duration::ZERO..Duration::ZERO,
            split: 0.0,
            cut: 0.0,
            reset: 0.0,
            swallow: 0.0,
            freeze: 0.0,
            freeze_time: Duration::ZERO,
            half_close: 0.0,
            turn_away: 0.0,
            requests: true,
            replies: true,
        }
    }
}

/// A TCP proxy on a loopback port in front of one server; the same seed rolls the same dice.
///
/// Dropping it closes everything it opened, joins its threads, and passes on the panic of one that panicked.
///
/// ```
/// use mcpool::testing::{Proxy, TestServer, Weather};
/// let server = TestServer::start()?;
/// let proxy = Proxy::start(server.address(), 7)?;
/// let client = mcpool::Client::new(proxy.address())?;
/// client.set("k", "v", mcpool::Ttl::NEVER)?;
/// let mut storm = Weather::calm();
/// storm.cut = 1.0;
/// proxy.weather(storm);
/// assert!(client.get::<String>("k").is_err());
/// assert!(proxy.injected() > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Proxy {
    shared: Arc<Shared>,
    addr: SocketAddr,
    /// None only while it is dropped.
    door: Option<Door>,
}

#[derive(Debug)]
struct Shared {
    upstream: SocketAddr,
    weather: Mutex<Weather>,
    connections: Connections,
    injected: AtomicU64,
    accepted: AtomicU64,
    seed: u64,
}

impl Proxy {
    /// Starts a proxy in front of `upstream`, with calm weather.
    ///
    /// # Errors
    /// `upstream` is no address; the system has no port or no thread to give.
    pub fn start(upstream: impl ToSocketAddrs, seed: u64) -> io::Result<Self> {
        let upstream = upstream.to_socket_addrs()?.next().ok_or(io::ErrorKind::AddrNotAvailable)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared {
            upstream,
            weather: Mutex::new(Weather::calm()),
            connections: Connections::default(),
            injected: AtomicU64::new(0),
            accepted: AtomicU64::new(0),
            seed,
        });
        let own = Arc::clone(&shared);
        let door = Door::open(Listener::Tcp(listener), move |client| own.admit(client))?;
        Ok(Self { shared, addr, door: Some(door) })
    }

    /// Where clients connect, as `127.0.0.1:port`.
    #[must_use]
    pub fn address(&self) -> String {
        self.addr.to_string()
    }

    /// Sets the weather, for open connections as well.
    pub fn weather(&self, weather: Weather) {
        *lock(&self.shared.weather) = weather;
    }

    /// The number of connections open through the proxy.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.count()
    }

    /// The number of connections accepted so far, those included that were closed at once.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.shared.accepted.load(Ordering::SeqCst)
    }

    /// The number of faults injected so far; delays and splits count too.
    #[must_use]
    pub fn injected(&self) -> u64 {
        self.shared.injected.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let connections = &self.shared.connections;
        if let Some(Err(panic)) = self.door.take().map(Door::shut) {
            connections.record(panic);
        }
        connections.close_all();
        connections.join();
        connections.pass_on();
    }
}

impl Shared {
    /// Connects a client to the server. A server that is away is what the client then sees: a connection that ends.
    fn admit(self: &Arc<Self>, client: Stream) -> io::Result<()> {
        let n = self.accepted.fetch_add(1, Ordering::SeqCst);
        let mut dice = Dice::new(self.seed ^ n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        if dice.roll(lock(&self.weather).turn_away) {
            self.count();
            return Ok(());
        }
        let Stream::Tcp(client) = client else { return Ok(()) };
        let Ok(server) = TcpStream::connect_timeout(&self.upstream, CONNECT) else { return Ok(()) };
        server.set_nodelay(true)?;
        let handles = [&client, &server].map(|socket| socket.try_clone().map(Stream::Tcp));
        let handles = handles.into_iter().collect::<io::Result<_>>()?;
        let id = self.connections.admit(handles);
        let line = Arc::new(Line { id, client, server, shared: Arc::clone(self) });
        for is_request in [true, false] {
            let (line, dice) = (Arc::clone(&line), dice.split());
            let pump = move || line.pump(is_request, dice);
            let pump = std::thread::Builder::new().name("proxy pump".to_owned()).spawn(pump)?;
            self.connections.keep(pump);
        }
        Ok(())
    }

    fn count(&self) {
        self.injected.fetch_add(1, Ordering::SeqCst);
    }
}

/// One connection through the proxy; it is closed when the last of its pumps lets go of it.
#[derive(Debug)]
struct Line {
    id: u64,
    client: TcpStream,
    server: TcpStream,
    shared: Arc<Shared>,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.shared.connections.remove(self.id);
    }
}

impl Line {
    /// Passes bytes on in one direction until it ends.
    fn pump(&self, is_request: bool, mut dice: Dice) {
        let (mut from, to) = match is_request {
            true => (&self.client, &self.server),
            false => (&self.server, &self.client),
        };
        let mut buffer = [0; SEGMENT];
        let mut after = After::GoOn;
        while matches!(after, After::GoOn | After::Swallow) {
            let segment = match from.read(&mut buffer) {
                Ok(0) => {
                    after = After::HalfClose;
                    continue;
                }
                Ok(n) => buffer.get(..n).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let mut weather = lock(&self.shared.weather).clone();
            if !(if is_request { weather.requests } else { weather.replies }) {
                weather = Weather::calm();
            }
            after = self.pass(segment, to, &weather, &mut dice, after == After::Swallow);
        }
        // Errors mean that the sockets are closed already.
        _ = match after {
            After::HalfClose => to.shutdown(Shutdown::Write),
            After::Reset => to.shutdown(Shutdown::Read).and(from.shutdown(Shutdown::Both)),
            _ => to.shutdown(Shutdown::Both).and(from.shutdown(Shutdown::Both)),
        };
    }

    /// One segment in its weather.
    fn pass(
        &self,
        segment: &[u8],
        mut to: &TcpStream,
        weather: &Weather,
        dice: &mut Dice,
        swallowing: bool,
    ) -> After {
        let hold = dice.within(&weather.delay);
        if !hold.is_zero() && !self.pause(hold) {
            return After::End;
        }
        if dice.roll(weather.freeze) && !self.pause(weather.freeze_time) {
            return After::End;
        }
        if swallowing || dice.roll(weather.swallow) {
            self.shared.count();
            return After::Swallow;
        }
        let (cut, reset) = (dice.roll(weather.cut), dice.roll(weather.reset));
        if cut || reset {
            self.shared.count();
            let part = segment.get(..dice.below(segment.len())).unwrap_or_default();
            // The connection ends here whether or not the part gets through.
            _ = to.write_all(part);
            // Without lingering, a close is a reset.
            let resets = reset && set_socket_linger(to, Some(Duration::ZERO)).is_ok();
            return if resets { After::Reset } else { After::End };
        }
        let passed = if dice.roll(weather.split) {
            self.shared.count();
            let size = 1 + dice.below(segment.len().min(64));
            segment.chunks(size).all(|piece| to.write_all(piece).is_ok())
        } else {
            to.write_all(segment).is_ok()
        };
        if !passed {
            return After::End;
        }
        if dice.roll(weather.half_close) {
            self.shared.count();
            return After::HalfClose;
        }
        After::GoOn
    }

    /// Lets time pass; false when the proxy ends meanwhile.
    fn pause(&self, time: Duration) -> bool {
        self.shared.count();
        let connections = &self.shared.connections;
        connections.pause(self.id, time, connections.hurries())
    }
}

/// What follows a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    GoOn,
    Swallow,
    /// Nothing more is sent in this direction; the other goes on.
    HalfClose,
    /// The receiver is reset, once the other direction has let go of it too.
    Reset,
    End,
}
