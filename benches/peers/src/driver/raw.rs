//! The floor: one blocking socket per thread and server, with nothing around it.

#[path = "../../../../tests/counted/src/raw.rs"]
mod one;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use super::values::{Element, Map};
use super::{Peer, Session};
use crate::Outcome;
use one::Raw;

/// Where its sessions connect to, and how.
pub(super) struct Floor {
    servers: Vec<String>,
    connect: fn(&str) -> std::io::Result<Raw>,
}

impl Floor {
    pub(super) fn blocking(servers: Vec<String>) -> Self {
        Self { servers, connect: Raw::connect }
    }

    pub(super) fn polling(servers: Vec<String>) -> Self {
        Self { servers, connect: polling }
    }
}

/// A socket that is asked for each reply until it has it.
fn polling(server: &str) -> std::io::Result<Raw> {
    let stream = TcpStream::connect(server)?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    Ok(Raw::over(stream))
}

impl Peer for Floor {
    fn session(&self) -> Outcome<Box<dyn Session + '_>> {
        let mut sockets = Vec::new();
        for server in &self.servers {
            let stream = TcpStream::connect(server)?;
            stream.set_nodelay(true)?;
            sockets.push(((self.connect)(server)?, BufReader::new(stream)));
        }
        Ok(Box::new(Sockets { sockets, value: Vec::new() }))
    }
}

/// For each server one socket for single calls, and one for many keys at once.
struct Sockets {
    sockets: Vec<(Raw, BufReader<TcpStream>)>,
    value: Vec<u8>,
}

impl Sockets {
    /// The server that a key lives on.
    fn place(&self, key: &str) -> usize {
        key.bytes().map(usize::from).sum::<usize>() % self.sockets.len()
    }

    fn at(&mut self, key: &str) -> &mut Raw {
        let place = self.place(key);
        &mut self.sockets[place].0
    }

    fn set_json(&mut self, key: &str, value: &impl serde::Serialize) -> Outcome<()> {
        let json = serde_json::to_vec(value)?;
        Ok(self.at(key).set(key.as_bytes(), &json)?)
    }

    /// The value's bytes.
    fn read(&mut self, key: &str) -> Outcome<Option<&[u8]>> {
        let place = self.place(key);
        let found = self.sockets[place].0.get(key.as_bytes(), &mut self.value)?;
        Ok(found.then_some(&self.value))
    }
}

impl Session for Sockets {
    fn set(&mut self, key: &str, value: &str) -> Outcome<()> {
        Ok(self.at(key).set(key.as_bytes(), value.as_bytes())?)
    }

    fn get(&mut self, key: &str) -> Outcome<Option<String>> {
        let value = self.read(key)?;
        Ok(value.map(|bytes| String::from_utf8(bytes.to_vec())).transpose()?)
    }

    fn delete(&mut self, key: &str) -> Outcome<()> {
        let place = self.place(key);
        let socket = &mut self.sockets[place].1;
        socket.get_mut().write_all(format!("delete {key}\r\n").as_bytes())?;
        let mut line = String::new();
        socket.read_line(&mut line)?;
        match line.as_str() {
            "DELETED\r\n" | "NOT_FOUND\r\n" => Ok(()),
            other => Err(other.into()),
        }
    }

    fn set_map(&mut self, key: &str, map: &Map) -> Outcome<()> {
        self.set_json(key, map)
    }

    fn get_map(&mut self, key: &str) -> Outcome<Option<Map>> {
        Ok(self.read(key)?.map(serde_json::from_slice).transpose()?)
    }

    fn set_element(&mut self, key: &str, element: &Element) -> Outcome<()> {
        self.set_json(key, element)
    }

    fn get_many(&mut self, keys: &[String]) -> Outcome<usize> {
        let mut lines = vec![String::from("get"); self.sockets.len()];
        for key in keys {
            let line = &mut lines[self.place(key)];
            line.push(' ');
            line.push_str(key);
        }
        for ((_, socket), line) in self.sockets.iter_mut().zip(&mut lines) {
            line.push_str("\r\n");
            socket.get_mut().write_all(line.as_bytes())?;
        }
        let mut found = Vec::with_capacity(keys.len());
        for (_, socket) in &mut self.sockets {
            read_values(socket, &mut found)?;
        }
        Ok(found.len())
    }
}

/// Reads values until `END`.
fn read_values(socket: &mut BufReader<TcpStream>, found: &mut Vec<String>) -> Outcome<()> {
    let mut line = String::new();
    loop {
        line.clear();
        socket.read_line(&mut line)?;
        if line == "END\r\n" {
            return Ok(());
        }
        let len = line.trim_end().rsplit(' ').next().ok_or("no length")?.parse::<usize>()?;
        let mut value = vec![0; len + 2];
        socket.read_exact(&mut value)?;
        value.truncate(len);
        found.push(String::from_utf8(value)?);
    }
}
