//! A twemproxy before a cluster: many pools, each with its own way to choose a server.

use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use crate::cluster::Place;
use crate::memcached::temporary;

/// Until then it must listen.
const READY: Duration = Duration::from_secs(20);
/// Between two looks at a process that tells nobody when it is ready.
const LOOK: Duration = Duration::from_millis(5);

/// A running proxy; ended when dropped.
#[derive(Debug)]
pub struct Twemproxy {
    child: Child,
    folder: PathBuf,
}

/// How a pool of it chooses servers, in its own words.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    pub hash: &'static str,
    pub distribution: &'static str,
}

impl Twemproxy {
    /// One pool for each of these ways, all of the same servers.
    ///
    /// # Panics
    /// If it does not start. One process may have one such proxy only.
    #[must_use]
    pub fn start(ways: &[Way], servers: &[Place]) -> Self {
        let folder = temporary("twemproxy");
        fs::create_dir(&folder).expect("a folder of one's own");
        let pools = ways.iter().map(|way| pool(&folder, *way, servers)).collect::<String>();
        fs::write(folder.join("conf.yml"), pools).expect("a configuration");
        let program = env::var_os("MCPOOL_PEERS").expect("run these tests with tests/interop/run");
        // It wants a port for its figures. That is the same for all; the address is this process's own.
        let [_, high, middle, low] = process::id().to_be_bytes();
        let figures = Ipv4Addr::new(127, high.wrapping_add(1), middle, low);
        let child = Command::new(PathBuf::from(program).join("twemproxy"))
            .args(["-v", "0", "-a", &figures.to_string()])
            .arg("-c")
            .arg(folder.join("conf.yml"))
            .arg("-o")
            .arg(folder.join("log"))
            .arg("-p")
            .arg(folder.join("pid"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("twemproxy starts");
        let mut proxy = Self { child, folder };
        let start = Instant::now();
        while ways.iter().any(|way| !proxy.socket(*way).exists()) {
            let ended = proxy.child.try_wait().expect("a child of ours");
            assert!(ended.is_none(), "twemproxy ended at once ({ended:?})");
            assert!(start.elapsed() < READY, "twemproxy is not ready after {READY:?}");
            thread::sleep(LOOK);
        }
        proxy
    }

    /// Where that pool is, as our client takes it.
    #[must_use]
    pub fn address(&self, way: Way) -> String {
        format!("unix:{}", self.socket(way).display())
    }

    fn socket(&self, way: Way) -> PathBuf {
        socket(&self.folder, way)
    }
}

impl Drop for Twemproxy {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
        _ = fs::remove_dir_all(&self.folder);
    }
}

fn pool(folder: &Path, way: Way, servers: &[Place]) -> String {
    let Way { hash, distribution } = way;
    let mut text = format!(
        "{hash}-{distribution}:\n  listen: {}\n  hash: {hash}\n  distribution: {distribution}\n  servers:\n",
        socket(folder, way).display()
    );
    for Place { addr, weight, .. } in servers {
        _ = writeln!(text, "   - {addr}:{weight}");
    }
    text
}

fn socket(folder: &Path, way: Way) -> PathBuf {
    folder.join(format!("{}-{}.sock", way.hash, way.distribution))
}
