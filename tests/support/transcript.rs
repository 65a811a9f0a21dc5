//! A conversation with a server, byte for byte: what is sent and what must come back.

use std::io::{ErrorKind, Read, Write};
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
        let mut socket = TcpStream::connect(addr).expect("the server accepts");
        socket.set_nodelay(true).expect("a socket option");
        let mut open = true;
        for (sent, expected) in &self.steps {
            self.step(&mut socket, sent, expected, piece)?;
            open = !expected.ends_with(CLOSED);
        }
        if open {
            self.step(&mut socket, "delete ~never~\r\n", "NOT_FOUND\r\n", usize::MAX)?;
            socket.shutdown(Shutdown::Write).expect("the socket is open");
            self.step(&mut socket, "", CLOSED, usize::MAX)?;
        }
        Ok(())
    }

    fn step(
        &self,
        socket: &mut TcpStream,
        sent: &str,
        expected: &str,
        piece: usize,
    ) -> Result<(), String> {
        for piece in sent.as_bytes().chunks(piece) {
            if socket.write_all(piece).is_err() {
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
fn hear(socket: &mut TcpStream, expected: &str) -> String {
    let (pattern, closed) = match expected.strip_suffix(CLOSED) {
        Some(pattern) => (pattern, true),
        None => (expected, false),
    };
    let mut got = Vec::new();
    let mut waiting = None;
    for byte in pattern.bytes() {
        let mut next = waiting.take().or_else(|| read(socket, PATIENCE));
        if byte == NUMBER && next.is_some_and(|byte| byte.is_ascii_digit()) {
            while next.is_some_and(|byte| byte.is_ascii_digit()) {
                next = read(socket, PATIENCE);
            }
            got.push(NUMBER);
            waiting = next;
            continue;
        }
        got.extend(next);
        if next != Some(byte) {
            got.extend(std::iter::from_fn(|| read(socket, REST)));
            break;
        }
    }
    got.extend(waiting);
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

fn read(socket: &mut TcpStream, timeout: Duration) -> Option<u8> {
    socket.set_read_timeout(Some(timeout)).expect("a time above zero");
    let mut byte = [0];
    match socket.read(&mut byte) {
        Ok(1) => Some(byte[0]),
        _ => None,
    }
}
