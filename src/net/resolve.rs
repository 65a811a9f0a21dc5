//! Names to addresses, looked up by a worker thread so that a slow resolver never holds a caller.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::time::Deadline;

/// The worker begins with a look-up in less time than this, unless it is busy with another.
const BEGIN: Duration = Duration::from_millis(20);

/// Runs a job on the client's worker thread.
pub(crate) type Spawn = Arc<dyn Fn(Box<dyn FnOnce() + Send>) + Send + Sync>;

/// One name, looked up again at each connect.
pub(crate) struct Resolver {
    name: Arc<Name>,
    spawn: Spawn,
}

struct Name {
    host: String,
    port: u16,
    state: Mutex<State>,
    answered: Condvar,
}

#[derive(Default)]
struct State {
    /// The last answer that had addresses; serves while a newer one is late or failed.
    good: Arc<[SocketAddr]>,
    /// Why the last look-up failed, if it did.
    error: Option<String>,
    running: bool,
    /// Whether the worker has come to it: another name may be in its way.
    begun: bool,
    answers: u64,
}

/// Why there are no addresses.
#[derive(Debug)]
pub(crate) enum Unresolved {
    /// No answer by the deadline, and none before.
    Late,
    /// The look-up of another name was still under way.
    Queued,
    /// The resolver's answer.
    Failed(String),
}

impl Resolver {
    pub(crate) fn new(host: &str, port: u16, spawn: Spawn) -> Self {
        let name =
            Name { host: host.to_owned(), port, state: Mutex::default(), answered: Condvar::new() };
        Self { name: Arc::new(name), spawn }
    }

    /// Starts a look-up, unless one is under way.
    pub(crate) fn ask(&self) -> LookUp<'_> {
        let mut state = self.name.state.lock();
        let idle = !std::mem::replace(&mut state.running, true);
        let seen = state.answers;
        if idle {
            state.begun = false;
        }
        drop(state);
        if idle {
            let name = self.name.clone();
            (self.spawn)(Box::new(move || name.look_up()));
        }
        LookUp { name: &self.name, seen, queued: Deadline::after(Instant::now(), BEGIN) }
    }
}

/// A look-up whose answer is awaited.
#[derive(Debug)]
pub(crate) struct LookUp<'r> {
    name: &'r Name,
    /// How many answers there were before.
    seen: u64,
    /// When the worker would have come to it if nothing were in its way.
    queued: Deadline,
}

impl LookUp<'_> {
    /// The name's addresses, once they are here; with `now` what is known, the last good ones if need be.
    pub(crate) fn answer(&self, now: bool) -> Option<Result<Arc<[SocketAddr]>, Unresolved>> {
        let state = self.name.state.lock();
        if state.answers == self.seen && !now {
            let is_queued = !state.begun && self.queued.passed(Instant::now());
            // Behind another name's look-up it may take long: what is known serves at once.
            if !is_queued || state.good.is_empty() {
                return None;
            }
        }
        if !state.good.is_empty() {
            return Some(Ok(state.good.clone()));
        }
        Some(Err(match &state.error {
            // An earlier look-up's failure says nothing of one that has not begun.
            _ if !state.begun => Unresolved::Queued,
            Some(error) => Unresolved::Failed(error.clone()),
            None => Unresolved::Late,
        }))
    }

    /// Waits for the answer, until `deadline` at most, or until it shows that another name is in the way.
    pub(crate) fn wait(&self, deadline: Deadline) {
        let mut state = self.name.state.lock();
        while state.answers == self.seen {
            let in_time = !state.begun && !self.queued.passed(Instant::now());
            let deadline = if in_time { deadline.min(self.queued) } else { deadline };
            if self.name.answered.wait_until(&mut state, deadline.instant()).timed_out() {
                return;
            }
        }
    }
}

impl Name {
    fn look_up(&self) {
        let started = Instant::now();
        self.state.lock().begun = true;
        let answer = (self.host.as_str(), self.port).to_socket_addrs();
        let mut state = self.state.lock();
        match answer.map(Iterator::collect::<Arc<[_]>>) {
            Ok(addresses) if !addresses.is_empty() => {
                state.good = addresses;
                state.error = None;
            }
            Ok(_) => state.error = Some("the name has no address".to_owned()),
            Err(e) => state.error = Some(e.to_string()),
        }
        state.running = false;
        state.answers += 1;
        drop(state);
        self.answered.notify_all();
        log::trace!("looked up {} in {:?}", self.host, started.elapsed());
    }
}

impl std::fmt::Debug for Resolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Resolver({})", self.name.host)
    }
}

impl std::fmt::Debug for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(resolver: &Resolver, by: Deadline) -> Result<Arc<[SocketAddr]>, Unresolved> {
        let look_up = resolver.ask();
        while !by.passed(Instant::now()) {
            look_up.wait(by);
            if let Some(answer) = look_up.answer(false) {
                return answer;
            }
        }
        look_up.answer(true).expect("asked for now")
    }

    fn soon() -> Deadline {
        Deadline::after(Instant::now(), Duration::from_secs(20))
    }

    #[test]
    fn a_name_is_resolved_by_the_worker() {
        let spawn: Spawn = Arc::new(|job| drop(std::thread::spawn(job)));
        let resolver = Resolver::new("localhost", 7, spawn);
        let found = addresses(&resolver, soon()).expect("localhost");
        assert!(found.iter().all(|a| a.ip().is_loopback() && a.port() == 7), "{found:?}");
    }

    #[test]
    fn a_worker_that_never_answers_costs_the_deadline_and_no_more() {
        let resolver = Resolver::new("localhost", 7, Arc::new(drop));
        let started = Instant::now();
        let deadline = Deadline::after(started, Duration::from_millis(30));
        assert!(matches!(addresses(&resolver, deadline), Err(Unresolved::Queued)));
        assert!(started.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_late_answer_leaves_the_last_good_addresses_in_use() {
        let (queue, jobs) = crossbeam_channel::unbounded::<Box<dyn FnOnce() + Send>>();
        let resolver =
            Resolver::new("localhost", 7, Arc::new(move |job| queue.send(job).expect("open")));
        let worker = std::thread::spawn(move || {
            jobs.recv().expect("first look-up")();
            jobs
        });
        let first = addresses(&resolver, soon()).expect("answered");
        let jobs = worker.join().expect("worker");
        let again =
            addresses(&resolver, Deadline::after(Instant::now(), Duration::from_millis(20)));
        assert_eq!(again.expect("the last good ones"), first);
        assert_eq!(jobs.len(), 1, "a new look-up was asked for");
    }

    #[test]
    fn behind_another_names_look_up_what_is_known_serves_at_once_and_nothing_is_said_of_the_server()
    {
        let (queue, jobs) = crossbeam_channel::unbounded::<Box<dyn FnOnce() + Send>>();
        let spawn: Spawn = Arc::new(move |job| queue.send(job).expect("open"));
        let known = Resolver::new("localhost", 7, spawn.clone());
        let look_up = known.ask();
        jobs.recv().expect("the first look-up")();
        let first = look_up.answer(false).expect("here").expect("localhost");
        // From now on nobody does the jobs.
        let look_up = known.ask();
        while look_up.answer(false).is_none() {
            look_up.wait(soon());
        }
        assert_eq!(look_up.answer(false).expect("at once").expect("known"), first);
        let new = Resolver::new("localhost", 7, spawn);
        let by = Deadline::after(Instant::now(), Duration::from_millis(30));
        assert!(matches!(addresses(&new, by), Err(Unresolved::Queued)));
    }

    #[test]
    fn an_old_failure_says_nothing_of_the_server_while_the_new_look_up_is_queued() {
        let (queue, jobs) = crossbeam_channel::unbounded::<Box<dyn FnOnce() + Send>>();
        let spawn: Spawn = Arc::new(move |job| queue.send(job).expect("open"));
        let resolver = Resolver::new("no-such-host.invalid", 7, spawn);
        let look_up = resolver.ask();
        jobs.recv().expect("the first look-up")();
        assert!(matches!(look_up.answer(false), Some(Err(Unresolved::Failed(_)))));
        // From now on nobody does the jobs.
        let by = Deadline::after(Instant::now(), Duration::from_millis(30));
        assert!(matches!(addresses(&resolver, by), Err(Unresolved::Queued)));
    }

    #[test]
    fn a_name_that_does_not_exist_says_so() {
        let spawn: Spawn = Arc::new(|job| job());
        let resolver = Resolver::new("no-such-host.invalid", 7, spawn);
        assert!(matches!(addresses(&resolver, soon()), Err(Unresolved::Failed(_))));
    }
}
