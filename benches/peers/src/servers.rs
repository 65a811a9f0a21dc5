//! The servers of a run: memcached processes on free ports of the loopback, and the slow line before one of them.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use rustix::process::geteuid;

use crate::{Outcome, process};

/// What a slow line adds to a round trip.
pub(crate) const LINE_MICROS: u32 = 1000;

/// A running memcached, ended when dropped.
pub(crate) struct Memcached {
    child: Child,
    pub(crate) address: String,
}

impl Memcached {
    /// With two threads and so much memory.
    pub(crate) fn start(megabytes: u32) -> Outcome<Self> {
        let program = env::var_os("MCPOOL_MEMCACHED").unwrap_or_else(|| "memcached".into());
        // It picks a free port itself and writes it to this file.
        let ports = temporary_file();
        let mut command = Command::new(program);
        command.args(["-l", "127.0.0.1", "-p", "-1", "-U", "0", "-t", "2", "-c", "4096"]);
        command.args(["-m", &megabytes.to_string()]).env("MEMCACHED_PORT_FILENAME", &ports);
        if geteuid().is_root() {
            command.args(["-u", "root"]);
        }
        let mut child = command.stdin(Stdio::null()).spawn()?;
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(20) {
            let text = fs::read_to_string(&ports).unwrap_or_default();
            let line = text.split_inclusive('\n').find(|line| line.ends_with('\n'));
            if let Some(port) = line.and_then(|line| line.trim().strip_prefix("TCP INET: ")) {
                _ = fs::remove_file(&ports);
                return Ok(Self { child, address: format!("127.0.0.1:{port}") });
            }
            if let Some(status) = child.try_wait()? {
                return Err(format!("memcached ended at once: {status}").into());
            }
            thread::sleep(Duration::from_millis(5));
        }
        _ = child.kill();
        _ = child.wait();
        Err("memcached did not tell its port".into())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The figure that `stats` gives under this name.
    pub(crate) fn stat(&self, name: &str) -> Outcome<u64> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.write_all(b"stats\r\n")?;
        let wanted = format!("STAT {name} ");
        for line in BufReader::new(stream).lines() {
            if let Some(figure) = line?.strip_prefix(&wanted) {
                return Ok(figure.parse()?);
            }
        }
        Err(format!("memcached has no figure {name}").into())
    }
}

impl Drop for Memcached {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// The relay's process, ended when dropped.
pub(crate) struct Relay {
    child: Child,
    address: String,
}

impl Relay {
    fn start(server: &str) -> Outcome<Self> {
        let mut child = Command::new(env::current_exe()?)
            .args(["relay", server, &LINE_MICROS.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut address = String::new();
        let stdout = child.stdout.take().ok_or("the relay has no output")?;
        BufReader::new(stdout).read_line(&mut address)?;
        Ok(Self { child, address: address.trim().to_owned() })
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// Where a workload's servers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// One, on this machine.
    Near,
    /// Three, on this machine.
    Three,
    /// One, behind a slow line.
    Far,
    /// One, on the same single core as its client.
    Pinned,
}

/// All servers of a run.
pub(crate) struct Servers {
    near: Memcached,
    more: [Memcached; 2],
    pinned: Memcached,
    line: Relay,
}

impl Servers {
    pub(crate) fn start() -> Outcome<Self> {
        const MEGABYTES: u32 = 512;
        let near = Memcached::start(MEGABYTES)?;
        let more = [Memcached::start(MEGABYTES)?, Memcached::start(MEGABYTES)?];
        let pinned = Memcached::start(MEGABYTES)?;
        process::pin(pinned.pid(), 0)?;
        let line = Relay::start(&near.address)?;
        Ok(Self { near, more, pinned, line })
    }

    /// As a driver takes them.
    pub(crate) fn addresses(&self, place: Place) -> String {
        match place {
            Place::Far => self.line.address.clone(),
            place => {
                let all: Vec<_> = self.of(place).iter().map(|s| s.address.as_str()).collect();
                all.join(",")
            }
        }
    }

    /// The memcached processes that do the work.
    pub(crate) fn of(&self, place: Place) -> Vec<&Memcached> {
        match place {
            Place::Near | Place::Far => vec![&self.near],
            Place::Three => vec![&self.near, &self.more[0], &self.more[1]],
            Place::Pinned => vec![&self.pinned],
        }
    }
}

fn temporary_file() -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    env::temp_dir().join(format!("mcpool-peers-{}-{count}.ports", std::process::id()))
}
