//! Expiry times, and how memcached spells them.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Above this many seconds memcached takes an expiry time for a date (protocol.txt, "Expiration times").
const RELATIVE_LIMIT: u64 = 60 * 60 * 24 * 30;

/// When a value expires.
///
/// Made from a [`Duration`] (rounded up to whole seconds), from a [`SystemTime`], or one of the
/// constants. A zero duration and a past time mean "at once", never "never". What ends past 2038-01-19 is an
/// [`InvalidTtl`](crate::ErrorKind::InvalidTtl) error of the call.
///
/// A duration over 30 days goes out as a date, since memcached takes larger numbers for dates; it then depends on
/// this machine's clock and the server's agreeing.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use mcpool::Ttl;
/// let minute: Ttl = Duration::from_secs(60).into();
/// let tomorrow: Ttl = (SystemTime::now() + Duration::from_secs(86_400)).into();
/// assert_eq!(Ttl::from(Duration::ZERO), Ttl::IMMEDIATE);
/// # let _ = (minute, tomorrow);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ttl(Expiry);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Expiry {
    Never,
    Immediate,
    In(Duration),
    At(SystemTime),
}

impl Ttl {
    /// The value stays until memory is needed or someone deletes it.
    pub const NEVER: Self = Self(Expiry::Never);
    /// The value is expired as soon as it is stored.
    pub const IMMEDIATE: Self = Self(Expiry::Immediate);

    /// The number that goes over the wire: 0 never, -1 at once, else seconds or a Unix time.
    ///
    /// A duration over 30 days is sent as an absolute time, since memcached reads it as one.
    pub(crate) fn wire(self, now: SystemTime) -> Result<i32, TtlError> {
        let unix = |at: SystemTime| at.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let seconds = match self.0 {
            Expiry::Never => return Ok(0),
            Expiry::Immediate => return Ok(-1),
            Expiry::In(d) => match ceil_seconds(d) {
                0 => return Ok(-1),
                s if s <= RELATIVE_LIMIT => s,
                s => unix(now).as_secs().saturating_add(s),
            },
            Expiry::At(at) => match at.duration_since(now) {
                Ok(left) if !left.is_zero() => match ceil_seconds(unix(at)) {
                    // A date that memcached would take for a duration: only on a clock before February 1970.
                    s if s <= RELATIVE_LIMIT => ceil_seconds(left),
                    s => s,
                },
                _ => return Ok(-1),
            },
        };
        i32::try_from(seconds).map_err(|_| TtlError { seconds })
    }
}

/// Whole seconds, rounded up, so that a value never expires early.
fn ceil_seconds(d: Duration) -> u64 {
    d.as_secs().saturating_add(u64::from(d.subsec_nanos() > 0))
}

impl From<Duration> for Ttl {
    fn from(d: Duration) -> Self {
        if d.is_zero() { Self::IMMEDIATE } else { Self(Expiry::In(d)) }
    }
}

impl From<SystemTime> for Ttl {
    fn from(at: SystemTime) -> Self {
        Self(Expiry::At(at))
    }
}

/// An expiry time that memcached cannot express: it ends past 2038-01-19.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TtlError {
    seconds: u64,
}

impl fmt::Display for TtlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the expiry time {} is beyond {} seconds, the largest that memcached keeps; use Ttl::NEVER or a nearer time",
            self.seconds,
            i32::MAX
        )
    }
}

impl std::error::Error for TtlError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn durations_are_rounded_up_and_dated_beyond_30_days() {
        let now = at(1_700_000_000);
        let wire = |d: Duration| Ttl::from(d).wire(now);
        assert_eq!(wire(Duration::from_millis(1)), Ok(1));
        assert_eq!(wire(Duration::from_millis(1_001)), Ok(2));
        assert_eq!(wire(Duration::from_secs(2_592_000)), Ok(2_592_000));
        assert_eq!(wire(Duration::from_secs(2_592_001)), Ok(1_702_592_001));
        assert_eq!(wire(Duration::ZERO), Ok(-1));
        assert_eq!(wire(Duration::MAX), Err(TtlError { seconds: u64::MAX }));
        assert_eq!(
            wire(Duration::from_secs(447_483_648)),
            Err(TtlError { seconds: 2_147_483_648 })
        );
        assert_eq!(wire(Duration::from_secs(447_483_647)), Ok(i32::MAX));
    }

    #[test]
    fn dates_are_sent_as_dates_and_past_ones_expire_at_once() {
        let now = at(1_700_000_000);
        assert_eq!(Ttl::from(at(1_700_000_005)).wire(now), Ok(1_700_000_005));
        assert_eq!(Ttl::from(now).wire(now), Ok(-1));
        assert_eq!(Ttl::from(at(5)).wire(now), Ok(-1));
        assert_eq!(
            Ttl::from(at(2_147_483_648)).wire(now),
            Err(TtlError { seconds: 2_147_483_648 })
        );
        assert_eq!(Ttl::NEVER.wire(now), Ok(0));
        assert_eq!(Ttl::IMMEDIATE.wire(now), Ok(-1));
    }

    #[test]
    fn a_clock_in_january_1970_still_sends_a_duration() {
        assert_eq!(Ttl::from(at(200)).wire(at(100)), Ok(100));
    }
}
