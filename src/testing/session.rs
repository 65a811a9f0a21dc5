//! One connection: bytes to commands, replies to bytes.

use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use super::clock::Clock;
use super::command::{self, Command, Header, Request};
use super::connections::Connections;
use super::endpoint::Stream;
use super::events::{Event, Events};
use super::fault::{Answer, Fault, Script, Then};
use super::stats::Status;
use super::store::Store;
use super::{lock, perform};

/// How much is read at once.
const READ: usize = 16 * 1024;
/// A line that is longer than this and not yet complete closes the connection, unless it is a get's.
const MAX_LINE: usize = 2048;
/// More than any sensible get; the test's memory is finite.
const MAX_GET_LINE: usize = 64 * 1024 * 1024;
/// How far from the start of an incomplete line its `get` may stand.
const MAX_INDENT: usize = 100;
/// The first byte of every request in the binary dialect.
const BINARY: u8 = 0x80;

/// What all connections of a server share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) address: String,
    pub(super) store: Mutex<Store>,
    pub(super) clock: Clock,
    pub(super) started: Mutex<Duration>,
    pub(super) events: Events,
    pub(super) script: Script,
    pub(super) connections: Connections,
}

impl Shared {
    /// The items as they are at this time.
    pub(super) fn settled(&self, now: Duration) -> MutexGuard<'_, Store> {
        let mut store = lock(&self.store);
        store.settle(now);
        store
    }

    fn status(&self, now: Duration) -> Status {
        Status {
            uptime: now.saturating_sub(*lock(&self.started)),
            connections: self.connections.count(),
            accepted: self.connections.accepted(),
            address: self.address.clone(),
        }
    }
}

/// A connection that is being served; dropping it tells everyone that it has ended.
#[derive(Debug)]
pub(super) struct Session {
    id: u64,
    stream: Stream,
    shared: Arc<Shared>,
    /// What was read and not yet used.
    input: Vec<u8>,
    /// Replies not yet written: they go out together once the input is exhausted.
    output: Vec<u8>,
}

impl Session {
    pub(super) fn new(id: u64, stream: Stream, shared: Arc<Shared>) -> Self {
        Self { id, stream, shared, input: Vec::new(), output: Vec::new() }
    }

    /// Serves the connection until one side ends it. An error of the socket is such an end.
    pub(super) fn run(mut self) {
        _ = self.serve();
    }

    fn serve(&mut self) -> io::Result<()> {
        if let Some(words) = self.shared.script.turn_away() {
            return self.stream.write_all(&words);
        }
        while let Some(line) = self.line()? {
            let request = command::parse(&line);
            self.shared.events.command(self.id, &line);
            if matches!(request.command, Command::Quit) {
                break;
            }
            // Before the faults are looked up, so that clearing them hurries whatever they made late.
            let hurries = self.shared.connections.hurries();
            let faults = self.shared.script.due(command::verb(&line));
            let instead = faults.iter().any(|fault| matches!(fault, Fault::Reply(_)));
            let Some(mut reply) = self.reply(&line, &request, instead)? else { break };
            if request.noreply {
                reply.clear();
            }
            if !self.send(Answer::new(reply, faults), hurries)? {
                return Ok(());
            }
        }
        self.flush()
    }

    /// Carries a command out, its value read first; none when the connection ended before it was complete.
    fn reply(
        &mut self,
        line: &[u8],
        request: &Request,
        instead: bool,
    ) -> io::Result<Option<Vec<u8>>> {
        if let Command::Store(header) = &request.command {
            return self.store(header, instead);
        }
        if instead {
            return Ok(Some(Vec::new()));
        }
        if matches!(request.command, Command::Metadump { .. }) && !self.output.is_empty() {
            return Ok(Some(b"ERROR cannot pipeline other commands before metadump\r\n".to_vec()));
        }
        let shared = &self.shared;
        let now = shared.clock.unix();
        let status = || shared.status(now);
        let reply = perform::command(&request.command, &mut shared.settled(now), status, now);
        Ok(Some(reply.unwrap_or_else(|| {
            shared.events.unknown(self.id, line);
            perform::UNKNOWN.to_vec()
        })))
    }

    fn store(&mut self, header: &Header, instead: bool) -> io::Result<Option<Vec<u8>>> {
        // The two bytes behind the value.
        let len = header.len + 2;
        if instead {
            return Ok(self.skip(len)?.then(Vec::new));
        }
        if !self.shared.settled(self.shared.clock.unix()).admits(header) {
            return Ok(self.skip(len)?.then(|| perform::TOO_LARGE.to_vec()));
        }
        let Some(body) = self.take(len)? else { return Ok(None) };
        let now = self.shared.clock.unix();
        Ok(Some(perform::store(&mut self.shared.settled(now), header, body, now)))
    }

    /// The next line without its end; none when there will be none.
    fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut searched = 0;
        loop {
            let fresh = self.input.get(searched..).unwrap_or_default();
            if let Some(end) = fresh.iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.input.drain(..=searched + end).collect();
                line.pop();
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Ok(Some(line));
            }
            searched = self.input.len();
            if self.input.first() == Some(&BINARY) || too_long(&self.input) {
                self.shared
                    .events
                    .unknown(self.id, self.input.get(..MAX_INDENT).unwrap_or(&self.input));
                return Ok(None);
            }
            self.flush()?;
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// The value of a store. As in memcached, replies before it are held back until it is complete.
    fn take(&mut self, len: usize) -> io::Result<Option<Vec<u8>>> {
        while self.input.len() < len {
            if !self.fill()? {
                return Ok(None);
            }
        }
        Ok(Some(self.input.drain(..len).collect()))
    }

    /// Reads over what is not wanted; false when the connection ended first.
    fn skip(&mut self, mut len: usize) -> io::Result<bool> {
        while len > self.input.len() {
            len -= self.input.len();
            self.input.clear();
            if !self.fill()? {
                return Ok(false);
            }
        }
        self.input.drain(..len);
        Ok(true)
    }

    /// Reads more; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let used = self.input.len();
        self.input.resize(used + READ, 0);
        let read = self.stream.read(self.input.get_mut(used..).unwrap_or_default());
        self.input.truncate(used + read.as_ref().unwrap_or(&0));
        read.map(|read| read > 0)
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = self.stream.write_all(&self.output);
        self.output.clear();
        written
    }

    /// Sends a reply, with its pauses unless there was a hurry since; false when the connection is done with.
    fn send(&mut self, answer: Answer, hurries: u64) -> io::Result<bool> {
        if answer.delay > Duration::ZERO {
            self.flush()?;
            if !self.shared.connections.pause(self.id, answer.delay, hurries) {
                return Ok(false);
            }
        }
        match answer.dribble {
            None => self.output.extend(answer.bytes),
            Some((bytes, pause)) => {
                for (n, piece) in answer.bytes.chunks(bytes).enumerate() {
                    if n > 0 && !self.shared.connections.pause(self.id, pause, hurries) {
                        return Ok(false);
                    }
                    self.output.extend(piece);
                    self.flush()?;
                }
            }
        }
        if answer.then == Then::GoOn {
            return Ok(true);
        }
        self.flush()?;
        if answer.then == Then::Hang {
            io::copy(&mut self.stream, &mut io::sink())?;
        }
        Ok(false)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.shared.connections.remove(self.id);
        self.stream.shutdown();
        self.shared.events.push(Event::Closed { connection: self.id });
    }
}

/// Whether an incomplete line is too long to wait for its end: only a get may name so many keys.
fn too_long(line: &[u8]) -> bool {
    let indent = line.iter().take_while(|byte| **byte == b' ').count();
    let words = line.get(indent..).unwrap_or_default();
    let get = indent <= MAX_INDENT && (words.starts_with(b"get ") || words.starts_with(b"gets "));
    line.len() > if get { MAX_GET_LINE } else { MAX_LINE }
}
