//! Scripted faults: which commands are answered wrongly, and how.

use std::sync::Mutex;
use std::time::Duration;

use super::lock;

/// A way to answer wrongly, given to [`TestServer::fault`](super::TestServer::fault).
///
/// Unless it says otherwise the command is carried out, so that a test sees what a write did whose reply was lost.
/// Faults that meet on one command all apply, in the order in which they were added.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The connection is read from but never answered again.
    Hang,
    /// The reply comes after a pause, as do those behind it; sooner when the faults are cleared meanwhile.
    Late(Duration),
    /// The first bytes of the reply are sent, then the connection is closed; 0 closes it without a reply.
    CloseAfter(usize),
    /// The reply comes a few bytes at a time.
    Dribble {
        /// How many bytes at a time; 0 counts as 1.
        bytes: usize,
        /// The pause between them.
        pause: Duration,
    },
    /// These bytes are sent instead of a reply, and the command is not carried out: an error line
    /// (`"SERVER_ERROR out of memory\r\n"`), or garbage. They are sent as they are, also after `noreply`.
    Reply(Vec<u8>),
    /// The `VALUE` lines of the reply name this key.
    WrongKey(Vec<u8>),
    /// These bytes follow the reply.
    Surplus(Vec<u8>),
    /// A new connection is sent these bytes and closed, as memcached does at its connection limit
    /// (`"ERROR Too many open connections\r\n"`). [`When`] counts connections here, and its verb is ignored.
    TurnAway(Vec<u8>),
}

/// Which commands a [`Fault`] applies to.
///
/// ```
/// use mcpool::testing::When;
/// let third_and_fourth_get = When::next(2).verb("get").after(2);
/// # let _ = third_and_fourth_get;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct When {
    verb: Option<String>,
    skip: usize,
    left: Option<usize>,
}

impl When {
    /// Every command until the faults are cleared.
    #[must_use]
    pub fn always() -> Self {
        Self { verb: None, skip: 0, left: None }
    }

    /// The next `commands` commands, on whatever connection.
    #[must_use]
    pub fn next(commands: usize) -> Self {
        Self { left: Some(commands), ..Self::always() }
    }

    /// Only commands with this first word; others are not counted.
    #[must_use]
    pub fn verb(mut self, verb: impl Into<String>) -> Self {
        self.verb = Some(verb.into());
        self
    }

    /// Lets `commands` commands pass unharmed first.
    #[must_use]
    pub fn after(mut self, commands: usize) -> Self {
        self.skip = commands;
        self
    }

    /// Counts one command, or connection; true when the fault applies to it.
    fn strikes(&mut self) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        match &mut self.left {
            None => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }
}

/// The faults that wait for their commands.
#[derive(Debug, Default)]
pub(super) struct Script(Mutex<Vec<(Fault, When)>>);

impl Script {
    pub(super) fn add(&self, fault: Fault, when: When) {
        lock(&self.0).push((fault, when));
    }

    pub(super) fn clear(&self) {
        lock(&self.0).clear();
    }

    /// The faults for one command with this verb.
    pub(super) fn due(&self, verb: &[u8]) -> Vec<Fault> {
        self.take(|fault, when| {
            !matches!(fault, Fault::TurnAway(_))
                && when.verb.as_ref().is_none_or(|v| v.as_bytes() == verb)
        })
    }

    /// What a new connection is sent before it is closed, if it is to be turned away.
    pub(super) fn turn_away(&self) -> Option<Vec<u8>> {
        self.take(|fault, _| matches!(fault, Fault::TurnAway(_))).into_iter().find_map(|fault| {
            match fault {
                Fault::TurnAway(bytes) => Some(bytes),
                _ => None,
            }
        })
    }

    fn take(&self, concerns: impl Fn(&Fault, &When) -> bool) -> Vec<Fault> {
        let mut script = lock(&self.0);
        let due = script
            .iter_mut()
            .filter_map(|(fault, when)| {
                (concerns(fault, when) && when.strikes()).then(|| fault.clone())
            })
            .collect();
        script.retain(|(_, when)| when.left != Some(0));
        due
    }
}

/// A reply as it goes out once all faults have had their say.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) bytes: Vec<u8>,
    pub(super) delay: Duration,
    /// Bytes at a time and the pause between them.
    pub(super) dribble: Option<(usize, Duration)>,
    pub(super) then: Then,
}

/// What happens to the connection after an [`Answer`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Then {
    GoOn,
    Close,
    Hang,
}

impl Answer {
    pub(super) fn new(bytes: Vec<u8>, faults: Vec<Fault>) -> Self {
        let mut answer = Self { bytes, delay: Duration::ZERO, dribble: None, then: Then::GoOn };
        for fault in faults {
            answer.bend(fault);
        }
        answer
    }

    fn bend(&mut self, fault: Fault) {
        match fault {
            Fault::Hang => {
                self.bytes.clear();
                self.then = Then::Hang;
            }
            Fault::Late(delay) => self.delay += delay,
            Fault::CloseAfter(bytes) => {
                self.bytes.truncate(bytes);
                self.then = Then::Close;
            }
            Fault::Dribble { bytes, pause } => self.dribble = Some((bytes.max(1), pause)),
            Fault::Reply(bytes) => self.bytes = bytes,
            Fault::WrongKey(key) => self.bytes = with_key(&self.bytes, &key),
            Fault::Surplus(bytes) => self.bytes.extend(bytes),
            // Spent when the connection came.
            Fault::TurnAway(_) => {}
        }
    }
}

/// The reply with another key in its `VALUE` lines; what is no `VALUE` line and data block is kept.
fn with_key(reply: &[u8], key: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(reply.len());
    let mut rest = reply;
    while let Some((line, data)) = value(rest) {
        let mut words = line.splitn(3, |byte| *byte == b' ').skip(2);
        out.extend([b"VALUE ", key, b" ", words.next().unwrap_or_default(), data].concat());
        rest = rest.get(line.len() + data.len()..).unwrap_or_default();
    }
    out.extend(rest);
    out
}

/// A `VALUE` line, with its end cut off, and its end and data block.
fn value(reply: &[u8]) -> Option<(&[u8], &[u8])> {
    if !reply.starts_with(b"VALUE ") {
        return None;
    }
    let (line, rest) = reply.split_at_checked(reply.windows(2).position(|end| end == b"\r\n")?)?;
    let len: usize =
        std::str::from_utf8(line.split(|byte| *byte == b' ').nth(3)?).ok()?.parse().ok()?;
    Some((line, rest.get(..len.checked_add(4)?)?))
}
