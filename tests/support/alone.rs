//! A test that looks at its whole process (descriptors, threads, memory, output) gets one to itself.

#![allow(clippy::print_stdout, reason = "the marks around a test's output are printed")]

use std::process::Command;

/// Set in the process that runs one test alone.
const ALONE: &str = "MCPOOL_TEST_ALONE";
/// Stands before and behind what the test itself writes.
const MARK: &str = "\n--- the test ---\n";

/// What a test wrote to its outputs while it ran alone.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `body` in a process of its own; `name` is the path of the calling test.
pub(crate) fn alone(name: &str, body: impl FnOnce()) -> Option<Output> {
    if std::env::var_os(ALONE).is_some() {
        print!("{MARK}");
        body();
        print!("{MARK}");
        return None;
    }
    let program = std::env::current_exe().expect("the test's own program");
    let args = [name, "--exact", "--nocapture", "--test-threads=1"];
    let output = Command::new(program).args(args).env(ALONE, "1").output().expect("it starts");
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{name} failed when alone:\n{stdout}\n{stderr}");
    let inner = stdout.split(MARK).nth(1);
    let stdout = inner.unwrap_or_else(|| panic!("no test is called {name}")).to_owned();
    Some(Output { stdout, stderr })
}

/// Open file descriptors of this process.
pub(crate) fn descriptors() -> usize {
    std::fs::read_dir("/dev/fd").expect("a list of descriptors").count()
}

/// Threads of this process.
pub(crate) fn threads() -> usize {
    if cfg!(target_os = "linux") {
        return std::fs::read_dir("/proc/self/task").expect("a list of threads").count();
    }
    // Elsewhere `ps -M` prints a line for each thread below a headline.
    ps(&["-M"]).lines().count() - 1
}

/// Resident memory of this process in bytes.
pub(crate) fn resident() -> usize {
    let kib = if cfg!(target_os = "linux") {
        let status = std::fs::read_to_string("/proc/self/status").expect("a status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).map(str::to_owned);
        line.expect("the resident memory").replace("kB", "")
    } else {
        ps(&["-o", "rss="])
    };
    kib.trim().parse::<usize>().expect("a number of KiB") * 1024
}

fn ps(args: &[&str]) -> String {
    let pid = std::process::id().to_string();
    let output = Command::new("ps").args(args).args(["-p", &pid]).output().expect("ps runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
