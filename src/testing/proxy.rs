//! A proxy with weather: between a client and a real server it delays, cuts, splits, resets and freezes.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use super::dice::Dice;
use super::lock;

/// How long a pump waits for bytes before it looks whether the proxy is still wanted.
const LOOK: Duration = Duration::from_millis(20);
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
/// Dropping it closes everything it opened.
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
    accept: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    upstream: SocketAddr,
    weather: Mutex<Weather>,
    /// Set once the proxy is no longer wanted.
    ended: Mutex<bool>,
    wake: Condvar,
    open: AtomicUsize,
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
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared {
            upstream,
            weather: Mutex::new(Weather::calm()),
            ended: Mutex::new(false),
            wake: Condvar::new(),
            open: AtomicUsize::new(0),
            injected: AtomicU64::new(0),
            accepted: AtomicU64::new(0),
            seed,
        });
        let own = shared.clone();
        let accept = std::thread::Builder::new()
            .name("proxy-accept".into())
            .spawn(move || own.accept(&listener))?;
        Ok(Self { shared, addr, accept: Some(accept) })
    }

    /// Where clients connect, as `127.0.0.1:port`.
    pub fn address(&self) -> String {
        self.addr.to_string()
    }

    /// Sets the weather, for open connections as well.
    pub fn weather(&self, weather: Weather) {
        *lock(&self.shared.weather) = weather;
    }

    /// The number of connections open through the proxy.
    pub fn connections(&self) -> usize {
        self.shared.open.load(Ordering::SeqCst)
    }

    /// The number of connections accepted so far.
    pub fn accepted(&self) -> u64 {
        self.shared.accepted.load(Ordering::SeqCst)
    }

    /// The number of faults injected so far; delays and splits count too.
    pub fn injected(&self) -> u64 {
        self.shared.injected.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        *lock(&self.shared.ended) = true;
        self.shared.wake.notify_all();
        // Wakes the accept loop; its own error says that it has ended already.
        let _ = TcpStream::connect(self.addr);
        if let Some(accept) = self.accept.take() {
            if accept.join().is_err() && !std::thread::panicking() {
                std::panic::resume_unwind(Box::new("the proxy's accept thread panicked"));
            }
        }
    }
}

impl Shared {
    fn accept(self: Arc<Self>, listener: &TcpListener) {
        let mut pumps: Vec<JoinHandle<()>> = Vec::new();
        for (n, client) in (0_u64..).zip(listener.incoming()) {
            if self.has_ended() {
                break;
            }
            pumps.retain(|pump| !pump.is_finished());
            let Ok(client) = client else { continue };
            self.accepted.fetch_add(1, Ordering::SeqCst);
            let mut dice = Dice::new(self.seed ^ n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            if dice.roll(lock(&self.weather).turn_away) {
                self.injected.fetch_add(1, Ordering::SeqCst);
                continue;
            }
            // A server that is away is what the client then sees: a connection that ends.
            let Ok(server) = TcpStream::connect_timeout(&self.upstream, Duration::from_secs(1))
            else {
                continue;
            };
            pumps.extend(self.pumps(client, server, &mut dice).unwrap_or_default());
        }
        for pump in pumps {
            // A pump that panicked has closed its connection; the client's test sees that.
            let _ = pump.join();
        }
    }

    /// A thread for each direction of one connection.
    fn pumps(
        self: &Arc<Self>,
        client: TcpStream,
        server: TcpStream,
        dice: &mut Dice,
    ) -> io::Result<Vec<JoinHandle<()>>> {
        for socket in [&client, &server] {
            socket.set_nodelay(true)?;
            socket.set_read_timeout(Some(LOOK))?;
            socket.set_write_timeout(Some(Duration::from_secs(5)))?;
        }
        let ways = [(client.try_clone()?, server.try_clone()?, true), (server, client, false)];
        self.open.fetch_add(1, Ordering::SeqCst);
        let ends = Arc::new(End(self.clone()));
        let mut pumps = Vec::new();
        for (from, to, is_request) in ways {
            let (shared, ends, dice) = (self.clone(), ends.clone(), dice.split());
            let pump = std::thread::Builder::new().name("proxy-pump".into()).spawn(move || {
                shared.pump(from, to, is_request, dice);
                drop(ends);
            })?;
            pumps.push(pump);
        }
        Ok(pumps)
    }

    /// Passes bytes on until the connection ends.
    fn pump(&self, mut from: TcpStream, mut to: TcpStream, is_request: bool, mut dice: Dice) {
        let mut buffer = [0; SEGMENT];
        let (mut swallowing, mut half_closed) = (false, false);
        while !self.has_ended() {
            let n = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => n,
                Err(e)
                    if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
                {
                    continue;
                }
                Err(_) => break,
            };
            let weather = lock(&self.weather).clone();
            let bad = if is_request { weather.requests } else { weather.replies };
            let segment = buffer.get(..n).unwrap_or_default();
            if !bad {
                if to.write_all(segment).is_err() {
                    break;
                }
                continue;
            }
            match self.pass(segment, &mut to, &weather, &mut dice, swallowing) {
                After::GoOn => {}
                After::Swallow => swallowing = true,
                After::HalfClose => {
                    half_closed = true;
                    break;
                }
                After::End => break,
            }
        }
        // Errors mean that the sockets are closed already.
        let _ = to.shutdown(Shutdown::Write);
        if !half_closed {
            let _ = to.shutdown(Shutdown::Both);
            let _ = from.shutdown(Shutdown::Both);
        }
    }

    /// One segment in bad weather.
    fn pass(
        &self,
        segment: &[u8],
        to: &mut TcpStream,
        weather: &Weather,
        dice: &mut Dice,
        swallowing: bool,
    ) -> After {
        let hold = dice.within(&weather.delay);
        if !hold.is_zero() {
            self.count();
            self.sleep(hold);
        }
        if dice.roll(weather.freeze) {
            self.count();
            self.sleep(weather.freeze_time);
        }
        if swallowing || dice.roll(weather.swallow) {
            self.count();
            return After::Swallow;
        }
        let (cut, reset) = (dice.roll(weather.cut), dice.roll(weather.reset));
        if cut || reset {
            self.count();
            let part = segment.get(..dice.below(segment.len())).unwrap_or_default();
            // The connection ends here whether or not the part gets through.
            let _ = to.write_all(part);
            if reset {
                let _ = rustix::net::sockopt::set_socket_linger(&*to, Some(Duration::ZERO));
            }
            return After::End;
        }
        let passed = if dice.roll(weather.split) {
            self.count();
            let size = 1 + dice.below(segment.len().min(64));
            segment.chunks(size).all(|piece| to.write_all(piece).is_ok())
        } else {
            to.write_all(segment).is_ok()
        };
        if !passed {
            return After::End;
        }
        if dice.roll(weather.half_close) {
            self.count();
            return After::HalfClose;
        }
        After::GoOn
    }

    fn count(&self) {
        self.injected.fetch_add(1, Ordering::SeqCst);
    }

    fn has_ended(&self) -> bool {
        *lock(&self.ended)
    }

    /// Waits, unless the proxy ends meanwhile.
    fn sleep(&self, time: Duration) {
        let ended = lock(&self.ended);
        drop(self.wake.wait_timeout_while(ended, time, |ended| !*ended));
    }
}

/// What follows a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    GoOn,
    Swallow,
    HalfClose,
    End,
}

/// Counts a connection as closed when its last pump ends.
#[derive(Debug)]
struct End(Arc<Shared>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}
