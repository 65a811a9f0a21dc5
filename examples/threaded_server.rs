//! A small threaded HTTP server in front of a slow table, with memcached beside it: cache-aside.
//!
//! `cargo run --example threaded_server` asks itself a few pages and ends;
//! `cargo run --example threaded_server 127.0.0.1:8080` serves until it is stopped.
//! It uses the servers in `MEMCACHED_SERVERS` when that is set.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to its reader")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use mcpool::testing::TestServer;
use mcpool::{Client, ServerList};
use serde::{Deserialize, Serialize};

const THREADS: usize = 4;

#[derive(Debug, Serialize, Deserialize)]
struct Page {
    title: String,
    words: Vec<String>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut embedded = None;
    let servers = match ServerList::from_env() {
        Some(servers) => servers,
        None => embedded.insert(TestServer::start()?).address().into(),
    };
    // One client for all threads. A cache that is away must not take the site down: outages are misses.
    let client = Client::builder()
        .servers(servers)
        .key_prefix("pages:")
        .timeout(Duration::from_millis(200))
        .errors_as_misses(true)
        .observer(|e| eprintln!("cache: {e}"))
        .build()?;

    let asked_for = std::env::args().nth(1);
    let listener = TcpListener::bind(asked_for.as_deref().unwrap_or("127.0.0.1:0"))?;
    let addr = listener.local_addr()?;
    println!("serving on http://{addr}/page/1 with {THREADS} threads");
    for _ in 0..THREADS {
        let (listener, client) = (listener.try_clone()?, client.clone());
        std::thread::spawn(move || serve(&listener, &client));
    }
    if asked_for.is_some() {
        loop {
            std::thread::park();
        }
    }
    for _ in 0..2 {
        for page in 1..=3 {
            println!("{}", ask(addr, page)?);
        }
    }
    Ok(())
}

/// Answers one request after another.
fn serve(listener: &TcpListener, client: &Client) {
    for stream in listener.incoming().flatten() {
        if let Err(e) = answer(stream, client) {
            eprintln!("request failed: {e}");
        }
    }
}

fn answer(mut stream: TcpStream, client: &Client) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut request = BufReader::new(&stream).take(8192);
    let mut line = String::new();
    request.read_line(&mut line)?;
    // The headers are of no interest here.
    let mut header = String::new();
    while request.read_line(&mut header)? > 2 {
        header.clear();
    }
    let id = line.split(' ').nth(1).and_then(|path| path.strip_prefix("/page/")?.parse().ok());
    let (status, body) = match id {
        Some(id) => match page(client, id) {
            Ok((page, from)) => {
                ("200 OK", format!("{} ({} words, from the {from})", page.title, page.words.len()))
            }
            Err(e) => ("500 Internal Server Error", e.to_string()),
        },
        None => ("404 Not Found", "ask for /page/N".to_owned()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Cache-aside: look into the cache; on a miss do the work and leave the result for the next one.
fn page(client: &Client, id: u32) -> mcpool::Result<(Page, &'static str)> {
    if let Some(page) = client.get(id.to_string())? {
        return Ok((page, "cache"));
    }
    let page = slow_table(id);
    client.set(id.to_string(), &page, Duration::from_secs(60))?;
    Ok((page, "table"))
}

/// Stands for a query that takes its time.
fn slow_table(id: u32) -> Page {
    std::thread::sleep(Duration::from_millis(20));
    Page { title: format!("Page {id}"), words: vec!["word".to_owned(); 10 * id as usize] }
}

/// Asks the server for a page, as a browser would.
fn ask(addr: SocketAddr, page: u32) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(addr)?;
    write!(stream, "GET /page/{page} HTTP/1.1\r\nHost: {addr}\r\n\r\n")?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply)?;
    Ok(reply.rsplit("\r\n\r\n").next().unwrap_or_default().to_owned())
}
