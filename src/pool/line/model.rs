//! Every interleaving of a few callers, by loom: nothing is lost, doubled or forgotten.
//!
//! Run with `RUSTFLAGS="--cfg mcpool_loom" cargo test --release --lib line::model`.

use std::time::{Duration, Instant};

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::callers::{TestLine, acquire, share};
use super::{Counts, Crowd, Denied, Grant, Turn, Use};
use crate::time::Deadline;

/// Every interleaving with so few switches away from a thread that could go on; three threads have too many of the others.
/// Such errors as there are show themselves within two.
fn model_of_three(run: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(run);
}

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
fn call(line: &TestLine, world: &World, deadline: Deadline, loses: bool) -> Result<(), Denied> {
    match acquire(line, deadline, deadline)? {
        Grant::Connection(c) => assert_eq!(c, 7),
        Grant::Dial => {
            world.dial(1);
            line.dialed();
        }
    }
    if loses {
        world.close();
        line.lost(Use::Alone);
    } else if line.give_back(7, Use::Alone).is_some() {
        world.close();
        line.lost(Use::Alone);
    }
    Ok(())
}

/// What has to hold when everyone is gone.
fn at_rest(line: &TestLine, world: &World) {
    let open = world.open.load(Ordering::SeqCst);
    assert_eq!(line.counts(), Counts { idle: open, open, dialing: 0, waiting: 0 });
}

#[test]
fn three_callers_share_one_connection_and_none_is_forgotten() {
    model_of_three(|| {
        let line = Arc::new(TestLine::new(1, 1, Crowd::always(2)));
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
        let line = Arc::new(TestLine::new(1, 1, Crowd::always(2)));
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
        let line = Arc::new(TestLine::new(1, 1, Crowd::always(2)));
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
        let line = Arc::new(TestLine::new(1, 1, Crowd::always(2)));
        let other = {
            let line = line.clone();
            thread::spawn(move || {
                assert_eq!(acquire(&line, patient(), patient()), Ok(Grant::Dial));
                line.dial_failed(Use::Alone);
            })
        };
        assert_eq!(acquire(&line, patient(), patient()), Ok(Grant::Dial));
        line.dial_failed(Use::Alone);
        other.join().expect("no panic");
        assert_eq!(line.counts(), Counts::default());
    });
}

#[test]
fn closing_in_the_middle_of_a_checkout_leaves_no_waiter_and_no_connection() {
    loom::model(|| {
        let line = Arc::new(TestLine::new(1, 1, Crowd::always(2)));
        let world = Arc::new(World::default());
        let callers: Vec<_> = (0..2)
            .map(|_| {
                let (line, world) = (line.clone(), world.clone());
                thread::spawn(move || call(&line, &world, patient(), false))
            })
            .collect();
        for _ in line.close() {
            world.close();
            line.lost(Use::Alone);
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
        let line = Arc::new(TestLine::new(1, 1, Crowd::always(2)));
        let waiter = {
            let line = line.clone();
            thread::spawn(move || {
                let grant = acquire(&line, patient(), patient());
                if grant == Ok(Grant::Dial) {
                    line.dial_failed(Use::Alone);
                }
                grant
            })
        };
        if acquire(&line, patient(), patient()) == Ok(Grant::Dial) {
            line.turn_away(Denied::Down);
            line.dial_failed(Use::Alone);
        }
        let outcome = waiter.join().expect("no panic");
        assert!(matches!(outcome, Ok(Grant::Dial) | Err(Denied::Down)), "{outcome:?}");
        assert_eq!(line.counts(), Counts::default());
    });
}

/// One call that shares: it conducts, or is taken along and may have to conduct the rest.
fn travel(
    line: &TestLine,
    world: &World,
    cap: usize,
    (patience, deadline): (Option<Deadline>, Deadline),
    loses: bool,
) -> Result<u8, Denied> {
    match share(line, 1, patience, deadline) {
        Turn::Denied(denied) => return Err(denied),
        Turn::Answer(answer) => return Ok(answer),
        Turn::Connection(c) => assert_eq!(c, 7),
        Turn::Dial => {
            world.dial(cap);
            line.dialed();
        }
    }
    for ticket in line.take_along(|_| true) {
        let answer = ticket.with_request(|r| *r + 1);
        // Who gave up gets none.
        let _ = ticket.answer(answer);
    }
    if loses || line.give_back(7, Use::Shared).is_some() {
        world.close();
        line.lost(Use::Shared);
    }
    Ok(2)
}

#[test]
fn everyone_who_shares_is_answered_once_and_none_is_forgotten() {
    for loses in [false, true] {
        model_of_three(move || {
            let line = Arc::new(TestLine::new(1, 1, Crowd::always(1)));
            let world = Arc::new(World::default());
            let times = (None, patient());
            let others: Vec<_> = (0..2)
                .map(|_| {
                    let (line, world) = (line.clone(), world.clone());
                    thread::spawn(move || travel(&line, &world, 1, times, loses))
                })
                .collect();
            assert_eq!(travel(&line, &world, 1, times, loses), Ok(2));
            for other in others {
                assert_eq!(other.join().expect("no panic"), Ok(2));
            }
            at_rest(&line, &world);
        });
    }
}

#[test]
fn a_rider_that_gives_up_in_the_moment_it_is_taken_along_harms_nobody() {
    loom::model(|| {
        let line = Arc::new(TestLine::new(1, 1, Crowd::always(1)));
        let world = Arc::new(World::default());
        let hasty = {
            let (line, world) = (line.clone(), world.clone());
            thread::spawn(move || travel(&line, &world, 1, (None, hurried()), false))
        };
        assert_eq!(travel(&line, &world, 1, (None, patient()), false), Ok(2));
        let outcome = hasty.join().expect("no panic");
        assert!(
            matches!(outcome, Ok(2) | Err(Denied::Exhausted | Denied::Unconnected | Denied::Late)),
            "{outcome:?}"
        );
        at_rest(&line, &world);
    });
}

#[test]
fn one_who_takes_another_connection_for_those_who_share_stays_within_the_cap() {
    loom::model(|| {
        let line = Arc::new(TestLine::new(2, 2, Crowd::always(1)));
        let world = Arc::new(World::default());
        let times = (Some(hurried()), patient());
        let others: Vec<_> = (0..2)
            .map(|_| {
                let (line, world) = (line.clone(), world.clone());
                thread::spawn(move || travel(&line, &world, 2, times, false))
            })
            .collect();
        for other in others {
            assert_eq!(other.join().expect("no panic"), Ok(2));
        }
        at_rest(&line, &world);
    });
}

#[test]
fn callers_alone_and_callers_who_share_do_not_strand_each_other() {
    model_of_three(|| {
        let line = Arc::new(TestLine::new(1, 1, Crowd::always(1)));
        let world = Arc::new(World::default());
        let rider = {
            let (line, world) = (line.clone(), world.clone());
            thread::spawn(move || travel(&line, &world, 1, (None, patient()), false))
        };
        let loser = {
            let (line, world) = (line.clone(), world.clone());
            thread::spawn(move || call(&line, &world, patient(), true))
        };
        assert_eq!(call(&line, &world, patient(), false), Ok(()));
        assert_eq!(loser.join().expect("no panic"), Ok(()));
        assert_eq!(rider.join().expect("no panic"), Ok(2));
        at_rest(&line, &world);
    });
}

#[test]
fn closing_while_requests_travel_strands_no_rider() {
    loom::model(|| {
        let line = Arc::new(TestLine::new(1, 1, Crowd::always(1)));
        let world = Arc::new(World::default());
        let callers: Vec<_> = (0..2)
            .map(|_| {
                let (line, world) = (line.clone(), world.clone());
                thread::spawn(move || travel(&line, &world, 1, (None, patient()), false))
            })
            .collect();
        for _ in line.close() {
            world.close();
            line.lost(Use::Alone);
        }
        for caller in callers {
            let outcome = caller.join().expect("no panic");
            assert!(matches!(outcome, Ok(2) | Err(Denied::Closed)), "{outcome:?}");
        }
        assert_eq!(world.open.load(Ordering::SeqCst), 0);
        assert_eq!(line.counts(), Counts::default());
    });
}
