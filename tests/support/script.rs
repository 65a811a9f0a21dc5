//! A server that does what a test tells it to, connection by connection, on a free port of 127.0.0.1.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Ends with its connections when dropped, and passes on the panic of a closure that panicked.
pub(crate) struct Script {
    addr: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<Vec<JoinHandle<()>>>>,
}

#[derive(Default)]
struct Shared {
    accepted: AtomicUsize,
    /// The most that were open at once.
    peak: AtomicUsize,
    open: Mutex<BTreeMap<usize, TcpStream>>,
    over: AtomicBool,
}

/// One connection, seen from the server; dropping it closes it, and resets it if something was left unread.
pub(crate) struct Peer {
    /// 1 for the first connection.
    pub(crate) number: usize,
    stream: BufReader<TcpStream>,
    shared: Arc<Shared>,
}

impl Script {
    /// Runs `play` for each connection, on a thread of its own.
    pub(crate) fn start(play: impl Fn(&mut Peer) + Send + Sync + 'static) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").expect("a free port"), play)
    }

    /// The same where someone listens already.
    pub(crate) fn on(
        listener: TcpListener,
        play: impl Fn(&mut Peer) + Send + Sync + 'static,
    ) -> Self {
        let addr = listener.local_addr().expect("an address");
        let shared = Arc::<Shared>::default();
        let (of_thread, play) = (shared.clone(), Arc::new(play));
        let acceptor = std::thread::spawn(move || {
            let mut threads = Vec::new();
            while let Some(mut peer) = of_thread.accept(&listener) {
                let play = play.clone();
                threads.push(std::thread::spawn(move || play(&mut peer)));
            }
            threads
        });
        Self { addr, shared, acceptor: Some(acceptor) }
    }

    pub(crate) fn address(&self) -> String {
        self.addr.to_string()
    }

    /// How many connections came.
    pub(crate) fn accepted(&self) -> usize {
        self.shared.accepted.load(Ordering::SeqCst)
    }

    /// How many connections were open at once at most.
    pub(crate) fn peak(&self) -> usize {
        self.shared.peak.load(Ordering::SeqCst)
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        // Wakes the acceptor; if it cannot be reached it has ended.
        _ = TcpStream::connect(self.addr);
        let threads = self.acceptor.take().map(JoinHandle::join);
        for stream in self.shared.open().values() {
            _ = stream.shutdown(Shutdown::Both);
        }
        let ended = threads.into_iter().flat_map(|t| t.expect("the acceptor ends"));
        let panicked = ended.map(JoinHandle::join).filter(Result::is_err).count();
        assert!(std::thread::panicking() || panicked == 0, "a scripted connection panicked");
    }
}

impl Shared {
    fn open(&self) -> std::sync::MutexGuard<'_, BTreeMap<usize, TcpStream>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(self: &Arc<Self>, listener: &TcpListener) -> Option<Peer> {
        let (stream, _) = listener.accept().expect("a connection");
        if self.over.load(Ordering::SeqCst) {
            return None;
        }
        stream.set_nodelay(true).expect("a socket option");
        let number = self.accepted.fetch_add(1, Ordering::SeqCst) + 1;
        let mut open = self.open();
        open.insert(number, stream.try_clone().expect("a descriptor"));
        self.peak.fetch_max(open.len(), Ordering::SeqCst);
        Some(Peer { number, stream: BufReader::new(stream), shared: self.clone() })
    }
}

impl Peer {
    /// The next line without its end; `None` once the client has closed.
    pub(crate) fn line(&mut self) -> Option<String> {
        let mut line = Vec::new();
        // A reset is an end too.
        let n = self.stream.read_until(b'\n', &mut line).unwrap_or(0);
        let text = String::from_utf8_lossy(&line);
        (n > 0).then(|| text.trim_end_matches(['\r', '\n']).to_owned())
    }

    /// Sends bytes; false once the client has closed.
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.get_mut().write_all(bytes.as_ref()).is_ok()
    }

    /// Takes so many bytes, or fewer when the client has closed.
    pub(crate) fn take(&mut self, n: usize) {
        // What follows on a broken connection finds out by itself.
        _ = self.stream.read_exact(&mut vec![0; n]);
    }

    /// Reads until the client closes.
    pub(crate) fn until_closed(&mut self) {
        _ = self.stream.read_to_end(&mut Vec::new());
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Counted as closed before the client can see it, so that `peak` never counts one too many.
        self.shared.open().remove(&self.number);
    }
}
