//! What the system says of a running process: its processor time, and where it may run.

use std::fs;

use rustix::param::clock_ticks_per_second;
use rustix::thread::{CpuSet, Pid, sched_setaffinity};

use crate::Outcome;

/// Processor time in seconds, user and system, of all threads; 0 where the system has no /proc.
pub(crate) fn cpu_seconds(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The second field is the program's name in parentheses and may hold anything.
    let fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let ticks: u64 = fields.split(' ').skip(11).take(2).flat_map(str::parse::<u64>).sum();
    ticks as f64 / clock_ticks_per_second() as f64
}

/// Keeps a process, and what its threads start from now on, on one core.
pub(crate) fn pin(pid: u32, core: usize) -> Outcome<()> {
    let mut cores = CpuSet::new();
    cores.set(core);
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let task = task?.file_name().to_string_lossy().parse()?;
        sched_setaffinity(Pid::from_raw(task), &cores)?;
    }
    Ok(())
}

/// A line of /proc/cpuinfo or the like, for the report.
pub(crate) fn described(file: &str, name: &str) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.split_once(':').map_or("unknown", |(_, value)| value.trim()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn work_shows_as_processor_time() {
        let (pid, start) = (std::process::id(), Instant::now());
        let before = cpu_seconds(pid);
        while cpu_seconds(pid) - before < 0.02 {
            assert!(start.elapsed() < Duration::from_secs(60), "no processor time is counted");
        }
        assert!(cpu_seconds(pid) > 0.0);
    }
}
