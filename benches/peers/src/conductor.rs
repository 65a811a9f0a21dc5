//! The run itself: every round each workload, each workload every client, one at a time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use std::{env, fs};

use crate::args::{Args, USAGE};
use crate::child::{Answer, Client, Driver};
use crate::plan::{self, Group, Workload};
use crate::samples::{Sample, Samples};
use crate::servers::{Memcached, Place, Servers};
use crate::{Outcome, aims, driver, report, tables};

/// How long a driver may be silent beyond the time that it was given.
const PATIENCE: Duration = Duration::from_secs(20);
/// The same where it has a fixed amount of work.
const LONG_PATIENCE: Duration = Duration::from_secs(300);

pub(crate) fn conduct(words: &[&str]) -> Outcome<()> {
    let args = Args::parse(words)?;
    if args.help {
        println!("{USAGE}");
        return Ok(());
    }
    let clients = clients(&args)?;
    let workloads = workloads(&args);
    if args.list {
        workloads.iter().for_each(|w| println!("workload {}", w.id));
        clients.iter().for_each(|c| println!("client {}", c.name));
        return Ok(());
    }
    if workloads.is_empty() || clients.is_empty() {
        return Err("nothing to measure: --list shows the names".into());
    }
    let mut run = Run {
        servers: Servers::start()?,
        drivers: HashMap::new(),
        samples: Samples {
            clients: clients.iter().map(|c| c.name.clone()).collect(),
            workloads,
            ..Samples::default()
        },
        clients,
        args,
    };
    let started = Instant::now();
    for round in 0..run.args.rounds {
        run.round(round)?;
        eprintln!("round {} of {} done, {:.0?}", round + 1, run.args.rounds, started.elapsed());
    }
    // They would only disturb what is still to come.
    run.drivers.clear();
    run.memory()?;
    run.hand_out()?;
    let failed =
        |s: &&Sample| matches!(s.answer, Answer::Failed(_)) && s.client.starts_with("mcpool");
    match run.samples.all.iter().find(failed) {
        // Peers may fail, and the report says so; ours may not.
        Some(sample) => Err(format!("{} failed in {}", sample.client, sample.workload).into()),
        None => Ok(()),
    }
}

/// Ours in every setting, then the others; the raw loops first.
fn clients(args: &Args) -> Outcome<Vec<Client>> {
    let own = env::current_exe()?.to_string_lossy().into_owned();
    let names =
        ["raw", "raw-poll"].into_iter().chain(driver::VARIANTS.iter().map(|(name, _)| *name));
    let rust = names.chain(["memcache-exp", "memcache"]).map(|name| Client {
        name: name.to_owned(),
        command: vec![own.clone(), "driver".to_owned(), name.to_owned()],
    });
    let others = args.drivers.iter().map(|(name, command)| Client {
        name: name.clone(),
        command: command.split(' ').map(str::to_owned).collect(),
    });
    let wanted = |c: &Client| args.clients.is_empty() || args.clients.contains(&c.name);
    Ok(rust.chain(others).filter(wanted).collect())
}

fn workloads(args: &Args) -> Vec<Workload> {
    let wanted =
        |w: &Workload| args.workloads.is_empty() || args.workloads.iter().any(|t| w.id.contains(t));
    plan::workloads(args.quick).into_iter().filter(wanted).collect()
}

struct Run {
    args: Args,
    servers: Servers,
    clients: Vec<Client>,
    /// By client and place, since a client cannot be moved.
    drivers: HashMap<(usize, Place), Driver>,
    samples: Samples,
}

impl Run {
    fn round(&mut self, round: usize) -> Outcome<()> {
        for workload in self.samples.workloads.clone() {
            if workload.group == Group::Memory {
                continue;
            }
            let _neighbours = Neighbours::of(&workload)?;
            for repeat in 0..workload.group.repeats() {
                let round = round * workload.group.repeats() + repeat;
                for turn in 0..self.clients.len() {
                    // Another one first each time, so that nobody always comes behind the same.
                    let client = (turn + round) % self.clients.len();
                    let name = self.clients[client].name.clone();
                    if !workload.suits(&name) || self.gave_up(&workload, &name) {
                        continue;
                    }
                    let answer = self.measure(&workload, client)?;
                    if let Answer::Failed(why) = &answer {
                        eprintln!("{} {name}: {why}", workload.id);
                        self.drivers.remove(&(client, workload.place()));
                    }
                    let workload = workload.id.clone();
                    let sample = Sample { round, workload, client: name, answer, items: None };
                    self.samples.all.push(sample);
                }
            }
        }
        Ok(())
    }

    /// Whether it is not worth asking again: it cannot, or it stalled.
    fn gave_up(&self, workload: &Workload, client: &str) -> bool {
        self.samples.trouble(&workload.id, client).is_some()
    }

    fn measure(&mut self, workload: &Workload, client: usize) -> Outcome<Answer> {
        let place = workload.place();
        let driver = match self.drivers.entry((client, place)) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => entry.insert(Driver::start(
                &self.clients[client],
                &self.servers.addresses(place),
                workload.group.connections(),
                // Each client has keys of its own, since each stores values in its own way.
                &format!("{}:", (b'a' + u8::try_from(client)?) as char),
                (place == Place::Pinned).then_some(0),
            )?),
        };
        let pids: Vec<_> = self.servers.of(place).iter().map(|server| server.pid()).collect();
        let time = Duration::from_secs_f64(self.args.seconds * workload.group.share());
        let ask = workload.ask(u64::try_from(time.as_millis())?);
        Ok(driver.ask(&ask, &pids, PATIENCE + time))
    }

    /// How many structs fit into a server, once for each client: nothing in it is left to chance.
    fn memory(&mut self) -> Outcome<()> {
        let Some(workload) =
            self.samples.workloads.iter().find(|w| w.group == Group::Memory).cloned()
        else {
            return Ok(());
        };
        for client in &self.clients {
            if !workload.suits(&client.name) {
                continue;
            }
            let server = Memcached::start(plan::memory(self.args.quick))?;
            let mut driver = Driver::start(client, &server.address, 0, "", None)?;
            let answer = driver.ask(&workload.ask(0), &[server.pid()], LONG_PATIENCE);
            let items = server.stat("curr_items")?;
            self.samples.all.push(Sample {
                round: 0,
                workload: workload.id.clone(),
                client: client.name.clone(),
                answer,
                items: Some(items),
            });
        }
        Ok(())
    }

    /// Prints the tables and writes the report.
    fn hand_out(&self) -> Outcome<()> {
        let aims = aims::reached(&self.samples);
        println!("{}", tables::rates(&self.samples));
        if !aims.is_empty() {
            println!("{}", tables::aims(&aims));
        }
        let folder = self.folder();
        fs::create_dir_all(&folder)?;
        // Shown without detours.
        let folder = folder.canonicalize()?;
        report::write(&folder, &self.args, &self.samples, &aims)?;
        println!("The report is in {}", folder.display());
        Ok(())
    }

    fn folder(&self) -> PathBuf {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        match &self.args.out {
            Some(folder) => folder.clone(),
            None if self.args.is_whole() => package.join("../../docs/performance"),
            None => package.join("../../target/peers/report"),
        }
    }
}

/// Two processes that compute, while the workload asks for such.
struct Neighbours(Vec<Child>);

impl Neighbours {
    fn of(workload: &Workload) -> Outcome<Self> {
        let mut processes = Self(Vec::new());
        if workload.group == Group::Crowded {
            for _ in 0..2 {
                processes.0.push(Command::new(env::current_exe()?).arg("spin").spawn()?);
            }
        }
        Ok(processes)
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        for process in &mut self.0 {
            _ = process.kill();
            _ = process.wait();
        }
    }
}
