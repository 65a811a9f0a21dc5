//! A client at work, told what to do line by line, so that clients in other languages can be told the same.
//!
//! Told on standard input: `OP THREADS MILLIS SIZE`, and the end of it is the end of the driver. Answered on
//! standard output: `begin` once the buffers are warm, then `ok CALLS NANOSECONDS P50 P99`, the last two in
//! nanoseconds; or `unsupported`, or `failed WHY`.
//!
//! | OP | a call | SIZE |
//! |---|---|---|
//! | `set`, `get`, `delete` | one key, text | length of the value |
//! | `set-map`, `get-map` | a map of 100 structs | – |
//! | `get-many` | one call for many keys, 32-byte values | number of keys |
//! | `fill` | a struct under a key of its own, until SIZE are stored; MILLIS does not count | number of structs |

mod classic;
mod exp;
mod load;
mod ours;
mod raw;
mod values;

use std::io::{BufRead, Write, stdin, stdout};
use std::str::FromStr;
use std::time::Duration;

use crate::Outcome;
use values::{Element, Map};

pub(crate) use ours::VARIANTS;

/// A client, shared by all threads.
trait Peer: Sync {
    /// What one thread works with.
    fn session(&self) -> Outcome<Box<dyn Session + '_>>;
}

/// The calls of one thread.
trait Session {
    fn set(&mut self, key: &str, value: &str) -> Outcome<()>;
    fn get(&mut self, key: &str) -> Outcome<Option<String>>;
    fn delete(&mut self, key: &str) -> Outcome<()>;
    fn set_map(&mut self, key: &str, map: &Map) -> Outcome<()>;
    fn get_map(&mut self, key: &str) -> Outcome<Option<Map>>;
    fn set_element(&mut self, key: &str, element: &Element) -> Outcome<()>;
    /// How many of the keys have a value.
    fn get_many(&mut self, keys: &[String]) -> Outcome<usize>;
}

/// What a driver is asked to do.
#[derive(Debug, Clone, Copy)]
struct Ask {
    op: Op,
    threads: usize,
    time: Duration,
    size: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Set,
    Get,
    Delete,
    SetMap,
    GetMap,
    GetMany,
    Fill,
}

/// Serves the client of that name; `connections` is the most it may open to a server, 0 its own choice.
pub(crate) fn serve(name: &str, servers: &str, connections: &str, tag: &str) -> Outcome<()> {
    let servers: Vec<String> = servers.split(',').map(str::to_owned).collect();
    let connections = connections.parse()?;
    let peer: Box<dyn Peer> = match name {
        "raw" => Box::new(raw::Floor::blocking(servers)),
        "raw-poll" => Box::new(raw::Floor::polling(servers)),
        "memcache" => Box::new(classic::connect(&servers, connections)?),
        "memcache-exp" => Box::new(exp::connect(&servers, connections)?),
        name => Box::new(ours::connect(name, &servers, connections)?),
    };
    for line in stdin().lock().lines() {
        let ask = line?.parse()?;
        let begin = || {
            println!("begin");
            _ = stdout().flush();
        };
        match load::measure(&*peer, ask, tag, begin) {
            Ok(figures) => println!("ok {figures}"),
            Err(e) => println!("failed {}", e.to_string().replace('\n', " ")),
        }
        stdout().flush()?;
    }
    Ok(())
}

impl FromStr for Ask {
    type Err = Box<dyn std::error::Error + Send + Sync>;

    fn from_str(line: &str) -> Outcome<Self> {
        let words: Vec<_> = line.split(' ').collect();
        let [op, threads, millis, size] = words[..] else {
            return Err(format!("not OP THREADS MILLIS SIZE: {line}").into());
        };
        let op = match op {
            "set" => Op::Set,
            "get" => Op::Get,
            "delete" => Op::Delete,
            "set-map" => Op::SetMap,
            "get-map" => Op::GetMap,
            "get-many" => Op::GetMany,
            "fill" => Op::Fill,
            other => return Err(format!("no such operation: {other}").into()),
        };
        let time = Duration::from_millis(millis.parse()?);
        Ok(Self { op, threads: threads.parse()?, time, size: size.parse()? })
    }
}
