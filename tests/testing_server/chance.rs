//! Commands put together by chance get the same answers from both servers, and leave the same items behind.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use mcpool::testing::{Dice, TestServer};

use crate::agreement::COUNTED;
use crate::support::memcached::Memcached;
use crate::wire::{PATIENCE, addr, listed, stats, told};

/// Each begins with empty servers.
const CONVERSATIONS: u64 = 40;
const COMMANDS: usize = 25;

/// The longest key that is taken has one byte less.
const LONGEST: &str = match std::str::from_utf8(&[b'k'; 251]) {
    Ok(key) => key,
    Err(_) => "",
};
/// The words to choose from, with blanks between; the frequent ones stand there more than once.
const VERBS: &str = "get gets gat gats set set set set add replace append prepend cas touch incr decr incr decr delete flush_all verbosity stats bogus SET";
const KEYS: &str = "a a b b n n \u{e4}\"% x\ty";
const FLAGS: &str = "0 0 0 0 0 0 0 0 5 5 4294967295 4294967296 18446744073709551616 -1 x 1x";
/// None that would run out while the test runs.
const TIMES: &str = "0 0 0 0 0 0 0 0 0 0 1999999999 1999999999 -1 +1999999999 2592001 2147483648 4294967296 9223372036854775808 -9223372036854775808 x 1x";
/// For a flush: where one that is to come takes the place of one that has been, the real memcached shows again what it
/// had not yet cleared away.
const DELAYS: &str = "0 -1 +0 -2147483648 x 1x";
const STEPS: &str = "0 1 1 1 +1 007 18446744073709551615 18446744073709551616 -1 x 1x 1\t";
/// With bars between. No number above 2^63: behind such a one the real memcached looks for a minus in whatever its
/// memory holds.
const VALUES: &str = "|0|1|9|99|007|9223372036854775807|-1|5x| 5|5 |abc|get a\r\nget n";
/// What else may come, with bars between.
const PIECES: &str = "get |gat |set a 0 0 |cas a 0 0 |incr n |touch a |lru_crawler metadump |stats cachedump |flush_all |\r\n|\n|\r|\0| |2147483645|18446744073709551615|-9223372036854775808|340282366920938463463374607431768211456|,|a,1,b|noreply|quit";
/// For a store whose length is not that of the value; none that would have the server wait for more.
const LENGTHS: &str = "0 1 -1 x 1x 2147483648 4294967297";
const SURPLUS: &str = "noreply noreply noreply 0 x";

#[test]
fn both_servers_answer_alike_to_commands_put_together_by_chance() {
    let (real, embedded) = (Memcached::start(), TestServer::start().unwrap());
    let servers = [real.addr(), addr(&embedded)];
    let mut stored = 0;
    for seed in 0..CONVERSATIONS {
        let mut chance = Chance(Dice::new(seed));
        for server in servers {
            assert_eq!(told(server, "flush_all\r\n"), "OK\r\n");
        }
        let mut said: Vec<String> = Vec::new();
        for _ in 0..COMMANDS {
            said.push(chance.command());
            let [expected, got] = servers.map(|server| told(server, said.last().unwrap()));
            assert_eq!(got, expected, "seed {seed}, the last of {said:#?}");
            stored += usize::from(got == "STORED\r\n");
        }
        let [expected, got] = servers.map(counted);
        assert_eq!(got, expected, "seed {seed}, what was counted of {said:#?}");
        let [expected, got] = servers.map(listed);
        assert_eq!(got, expected, "seed {seed}, what is left after {said:#?}");
    }
    assert!(stored > 100, "the commands make no sense: {stored} stored");
}

#[test]
fn no_bytes_bring_the_embedded_server_down() {
    let server = TestServer::builder().max_item_size(100).start().unwrap();
    for seed in 0..CONVERSATIONS {
        let mut chance = Chance(Dice::new(seed));
        let mut noise = Vec::new();
        for _ in 0..200 {
            match chance.one_in(3) {
                true => noise.extend(chance.command().into_bytes()),
                false => noise.extend(chance.one(PIECES.split('|')).bytes()),
            }
            if chance.one_in(4) {
                noise.push(u8::try_from(chance.0.below(256)).unwrap());
            }
        }
        let mut socket = TcpStream::connect(addr(&server)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        // The server may hang up on it.
        _ = socket.write_all(&noise).and_then(|()| socket.shutdown(Shutdown::Write));
        let mut replies = Vec::new();
        if let Err(error) = socket.read_to_end(&mut replies) {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset, "seed {seed}");
        }
    }
    assert_eq!(told(addr(&server), "version\r\n"), "VERSION 1.6.18\r\n");
    // If a thread of it panicked, so does this.
    drop(server);
}

/// How many commands of each kind came, and how they went.
fn counted(server: SocketAddr) -> Vec<(String, String)> {
    let mut stats = stats(server, "stats");
    stats.retain(|(name, _)| COUNTED.contains(&name.as_str()));
    stats
}

/// Choices by chance.
struct Chance(Dice);

impl Chance {
    fn command(&mut self) -> String {
        let verb = self.of(VERBS);
        let mut words = vec![verb];
        let mut value = None;
        match verb {
            "get" | "gets" => words.extend([self.key(), self.key()]),
            "gat" | "gats" => words.extend([self.of(TIMES), self.key()]),
            "touch" => words.extend([self.key(), self.of(TIMES)]),
            "incr" | "decr" => words.extend([self.key(), self.of(STEPS)]),
            "delete" | "stats" => words.push(self.key()),
            "flush_all" => words.push(self.of(DELAYS)),
            "verbosity" => words.push("0"),
            _ => {
                words.extend([self.key(), self.of(FLAGS), self.of(TIMES)]);
                value = Some(self.one(VALUES.split('|')));
            }
        }
        let own = value.map(|value| value.len().to_string());
        if let Some(own) = &own {
            words.push(if self.one_in(8) { self.of(LENGTHS) } else { own });
        }
        if verb == "cas" {
            words.push(self.of(STEPS));
        }
        if self.one_in(8) {
            words.push(self.of(SURPLUS));
        }
        // A bare `stats` tells of memory and processor time.
        if self.one_in(16) && value.is_none() && verb != "stats" {
            words.pop();
        }
        let line = words.join(" ");
        value.map_or_else(|| format!("{line}\r\n"), |value| format!("{line}\r\n{value}\r\n"))
    }

    fn key(&mut self) -> &'static str {
        if self.one_in(16) {
            return LONGEST.get(usize::from(self.one_in(2))..).unwrap();
        }
        self.of(KEYS)
    }

    fn of(&mut self, words: &'static str) -> &'static str {
        self.one(words.split(' '))
    }

    fn one(&mut self, choices: impl Iterator<Item = &'static str> + Clone) -> &'static str {
        let chosen = self.0.below(choices.clone().count());
        choices.into_iter().nth(chosen).unwrap()
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.0.below(n) == 0
    }
}
