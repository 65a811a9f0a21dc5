//! What callers, waiters and holders of a node's connections see.

use super::*;
use parking_lot::Mutex as Shared;
use std::time::{Duration, Instant};

fn by(ms: u64) -> Deadline {
    Deadline::after(Instant::now(), Duration::from_millis(ms))
}

/// Waits for the state that a thread is about to reach, with a ceiling instead of a sleep.
fn until(line: &Line<u32>, reached: impl Fn(Counts) -> bool) {
    let ceiling = by(20_000);
    while !reached(line.counts()) {
        assert!(!ceiling.passed(Instant::now()), "{:?}", line.counts());
        std::thread::yield_now();
    }
}

#[test]
fn callers_dial_up_to_the_cap_and_the_next_one_is_exhausted() {
    let line = Line::<u32>::new(2, 2);
    assert_eq!(line.acquire(by(0), by(0)), Ok(Grant::Dial));
    assert_eq!(line.acquire(by(0), by(0)), Ok(Grant::Dial));
    line.dialed();
    line.dialed();
    assert_eq!(line.acquire(by(5), by(5)), Err(Denied::Exhausted));
    assert_eq!(line.counts(), Counts { open: 2, ..Counts::default() });
}

#[test]
fn who_waits_while_others_only_try_to_connect_is_told_so_when_the_time_for_that_is_over() {
    let line = Line::<u32>::new(2, 1);
    assert_eq!(line.acquire(by(0), by(0)), Ok(Grant::Dial));
    assert_eq!(line.acquire(by(5), by(20_000)), Err(Denied::Unconnected));
    line.dialed();
    assert_eq!(line.acquire(by(0), by(0)), Ok(Grant::Dial));
    // Now one is connected: the wait for it goes on.
    std::thread::scope(|s| {
        let waiter = s.spawn(|| line.acquire(by(5), by(20_000)));
        while line.counts().waiting == 0 {
            std::thread::yield_now();
        }
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(20) {
            std::thread::yield_now();
        }
        assert_eq!(line.give_back(7), None);
        assert_eq!(waiter.join().expect("no panic"), Ok(Grant::Connection(7)));
    });
}

#[test]
fn the_last_connection_given_back_is_the_first_taken() {
    let line = Line::new(4, 4);
    for _ in 0..2 {
        assert_eq!(line.acquire(by(0), by(0)), Ok(Grant::Dial));
        line.dialed();
    }
    assert_eq!(line.give_back(1), None);
    assert_eq!(line.give_back(2), None);
    assert_eq!(line.try_acquire(), Some(Ok(Grant::Connection(2))));
    assert_eq!(line.take_idle(|_, _| true), vec![1]);
}

#[test]
fn waiters_are_served_in_the_order_they_came() {
    let line = Line::new(1, 1);
    assert_eq!(line.acquire(by(0), by(0)), Ok(Grant::Dial));
    line.dialed();
    let order = Shared::new(Vec::new());
    std::thread::scope(|s| {
        for i in 0..4 {
            let (line, order) = (&line, &order);
            s.spawn(move || {
                let grant = line.acquire(by(20_000), by(20_000));
                order.lock().push(i);
                assert_eq!(grant, Ok(Grant::Connection(7)));
                assert_eq!(line.give_back(7), None);
            });
            until(line, |c| c.waiting == i + 1);
        }
        assert_eq!(line.give_back(7), None);
    });
    assert_eq!(*order.lock(), vec![0, 1, 2, 3]);
}

#[test]
fn a_waiter_dials_when_a_holder_loses_its_connection() {
    let line = Line::<u32>::new(1, 1);
    assert_eq!(line.acquire(by(0), by(0)), Ok(Grant::Dial));
    line.dialed();
    std::thread::scope(|s| {
        let waiter = s.spawn(|| line.acquire(by(20_000), by(20_000)));
        until(&line, |c| c.waiting == 1);
        line.lost();
        assert_eq!(waiter.join().expect("no panic"), Ok(Grant::Dial));
    });
    line.dial_failed();
    assert_eq!(line.counts(), Counts::default());
}

#[test]
fn no_more_than_max_dials_connect_at_once_and_each_end_lets_the_next_go() {
    let line = Line::<u32>::new(8, 2);
    assert_eq!(line.acquire(by(0), by(0)), Ok(Grant::Dial));
    assert_eq!(line.acquire(by(0), by(0)), Ok(Grant::Dial));
    std::thread::scope(|s| {
        let waiter = s.spawn(|| line.acquire(by(20_000), by(20_000)));
        until(&line, |c| c.waiting == 1);
        assert_eq!(line.counts().dialing, 2);
        line.dial_failed();
        assert_eq!(waiter.join().expect("no panic"), Ok(Grant::Dial));
    });
    assert_eq!(line.counts(), Counts { open: 2, dialing: 2, ..Counts::default() });
}

#[test]
fn a_node_that_goes_down_turns_every_waiter_away_at_once() {
    let line = Line::<u32>::new(1, 1);
    assert_eq!(line.acquire(by(0), by(0)), Ok(Grant::Dial));
    std::thread::scope(|s| {
        let waiters: Vec<_> =
            (0..3).map(|_| s.spawn(|| line.acquire(by(20_000), by(20_000)))).collect();
        until(&line, |c| c.waiting == 3);
        line.turn_away(Denied::Down);
        for waiter in waiters {
            assert_eq!(waiter.join().expect("no panic"), Err(Denied::Down));
        }
    });
}

#[test]
fn close_turns_waiters_away_and_lets_no_connection_back_in() {
    let line = Line::new(1, 1);
    assert_eq!(line.acquire(by(0), by(0)), Ok(Grant::Dial));
    line.dialed();
    std::thread::scope(|s| {
        let waiter = s.spawn(|| line.acquire(by(20_000), by(20_000)));
        until(&line, |c| c.waiting == 1);
        assert!(line.close().is_empty());
        assert_eq!(waiter.join().expect("no panic"), Err(Denied::Closed));
    });
    assert_eq!(line.give_back(9), Some(9));
    assert_eq!(line.acquire(by(0), by(0)), Err(Denied::Closed));
}

#[test]
fn trimming_sees_how_many_would_stay() {
    let line = Line::new(4, 4);
    for i in 0..4_u32 {
        assert_eq!(line.acquire(by(0), by(0)), Ok(Grant::Dial));
        line.dialed();
        // All are lent until the end of the loop.
        if i == 3 {
            (0..4).for_each(|c| assert_eq!(line.give_back(c), None));
        }
    }
    assert_eq!(line.take_idle(|_, stay| stay >= 2), vec![0, 1]);
    (0..2).for_each(|_| line.lost());
    assert_eq!(line.counts(), Counts { idle: 2, open: 2, ..Counts::default() });
}
