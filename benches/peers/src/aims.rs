//! The figures that mcpool is to reach against its peers, and whether it does.

use crate::plan::Group;
use crate::samples::{Figure, Samples, interval};

/// What a quotient of mcpool's figure and another's has to be.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    AtLeast(f64),
    AtMost(f64),
    /// The interval that holds the true quotient with a certainty of 95 % reaches this.
    Touches(f64),
}

/// What the quotient is of.
#[derive(Debug, Clone, Copy)]
enum Of {
    /// This figure; of several workloads the worst counts.
    Each(Figure),
    /// The time that the whole size table takes with so many threads.
    SizeTable(usize),
}

struct Spec {
    what: &'static str,
    of: Of,
    workloads: &'static [&'static str],
    client: &'static str,
    against: &'static str,
    wanted: Wanted,
}

/// An aim with what came of it.
#[derive(Debug, Clone)]
pub(crate) struct Aim {
    pub(crate) what: &'static str,
    pub(crate) against: &'static str,
    pub(crate) wanted: String,
    /// The quotient, in words; `None` when one of the two was not measured.
    pub(crate) reached: Option<String>,
    pub(crate) met: Option<bool>,
}

const TEN: &[&str] = &["simple/set/10", "simple/get/10"];
const MANY_THREADS: &[&str] =
    &["simple/set/50", "simple/get/50", "simple/set/100", "simple/get/100"];
const HUNDRED: &[&str] = &["simple/set/100", "simple/get/100"];
const MAPS: &[&str] = &[
    "map/set-map/1",
    "map/get-map/1",
    "map/set-map/10",
    "map/get-map/10",
    "map/set-map/50",
    "map/get-map/50",
    "map/set-map/100",
    "map/get-map/100",
];

/// An aim for mcpool with its defaults.
const fn spec(
    what: &'static str,
    of: Of,
    workloads: &'static [&'static str],
    against: &'static str,
    wanted: Wanted,
) -> Spec {
    Spec { what, of, workloads, client: "mcpool", against, wanted }
}

/// An aim for one thread with `busy_poll`.
const fn polling(against: &'static str, wanted: Wanted) -> Spec {
    let (what, workloads) = ("1 thread with busy_poll: rate", &["simple/set/1", "simple/get/1"]);
    Spec { client: "mcpool-poll", ..spec(what, Of::Each(Figure::Rate), workloads, against, wanted) }
}

const SPECS: &[Spec] = {
    use Figure::{Cpu, Items, P99, Rate};
    use Of::{Each, SizeTable};
    use Wanted::{AtLeast, AtMost, Touches};
    &[
        spec(
            "1 thread, one core: rate of set",
            Each(Rate),
            &["pinned/set/1"],
            "raw",
            Touches(0.95),
        ),
        spec(
            "1 thread, one core: rate of get",
            Each(Rate),
            &["pinned/get/1"],
            "raw",
            Touches(0.95),
        ),
        polling("raw", AtLeast(2.5)),
        polling("raw-poll", AtLeast(0.95)),
        spec("10 threads: rate", Each(Rate), TEN, "raw", AtLeast(1.2)),
        spec("50 and 100 threads: rate", Each(Rate), MANY_THREADS, "raw", AtLeast(2.5)),
        spec("50 and 100 threads: rate", Each(Rate), MANY_THREADS, "memcache-exp", AtLeast(3.0)),
        spec("50 and 100 threads: rate", Each(Rate), MANY_THREADS, "memcache", AtLeast(12.0)),
        spec("50 and 100 threads: rate", Each(Rate), MANY_THREADS, "spymemcached", AtLeast(5.0)),
        spec("50 and 100 threads: CPU per call", Each(Cpu), MANY_THREADS, "raw", AtMost(0.5)),
        spec("100 threads: 99 % of the calls end within", Each(P99), HUNDRED, "raw", AtMost(0.5)),
        spec(
            "50 and 100 threads beside two processes that compute: rate",
            Each(Rate),
            &["crowded/set/50", "crowded/get/50", "crowded/set/100", "crowded/get/100"],
            "raw",
            AtLeast(0.9),
        ),
        spec(
            "100 threads, 1 ms of round trip, 4 connections: rate",
            Each(Rate),
            &["far/set/100", "far/get/100"],
            "memcache-exp",
            AtLeast(15.0),
        ),
        spec("map of 100 structs: rate", Each(Rate), MAPS, "spymemcached", AtLeast(3.0)),
        spec("size table, 1 thread: time", SizeTable(1), &[], "spymemcached", AtMost(0.3)),
        spec("size table, 1 thread: time", SizeTable(1), &[], "raw", AtMost(1.0)),
        spec("size table, 4 threads: time", SizeTable(4), &[], "raw", AtMost(1.0)),
        spec(
            "100 keys on 3 servers: rate",
            Each(Rate),
            &["many/3-servers/100"],
            "libmemcached",
            AtLeast(1.0),
        ),
        spec(
            "100 keys on 3 servers: rate",
            Each(Rate),
            &["many/3-servers/100"],
            "memcache-exp",
            AtLeast(1.5),
        ),
        spec("structs in memory", Each(Items), &["memory/fill/10"], "spymemcached", AtLeast(1.3)),
    ]
};

/// Every aim of which something was to be measured.
pub(crate) fn reached(samples: &Samples) -> Vec<Aim> {
    let planned = SPECS.iter().filter(|spec| {
        samples.workloads.iter().any(|workload| match spec.of {
            Of::SizeTable(_) => workload.group == Group::Sizes,
            Of::Each(_) => spec.workloads.contains(&workload.id.as_str()),
        })
    });
    planned.map(|spec| spec.reached(samples)).collect()
}

impl Spec {
    fn reached(&self, samples: &Samples) -> Aim {
        let (reached, met) = match self.wanted {
            Wanted::AtLeast(least) => said(self.quotient(samples, f64::min), |q| q >= least),
            Wanted::AtMost(most) => said(self.quotient(samples, f64::max), |q| q <= most),
            Wanted::Touches(least) => match self.pairs(samples) {
                Some((low, high, pairs)) => {
                    (Some(format!("{low:.2} to {high:.2} in {pairs} pairs")), Some(high >= least))
                }
                None => (None, None),
            },
        };
        let wanted = match self.wanted {
            Wanted::AtLeast(least) => format!("at least {least:.2}"),
            Wanted::AtMost(most) => format!("at most {most:.2}"),
            Wanted::Touches(least) => format!("reaches {least:.2}"),
        };
        Aim { what: self.what, against: self.against, wanted, reached, met }
    }

    /// The worst quotient of the medians; none unless every workload was measured, or is not in the plan.
    fn quotient(&self, samples: &Samples, worse: fn(f64, f64) -> f64) -> Option<f64> {
        let quotients = match self.of {
            Of::SizeTable(threads) => {
                let ours = size_table(samples, self.client, threads)?;
                vec![ours / size_table(samples, self.against, threads)?]
            }
            Of::Each(figure) => {
                let planned = |id: &&&str| samples.workloads.iter().any(|w| w.id == **id);
                let planned = self.workloads.iter().filter(planned);
                let each = planned.map(|id| {
                    let ours = samples.median(id, self.client, figure)?;
                    Some(ours / samples.median(id, self.against, figure)?)
                });
                each.collect::<Option<Vec<_>>>()?
            }
        };
        quotients.into_iter().reduce(worse)
    }

    /// The interval of the quotients of measurements that followed each other, and how many these are.
    fn pairs(&self, samples: &Samples) -> Option<(f64, f64, usize)> {
        let id = self.workloads.first()?;
        let Of::Each(figure) = self.of else { return None };
        let ours = samples.figures(id, self.client, figure);
        let theirs = samples.figures(id, self.against, figure);
        let quotients: Vec<_> = ours.iter().zip(&theirs).map(|(a, b)| a / b).collect();
        let (low, high) = interval(quotients.clone())?;
        Some((low, high, quotients.len()))
    }
}

fn said(quotient: Option<f64>, is_met: impl Fn(f64) -> bool) -> (Option<String>, Option<bool>) {
    (quotient.map(|q| format!("{q:.2}")), quotient.map(is_met))
}

/// The time of one store and one fetch of every size, in seconds; none unless all were measured.
pub(crate) fn size_table(samples: &Samples, client: &str, threads: usize) -> Option<f64> {
    let all = samples.workloads.iter();
    let table = all.filter(|w| w.id.starts_with("sizes/") && w.threads == threads);
    let times: Option<Vec<_>> = table
        .map(|w| samples.median(&w.id, client, Figure::Rate).map(|rate| threads as f64 / rate))
        .collect();
    times.filter(|times| !times.is_empty()).map(|times| times.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::{Answer, Measured};
    use crate::figures::Figures;
    use crate::plan;
    use crate::samples::Sample;

    /// Every client does a thousand calls a second, mcpool three times as many.
    fn samples() -> Samples {
        let clients = ["mcpool", "mcpool-poll", "raw", "memcache", "memcache-exp", "libmemcached"];
        let clients = clients.map(str::to_owned).to_vec();
        let workloads = plan::workloads(false);
        let sample = |workload: &str, client: &str| {
            let calls = if client == "mcpool" { 3000 } else { 1000 };
            let figures = Figures { calls, nanos: 1_000_000_000, p50: 10, p99: 20 };
            let measured = Measured { figures, client_cpu: 1.0, server_cpu: 1.0 };
            Sample {
                round: 0,
                workload: workload.to_owned(),
                client: client.to_owned(),
                answer: Answer::Done(measured),
                items: None,
            }
        };
        let all = workloads
            .iter()
            .flat_map(|w| clients.iter().map(|c| sample(&w.id, c)).collect::<Vec<_>>())
            .collect();
        Samples { all, clients, workloads }
    }

    #[test]
    fn every_aim_names_workloads_that_are_in_the_plan() {
        let ids: Vec<_> = plan::workloads(false).into_iter().map(|w| w.id).collect();
        for id in SPECS.iter().flat_map(|spec| spec.workloads) {
            assert!(ids.iter().any(|i| i == id), "{id}");
        }
    }

    #[test]
    fn an_aim_is_met_not_met_or_not_measured() {
        let aims = reached(&samples());
        let met = |what: &str, against: &str| {
            aims.iter().find(|a| a.what == what && a.against == against).unwrap().met
        };
        assert_eq!(met("50 and 100 threads: rate", "raw"), Some(true));
        assert_eq!(met("50 and 100 threads: rate", "memcache-exp"), Some(true));
        assert_eq!(met("50 and 100 threads: rate", "memcache"), Some(false));
        assert_eq!(met("50 and 100 threads: rate", "spymemcached"), None);
        assert_eq!(met("50 and 100 threads: CPU per call", "raw"), Some(true));
        assert_eq!(met("1 thread with busy_poll: rate", "raw"), Some(false));
        assert_eq!(met("100 threads: 99 % of the calls end within", "raw"), Some(false));
        assert_eq!(met("size table, 4 threads: time", "raw"), Some(true));
        assert_eq!(met("1 thread, one core: rate of get", "raw"), Some(true));
        assert_eq!(met("structs in memory", "spymemcached"), None);
    }
}
