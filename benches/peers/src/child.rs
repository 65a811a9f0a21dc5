//! A driver's process from outside: asked for one measurement at a time, and ended when it does not answer.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::figures::Figures;
use crate::process::cpu_seconds;
use crate::{Outcome, process};

/// A client with what starts its driver; servers, connections and tag are put behind.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) name: String,
    pub(crate) command: Vec<String>,
}

/// A running driver.
pub(crate) struct Driver {
    child: Child,
    lines: Receiver<String>,
}

/// What came of asking.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Done(Measured),
    /// The client has nothing of the kind.
    Unsupported,
    Failed(String),
}

/// Figures with the processor time, in seconds, of the measured time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) figures: Figures,
    pub(crate) client_cpu: f64,
    pub(crate) server_cpu: f64,
}

impl Driver {
    pub(crate) fn start(
        client: &Client,
        servers: &str,
        connections: u32,
        tag: &str,
        core: Option<usize>,
    ) -> Outcome<Self> {
        let (program, arguments) = client.command.split_first().ok_or("an empty command")?;
        let mut child = Command::new(program)
            .args(arguments)
            .args([servers, &connections.to_string(), tag])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{program} does not start: {e}"))?;
        let stdout = child.stdout.take().ok_or("a driver has no output")?;
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let driver = Self { child, lines };
        if let Some(core) = core {
            process::pin(driver.child.id(), core)?;
        }
        Ok(driver)
    }

    /// Lets it work; `patience` is for warming up, and again for the work itself.
    pub(crate) fn ask(&mut self, what: &str, servers: &[u32], patience: Duration) -> Answer {
        let server_cpu = || servers.iter().map(|pid| cpu_seconds(*pid)).sum::<f64>();
        let Some(stdin) = self.child.stdin.as_mut() else {
            return Answer::Failed("the driver has no input".into());
        };
        if let Err(e) = writeln!(stdin, "{what}").and_then(|()| stdin.flush()) {
            return Answer::Failed(format!("the driver is gone: {e}"));
        }
        let mut before = (0.0, 0.0);
        loop {
            let line = match self.lines.recv_timeout(patience) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => {
                    return Answer::Failed(format!("no answer within {patience:?}"));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Answer::Failed("the driver ended by itself".into());
                }
            };
            match line.split_once(' ').unwrap_or((&line, "")) {
                ("begin", _) => before = (cpu_seconds(self.child.id()), server_cpu()),
                ("ok", rest) => {
                    let Some(figures) = Figures::parse(rest) else {
                        return Answer::Failed(format!("not figures: {rest}"));
                    };
                    return Answer::Done(Measured {
                        figures,
                        client_cpu: cpu_seconds(self.child.id()) - before.0,
                        server_cpu: server_cpu() - before.1,
                    });
                }
                ("unsupported", _) => return Answer::Unsupported,
                ("failed", why) => return Answer::Failed(why.to_owned()),
                _ => return Answer::Failed(format!("not an answer: {line}")),
            }
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
