//! A conversation with a server, byte for byte: what is sent and what must come back.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// Stands for a number that differs from run to run.
pub(crate) const NUMBER: u8 = b'#';
/// The expected end of the connection.
pub(crate) const CLOSED: &str = "<closed>";
/// A reply that takes longer is missing.
const PATIENCE: Duration = Duration::from_secs(10);
/// After a wrong reply more of it is waited for, to be shown.
const REST: Duration = Duration::from_millis(200);

/// A name that says what is shown, and pairs of sent and expected bytes.
pub(crate) struct Transcript {
    pub(crate) name: &'static str,
    pub(crate) steps: Vec<(String, String)>,
}

impl Transcript {
    /// Holds the conversation on a fresh connection, each step sent in pieces of `piece` bytes. What came instead of
    /// the expected bytes is the error. At the end nothing more may come but the answer to one more command.
    pub(crate) fn hold(&self, addr: SocketAddr, piece: usize) -> Result<(), String> {
        let socket = TcpStream::connect(addr).expect("the server accepts");
        socket.set_nodelay(true).expect("a socket option");
        socket.set_read_timeout(Some(PATIENCE)).expect("a time above zero");
        let mut socket = BufReader::new(socket);
        let mut open = true;
        for (sent, expected) in &self.steps {
            self.step(&mut socket, sent, expected, piece)?;
            open = !expected.ends_with(CLOSED);
        }
        if open {
            self.step(&mut socket, "delete ~never~\r\n", "NOT_FOUND\r\n", usize::MAX)?;
            socket.get_ref().shutdown(Shutdown::Write).expect("the socket is open");
            self.step(&mut socket, "", CLOSED, usize::MAX)?;
        }
        Ok(())
    }

    fn step(
        &self,
        socket: &mut BufReader<TcpStream>,
        sent: &str,
        expected: &str,
        piece: usize,
    ) -> Result<(), String> {
        for piece in sent.as_bytes().chunks(piece) {
            if socket.get_mut().write_all(piece).is_err() {
                // The server has hung up; what it said, and whether it should have, is seen below.
                break;
            }
        }
        let got = hear(socket, expected);
        if got == expected {
            return Ok(());
        }
        Err(format!(
            "{}:\n  sent     {sent:.200?}\n  expected {expected:?}\n  got      {got:.500?}",
            self.name
        ))
    }
}

/// Reads what should be like `expected`, numbers turned into their placeholder where one is expected.
fn hear(socket: &mut BufReader<TcpStream>, expected: &str) -> String {
    let (pattern, closed) = match expected.strip_suffix(CLOSED) {
        Some(pattern) => (pattern, true),
        None => (expected, false),
    };
    let mut got = Vec::new();
    for wanted in pattern.bytes() {
        let digit = |next: Option<u8>| next.is_some_and(|byte| byte.is_ascii_digit());
        if wanted == NUMBER && digit(peek(socket)) {
            while digit(peek(socket)) {
                socket.consume(1);
            }
            got.push(NUMBER);
            continue;
        }
        let next = peek(socket);
        got.extend(next);
        socket.consume(next.iter().len());
        if next != Some(wanted) {
            got.extend(rest(socket));
            break;
        }
    }
    let mut got = String::from_utf8_lossy(&got).into_owned();
    if closed && got == pattern {
        match socket.read(&mut [0; 1]) {
            Ok(0) => got.push_str(CLOSED),
            // What was sent behind a quit was never read.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => got.push_str(CLOSED),
            Ok(_) => got.push_str("<more>"),
            Err(error) => got.push_str(&error.to_string()),
        }
    }
    got
}

/// The next byte; none at the end, or when it does not come.
fn peek(socket: &mut BufReader<TcpStream>) -> Option<u8> {
    socket.fill_buf().ok()?.first().copied()
}

/// What comes soon.
fn rest(socket: &mut BufReader<TcpStream>) -> Vec<u8> {
    socket.get_ref().set_read_timeout(Some(REST)).expect("a time above zero");
    let mut rest = Vec::new();
    // It ends with the connection or the pause.
    _ = socket.read_to_end(&mut rest);
    rest
}
