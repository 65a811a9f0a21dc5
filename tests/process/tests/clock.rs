//! A wall clock that jumps changes no deadline, no back-off and no idle limit.
//!
//! The program's own `clock_gettime` stands before the system's, and adds to the wall clock what a test says.

use std::ffi::c_void;
use std::sync::atomic::{AtomicI64, AtomicPtr, Ordering};
use std::time::{Duration, Instant, SystemTime};

use mcpool::testing::{Event, Fault, TestServer, When};
use mcpool::{BackOff, Client, ClientBuilder, DownAfter, ErrorKind, NodeState, Ttl};

const DAY: i64 = 86_400;
const PATIENCE: Duration = Duration::from_secs(20);

/// Seconds that the wall clock is off.
static OFF: AtomicI64 = AtomicI64::new(0);

type ClockGettime = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> libc::c_int;

// SAFETY: it has the signature and the meaning of the system's function, which it calls.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(id: libc::clockid_t, time: *mut libc::timespec) -> libc::c_int {
    static SYSTEMS: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    let mut found = SYSTEMS.load(Ordering::Relaxed);
    if found.is_null() {
        // SAFETY: the name is a C string; looking up a symbol has no other condition.
        found = unsafe { libc::dlsym(libc::RTLD_NEXT, c"clock_gettime".as_ptr()) };
        SYSTEMS.store(found, Ordering::Relaxed);
    }
    // SAFETY: the symbol is the system's function of this type; every system that has this test has it.
    let systems = unsafe { std::mem::transmute::<*mut c_void, ClockGettime>(found) };
    // SAFETY: the arguments are passed on as they came.
    let result = unsafe { systems(id, time) };
    if result == 0 && id == libc::CLOCK_REALTIME {
        // SAFETY: the call above succeeded, so `time` points to a valid time.
        unsafe { (*time).tv_sec += OFF.load(Ordering::SeqCst) };
    }
    result
}

/// Moves the wall clock by `days` and back at the end.
struct Jump;

impl Jump {
    fn by(days: i64) -> Self {
        let before = SystemTime::now();
        OFF.store(days * DAY, Ordering::SeqCst);
        let after = SystemTime::now();
        assert_eq!(after > before, days > 0, "the clock does not obey");
        Self
    }
}

impl Drop for Jump {
    fn drop(&mut self) {
        OFF.store(0, Ordering::SeqCst);
    }
}

fn settings(server: &TestServer) -> ClientBuilder {
    Client::builder().servers(server.address()).min_connections(0).timeout(PATIENCE)
}

fn server() -> TestServer {
    TestServer::start().expect("a server")
}

#[test]
fn f218_a_jump_neither_ends_nor_stretches_a_call() {
    for days in [1, -1] {
        let server = server();
        server.put("k", "v", 0);
        server.fault(Fault::Late(Duration::from_millis(200)), When::next(1).verb("get"));
        let client = settings(&server).build().expect("a client");
        let arrived = |e: &[Event]| e.iter().any(|e| matches!(e, Event::Command { .. }));
        std::thread::scope(|scope| {
            let call = scope.spawn(|| client.get::<String>("k"));
            assert!(server.wait_for(arrived, PATIENCE));
            let _jump = Jump::by(days);
            assert_eq!(call.join().expect("no panic").expect("in time").as_deref(), Some("v"));
        });
        server.clear_events();
        server.fault(Fault::Hang, When::always().verb("get"));
        let brief = client.with_timeout(Duration::from_millis(200)).expect("in range");
        std::thread::scope(|scope| {
            let started = Instant::now();
            let call = scope.spawn(|| brief.get::<String>("k"));
            assert!(server.wait_for(arrived, PATIENCE));
            let _jump = Jump::by(days);
            let error = call.join().expect("no panic").expect_err("no reply");
            assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
            let took = started.elapsed();
            assert!(
                took >= Duration::from_millis(180) && took < Duration::from_secs(10),
                "{took:?}"
            );
        });
    }
}

#[test]
fn f218_a_jump_neither_ends_nor_stretches_a_back_off() {
    for days in [1, -1] {
        let server = server();
        let client = settings(&server)
            .down_after(DownAfter::new(1, Duration::from_secs(10)))
            .back_off(BackOff::new(Duration::from_millis(400), Duration::from_millis(400)))
            .build()
            .expect("a client");
        server.refuse();
        client.get::<String>("k").expect_err("refused");
        let down = Instant::now();
        let _jump = Jump::by(days);
        server.listen().expect("the port is still there");
        while client.status().servers[0].state != NodeState::Up {
            assert!(down.elapsed() < Duration::from_secs(20), "down for ever");
            std::thread::yield_now();
        }
        // 400 ms less a jitter of a fifth.
        assert!(down.elapsed() >= Duration::from_millis(300), "probed after {:?}", down.elapsed());
        assert_eq!(client.get::<String>("k").expect("it is back"), None);
    }
}

#[test]
fn f218_a_jump_makes_no_connection_idle_or_old() {
    let server = server();
    let client = settings(&server)
        .max_idle(Duration::from_secs(300))
        .maintenance_interval(Duration::from_millis(10))
        .build()
        .expect("a client");
    client.set("k", "v", Ttl::NEVER).expect("stored");
    for days in [1, -1] {
        let _jump = Jump::by(days);
        server.clear_events();
        // Many passes of maintenance later it is still open.
        let closed = |e: &[Event]| e.iter().any(|e| matches!(e, Event::Closed { .. }));
        assert!(!server.wait_for(closed, Duration::from_millis(200)));
        assert_eq!(client.get::<String>("k").expect("read").as_deref(), Some("v"));
    }
    assert_eq!(client.status().servers[0].dials, 1);
}
