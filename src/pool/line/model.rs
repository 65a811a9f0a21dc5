//! Every interleaving of a few callers, by loom: nothing is lost, doubled or forgotten.
//!
//! Run with `RUSTFLAGS="--cfg mcpool_loom" cargo test --release --lib line::model`.

use std::time::{Duration, Instant};

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::{Counts, Denied, Grant, Line};
use crate::time::Deadline;

/// A deadline that never comes.
fn patient() -> Deadline {
    Deadline::after(Instant::now(), Duration::from_secs(3600))
}

/// A deadline that comes at whatever moment the model chooses.
fn hurried() -> Deadline {
    Deadline::after(Instant::now(), Duration::ZERO)
}

/// Connections that were opened and closed, to tell how many are there.
#[derive(Default)]
struct World {
    open: AtomicUsize,
}

impl World {
    fn dial(&self, cap: usize) -> u32 {
        assert!(self.open.fetch_add(1, Ordering::SeqCst) < cap, "more connections than permits");
        7
    }

    fn close(&self) {
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// One call: gets a connection or dials, uses it, gives it back or loses it.
fn call(line: &Line<u32>, world: &World, deadline: Deadline, loses: bool) -> Result<(), Denied> {
    match line.acquire(deadline, deadline)? {
        Grant::Connection(c) => assert_eq!(c, 7),
        Grant::Dial => {
            world.dial(1);
            line.dialed();
        }
    }
    if loses {
        world.close();
        line.lost();
    } else if line.give_back(7).is_some() {
        world.close();
        line.lost();
    }
    Ok(())
}

/// What has to hold when everyone is gone.
fn at_rest(line: &Line<u32>, world: &World) {
    let open = world.open.load(Ordering::SeqCst);
    assert_eq!(line.counts(), Counts { idle: open, open, dialing: 0, waiting: 0 });
}

#[test]
fn three_callers_share_one_connection_and_none_is_forgotten() {
    loom::model(|| {
        let line = Arc::new(Line::new(1, 1));
        let world = Arc::new(World::default());
        let others: Vec<_> = (0..2)
            .map(|_| {
                let (line, world) = (line.clone(), world.clone());
                thread::spawn(move || call(&line, &world, patient(), false))
            })
            .collect();
        assert_eq!(call(&line, &world, patient(), false), Ok(()));
        for other in others {
            assert_eq!(other.join().expect("no panic"), Ok(()));
        }
        at_rest(&line, &world);
    });
}

#[test]
fn a_waiter_goes_on_when_the_holders_connection_dies() {
    loom::model(|| {
        let line = Arc::new(Line::new(1, 1));
        let world = Arc::new(World::default());
        let other = {
            let (line, world) = (line.clone(), world.clone());
            thread::spawn(move || call(&line, &world, patient(), true))
        };
        assert_eq!(call(&line, &world, patient(), true), Ok(()));
        assert_eq!(other.join().expect("no panic"), Ok(()));
        at_rest(&line, &world);
    });
}

#[test]
fn a_time_out_in_the_moment_of_the_hand_over_loses_nothing() {
    loom::model(|| {
        let line = Arc::new(Line::new(1, 1));
        let world = Arc::new(World::default());
        let hasty = {
            let (line, world) = (line.clone(), world.clone());
            thread::spawn(move || call(&line, &world, hurried(), false))
        };
        assert_eq!(call(&line, &world, patient(), false), Ok(()));
        let outcome = hasty.join().expect("no panic");
        assert!(matches!(outcome, Ok(()) | Err(Denied::Exhausted)), "{outcome:?}");
        at_rest(&line, &world);
    });
}

#[test]
fn a_failed_dial_wakes_the_next_in_line() {
    loom::model(|| {
        let line = Arc::new(Line::<u32>::new(1, 1));
        let other = {
            let line = line.clone();
            thread::spawn(move || {
                assert_eq!(line.acquire(patient(), patient()), Ok(Grant::Dial));
                line.dial_failed();
            })
        };
        assert_eq!(line.acquire(patient(), patient()), Ok(Grant::Dial));
        line.dial_failed();
        other.join().expect("no panic");
        assert_eq!(line.counts(), Counts::default());
    });
}

#[test]
fn closing_in_the_middle_of_a_checkout_leaves_no_waiter_and_no_connection() {
    loom::model(|| {
        let line = Arc::new(Line::new(1, 1));
        let world = Arc::new(World::default());
        let callers: Vec<_> = (0..2)
            .map(|_| {
                let (line, world) = (line.clone(), world.clone());
                thread::spawn(move || call(&line, &world, patient(), false))
            })
            .collect();
        for _ in line.close() {
            world.close();
            line.lost();
        }
        for caller in callers {
            let outcome = caller.join().expect("no panic");
            assert!(matches!(outcome, Ok(()) | Err(Denied::Closed)), "{outcome:?}");
        }
        assert_eq!(world.open.load(Ordering::SeqCst), 0);
        assert_eq!(line.counts(), Counts::default());
    });
}

#[test]
fn a_node_that_goes_down_strands_no_waiter() {
    loom::model(|| {
        let line = Arc::new(Line::<u32>::new(1, 1));
        let waiter = {
            let line = line.clone();
            thread::spawn(move || {
                let grant = line.acquire(patient(), patient());
                if grant == Ok(Grant::Dial) {
                    line.dial_failed();
                }
                grant
            })
        };
        if line.acquire(patient(), patient()) == Ok(Grant::Dial) {
            line.turn_away(Denied::Down);
            line.dial_failed();
        }
        let outcome = waiter.join().expect("no panic");
        assert!(matches!(outcome, Ok(Grant::Dial) | Err(Denied::Down)), "{outcome:?}");
        assert_eq!(line.counts(), Counts::default());
    });
}
