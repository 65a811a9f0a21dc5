//! Several threads change one value, and no change is lost: read with `gets`, write with `cas`, try again.
//!
//! `cargo run --example compare_and_set`

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to its reader")]

use mcpool::testing::TestServer;
use mcpool::{CasOutcome, Client, Ttl};
use serde::{Deserialize, Serialize};

const THREADS: u64 = 4;
const CHANGES: u64 = 250;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Account {
    balance: u64,
    changes: u64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = TestServer::start()?;
    let client = Client::new(server.address())?;
    client.set("account", &Account::default(), Ttl::NEVER)?;

    let retries = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| deposit(&client))).collect();
        threads
            .into_iter()
            .map(|t| t.join().unwrap_or_else(|_| Err("a thread panicked".into())))
            .sum::<Result<u64, String>>()
    })?;

    let account: Account = client.get("account")?.ok_or("the account is gone")?;
    println!(
        "{THREADS} threads, {CHANGES} deposits of 5 each, {retries} had to be tried again: {account:?}"
    );
    if account.balance != THREADS * CHANGES * 5 {
        return Err("a deposit was lost".into());
    }
    Ok(())
}

/// Deposits again and again; returns how often someone else was faster.
fn deposit(client: &Client) -> Result<u64, String> {
    let mut retries = 0;
    for _ in 0..CHANGES {
        loop {
            let item = client
                .gets::<Account>("account")
                .map_err(|e| e.to_string())?
                .ok_or("the account is gone")?;
            let account =
                Account { balance: item.value.balance + 5, changes: item.value.changes + 1 };
            match client
                .cas("account", &account, Ttl::NEVER, &item.cas)
                .map_err(|e| e.to_string())?
            {
                CasOutcome::Stored => break,
                CasOutcome::Changed => retries += 1,
                other => return Err(format!("{other:?}")),
            }
        }
    }
    Ok(retries)
}
