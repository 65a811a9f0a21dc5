//! The report of a run: a page with tables and pictures, and every measurement as CSV.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::aims::Aim;
use crate::args::Args;
use crate::child::Answer;
use crate::plan::{self, Group};
use crate::samples::{Figure, Samples};
use crate::{Outcome, plots, process, tables};

/// Writes `report.md`, `samples.csv` and the pictures.
pub(crate) fn write(folder: &Path, args: &Args, samples: &Samples, aims: &[Aim]) -> Outcome<()> {
    let pictures = plots::draw(folder, samples)?;
    fs::write(folder.join("samples.csv"), samples.csv())?;
    let mut page = head(args);
    if !aims.is_empty() {
        _ = write!(
            page,
            "## Aims\n\nQuotients of medians, mcpool's figure through the other's; of several workloads the worst.\n\n{}\n",
            tables::aims(aims)
        );
    }
    for group in Group::ALL {
        section(&mut page, samples, group, args, &pictures);
    }
    let troubles = troubles(samples);
    if !troubles.is_empty() {
        _ = write!(page, "## What failed\n\n{troubles}\n");
    }
    fs::write(folder.join("report.md"), page.trim_end().to_owned() + "\n")?;
    Ok(())
}

/// What was measured where and how.
fn head(args: &Args) -> String {
    let how = if args.quick { "A quick run: its figures say little.\n\n" } else { "" };
    format!(
        "# mcpool against other clients\n\n\
        Made by `benches/peers/run`; every measurement is in [samples.csv](samples.csv), what the figures mean in\n\
        [performance.md](../performance.md).\n\n\
        {how}\
        - Machine: {cpu}, {cores} cores, {kernel}\n\
        - Server: {memcached}, two threads, on the loopback\n\
        - Clients: {rustc}; libmemcached by its pool, spymemcached by its defaults, `memcache` and `memcache-exp` with a\n  \
          connection for each thread; `raw` is a blocking socket per thread with nothing around it,\n  \
          `raw-poll` one that looks for its reply again and again\n\
        - {rounds} rounds, in each of them every workload, in each of these every client in turn, {millis:.0} ms each (a quarter\n  \
          of it in the size table) after a fifth of it for warming up; medians of the rounds\n\n",
        cpu = process::described("/proc/cpuinfo", "model name"),
        cores = std::thread::available_parallelism().map_or(0, usize::from),
        kernel = said_by("uname", &["-sr"]),
        memcached = said_by(
            &std::env::var("MCPOOL_MEMCACHED").unwrap_or_else(|_| "memcached".into()),
            &["--version"]
        ),
        rustc = said_by("rustc", &["--version"]),
        rounds = args.rounds,
        millis = args.seconds * 1e3,
    )
}

fn section(
    page: &mut String,
    samples: &Samples,
    group: Group,
    args: &Args,
    pictures: &[(Group, String)],
) {
    let figures: &[Figure] = match group {
        Group::Memory => &[Figure::Items],
        Group::Simple | Group::Crowded => {
            &[Figure::Rate, Figure::P50, Figure::P99, Figure::ClientCpu, Figure::ServerCpu]
        }
        Group::Map | Group::Far => &[Figure::Rate, Figure::P50, Figure::P99, Figure::Cpu],
        _ => &[Figure::Rate, Figure::P99, Figure::Cpu],
    };
    let found: Vec<_> =
        figures.iter().filter_map(|f| Some((*f, tables::table(samples, group, *f)?))).collect();
    if found.is_empty() {
        return;
    }
    _ = write!(page, "## {}\n\n", group.title());
    if group == Group::Memory {
        let objects = samples.workloads.iter().find(|w| w.group == group).map_or(0, |w| w.size);
        _ = write!(
            page,
            "{objects} structs `{{i32, \"element number N\", f64, bool}}` under the keys `item:kT_I`, into {} MB.\n\n",
            plan::memory(args.quick)
        );
    }
    for (_, file) in pictures.iter().filter(|(of, _)| *of == group) {
        _ = write!(page, "![{0}]({0})\n\n", file);
    }
    for (figure, table) in found {
        _ = write!(page, "{}:\n\n{table}\n", capital(tables::unit(figure)));
    }
    if group == Group::Sizes {
        _ = write!(
            page,
            "µs of one store and one fetch of every size:\n\n{}\n",
            tables::size_tables(samples)
        );
    }
}

/// What clients said instead of figures.
fn troubles(samples: &Samples) -> String {
    let mut list = String::new();
    for sample in &samples.all {
        if let Answer::Failed(why) = &sample.answer {
            _ = writeln!(list, "- {} {}: {why}", sample.workload, sample.client);
        }
    }
    list
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The first line that a program prints.
fn said_by(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().ok();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.as_deref().and_then(|text| text.lines().next()).unwrap_or("unknown").to_owned()
}
