//! The command line.

use std::path::PathBuf;

use crate::Outcome;

pub(crate) const USAGE: &str = "\
benches/peers/run [OPTIONS]: mcpool against other clients on a real memcached, all in turns in one run

  --quick            a minute for all, to see that it works; its figures say little
  --rounds N         how often each client does each workload (default 5)
  --seconds S        how long it does so each time (default 0.5)
  --workload TEXT    only workloads whose name has TEXT in it, may be given several times: simple, get/100, …
  --client NAME      only these clients, may be given several times
  --out FOLDER       where the report goes (default docs/performance for a whole run, else target/peers/report)
  --list             names the workloads and clients, and measures nothing";

/// What was asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Args {
    pub(crate) quick: bool,
    pub(crate) list: bool,
    pub(crate) help: bool,
    pub(crate) rounds: usize,
    pub(crate) seconds: f64,
    pub(crate) workloads: Vec<String>,
    pub(crate) clients: Vec<String>,
    pub(crate) out: Option<PathBuf>,
    /// Clients in other languages: name and command, words separated by blanks.
    pub(crate) drivers: Vec<(String, String)>,
}

impl Args {
    pub(crate) fn parse(words: &[&str]) -> Outcome<Self> {
        let mut args = Self::default();
        let (mut rounds, mut seconds) = (None, None);
        let mut words = words.iter().copied();
        while let Some(option) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{option} needs a value"));
            match option {
                "--quick" => args.quick = true,
                "--list" => args.list = true,
                "--help" | "-h" => args.help = true,
                "--rounds" => rounds = Some(value()?.parse::<usize>()?),
                "--seconds" => seconds = Some(value()?.parse::<f64>()?),
                "--workload" => args.workloads.push(value()?.to_owned()),
                "--client" => args.clients.push(value()?.to_owned()),
                "--out" => args.out = Some(value()?.into()),
                "--driver" => {
                    let (name, command) = value()?.split_once('=').ok_or("not NAME=COMMAND")?;
                    args.drivers.push((name.to_owned(), command.to_owned()));
                }
                other => return Err(format!("no such option: {other}\n\n{USAGE}").into()),
            }
        }
        args.rounds = rounds.unwrap_or(if args.quick { 1 } else { 5 });
        args.seconds = seconds.unwrap_or(if args.quick { 0.06 } else { 0.5 });
        if args.rounds == 0 || !(0.01..=60.0).contains(&args.seconds) {
            return Err("--rounds is at least 1, --seconds 0.01 to 60".into());
        }
        Ok(args)
    }

    /// Whether everything is measured, at length.
    pub(crate) fn is_whole(&self) -> bool {
        !self.quick && self.workloads.is_empty() && self.clients.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_nonsense_is_refused() {
        let args =
            Args::parse(&["--rounds", "3", "--client", "raw", "--driver", "x=/a b"]).unwrap();
        assert_eq!((args.rounds, args.seconds, args.is_whole()), (3, 0.5, false));
        assert_eq!(args.drivers, [("x".to_owned(), "/a b".to_owned())]);
        for bad in [&["--rounds", "0"][..], &["--rounds"], &["--seconds", "nan"], &["--fast"]] {
            assert!(Args::parse(bad).is_err(), "{bad:?}");
        }
    }
}
