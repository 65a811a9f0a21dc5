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
        arguments.next().ok_or(
            "usage: mcpool-counted SERVERS get|set|get-many|gets-many|set-many|delete-many|raw-get|raw-set CALLS [KEYS]",
        )
    };
    let (servers, kind, calls) = (next()?, next()?, next()?.parse()?);
    match kind.as_str() {
        "raw-get" | "raw-set" => raw_calls(&servers, &kind, calls),
        _ => client_calls(servers, &kind, calls, arguments.next().map_or(Ok(100), |n| n.parse())?),
    }
}

fn client_calls(servers: String, kind: &str, calls: u32, keys: usize) -> Outcome {
    // No maintenance thread, so that only calls are counted.
    let client = Client::builder()
        .servers(servers)
        .maintenance_interval(std::time::Duration::ZERO)
        .build()?;
    let keys: Vec<String> = (0..keys).map(|n| format!("key{n}")).collect();
    let entries = || keys.iter().map(|key| (key, VALUE));
    client.set_many(entries(), Ttl::NEVER).into_result()?;
    let mut buffer = Vec::new();
    for _ in 0..calls {
        match kind {
            "get" => drop(client.get_raw_into(KEY, &mut buffer)?.ok_or("a miss")?),
            "set" => client.set(KEY, VALUE, Ttl::NEVER)?,
            "get-many" => {
                assert_eq!(client.get_many::<String, _>(&keys).iter().count(), keys.len());
            }
            "gets-many" => {
                assert_eq!(client.gets_many::<String, _>(&keys).iter().count(), keys.len());
            }
            "set-many" => assert_eq!(client.set_many(entries(), Ttl::NEVER).failures().count(), 0),
            "delete-many" => assert_eq!(client.delete_many(&keys).failures().count(), 0),
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
