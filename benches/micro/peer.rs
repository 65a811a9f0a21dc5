//! A peer that answers each request at once with what it expects: the same hit for a get, yes for a set.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// Starts one on a free port and returns its address; it ends with the program.
pub fn start(value: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    let hit = format!(" 0 {}\r\n{value}\r\nEND\r\n", value.len());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let hit = hit.clone();
            thread::spawn(move || answer(stream, &hit));
        }
    });
    address
}

/// One request at a time, which comes in one piece.
fn answer(mut stream: TcpStream, hit: &str) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let (mut request, mut reply) = (vec![0; 4096], Vec::new());
    loop {
        let n = stream.read(&mut request).ok().filter(|n| *n > 0)?;
        reply.clear();
        match request.get(..n)?.strip_prefix(b"get ") {
            Some(key) => {
                reply.extend_from_slice(b"VALUE ");
                reply.extend_from_slice(key.trim_ascii_end());
                reply.extend_from_slice(hit.as_bytes());
            }
            None => reply.extend_from_slice(b"STORED\r\n"),
        }
        stream.write_all(&reply).ok()?;
    }
}
