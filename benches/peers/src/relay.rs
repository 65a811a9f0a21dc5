//! A server at the far end of a slow line: passes bytes on, the replies later by a given time.
//!
//! One thread per direction; no thread runs while nothing is under way. The whole round trip's delay is put on the
//! replies, which comes to the same for a client and leaves the way there a plain copy.

use std::collections::VecDeque;
use std::io::{self, Read, Write, stdin};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::Outcome;

const PIECE: usize = 64 << 10;

/// Listens on a free port, which it prints, until its standard input ends.
pub(crate) fn serve(server: &str, micros: &str) -> Outcome<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let delay = Duration::from_micros(micros.parse()?);
    println!("{}", listener.local_addr()?);
    let server = server.to_owned();
    thread::spawn(move || {
        for client in listener.incoming() {
            // A connection that cannot be passed on is closed, which its client sees.
            if let Err(e) = client.and_then(|client| connect(client, &server, delay)) {
                eprintln!("relay: {e}");
            }
        }
    });
    io::copy(&mut stdin(), &mut io::sink())?;
    Ok(())
}

fn connect(client: TcpStream, server: &str, delay: Duration) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let (requests, replies) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || end(pass_on(&requests, &server), [&requests, &server]));
    thread::spawn(move || end(pass_on_later(&replies, &client, delay), [&replies, &client]));
    Ok(())
}

/// What one side closed, or broke, is over for the other.
fn end(_: io::Result<()>, streams: [&TcpStream; 2]) {
    for stream in streams {
        _ = stream.shutdown(Shutdown::Both);
    }
}

fn pass_on(mut from: &TcpStream, mut to: &TcpStream) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        match from.read(&mut piece)? {
            0 => return Ok(()),
            n => to.write_all(&piece[..n])?,
        }
    }
}

fn pass_on_later(mut from: &TcpStream, mut to: &TcpStream, delay: Duration) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    let mut waiting: VecDeque<(Instant, Vec<u8>)> = VecDeque::new();
    let mut is_over = false;
    while !is_over || !waiting.is_empty() {
        let left = waiting.front().map(|(due, _)| due.saturating_duration_since(Instant::now()));
        if is_over {
            thread::sleep(left.unwrap_or_default());
        } else if wait(from, left)? {
            match from.read(&mut piece)? {
                0 => is_over = true,
                n => waiting.push_back((Instant::now() + delay, piece[..n].to_vec())),
            }
        }
        let now = Instant::now();
        while waiting.front().is_some_and(|(due, _)| *due <= now) {
            let Some((_, bytes)) = waiting.pop_front() else { break };
            to.write_all(&bytes)?;
        }
    }
    Ok(())
}

/// Whether there is something to read, looking for this long at most.
fn wait(stream: &TcpStream, left: Option<Duration>) -> io::Result<bool> {
    let left = left.map(|left| Timespec {
        tv_sec: left.as_secs() as i64,
        tv_nsec: left.subsec_nanos().into(),
    });
    let mut fds = [PollFd::new(stream, PollFlags::IN)];
    match poll(&mut fds, left.as_ref()) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_come_whole_in_order_and_not_before_their_time() {
        let far = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(near.local_addr().unwrap()).unwrap();
        let delay = Duration::from_millis(20);
        let address = far.local_addr().unwrap().to_string();
        connect(near.accept().unwrap().0, &address, delay).unwrap();
        let (mut server, _) = far.accept().unwrap();

        client.write_all(b"ask").unwrap();
        let mut asked = [0; 3];
        server.read_exact(&mut asked).unwrap();
        assert_eq!(&asked, b"ask");

        let sent = Instant::now();
        let reply: Vec<u8> = (0..200_000_u32).map(|n| n as u8).collect();
        let written = thread::spawn(move || {
            server.write_all(&reply).unwrap();
            reply
        });
        let mut got = vec![0; 200_000];
        client.read_exact(&mut got).unwrap();
        assert!(sent.elapsed() >= delay);
        assert!(written.join().unwrap() == got);
    }
}
