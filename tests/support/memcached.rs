//! A real memcached process for one test: started on a free port, ended when dropped.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use rustix::process::{Pid, Signal, WaitOptions, geteuid, kill_process, waitpid};

use super::binary;
use super::ports::hold;

/// Until then it must accept connections.
const READY: Duration = Duration::from_secs(20);
/// Between two looks at a process that tells nobody when it is ready.
const LOOK: Duration = Duration::from_millis(5);
/// Whether a program that listens gets a port that is merely bound, if both say that they use the address again.
const HELD_PORT_CAN_BE_LISTENED_ON: bool = cfg!(target_os = "linux");
/// A port that is to be used again may still be held by what is left of the process before.
const RESTARTS: usize = 20;

#[derive(Debug)]
pub(crate) struct Memcached {
    child: Child,
    args: Vec<String>,
    place: Place,
    /// Keeps its port from others while it is dead.
    hold: Option<OwnedFd>,
}

#[derive(Debug, Clone)]
enum Place {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl Memcached {
    /// On a free port of 127.0.0.1.
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// The same with more arguments, `&["-I", "2m"]` say.
    pub(crate) fn start_with(args: &[&str]) -> Self {
        Self::start_on(Ipv4Addr::LOCALHOST.into(), args)
    }

    /// On a free port of this address.
    pub(crate) fn start_on(ip: IpAddr, args: &[&str]) -> Self {
        let args = owned(args);
        let host = ip.to_string();
        // It picks a free port itself and writes it to this file, under another name until it is complete.
        let file = temporary("ports");
        let mut child = command(&args)
            .args(["-l", &host, "-p", "-1", "-U", "0"])
            .env("MEMCACHED_PORT_FILENAME", &file)
            .spawn()
            .expect("memcached starts");
        let port = wait(&mut child, || {
            let ports = fs::read_to_string(&file).ok()?;
            ports.lines().find_map(|line| {
                let (family, port) = line.split_once(": ")?;
                family.starts_with("TCP INET").then(|| port.trim().parse::<u16>().ok())?
            })
        });
        _ = fs::remove_file(&file);
        let port = port.unwrap_or_else(|why| panic!("memcached {args:?} {why}"));
        Self::ready(child, args, Place::Tcp(SocketAddr::new(ip, port)))
    }

    /// On a unix socket.
    pub(crate) fn start_unix() -> Self {
        Self::start_unix_with(&[])
    }

    /// The same with more arguments.
    pub(crate) fn start_unix_with(args: &[&str]) -> Self {
        let (args, path) = (owned(args), temporary("sock"));
        let child = command(&args).arg("-s").arg(&path).spawn().expect("memcached starts");
        Self::ready(child, args, Place::Unix(path))
    }

    /// As a client takes it.
    pub(crate) fn address(&self) -> String {
        match &self.place {
            Place::Tcp(addr) => addr.to_string(),
            Place::Unix(path) => format!("unix:{}", path.display()),
        }
    }

    /// Panics for a unix socket.
    pub(crate) fn addr(&self) -> SocketAddr {
        match &self.place {
            Place::Tcp(addr) => *addr,
            Place::Unix(path) => panic!("{} has no port", path.display()),
        }
    }

    /// Panics for TCP.
    pub(crate) fn path(&self) -> &Path {
        match &self.place {
            Place::Tcp(addr) => panic!("{addr} is no unix socket"),
            Place::Unix(path) => path,
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Stops the process in its tracks: the kernel goes on accepting for it, nobody answers.
    pub(crate) fn pause(&self) {
        let pid = self.signal(Signal::STOP);
        // Its threads run on until the kernel gets to them.
        waitpid(Some(pid), WaitOptions::UNTRACED).expect("a child of ours");
    }

    pub(crate) fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// Ends the process at once; its port refuses from then on, and stays its own.
    pub(crate) fn kill(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
        if let (Place::Tcp(addr), None) = (&self.place, &self.hold) {
            self.hold = hold(*addr).ok();
        }
    }

    /// Ends the process if it still runs and starts another, empty one in its place.
    pub(crate) fn restart_on_same_port(&mut self) {
        self.kill();
        for _ in 0..RESTARTS {
            if !HELD_PORT_CAN_BE_LISTENED_ON {
                self.hold = None;
            }
            let mut command = command(&self.args);
            match &self.place {
                Place::Tcp(addr) => command
                    .args(["-l", &addr.ip().to_string(), "-U", "0", "-p"])
                    .arg(addr.port().to_string()),
                Place::Unix(path) => command.arg("-s").arg(path),
            };
            self.child = command.spawn().expect("memcached starts");
            if wait(&mut self.child, || self.place.accepts().then_some(())).is_ok() {
                self.hold = None;
                return;
            }
            self.kill();
        }
        panic!("memcached cannot have {} back", self.address());
    }

    fn ready(child: Child, args: Vec<String>, place: Place) -> Self {
        let mut server = Self { child, args, place, hold: None };
        if let Err(why) = wait(&mut server.child, || server.place.accepts().then_some(())) {
            panic!("memcached at {} {why}", server.address());
        }
        server
    }

    fn signal(&self, signal: Signal) -> Pid {
        let pid =
            i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a process id");
        kill_process(pid, signal).expect("the process is there");
        pid
    }
}

impl Drop for Memcached {
    fn drop(&mut self) {
        self.kill();
        if let Place::Unix(path) = &self.place {
            _ = fs::remove_file(path);
        }
    }
}

impl Place {
    fn accepts(&self) -> bool {
        match self {
            Self::Tcp(addr) => TcpStream::connect(addr).is_ok(),
            Self::Unix(path) => UnixStream::connect(path).is_ok(),
        }
    }
}

/// The command, ready for the place to listen at. It refuses to run as root unless told to.
///
/// Without the thread that moves items between queues: each of its runs keeps the crawler busy, which then lists no
/// keys, and a number that it holds just then is counted into a new item, and loses its padding.
fn command(args: &[String]) -> Command {
    let mut command = Command::new(binary::memcached());
    command
        .args(["-o", "no_lru_maintainer"])
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if geteuid().is_root() {
        command.args(["-u", "root"]);
    }
    command
}

/// Asks until there is an answer; the reason when the process ends first, or takes too long.
fn wait<T>(child: &mut Child, answer: impl Fn() -> Option<T>) -> Result<T, String> {
    let start = Instant::now();
    while start.elapsed() < READY {
        if let Some(status) = child.try_wait().expect("a child of ours") {
            return Err(format!("ended at once ({status})"));
        }
        if let Some(answer) = answer() {
            return Ok(answer);
        }
        thread::sleep(LOOK);
    }
    _ = child.kill();
    _ = child.wait();
    Err(format!("is not ready after {READY:?}"))
}

fn owned(args: &[&str]) -> Vec<String> {
    args.iter().map(|arg| (*arg).to_owned()).collect()
}

/// A file name that no other test uses.
pub(crate) fn temporary(ending: &str) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let file = format!("mcpool-memcached-{}-{count}.{ending}", std::process::id());
    let file = env::temp_dir().join(file);
    // A process that was killed may have left it behind, and had the same id.
    _ = fs::remove_file(&file);
    file
}
