//! Prints for one key where every known client would look for it, and what flags mean to each.
//!
//! `cargo run --example which_server -- user:42 10.0.0.1 10.0.0.2 '10.0.0.3?weight=2'`

#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use mcpool::{ServerList, interop};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let key = arguments.next().unwrap_or_else(|| "user:42".to_owned());
    let mut servers: Vec<String> = arguments.collect();
    if servers.is_empty() {
        servers = ["10.0.0.1", "10.0.0.2", "10.0.0.3?weight=2"].map(String::from).to_vec();
    }
    print!("{}", interop::explain(&key, ServerList::from(servers))?);
    Ok(())
}
