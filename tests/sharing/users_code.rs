//! What the program brings along (codec, observer, logger) runs while nobody waits for it.

use std::cell::Cell;
use std::error::Error as StdError;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;

use mcpool::testing::{Fault, When};
use mcpool::{Client, Codec, CustomCodec, Payload};

use crate::scene::{BRIEF, PATIENCE, Scene, done};

type Outcome = Result<Payload, Box<dyn StdError + Send + Sync>>;

/// A codec that waits for word before it decodes.
struct Waits(Mutex<mpsc::Receiver<()>>);

impl fmt::Debug for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waits")
    }
}

impl CustomCodec for Waits {
    fn encode(&self, plain: Payload) -> Outcome {
        Ok(plain)
    }

    fn decode(&self, stored: &Payload) -> Outcome {
        let word = self.0.lock().map_err(|e| e.to_string())?.recv_timeout(PATIENCE);
        word.map_err(|_| "nobody else was served meanwhile")?;
        Ok(stored.clone())
    }
}

#[test]
fn a_slow_codec_of_one_keeps_nobody_who_travels_with_it_waiting() {
    let scene = Scene::new(|b| b);
    thread::scope(|scope| {
        let first = scene.occupy(scope, |_| {});
        let (word, waits) = mpsc::channel();
        let slow = scene.client.with_codec(Codec::Custom(Arc::new(Waits(Mutex::new(waits)))));
        let slow = scene.gather(scope, move |_| slow.get::<u32>("n"));
        let read = scene.gather(scope, |c| c.get::<u32>("n"));
        let count = scene.gather(scope, |c| c.incr("n", 1));
        scene.release(first).expect("answered");
        assert_eq!(done(count).expect("counted"), Some(2));
        assert_eq!(done(read).expect("read"), Some(2));
        assert_eq!(scene.client.get::<u32>("n").expect("also those who come later"), Some(2));
        word.send(()).expect("it waits for it");
        assert_eq!(done(slow).expect("read"), Some(2));
    });
}

#[test]
fn a_slow_observer_of_one_keeps_nobody_waiting() {
    let (told, hears) = mpsc::channel();
    let (word, waits) = mpsc::channel();
    let waits = Mutex::new(waits);
    let scene = Scene::new(|b| {
        b.observer(move |_| {
            told.send(()).expect("somebody hears it");
            let waits = waits.lock().expect("no panic");
            waits.recv_timeout(PATIENCE).expect("the others were served meanwhile");
        })
    });
    thread::scope(|scope| {
        let late = Fault::Late(PATIENCE);
        let first = scene.occupy(scope, |s| s.fault(late, When::next(1).verb("delete")));
        let hasty = scene.client.with_timeout(BRIEF).expect("a handle");
        let hasty = scene.gather(scope, move |_| hasty.delete("nobody"));
        let count = scene.gather(scope, |c| c.incr("n", 1));
        scene.release(first).expect("answered");
        hears.recv_timeout(PATIENCE).expect("the failed call is told of");
        scene.server.hurry();
        assert_eq!(done(count).expect("counted"), Some(2));
        word.send(()).expect("it waits for it");
        done(hasty).expect_err("too late");
    });
}

#[test]
fn a_panic_of_an_observer_reaches_its_own_caller_only() {
    let scene = Scene::new(|b| b.observer(|_| panic!("a bug in the program")));
    let panics = |call: &mut dyn FnMut()| {
        let panic = catch_unwind(AssertUnwindSafe(call)).expect_err("it comes out of the call");
        assert_eq!(panic.downcast_ref(), Some(&"a bug in the program"));
    };
    let refused = || Fault::Reply("SERVER_ERROR no\r\n".into());
    thread::scope(|scope| {
        let late = Fault::Late(PATIENCE);
        let first = scene.occupy(scope, |s| s.fault(late, When::next(1).verb("delete")));
        let hasty = scene.client.with_timeout(BRIEF).expect("a handle");
        let hasty = scene.gather(scope, move |_| {
            catch_unwind(AssertUnwindSafe(|| hasty.delete("nobody"))).is_err()
        });
        let count = scene.gather(scope, |c| c.incr("n", 1));
        scene.release(first).expect("answered");
        assert!(done(hasty), "it comes out of the call that shares a connection, too");
        scene.server.hurry();
        assert_eq!(done(count).expect("counted"), Some(2));
    });
    // One connection is all there is: a lost one would leave these waiting.
    for _ in 0..3 {
        scene.server.fault(refused(), When::next(1));
        panics(&mut || drop(scene.client.get_raw("k")));
        panics(&mut || drop(scene.client.get_many::<u32, _>(["n", "", "m"])));
        scene.server.fault(refused(), When::next(1));
        panics(&mut || drop(scene.client.version()));
        assert_eq!(scene.client.get::<u32>("n").expect("read"), Some(2));
    }
    let status = scene.client.status();
    assert_eq!((status.servers[0].connections, status.servers[0].waiting), (1, 0));
}

thread_local! {
    /// What this thread's next log line does.
    static ON_LOG: Cell<Option<Box<dyn FnOnce()>>> = const { Cell::new(None) };
}

/// Does what the thread that logs has left word to do.
struct Hook;

impl log::Log for Hook {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, _: &log::Record<'_>) {
        if let Some(act) = ON_LOG.take() {
            act();
        }
    }

    fn flush(&self) {}
}

/// Runs a call during whose first log line the same thread counts.
fn call_and_count_while_logging(client: &Client, call: impl FnOnce(&Client)) -> Option<u64> {
    static SET: OnceLock<()> = OnceLock::new();
    SET.get_or_init(|| {
        log::set_logger(&Hook).expect("the only one");
        log::set_max_level(log::LevelFilter::Debug);
    });
    let counted = Arc::new(Mutex::new(None));
    let (client_of_logger, result) = (client.clone(), counted.clone());
    ON_LOG.set(Some(Box::new(move || {
        let outcome = client_of_logger.incr("n", 10);
        *result.lock().expect("no panic") = Some(outcome);
    })));
    call(client);
    let outcome = counted.lock().expect("no panic").take();
    outcome.expect("something was logged").expect("the connection was free")
}

#[test]
fn a_logger_that_uses_the_client_finds_the_failed_calls_place_free() {
    let scene = Scene::new(|b| b);
    scene.server.fault(Fault::CloseAfter(0), When::next(1).verb("decr"));
    let hasty = scene.client.with_timeout(PATIENCE / 4).expect("a handle");
    let counted = call_and_count_while_logging(&hasty, |c| {
        c.decr("n", 0).expect_err("cut");
    });
    assert_eq!(counted, Some(11));
}

#[test]
fn a_logger_that_uses_the_client_finds_the_place_of_failed_shared_calls_free() {
    let scene = Scene::new(|b| b);
    thread::scope(|scope| {
        let cut = Fault::CloseAfter(0);
        let first = scene.occupy(scope, |s| s.fault(cut, When::next(1).verb("decr")));
        let leader = scene.gather(scope, |c| {
            call_and_count_while_logging(c, |c| {
                c.decr("n", 0).expect_err("cut");
            })
        });
        let behind = scene.gather(scope, |c| c.incr("n", 1));
        scene.release(first).expect("answered");
        done(behind).expect_err("cut");
        assert!(done(leader).is_some_and(|n| n >= 11));
    });
}
