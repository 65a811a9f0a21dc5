//! Makes a number of calls on a warm pool with one thread, for its system calls to be counted.

use mcpool::{Client, Ttl};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("usage: mcpool-counted SERVER get|set|many CALLS");
    let (server, verb, calls) = (next()?, next()?, next()?.parse::<u32>()?);
    // No maintenance thread, so that only calls are counted.
    let client = Client::builder()
        .servers(server)
        .maintenance_interval(std::time::Duration::ZERO)
        .build()?;
    let keys: Vec<String> = (0..100).map(|n| format!("key{n}")).collect();
    client
        .set_many(keys.iter().map(|key| (key, "0123456789abcdef0123456789abcdef")), Ttl::NEVER)
        .into_result()?;
    let mut buffer = Vec::new();
    for _ in 0..calls {
        match verb.as_str() {
            "get" => drop(client.get_raw_into("key7", &mut buffer)?.ok_or("a miss")?),
            "set" => client.set("key7", "0123456789abcdef0123456789abcdef", Ttl::NEVER)?,
            _ => assert_eq!(client.get_many::<String, _>(&keys).iter().count(), 100),
        }
    }
    Ok(())
}
