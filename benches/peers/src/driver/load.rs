//! Threads that call as fast as they can for a given time.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use super::values::{self, Element, Map};
use super::{Ask, Op, Peer, Session};
use crate::Outcome;
use crate::figures::{Figures, Histogram};

/// Keys of each thread; small, so that a slow client has them all stored soon.
const KEYS: usize = 20;
/// The part of the time that is spent on warming up before.
const WARM_UP: u32 = 5;

/// Runs `ask` and calls `begin` when the measured time begins.
pub(super) fn measure(
    peer: &dyn Peer,
    ask: Ask,
    tag: &str,
    begin: impl FnOnce(),
) -> Outcome<Figures> {
    let (warm, go) = (Barrier::new(ask.threads + 1), Barrier::new(ask.threads + 1));
    thread::scope(|scope| {
        let threads: Vec<_> = (0..ask.threads)
            .map(|number| {
                let (warm, go) = (&warm, &go);
                scope.spawn(move || {
                    // Also after a failure both barriers are passed, so that nobody waits for ever.
                    let worker = Worker::warmed_up(peer, ask, tag, number);
                    warm.wait();
                    go.wait();
                    worker?.measured()
                })
            })
            .collect();
        warm.wait();
        begin();
        let started = Instant::now();
        go.wait();
        let mut times = Histogram::new();
        let mut outcome = Ok(());
        for thread in threads {
            match thread.join().map_err(|_| "a thread panicked")? {
                Ok(own) => times.merge(&own),
                Err(e) => outcome = Err(e),
            }
        }
        outcome.map(|()| Figures::new(&times, started.elapsed()))
    })
}

/// One thread's work.
struct Worker<'p> {
    session: Box<dyn Session + 'p>,
    ask: Ask,
    number: usize,
    keys: Vec<String>,
    text: String,
    map: Map,
}

impl<'p> Worker<'p> {
    /// With its values stored where it is to read them, and everything done a few times.
    fn warmed_up(peer: &'p dyn Peer, ask: Ask, tag: &str, number: usize) -> Outcome<Self> {
        let (keys, len) = if ask.op == Op::GetMany { (ask.size, 32) } else { (KEYS, ask.size) };
        let mut worker = Self {
            session: peer.session()?,
            ask,
            number,
            keys: (0..keys).map(|n| format!("{tag}{number}_{n}")).collect(),
            text: if ask.op == Op::Fill { String::new() } else { values::text(len) },
            map: values::map(),
        };
        if ask.op == Op::Fill {
            return Ok(worker);
        }
        for key in &worker.keys {
            match ask.op {
                Op::SetMap | Op::GetMap => worker.session.set_map(key, &worker.map)?,
                _ => worker.session.set(key, &worker.text)?,
            }
        }
        worker.run(ask.time / WARM_UP)?;
        Ok(worker)
    }

    fn measured(mut self) -> Outcome<Histogram> {
        if self.ask.op == Op::Fill { self.fill() } else { self.run(self.ask.time) }
    }

    fn run(&mut self, time: Duration) -> Outcome<Histogram> {
        let mut times = Histogram::new();
        let start = Instant::now();
        let mut before = start;
        for number in 0.. {
            self.call(number % self.keys.len())?;
            let now = Instant::now();
            times.add(now - before);
            before = now;
            if now - start >= time {
                break;
            }
        }
        Ok(times)
    }

    fn call(&mut self, number: usize) -> Outcome<()> {
        let key = &self.keys[number];
        let is_right = match self.ask.op {
            Op::Set => return self.session.set(key, &self.text),
            Op::Delete => return self.session.delete(key),
            Op::SetMap => return self.session.set_map(key, &self.map),
            Op::Get => self.session.get(key)?.as_ref() == Some(&self.text),
            Op::GetMap => self.session.get_map(key)?.is_some_and(|m| m.len() == self.map.len()),
            Op::GetMany | Op::Fill => self.session.get_many(&self.keys)? == self.keys.len(),
        };
        if is_right { Ok(()) } else { Err("a wrong answer".into()) }
    }

    fn fill(&mut self) -> Outcome<Histogram> {
        let mut times = Histogram::new();
        for n in 0..self.ask.size / self.ask.threads {
            let element = Element::new(u32::try_from(n)?);
            let key = format!("item:k{}_{n}", self.number);
            let before = Instant::now();
            self.session.set_element(&key, &element)?;
            times.add(before.elapsed());
        }
        Ok(times)
    }
}
