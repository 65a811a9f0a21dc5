//! What is measured: every workload, and how much of it a quick run leaves out.

use crate::servers::Place;

/// Lengths of values in the size table, as in the published comparisons.
const SIZES: [usize; 15] =
    [2, 4, 9, 19, 39, 81, 168, 350, 729, 1516, 3154, 6561, 13647, 28388, 59049];
/// Those of a quick run.
const FEW_SIZES: [usize; 3] = [2, 729, 59049];
/// A simple value's length.
pub(crate) const SIMPLE: usize = 32;

/// One thing that each client does in turn.
#[derive(Debug, Clone)]
pub(crate) struct Workload {
    /// `group/operation/…`, unique; what filters look at.
    pub(crate) id: String,
    pub(crate) group: Group,
    pub(crate) op: &'static str,
    pub(crate) threads: usize,
    pub(crate) size: usize,
}

/// Workloads of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Group {
    Simple,
    Map,
    Sizes,
    Many,
    Far,
    Pinned,
    Crowded,
    Memory,
}

impl Group {
    pub(crate) const ALL: [Self; 8] = [
        Self::Simple,
        Self::Map,
        Self::Sizes,
        Self::Many,
        Self::Far,
        Self::Pinned,
        Self::Crowded,
        Self::Memory,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Map => "map",
            Self::Sizes => "sizes",
            Self::Many => "many",
            Self::Far => "far",
            Self::Pinned => "pinned",
            Self::Crowded => "crowded",
            Self::Memory => "memory",
        }
    }

    /// What it is, for the report.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Simple => "Simple values: 32 bytes, threads that share one client",
            Self::Map => "A map of 100 structs, threads that share one client",
            Self::Sizes => "Values of 2 to 59049 bytes",
            Self::Many => "Many keys in one call, on 1 and on 3 servers",
            Self::Far => "Simple values over a line with 1 ms of round trip, at most 4 connections",
            Self::Pinned => "One thread, client and server on the same core",
            Self::Crowded => "Simple values beside two processes that compute",
            Self::Memory => "Structs that fit into a server's memory",
        }
    }

    /// How often a round measures it: short measurements on one core need more of them.
    pub(crate) fn repeats(self) -> usize {
        if self == Self::Pinned { 3 } else { 1 }
    }

    /// The part of the usual time that one measurement takes: there are many of some.
    pub(crate) fn share(self) -> f64 {
        if self == Self::Sizes { 0.25 } else { 1.0 }
    }

    /// The most connections that a client may open; 0 is its own choice.
    pub(crate) fn connections(self) -> u32 {
        if self == Self::Far { 4 } else { 0 }
    }

    fn suits(self, client: &str) -> bool {
        match self {
            // Without a pool nothing can be capped.
            Self::Far => client != "raw",
            Self::Pinned => client == "raw" || client == "mcpool",
            // Only what a value is stored as matters, and the raw loop stores what the others do.
            Self::Memory => client != "raw" && !client.starts_with("mcpool-"),
            _ => true,
        }
    }
}

impl Workload {
    fn new(group: Group, op: &'static str, threads: usize, size: usize) -> Self {
        let id = match group {
            Group::Sizes | Group::Many => format!("{}/{op}/{threads}/{size}", group.name()),
            _ => format!("{}/{op}/{threads}", group.name()),
        };
        Self { id, group, op, threads, size }
    }

    pub(crate) fn place(&self) -> Place {
        match self.group {
            Group::Far => Place::Far,
            Group::Pinned => Place::Pinned,
            Group::Many if self.id.starts_with("many/3-servers") => Place::Three,
            _ => Place::Near,
        }
    }

    /// Whether it says anything about this client.
    pub(crate) fn suits(&self, client: &str) -> bool {
        match client {
            // It is there for the setting that does the same.
            "raw-poll" => self.group == Group::Simple && self.threads == 1 && self.op != "delete",
            client => self.group.suits(client),
        }
    }

    /// As a driver is asked.
    pub(crate) fn ask(&self, millis: u64) -> String {
        format!("{} {} {millis} {}", self.op, self.threads, self.size)
    }
}

/// All workloads in their order.
pub(crate) fn workloads(quick: bool) -> Vec<Workload> {
    let mut all = Vec::new();
    let mut add = |group, ops: &[&'static str], threads: &[usize], sizes: &[usize]| {
        for threads in threads {
            for op in ops {
                for size in sizes {
                    all.push(Workload::new(group, op, *threads, *size));
                }
            }
        }
    };
    let three = ["set", "get", "delete"];
    let two = ["set", "get"];
    add(Group::Simple, &three, &[1, 10, 50, 100], &[SIMPLE]);
    add(
        Group::Map,
        &["set-map", "get-map"],
        if quick { &[1, 100] } else { &[1, 10, 50, 100] },
        &[0],
    );
    add(Group::Sizes, &two, &[1, 4], if quick { &FEW_SIZES } else { &SIZES });
    add(
        Group::Far,
        if quick { &two } else { &three },
        if quick { &[100] } else { &[1, 10, 50, 100] },
        &[SIMPLE],
    );
    add(Group::Pinned, &two, &[1], &[SIMPLE]);
    add(Group::Crowded, &two, if quick { &[100] } else { &[50, 100] }, &[SIMPLE]);
    for servers in ["1-server", "3-servers"] {
        for keys in [10, 100, 1000] {
            let mut workload = Workload::new(Group::Many, "get-many", 1, keys);
            workload.id = format!("many/{servers}/{keys}");
            all.push(workload);
        }
    }
    all.push(Workload::new(Group::Memory, "fill", 10, if quick { 60_000 } else { 1_000_000 }));
    all.sort_by_key(|workload| Group::ALL.iter().position(|group| *group == workload.group));
    all
}

/// The memory that structs are to fit into, in MB.
pub(crate) fn memory(quick: bool) -> u32 {
    if quick { 8 } else { 128 }
}
