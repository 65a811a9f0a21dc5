//! mcpool against other clients, end to end: one program in several parts, each a process of its own.
//!
//! Without a part's name it is the conductor: it starts the servers, a driver per client, lets them work in turns,
//! and reports. What the drivers are told and what they answer is in `driver`.

mod aims;
mod args;
mod child;
mod conductor;
mod driver;
mod figures;
mod plan;
mod plots;
mod process;
mod relay;
mod report;
mod samples;
mod servers;
mod tables;

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Any failure, in words.
type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["driver", name, servers, connections, tag] => {
            driver::serve(name, servers, connections, tag)
        }
        ["relay", server, micros] => relay::serve(server, micros),
        ["spin"] => {
            spin();
            Ok(())
        }
        words => conductor::conduct(words),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("mcpool-peers: {e}");
            ExitCode::FAILURE
        }
    }
}

/// Keeps a processor busy until it is ended, and a minute at most: a neighbour that computes.
fn spin() {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) {
        for n in 0..10_000_u32 {
            std::hint::black_box(n);
        }
    }
}
