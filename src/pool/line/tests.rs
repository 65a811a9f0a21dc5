//! What callers, waiters and holders of a node's connections see.

use super::callers::{TestLine, acquire, share};
use super::*;
use parking_lot::Mutex as Shared;
use std::time::{Duration, Instant};

fn by(ms: u64) -> Deadline {
    Deadline::after(Instant::now(), Duration::from_millis(ms))
}

/// Waits for the state that a thread is about to reach, with a ceiling instead of a sleep.
fn until(line: &TestLine, reached: impl Fn(Counts) -> bool) {
    let ceiling = by(20_000);
    while !reached(line.counts()) {
        assert!(!ceiling.passed(Instant::now()), "{:?}", line.counts());
        std::thread::yield_now();
    }
}

#[test]
fn callers_dial_up_to_the_cap_and_the_next_one_is_exhausted() {
    let line = TestLine::new(2, 2, Crowd::always(2));
    assert_eq!(acquire(&line, by(0), by(0)), Ok(Grant::Dial));
    assert_eq!(acquire(&line, by(0), by(0)), Ok(Grant::Dial));
    line.dialed();
    line.dialed();
    assert_eq!(acquire(&line, by(5), by(5)), Err(Denied::Exhausted));
    assert_eq!(line.counts(), Counts { open: 2, ..Counts::default() });
}

#[test]
fn who_waits_while_others_only_try_to_connect_is_told_so_when_the_time_for_that_is_over() {
    let line = TestLine::new(2, 1, Crowd::always(2));
    assert_eq!(acquire(&line, by(0), by(0)), Ok(Grant::Dial));
    assert_eq!(acquire(&line, by(5), by(20_000)), Err(Denied::Unconnected));
    line.dialed();
    assert_eq!(acquire(&line, by(0), by(0)), Ok(Grant::Dial));
    // Now one is connected: the wait for it goes on.
    std::thread::scope(|s| {
        let waiter = s.spawn(|| acquire(&line, by(5), by(20_000)));
        while line.counts().waiting == 0 {
            std::thread::yield_now();
        }
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(20) {
            std::thread::yield_now();
        }
        assert_eq!(line.give_back(7, Use::Alone), None);
        assert_eq!(waiter.join().expect("no panic"), Ok(Grant::Connection(7)));
    });
}

#[test]
fn the_last_connection_given_back_is_the_first_taken() {
    let line = TestLine::new(4, 4, Crowd::always(2));
    for _ in 0..2 {
        assert_eq!(acquire(&line, by(0), by(0)), Ok(Grant::Dial));
        line.dialed();
    }
    assert_eq!(line.give_back(1, Use::Alone), None);
    assert_eq!(line.give_back(2, Use::Alone), None);
    assert_eq!(line.try_acquire(Use::Alone), Some(Ok(Grant::Connection(2))));
    assert_eq!(line.take_idle(|_, _| true), vec![1]);
}

#[test]
fn waiters_are_served_in_the_order_they_came() {
    let line = TestLine::new(1, 1, Crowd::always(2));
    assert_eq!(acquire(&line, by(0), by(0)), Ok(Grant::Dial));
    line.dialed();
    let order = Shared::new(Vec::new());
    std::thread::scope(|s| {
        for i in 0..4 {
            let (line, order) = (&line, &order);
            s.spawn(move || {
                let grant = acquire(line, by(20_000), by(20_000));
                order.lock().push(i);
                assert_eq!(grant, Ok(Grant::Connection(7)));
                assert_eq!(line.give_back(7, Use::Alone), None);
            });
            until(line, |c| c.waiting == i + 1);
        }
        assert_eq!(line.give_back(7, Use::Alone), None);
    });
    assert_eq!(*order.lock(), vec![0, 1, 2, 3]);
}

#[test]
fn a_waiter_dials_when_a_holder_loses_its_connection() {
    let line = TestLine::new(1, 1, Crowd::always(2));
    assert_eq!(acquire(&line, by(0), by(0)), Ok(Grant::Dial));
    line.dialed();
    std::thread::scope(|s| {
        let waiter = s.spawn(|| acquire(&line, by(20_000), by(20_000)));
        until(&line, |c| c.waiting == 1);
        line.lost(Use::Alone);
        assert_eq!(waiter.join().expect("no panic"), Ok(Grant::Dial));
    });
    line.dial_failed(Use::Alone);
    assert_eq!(line.counts(), Counts::default());
}

#[test]
fn no_more_than_max_dials_connect_at_once_and_each_end_lets_the_next_go() {
    let line = TestLine::new(8, 2, Crowd::always(2));
    assert_eq!(acquire(&line, by(0), by(0)), Ok(Grant::Dial));
    assert_eq!(acquire(&line, by(0), by(0)), Ok(Grant::Dial));
    std::thread::scope(|s| {
        let waiter = s.spawn(|| acquire(&line, by(20_000), by(20_000)));
        until(&line, |c| c.waiting == 1);
        assert_eq!(line.counts().dialing, 2);
        line.dial_failed(Use::Alone);
        assert_eq!(waiter.join().expect("no panic"), Ok(Grant::Dial));
    });
    assert_eq!(line.counts(), Counts { open: 2, dialing: 2, ..Counts::default() });
}

#[test]
fn a_node_that_goes_down_turns_every_waiter_away_at_once() {
    let line = TestLine::new(1, 1, Crowd::always(2));
    assert_eq!(acquire(&line, by(0), by(0)), Ok(Grant::Dial));
    std::thread::scope(|s| {
        let waiters: Vec<_> =
            (0..3).map(|_| s.spawn(|| acquire(&line, by(20_000), by(20_000)))).collect();
        until(&line, |c| c.waiting == 3);
        line.turn_away(Denied::Down);
        for waiter in waiters {
            assert_eq!(waiter.join().expect("no panic"), Err(Denied::Down));
        }
    });
}

#[test]
fn close_turns_waiters_away_and_lets_no_connection_back_in() {
    let line = TestLine::new(1, 1, Crowd::always(2));
    assert_eq!(acquire(&line, by(0), by(0)), Ok(Grant::Dial));
    line.dialed();
    std::thread::scope(|s| {
        let waiter = s.spawn(|| acquire(&line, by(20_000), by(20_000)));
        until(&line, |c| c.waiting == 1);
        assert!(line.close().is_empty());
        assert_eq!(waiter.join().expect("no panic"), Err(Denied::Closed));
    });
    assert_eq!(line.give_back(9, Use::Alone), Some(9));
    assert_eq!(acquire(&line, by(0), by(0)), Err(Denied::Closed));
}

#[test]
fn trimming_sees_how_many_would_stay() {
    let line = TestLine::new(4, 4, Crowd::always(2));
    for i in 0..4_u32 {
        assert_eq!(acquire(&line, by(0), by(0)), Ok(Grant::Dial));
        line.dialed();
        // All are lent until the end of the loop.
        if i == 3 {
            (0..4).for_each(|c| assert_eq!(line.give_back(c, Use::Alone), None));
        }
    }
    assert_eq!(line.take_idle(|_, stay| stay >= 2), vec![0, 1]);
    (0..2).for_each(|_| line.lost(Use::Alone));
    assert_eq!(line.counts(), Counts { idle: 2, open: 2, ..Counts::default() });
}

/// A connection for each of the two uses, so that the next who shares has to wait.
fn both_shared() -> TestLine {
    let line = TestLine::new(4, 4, Crowd::always(2));
    for _ in 0..2 {
        assert_eq!(line.try_acquire(Use::Shared), Some(Ok(Grant::Dial)));
        line.dialed();
    }
    assert_eq!(line.try_acquire(Use::Shared), None);
    line
}

/// A caller who takes all others along and answers each with its request's number and one more.
fn conduct(line: &TestLine) -> usize {
    let taken = line.take_along(|_| true);
    for ticket in &taken {
        let request = ticket.with_request(|r| *r);
        assert_eq!(ticket.answer(request + 1), None);
    }
    taken.len()
}

#[test]
fn who_gets_a_shared_connection_takes_the_others_requests_along_and_brings_their_answers() {
    let line = both_shared();
    let line = &line;
    std::thread::scope(|s| {
        let first = s.spawn(|| share(line, 10, None, by(20_000)));
        until(line, |c| c.waiting == 1);
        let others: Vec<_> =
            [20, 30].map(|n| (n, s.spawn(move || share(line, n, None, by(20_000))))).into();
        until(line, |c| c.waiting == 3);
        assert_eq!(line.give_back(7, Use::Shared), None);
        assert_eq!(first.join().expect("no panic"), Turn::Connection(7));
        assert_eq!(conduct(line), 2);
        for (n, other) in others {
            assert_eq!(other.join().expect("no panic"), Turn::Answer(n + 1));
        }
        assert_eq!(line.give_back(7, Use::Shared), None);
    });
    assert_eq!(line.counts(), Counts { idle: 1, open: 2, ..Counts::default() });
}

#[test]
fn more_connections_are_not_shared_than_set_although_permits_are_free_until_the_first_in_line_has_waited_long()
 {
    let line = both_shared();
    assert_eq!(share(&line, 1, None, by(5)), Turn::Denied(Denied::Exhausted));
    assert_eq!(share(&line, 1, Some(by(5)), by(20_000)), Turn::Dial);
    line.dial_failed(Use::Shared);
    assert_eq!(line.counts(), Counts { open: 2, ..Counts::default() });
}

#[test]
fn a_connection_of_ones_own_is_had_while_others_wait_to_share() {
    let line = both_shared();
    std::thread::scope(|s| {
        let rider = s.spawn(|| share(&line, 1, None, by(20_000)));
        until(&line, |c| c.waiting == 1);
        assert_eq!(acquire(&line, by(0), by(0)), Ok(Grant::Dial));
        line.dialed();
        // Given back, it is not for them either.
        assert_eq!(line.give_back(9, Use::Alone), None);
        assert_eq!(line.counts(), Counts { idle: 1, open: 3, waiting: 1, ..Counts::default() });
        line.lost(Use::Shared);
        assert_eq!(rider.join().expect("no panic"), Turn::Connection(9));
    });
}

#[test]
fn who_came_first_is_served_first_whether_alone_or_sharing() {
    for alone_first in [true, false] {
        let line = TestLine::new(1, 1, Crowd::always(1));
        assert_eq!(acquire(&line, by(0), by(0)), Ok(Grant::Dial));
        line.dialed();
        std::thread::scope(|s| {
            let alone = || {
                let grant = acquire(&line, by(20_000), by(20_000));
                assert_eq!(grant, Ok(Grant::Connection(7)));
                line.counts().waiting
            };
            let sharing = || {
                assert_eq!(share(&line, 1, None, by(20_000)), Turn::Connection(7));
                line.counts().waiting
            };
            let (first, second) = if alone_first {
                let first = s.spawn(alone);
                until(&line, |c| c.waiting == 1);
                (first, s.spawn(sharing))
            } else {
                let first = s.spawn(sharing);
                until(&line, |c| c.waiting == 1);
                (first, s.spawn(alone))
            };
            until(&line, |c| c.waiting == 2);
            assert_eq!(line.give_back(7, Use::Alone), None);
            assert_eq!(first.join().expect("no panic"), 1);
            let how = if alone_first { Use::Alone } else { Use::Shared };
            assert_eq!(line.give_back(7, how), None);
            assert_eq!(second.join().expect("no panic"), 0);
        });
    }
}

#[test]
fn an_answer_that_comes_too_late_goes_back_to_who_brings_it() {
    let line = both_shared();
    std::thread::scope(|s| {
        let rider = s.spawn(|| share(&line, 1, None, by(50)));
        until(&line, |c| c.waiting == 1);
        let taken = line.take_along(|_| true);
        assert_eq!(rider.join().expect("no panic"), Turn::Denied(Denied::Late));
        assert_eq!(taken[0].answer(2), Some(2));
    });
}

#[test]
fn those_who_share_are_turned_away_too() {
    let line = both_shared();
    std::thread::scope(|s| {
        let rider = s.spawn(|| share(&line, 1, None, by(20_000)));
        until(&line, |c| c.waiting == 1);
        line.turn_away(Denied::Down);
        assert_eq!(rider.join().expect("no panic"), Turn::Denied(Denied::Down));
        let rider = s.spawn(|| share(&line, 1, None, by(20_000)));
        until(&line, |c| c.waiting == 1);
        assert!(line.close().is_empty());
        assert_eq!(rider.join().expect("no panic"), Turn::Denied(Denied::Closed));
    });
}
