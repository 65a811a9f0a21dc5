//! Raw connections to a server under test.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use mcpool::testing::TestServer;

/// What takes longer does not come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn addr(server: &TestServer) -> SocketAddr {
    server.addr().expect("a TCP server")
}

/// The names and values of a `stats` reply.
pub(crate) fn stats(addr: SocketAddr, command: &str) -> Vec<(String, String)> {
    let mut wire = Wire::to(addr);
    wire.send(&format!("{command}\r\n"));
    let mut stats = Vec::new();
    loop {
        let line = wire.hear(1);
        let Some(stat) = line.trim_end().strip_prefix("STAT ") else {
            assert_eq!(line, "END\r\n");
            return stats;
        };
        let (name, value) = stat.split_once(' ').unwrap();
        stats.push((name.to_owned(), value.to_owned()));
    }
}

/// What a server says to this and nothing more, cas numbers left out.
pub(crate) fn told(server: SocketAddr, text: &str) -> String {
    let mut socket = TcpStream::connect(server).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.write_all(text.as_bytes()).unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    let mut reply = Vec::new();
    socket.read_to_end(&mut reply).unwrap();
    let reply = String::from_utf8(reply).unwrap();
    let line = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        ["VALUE", key, flags, len, _] => format!("VALUE {key} {flags} {len} #\r\n"),
        _ => line.to_owned(),
    };
    reply.split_inclusive('\n').map(line).collect()
}

/// All items, without cas numbers and the times at which they were used.
pub(crate) fn listed(server: SocketAddr) -> Vec<String> {
    let text = told(server, "lru_crawler metadump all\r\n");
    let kept = |word: &&str| !word.starts_with("la=") && !word.starts_with("cas=");
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| line.split(' ').filter(kept).collect::<Vec<_>>().join(" "))
        .collect();
    lines.sort();
    lines
}

/// What comes until the connection ends.
pub(crate) fn rest(reader: &mut impl Read) -> String {
    let mut rest = Vec::new();
    // A reset is an end, too: what was sent last may not have been read.
    if let Err(error) = reader.read_to_end(&mut rest) {
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "the connection does not end");
    }
    String::from_utf8(rest).unwrap()
}

pub(crate) trait Socket: Read + Write + Send {}
impl<T: Read + Write + Send> Socket for T {}

/// A raw connection.
pub(crate) struct Wire(BufReader<Box<dyn Socket>>);

impl Wire {
    pub(crate) fn new(socket: Box<dyn Socket>) -> Self {
        Self(BufReader::new(socket))
    }

    pub(crate) fn to(addr: SocketAddr) -> Self {
        let socket = TcpStream::connect(addr).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self::new(Box::new(socket))
    }

    pub(crate) fn of(server: &TestServer) -> Self {
        Self::try_of(server).unwrap()
    }

    pub(crate) fn try_of(server: &TestServer) -> std::io::Result<Self> {
        if let Some(path) = server.path() {
            let socket = UnixStream::connect(path)?;
            socket.set_read_timeout(Some(PATIENCE))?;
            return Ok(Self::new(Box::new(socket)));
        }
        let socket = TcpStream::connect(server.address())?;
        socket.set_read_timeout(Some(PATIENCE))?;
        Ok(Self::new(Box::new(socket)))
    }

    pub(crate) fn send(&mut self, text: &str) {
        self.0.get_mut().write_all(text.as_bytes()).unwrap();
    }

    /// The next lines.
    pub(crate) fn hear(&mut self, lines: usize) -> String {
        let mut text = String::new();
        for _ in 0..lines {
            self.0.read_line(&mut text).unwrap();
        }
        text
    }

    pub(crate) fn ask(&mut self, text: &str, lines: usize) -> String {
        self.send(text);
        self.hear(lines)
    }

    /// What comes until the connection ends.
    pub(crate) fn rest(&mut self) -> String {
        rest(&mut self.0)
    }
}
