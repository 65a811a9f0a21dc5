//! Makes a number of calls on a warm pool with one thread, for its system calls and instructions to be counted.

mod raw;

use mcpool::{Client, Ttl};
use raw::Raw;

type Outcome = Result<(), Box<dyn std::error::Error>>;

const KEY: &str = "key7";
const VALUE: &str = "0123456789abcdef0123456789abcdef";

fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let mut next = || {
        arguments.next().ok_or("usage: mcpool-counted SERVER get|set|many|raw-get|raw-set CALLS")
    };
    let (server, kind, calls) = (next()?, next()?, next()?.parse()?);
    match kind.as_str() {
        "raw-get" | "raw-set" => raw_calls(&server, &kind, calls),
        _ => client_calls(server, &kind, calls),
    }
}

fn client_calls(server: String, kind: &str, calls: u32) -> Outcome {
    // No maintenance thread, so that only calls are counted.
    let client = Client::builder()
        .servers(server)
        .maintenance_interval(std::time::Duration::ZERO)
        .build()?;
    let keys: Vec<String> = (0..100).map(|n| format!("key{n}")).collect();
    client.set_many(keys.iter().map(|key| (key, VALUE)), Ttl::NEVER).into_result()?;
    let mut buffer = Vec::new();
    for _ in 0..calls {
        match kind {
            "get" => drop(client.get_raw_into(KEY, &mut buffer)?.ok_or("a miss")?),
            "set" => client.set(KEY, VALUE, Ttl::NEVER)?,
            "many" => assert_eq!(client.get_many::<String, _>(&keys).iter().count(), 100),
            _ => return Err(format!("no kind of calls: {kind}").into()),
        }
    }
    Ok(())
}

fn raw_calls(server: &str, kind: &str, calls: u32) -> Outcome {
    let mut raw = Raw::connect(server)?;
    raw.set(KEY.as_bytes(), VALUE.as_bytes())?;
    let mut buffer = Vec::new();
    for _ in 0..calls {
        match kind {
            "raw-get" => assert!(raw.get(KEY.as_bytes(), &mut buffer)?, "a miss"),
            _ => raw.set(KEY.as_bytes(), VALUE.as_bytes())?,
        }
    }
    Ok(())
}
