//! What one measurement brings: calls, time, and how the single calls' times are spread.

use std::fmt;
use std::time::Duration;

/// Buckets for each doubling of a time: a bucket is at most 1/32 wide of the time it stands for.
const FINE: usize = 32;
const BITS: usize = FINE.trailing_zeros() as usize;

/// Times of single calls, in buckets that grow with the time.
#[derive(Debug, Clone)]
pub(crate) struct Histogram(Vec<u64>);

impl Histogram {
    pub(crate) fn new() -> Self {
        Self(vec![0; FINE * 60])
    }

    pub(crate) fn add(&mut self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        if let Some(count) = self.0.get_mut(bucket(nanos)) {
            *count += 1;
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The time in nanoseconds that this share of the calls does not exceed.
    pub(crate) fn quantile(&self, share: f64) -> u64 {
        let wanted = (self.count() as f64 * share).ceil() as u64;
        let mut seen = 0;
        let reaches = |count: &u64| {
            seen += count;
            seen >= wanted
        };
        self.0.iter().position(reaches).map_or(0, upper)
    }
}

fn bucket(nanos: u64) -> usize {
    let shift = (64 - nanos.leading_zeros() as usize).saturating_sub(BITS + 1);
    shift * FINE + (nanos >> shift) as usize
}

/// The largest time of a bucket.
fn upper(bucket: usize) -> u64 {
    let shift = (bucket / FINE).saturating_sub(1);
    (((bucket - shift * FINE) as u64 + 1) << shift) - 1
}

/// A driver's answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) calls: u64,
    pub(crate) nanos: u64,
    pub(crate) p50: u64,
    pub(crate) p99: u64,
}

impl Figures {
    pub(crate) fn new(times: &Histogram, took: Duration) -> Self {
        Self {
            calls: times.count(),
            nanos: u64::try_from(took.as_nanos()).unwrap_or(u64::MAX),
            p50: times.quantile(0.5),
            p99: times.quantile(0.99),
        }
    }

    /// Reads what [`Display`](fmt::Display) writes.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(' ').map(|n| n.parse().ok());
        let mut next = || numbers.next().flatten();
        Some(Self { calls: next()?, nanos: next()?, p50: next()?, p99: next()? })
    }

    pub(crate) fn per_second(&self) -> f64 {
        self.calls as f64 * 1e9 / self.nanos.max(1) as f64
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.calls, self.nanos, self.p50, self.p99)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_right_to_a_thirty_second() {
        let mut times = Histogram::new();
        (1..=1000).for_each(|micros| times.add(Duration::from_micros(micros)));
        for (share, right) in [(0.001, 1_000), (0.5, 500_000), (0.99, 990_000), (1.0, 1_000_000)] {
            let found = times.quantile(share);
            assert!((right..=right + right / 32).contains(&found), "{share}: {found}");
        }
    }

    #[test]
    fn every_time_falls_into_a_bucket_that_holds_it() {
        for nanos in (0..200).chain([1 << 20, (1 << 20) + 12_345, 1 << 40]) {
            let upper = upper(bucket(nanos));
            assert!(nanos <= upper && upper <= nanos + nanos / 32, "{nanos}: {upper}");
        }
    }
}
