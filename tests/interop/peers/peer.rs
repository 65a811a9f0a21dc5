//! Drives the `memcache` crate by lines on its standard input; src/peer.rs has the language.

use std::collections::HashMap;
use std::env;
use std::io::{self, BufRead, Write};

use mcpool_interop_tests::value::{Value, hex, unhex};
use memcache::{Client, CommandError, MemcacheError};

fn main() -> io::Result<()> {
    let mut client = None;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let answer = perform(&mut client, words[0], &words[1..]);
        let answer = answer.unwrap_or_else(|why| format!("error {}", why.replace('\n', " ")));
        println!("{answer}");
        io::stdout().flush()?;
    }
    Ok(())
}

fn perform(client: &mut Option<Client>, verb: &str, words: &[&str]) -> Result<String, String> {
    match (verb, words, client) {
        ("version", [], _) => {
            let version = env::var("VERSION").unwrap_or_default();
            Ok(format!("version memcache crate {version}"))
        }
        ("open", words, client) => {
            let servers = words.iter().map(|word| {
                let address = word.trim_start_matches("server=");
                let (address, _weight) = address.rsplit_once(':').unwrap_or((address, ""));
                format!("memcache://{address}?protocol=ascii")
            });
            *client = Some(Client::connect(servers.collect::<Vec<_>>()).map_err(text)?);
            Ok("ok".to_owned())
        }
        ("set", [key, kind, bytes, seconds], Some(client)) => {
            let seconds = seconds.parse().map_err(|_| "seconds")?;
            let key = key_of(key)?;
            let stored = match Value::from_words(kind, bytes) {
                Some(Value::Bool(value)) => client.set(&key, value, seconds),
                Some(Value::Int(value)) => client.set(&key, value, seconds),
                Some(Value::Big(value)) => client.set(&key, value, seconds),
                Some(Value::Float(value)) => client.set(&key, value, seconds),
                Some(Value::Text(value)) => client.set(&key, value, seconds),
                Some(Value::Bytes(value)) => client.set(&key, &value[..], seconds),
                _ => return Err(format!("the crate has no {kind}")),
            };
            stored.map_err(text)?;
            Ok("ok".to_owned())
        }
        ("get", [key], Some(client)) => {
            let value: Option<Vec<u8>> = client.get(&key_of(key)?).map_err(text)?;
            Ok(value.map_or("miss".to_owned(), |value| format!("string {}", hex(&value))))
        }
        ("many", keys, Some(client)) => {
            let keys = keys.iter().map(|key| key_of(key)).collect::<Result<Vec<_>, _>>()?;
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let found: HashMap<String, Vec<u8>> = client.gets(&keys).map_err(text)?;
            let hits = found
                .iter()
                .map(|(key, value)| format!(" {} string {}", hex(key.as_bytes()), hex(value)));
            Ok(format!("found{}", hits.collect::<String>()))
        }
        ("incr", [key, by], Some(client)) => {
            match client.increment(&key_of(key)?, by.parse().map_err(|_| "a number")?) {
                Ok(count) => Ok(format!("count {count}")),
                Err(MemcacheError::CommandError(CommandError::KeyNotFound)) => {
                    Ok("miss".to_owned())
                }
                Err(error) => Err(text(error)),
            }
        }
        _ => Err(format!("unknown request {verb}")),
    }
}

fn key_of(word: &str) -> Result<String, String> {
    unhex(word).and_then(|key| String::from_utf8(key).ok()).ok_or("the key is no text".to_owned())
}

fn text(error: MemcacheError) -> String {
    error.to_string()
}
