//! The floor: the least that a program does for a call on one blocking socket, for the client to be held against.
//!
//! It builds the request from its parts, writes it, reads the whole reply, checks it and takes the value out.
//! It has no deadline, no pool, no second server, and trusts what it reads.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;

/// One socket with its buffers; a reply has at most 128 KiB.
#[derive(Debug)]
pub struct Raw {
    stream: TcpStream,
    request: Vec<u8>,
    reply: Vec<u8>,
}

impl Raw {
    /// Connects to `host:port`.
    pub fn connect(server: &str) -> Result<Self> {
        let stream = TcpStream::connect(server)?;
        stream.set_nodelay(true)?;
        Ok(Self::over(stream))
    }

    /// Over a socket of the caller's; on one that does not block it looks for each reply again and again, yielding, and
    /// takes small requests only.
    pub fn over(stream: TcpStream) -> Self {
        Self { stream, request: Vec::new(), reply: vec![0; 128 << 10] }
    }

    /// Reads a value into `value`, which is emptied first; `false` when there is none.
    pub fn get(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        self.request.clear();
        self.request.extend_from_slice(b"get ");
        self.request.extend_from_slice(key);
        self.request.extend_from_slice(b"\r\n");
        value.clear();
        let reply = self.exchange(b"END\r\n")?;
        if reply == b"END\r\n" {
            return Ok(false);
        }
        let line = reply.iter().position(|b| *b == b'\r').ok_or(ErrorKind::InvalidData)?;
        let (line, rest) = reply.split_at(line);
        let len = line.rsplit(|b| *b == b' ').next().ok_or(ErrorKind::InvalidData)?;
        let len = len.iter().fold(0, |n, digit| n * 10 + usize::from(digit - b'0'));
        value.extend_from_slice(rest.get(2..2 + len).ok_or(ErrorKind::InvalidData)?);
        Ok(true)
    }

    /// Stores a value without an expiry time.
    pub fn set(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.request.clear();
        self.request.extend_from_slice(b"set ");
        self.request.extend_from_slice(key);
        self.request.extend_from_slice(b" 0 0 ");
        self.request.extend_from_slice(itoa::Buffer::new().format(value.len()).as_bytes());
        self.request.extend_from_slice(b"\r\n");
        self.request.extend_from_slice(value);
        self.request.extend_from_slice(b"\r\n");
        match self.exchange(b"\r\n")? {
            b"STORED\r\n" => Ok(()),
            other => Err(Error::other(String::from_utf8_lossy(other).into_owned())),
        }
    }

    /// Writes the request and reads until the reply ends with `end`.
    fn exchange(&mut self, end: &[u8]) -> Result<&[u8]> {
        self.stream.write_all(&self.request)?;
        let mut len = 0;
        while !self.reply[..len].ends_with(end) {
            match self.stream.read(&mut self.reply[len..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(n) => len += n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => std::thread::yield_now(),
                Err(e) => return Err(e),
            }
        }
        Ok(&self.reply[..len])
    }
}
