//! The thread that accepts connections, and how it is made to stop.

use std::io;
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

use super::connections::Panic;
use super::endpoint::{Listener, Stream};

/// How long an accept that failed (no more file descriptors, say) waits before the next.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Accepts connections until it is shut.
#[derive(Debug)]
pub(super) struct Door {
    /// Its end is what wakes the thread.
    wake: UnixStream,
    thread: JoinHandle<()>,
}

impl Door {
    /// Begins to accept; each connection is given to `admit`, on the door's thread.
    pub(super) fn open(
        listener: Listener,
        admit: impl Fn(Stream) -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        listener.set_nonblocking()?;
        let (wake, woken) = UnixStream::pair()?;
        let accept = move || {
            while someone_knocks(&listener, &woken) {
                let admitted = listener.accept().and_then(&admit);
                // One that has gone again is no failure.
                if admitted.is_err_and(|error| error.kind() != io::ErrorKind::WouldBlock) {
                    thread::sleep(ACCEPT_PAUSE);
                }
            }
        };
        let thread = thread::Builder::new().name("memcached accept".to_owned()).spawn(accept)?;
        Ok(Self { wake, thread })
    }

    /// Closes the listener: new connections are refused from then on. The error is the panic of the thread.
    pub(super) fn shut(self) -> Result<(), Panic> {
        drop(self.wake);
        self.thread.join()
    }
}

/// Waits for a connection; false when the door is being shut.
fn someone_knocks(listener: &Listener, woken: &UnixStream) -> bool {
    loop {
        let mut fds = [PollFd::new(woken, PollFlags::IN), PollFd::new(listener, PollFlags::IN)];
        // An error is an interruption, or a lack of memory that may pass.
        if poll(&mut fds, None).is_ok() {
            let [woken, _] = fds;
            return woken.revents().is_empty();
        }
    }
}
