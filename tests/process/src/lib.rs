//! The unsafe doors of these tests: fork, signals, the limit of descriptors.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// A child that takes longer hangs and is ended by an alarm.
const CHILD_SECONDS: u32 = 30;

/// A forked child; whoever forks must wait for it.
#[must_use]
pub struct Child(libc::pid_t);

/// Runs `body` in a forked child, which then ends without running anything else of the program.
pub fn fork(body: impl FnOnce()) -> Child {
    // SAFETY: the child runs only this thread. What it touches is what programs that fork touch: the allocator
    // (which glibc and macOS make usable in a child), the client under test, and what `body` names.
    match unsafe { libc::fork() } {
        -1 => panic!("fork: {}", std::io::Error::last_os_error()),
        0 => {
            // SAFETY: sets a timer of this process and touches no memory.
            unsafe { libc::alarm(CHILD_SECONDS) };
            let status = i32::from(catch_unwind(AssertUnwindSafe(body)).is_err());
            // SAFETY: ends the process at once; no destructor or exit handler of the parent's runs here.
            unsafe { libc::_exit(status) }
        }
        pid => Child(pid),
    }
}

impl Child {
    /// Waits for its end; a panic, or being ended by a signal, is the caller's panic.
    pub fn join(self) {
        let status = self.status();
        let hung = libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGALRM;
        assert!(!hung, "the child hung");
        assert_eq!(status, 0, "the child failed, with wait status {status:#x}");
    }

    /// Waits for its end; the signal that brought it about, if one did.
    #[must_use]
    pub fn ended_by(self) -> Option<i32> {
        let status = self.status();
        libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status))
    }

    fn status(self) -> i32 {
        let mut status = 0;
        // SAFETY: `status` is ours to be written, and the pid is that of a child nobody else waits for.
        while unsafe { libc::waitpid(self.0, &raw mut status, 0) } == -1 {
            let e = std::io::Error::last_os_error();
            assert_eq!(e.kind(), std::io::ErrorKind::Interrupted, "{e}");
        }
        status
    }
}

/// How many signals were handled by [`interrupted`]'s handler.
static HANDLED: AtomicU64 = AtomicU64::new(0);

extern "C" fn count(_: libc::c_int) {
    HANDLED.fetch_add(1, Ordering::SeqCst);
}

/// Runs `body` while signals interrupt this thread's system calls all the time; how many were handled.
pub fn interrupted<T>(body: impl FnOnce() -> T) -> (T, u64) {
    // SAFETY: an all-zero sigaction is a valid one: no flags (so that calls are not restarted), an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = count as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the handler only adds to an atomic, which is allowed in a signal handler.
    let set = unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()) };
    assert_eq!(set, 0);
    // SAFETY: asks for this thread's own handle.
    let me = unsafe { libc::pthread_self() };
    // Thread handles are integers or pointers, by the system.
    let me = me as usize;
    let (before, over) = (HANDLED.load(Ordering::SeqCst), AtomicBool::new(false));
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                // SAFETY: the thread is alive: it leaves the scope only after this one has ended.
                assert_eq!(unsafe { libc::pthread_kill(me as libc::pthread_t, libc::SIGUSR1) }, 0);
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let result = body();
        over.store(true, Ordering::SeqCst);
        result
    });
    (result, HANDLED.load(Ordering::SeqCst) - before)
}

/// Lets a write to a closed connection end the process again, as it does in programs not started by Rust.
pub fn default_sigpipe() {
    // SAFETY: sets a default action; no handler is involved.
    assert_ne!(unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) }, libc::SIG_ERR);
}

/// Runs `body` while no descriptor can be opened.
pub fn without_descriptors<T>(body: impl FnOnce() -> T) -> T {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is ours to be written.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) }, 0);
    let none = libc::rlimit { rlim_cur: 0, ..limit };
    // SAFETY: only new descriptors are refused; those that are open stay usable.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const none) }, 0);
    let result = catch_unwind(AssertUnwindSafe(body));
    // SAFETY: puts back what was read above.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Takes every thread that this process can have. There is no way back.
#[cfg(target_os = "linux")]
pub fn without_threads() {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("the size of this process");
    let pages: u64 = statm.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
    // SAFETY: asks for a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    // Room for small things, but not for many stacks.
    let most = pages * u64::try_from(page).expect("above zero") + (8 << 20);
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: lowers a limit of this process; what it has stays its own.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
    let idle = || loop {
        std::thread::park();
    };
    // The stacks of threads that have ended are used up first.
    while std::thread::Builder::new().spawn(idle).is_ok() {}
}
