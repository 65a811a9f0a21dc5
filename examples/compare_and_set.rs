//! Several threads change one value, and no change is lost: read with `gets`, write with `cas`, try again.
//!
//! `cargo run --example compare_and_set`, on the servers in `MEMCACHED_SERVERS` when that is set.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to its reader")]

use mcpool::testing::TestServer;
use mcpool::{CasOutcome, Client, ServerList, Ttl};
use serde::{Deserialize, Serialize};

const THREADS: u64 = 4;
const CHANGES: u64 = 250;
const AMOUNT: u64 = 5;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Account {
    balance: u64,
    changes: u64,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let mut embedded = None;
    let servers = match ServerList::from_env() {
        Some(servers) => servers,
        None => embedded.insert(TestServer::start()?).address().into(),
    };
    let client = Client::builder().servers(servers).key_prefix("example:").build()?;
    client.set("account", &Account::default(), Ttl::NEVER)?;

    let retries = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| deposit(&client))).collect();
        let ends = threads.into_iter().map(|t| t.join().unwrap_or(Err("a thread panicked".into())));
        ends.sum::<Result<u64, Failure>>()
    })?;

    let account: Account = client.get("account")?.ok_or("the account is gone")?;
    println!(
        "{THREADS} threads, {CHANGES} deposits of {AMOUNT} each, {retries} had to be tried again: {account:?}"
    );
    if account.balance != THREADS * CHANGES * AMOUNT {
        return Err("a deposit was lost".into());
    }
    Ok(())
}

/// Deposits again and again; returns how often someone else was faster.
fn deposit(client: &Client) -> Result<u64, Failure> {
    let mut retries = 0;
    for _ in 0..CHANGES {
        loop {
            let mut item = client.gets::<Account>("account")?.ok_or("the account is gone")?;
            item.value.balance += AMOUNT;
            item.value.changes += 1;
            // Stored only if nobody has written the account since it was read.
            match client.cas("account", &item.value, Ttl::NEVER, &item.cas)? {
                CasOutcome::Stored => break,
                CasOutcome::Changed => retries += 1,
                other => return Err(format!("the account was not stored: {other:?}").into()),
            }
        }
    }
    Ok(retries)
}
