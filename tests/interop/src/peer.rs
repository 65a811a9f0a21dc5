//! A peer: another client in a process of its own, driven by lines.
//!
//! A driver is a small program in `peers/`. It reads one request a line from its standard input and answers each with
//! one line. Words are divided by one blank. KEY and BYTES are hexadecimal, `-` when empty; KIND says what the bytes
//! are (`text`, `int` in decimal, `float` as its eight bytes, …), and each driver knows the kinds that its language has.
//!
//! ```text
//! version                          version TEXT
//! open OPTION=VALUE …              ok              among them server=HOST:PORT:WEIGHT, any number of them
//! set KEY KIND BYTES SECONDS       ok | no
//! get KEY                          KIND BYTES | miss
//! many KEY …                       found KEY KIND BYTES …    the hits, in any order
//! incr KEY N                       count N | miss
//! where KEY                        server HOST:PORT          where the client computes it without asking
//!
//! anything                         error TEXT
//! ```

use std::collections::HashMap;
use std::env;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::cluster::Place;
use crate::value::{Value, hex, unhex};

/// A peer that takes longer for one answer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running driver; ended when dropped.
#[derive(Debug)]
pub struct Peer {
    name: String,
    child: Child,
    requests: BufWriter<ChildStdin>,
    answers: Receiver<String>,
}

impl Peer {
    /// Starts the driver of that name, which `tests/interop/run` has made.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn start(name: &str) -> Self {
        let folder = env::var_os("MCPOOL_PEERS").expect("run these tests with tests/interop/run");
        let file = PathBuf::from(folder).join(name);
        let mut child = Command::new(&file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let requests = BufWriter::new(child.stdin.take().expect("piped"));
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let (sender, answers) = channel();
        // Answers are taken in as they come, so that neither side's full pipe stops the other, and waiting for one can end.
        // The thread ends with the process.
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { name: name.to_owned(), child, requests, answers }
    }

    /// A new client in the driver, on these servers.
    ///
    /// # Panics
    /// If it refuses an option.
    pub fn open(&mut self, servers: &[Place], options: &[(&str, &str)]) {
        let options = options.iter().map(|(name, value)| format!(" {name}={value}"));
        let servers = servers
            .iter()
            .map(|at| format!(" server={}:{}:{}", at.host, at.addr.port(), at.weight));
        let line: String = options.chain(servers).collect();
        self.expect_ok(&format!("open{line}"));
    }

    /// Stores a value for ever.
    ///
    /// # Errors
    /// What the peer says if it does not store it.
    pub fn set(&mut self, key: &str, value: &Value) -> Result<(), String> {
        let answer = self.ask(&format!("set {} {} 0", hex(key.as_bytes()), value.words()));
        if answer == "ok" { Ok(()) } else { Err(answer) }
    }

    /// Reads a value; none for a miss.
    ///
    /// # Errors
    /// What the peer says if it is neither.
    pub fn get(&mut self, key: &str) -> Result<Option<Value>, String> {
        let answer = self.ask(&format!("get {}", hex(key.as_bytes())));
        found(&answer)
    }

    /// The hits among these keys, by one call of the peer.
    ///
    /// # Panics
    /// If the peer fails.
    pub fn many(&mut self, keys: &[String]) -> HashMap<String, Value> {
        let words: String = keys.iter().map(|key| format!(" {}", hex(key.as_bytes()))).collect();
        let answer = self.ask(&format!("many{words}"));
        let words: Vec<&str> = answer.split(' ').collect();
        assert_eq!(words.first(), Some(&"found"), "{} answers many with {answer}", self.name);
        let hits = words[1..].chunks(3).map(|hit| match hit {
            [key, kind, word] => {
                let key = unhex(key).and_then(|key| String::from_utf8(key).ok());
                key.zip(Value::from_words(kind, word)).unwrap_or_else(|| panic!("{hit:?}"))
            }
            _ => panic!("{} answers many with {answer}", self.name),
        });
        hits.collect()
    }

    /// Adds to a counter; none for a miss.
    ///
    /// # Panics
    /// If the peer fails.
    pub fn incr(&mut self, key: &str, by: u64) -> Option<u64> {
        let answer = self.ask(&format!("incr {} {by}", hex(key.as_bytes())));
        let count = answer.strip_prefix("count ").map(|count| count.parse().expect("a number"));
        assert!(count.is_some() || answer == "miss", "{} answers incr with {answer}", self.name);
        count
    }

    /// Stores all of them.
    ///
    /// # Panics
    /// If the peer does not store one.
    pub fn set_all(&mut self, values: &[(String, Value)]) {
        let ask = |(key, value): &(String, Value)| {
            format!("set {} {} 0", hex(key.as_bytes()), value.words())
        };
        let lines: Vec<String> = values.iter().map(ask).collect();
        for (answer, (key, _)) in self.ask_all(&lines).iter().zip(values) {
            assert_eq!(answer, "ok", "{} stores {key}", self.name);
        }
    }

    /// Reads the keys, one call each.
    ///
    /// # Panics
    /// If the peer fails.
    pub fn get_all(&mut self, keys: &[String]) -> Vec<Option<Value>> {
        let lines: Vec<String> =
            keys.iter().map(|key| format!("get {}", hex(key.as_bytes()))).collect();
        let answers = self.ask_all(&lines);
        let values = answers.iter().zip(keys).map(|(answer, key)| {
            found(answer).unwrap_or_else(|why| panic!("{} reads {key}: {why}", self.name))
        });
        values.collect()
    }

    /// Where the peer would send each key.
    ///
    /// # Panics
    /// If it does not tell.
    pub fn servers_for(&mut self, keys: &[String]) -> Vec<String> {
        let lines: Vec<String> =
            keys.iter().map(|key| format!("where {}", hex(key.as_bytes()))).collect();
        let answers = self.ask_all(&lines);
        let server = |answer: &String| {
            let server = answer.strip_prefix("server ").map(str::to_owned);
            server.unwrap_or_else(|| panic!("{} answers where with {answer}", self.name))
        };
        answers.iter().map(server).collect()
    }

    fn expect_ok(&mut self, line: &str) {
        let answer = self.ask(line);
        assert_eq!(answer, "ok", "{} answers {line}", self.name);
    }

    fn ask_all(&mut self, lines: &[String]) -> Vec<String> {
        for line in lines {
            self.send(line);
        }
        lines.iter().map(|line| self.receive(line)).collect()
    }

    fn ask(&mut self, line: &str) -> String {
        self.send(line);
        self.receive(line)
    }

    fn send(&mut self, line: &str) {
        let sent = writeln!(self.requests, "{line}");
        sent.unwrap_or_else(|e| panic!("{} is gone before {}: {e}", self.name, short(line)));
    }

    fn receive(&mut self, line: &str) -> String {
        let flushed = self.requests.flush();
        flushed.unwrap_or_else(|e| panic!("{} is gone before {}: {e}", self.name, short(line)));
        self.answers.recv_timeout(PATIENCE).unwrap_or_else(|why| match why {
            RecvTimeoutError::Timeout => panic!("{} hangs over {}", self.name, short(line)),
            RecvTimeoutError::Disconnected => panic!("{} died of {}", self.name, short(line)),
        })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// What an answer to a get says.
fn found(answer: &str) -> Result<Option<Value>, String> {
    if answer == "miss" {
        return Ok(None);
    }
    let value = answer.split_once(' ').and_then(|(kind, word)| Value::from_words(kind, word));
    value.map(Some).ok_or_else(|| answer.to_owned())
}

/// The start of a line that may hold a large value.
fn short(line: &str) -> &str {
    line.get(..200).unwrap_or(line)
}
