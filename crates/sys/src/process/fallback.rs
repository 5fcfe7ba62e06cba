//! Jobs where there is no sub-reaper: a process group each (macOS, BSD), or one process (Windows).
//!
//! The same interface as on Linux, with weaker promises: a tool that moves to a session of its own escapes, nothing
//! ends a job when planex itself is killed, and the hard limit needs a planex that runs. On Windows a job object with
//! `KILL_ON_JOB_CLOSE`, assigned before the process runs, would make all of these good; until it is here, only the
//! agent's own process is ended there. On Linux this module is compiled for its tests alone.
#![cfg_attr(target_os = "linux", expect(unreachable_pub, reason = "here for its tests; elsewhere it is the interface"))]

use std::io;
use std::process::Stdio;
use std::time::Duration;

use camino::Utf8Path;
use planex_core::job::Exit;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use super::{
    ChildSpec, Clean, Ended, Ident, LEFTOVER_GRACE, Proc, ProcId, Reader, Stdin, Writer, check_strings, mark_of,
};
use crate::program;

/// There is no guardian here.
pub fn main_if_guardian() {}

/// Whether this process is part of a job; here nothing tells.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn is_inside_job() -> bool {
    false
}

/// Starts jobs.
#[derive(Debug)]
pub struct Guardian(());

impl Guardian {
    /// Nothing to start.
    ///
    /// # Errors
    /// None here.
    pub fn start(_: Option<&Utf8Path>) -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Starts a job.
    ///
    /// # Errors
    /// What the system said.
    pub async fn spawn(&self, spec: ChildSpec) -> io::Result<Child> {
        check_strings(&spec.argv, &spec.env, spec.cwd.as_str())?;
        let mut process = command(&spec)?.spawn()?;
        let pid = process.id().unwrap_or_default();
        let stdin = process.stdin.take();
        let (Some(stdout), Some(stderr)) = (process.stdout.take(), process.stderr.take()) else {
            return Err(io::Error::other("the child has no output"));
        };
        let mut writer: Option<Writer> = None;
        match (stdin, spec.stdin) {
            (Some(mut pipe), Stdin::Bytes(bytes)) => {
                // A child that does not want its input is fine.
                tokio::spawn(async move { pipe.write_all(&bytes).await });
            }
            (Some(pipe), Stdin::Piped) => writer = Some(Box::new(pipe)),
            (_, Stdin::Null | Stdin::File(_) | Stdin::Bytes(_) | Stdin::Piped) => {}
        }
        let (orders, order) = mpsc::unbounded_channel();
        let (state, seen) = watch::channel(State::default());
        let limit = spec.hard_limit.and_then(|limit| Instant::now().checked_add(limit));
        let keeper = Keeper { pid, state, order, limit, grace: spec.grace };
        tokio::spawn(keeper.keep(process));
        let ident = Ident {
            boot_id: program::boot_id().to_owned(),
            pid_ns: 0,
            keeper: ProcId { pid: 0, start: 0 },
            agent: ProcId { pid, start: 0 },
            mark: mark_of(&spec.env),
        };
        Ok(Child { stdout: Box::new(stdout), stderr: Box::new(stderr), stdin: writer, ident, orders, seen })
    }
}

fn command(spec: &ChildSpec) -> io::Result<Command> {
    let name = spec.argv.first().map(String::as_str).unwrap_or_default();
    let path = spec.env.get("PATH").map(String::as_str);
    let Some(program) = program::find(name, path, &spec.cwd) else { return Err(io::ErrorKind::NotFound.into()) };
    let mut command = Command::new(program);
    command.args(spec.argv.iter().skip(1)).env_clear().envs(&spec.env).current_dir(&spec.cwd);
    command.stdin(match &spec.stdin {
        Stdin::Null => Stdio::null(),
        Stdin::File(path) => Stdio::from(std::fs::File::open(path)?),
        Stdin::Bytes(_) | Stdin::Piped => Stdio::piped(),
    });
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    Ok(command)
}

#[derive(Debug, Clone, Default)]
struct State {
    ended: Option<Ended>,
    clean: bool,
}

#[derive(Debug, Clone, Copy)]
enum Order {
    Signal(i32),
    Terminate,
    Kill,
}

/// Watches one job until its group is gone.
struct Keeper {
    pid: u32,
    state: watch::Sender<State>,
    order: mpsc::UnboundedReceiver<Order>,
    limit: Option<Instant>,
    grace: Duration,
}

/// A time that does not come.
const NEVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

impl Keeper {
    async fn keep(mut self, mut process: tokio::process::Child) {
        let (mut kill_at, mut hit, mut dropped) = (None, false, false);
        let ended = loop {
            let limit = self.limit.filter(|_| !hit);
            let next = kill_at.into_iter().chain(limit).min().unwrap_or_else(|| Instant::now() + NEVER);
            tokio::select! {
                status = process.wait() => break Ended { exit: status.map_or(Exit::Lost, exit_of), limit: hit },
                order = self.order.recv(), if !dropped => match order {
                    Some(Order::Signal(signal)) => signal_one(self.pid, signal),
                    Some(Order::Kill) => end_now(self.pid, &mut process),
                    // No order can come any more: the handle was dropped.
                    Some(Order::Terminate) | None => {
                        dropped = order.is_none();
                        signal_group(self.pid, TERM);
                        kill_at.get_or_insert(Instant::now() + self.grace);
                    }
                },
                () = sleep_until(next) => {
                    if kill_at.is_some_and(|at| at <= Instant::now()) {
                        end_now(self.pid, &mut process);
                        kill_at = None;
                    } else {
                        hit = true;
                        signal_group(self.pid, TERM);
                        kill_at.get_or_insert(Instant::now() + self.grace);
                    }
                }
            }
        };
        self.state.send_modify(|state| state.ended = Some(ended));
        self.end_group().await;
        self.state.send_modify(|state| state.clean = true);
    }

    /// Ends what the agent left in its group.
    async fn end_group(&self) {
        signal_group(self.pid, TERM);
        self.wait_for_group(self.grace.min(LEFTOVER_GRACE)).await;
        signal_group(self.pid, KILL);
        self.wait_for_group(LEFTOVER_GRACE).await;
    }

    /// Waits until the group is gone. Dead members that nobody has reaped yet still count.
    async fn wait_for_group(&self, limit: Duration) {
        let until = Instant::now() + limit;
        while group_lives(self.pid) && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

fn exit_of(status: std::process::ExitStatus) -> Exit {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Exit::Signal(signal);
    }
    status.code().map_or(Exit::Lost, Exit::Code)
}

const TERM: i32 = 15;
const KILL: i32 = 9;

#[cfg(unix)]
fn group_of(pid: u32) -> Option<rustix::process::Pid> {
    rustix::process::Pid::from_raw(i32::try_from(pid).ok()?).filter(|pid| pid.as_raw_nonzero().get() > 1)
}

#[cfg(unix)]
fn signal_group(pid: u32, signal: i32) {
    if let (Some(pid), Some(signal)) = (group_of(pid), rustix::process::Signal::from_named_raw(signal)) {
        // Gone already: fine.
        let _ = rustix::process::kill_process_group(pid, signal);
    }
}

#[cfg(unix)]
fn signal_one(pid: u32, signal: i32) {
    if let (Some(pid), Some(signal)) = (group_of(pid), rustix::process::Signal::from_named_raw(signal)) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

#[cfg(unix)]
fn group_lives(pid: u32) -> bool {
    group_of(pid).is_some_and(|pid| rustix::process::test_kill_process_group(pid).is_ok())
}

#[cfg(not(unix))]
fn signal_group(_: u32, _: i32) {}

#[cfg(not(unix))]
fn signal_one(_: u32, _: i32) {}

#[cfg(not(unix))]
fn group_lives(_: u32) -> bool {
    false
}

fn end_now(pid: u32, process: &mut tokio::process::Child) {
    signal_group(pid, KILL);
    // On Windows this is the only ending there is.
    let _ = process.start_kill();
}

/// A running job. Dropping it ends the job.
pub struct Child {
    /// What it prints.
    pub stdout: Reader,
    /// What it prints as errors.
    pub stderr: Reader,
    /// What it reads, with [`Stdin::Piped`].
    pub stdin: Option<Writer>,
    /// Its ids.
    pub ident: Ident,
    orders: mpsc::UnboundedSender<Order>,
    seen: watch::Receiver<State>,
}

impl Child {
    /// Waits until the agent's process has ended.
    pub async fn wait(&mut self) -> Ended {
        match self.seen.wait_for(|state| state.ended.is_some()).await {
            Ok(state) => state.ended,
            Err(_) => None,
        }
        .unwrap_or(Ended { exit: Exit::Lost, limit: false })
    }

    /// Waits until the job's group is gone.
    pub async fn clean(&mut self) -> Clean {
        // An error: the runtime is going down, and nothing can be said.
        let _ = self.seen.wait_for(|state| state.clean).await;
        Clean::None
    }

    /// Sends a signal to the agent's process alone.
    pub fn signal(&self, signal: i32) {
        self.send(Order::Signal(signal));
    }

    /// Ends the job: SIGTERM to its group, after the grace period SIGKILL.
    pub fn terminate(&self) {
        self.send(Order::Terminate);
    }

    /// Ends the job at once.
    pub fn kill(&self) {
        self.send(Order::Kill);
    }

    fn send(&self, order: Order) {
        // The watcher is gone: so is the job.
        let _ = self.orders.send(order);
    }

    /// Not known here.
    #[must_use]
    pub fn descendants(&self) -> Vec<Proc> {
        Vec::new()
    }

    /// Not known here.
    #[must_use]
    pub fn tool_ticks(&self) -> u64 {
        0
    }
}

/// Nothing can be known of an earlier run's processes here but their ids, which may be someone else's by now.
#[must_use]
pub fn end_leftovers(_: &[Ident]) -> Vec<Proc> {
    Vec::new()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::collections::BTreeMap;

    use tokio::io::AsyncReadExt as _;

    use super::*;

    fn sh(script: &str) -> ChildSpec {
        ChildSpec {
            argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
            env: BTreeMap::from([("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())]),
            cwd: "/".into(),
            stdin: Stdin::Null,
            hard_limit: None,
            grace: Duration::from_millis(200),
            label: "test".to_owned(),
        }
    }

    async fn start(spec: ChildSpec) -> Child {
        main_if_guardian();
        Guardian::start(None).unwrap().spawn(spec).await.unwrap()
    }

    async fn first_line(child: &mut Child) -> String {
        let mut line = Vec::new();
        while let Ok(byte) = child.stdout.read_u8().await {
            if byte == b'\n' {
                break;
            }
            line.push(byte);
        }
        String::from_utf8(line).unwrap()
    }

    #[tokio::test]
    async fn streams_and_status_are_exact() {
        let mut child = start(ChildSpec { stdin: Stdin::Bytes(vec![b'x'; 1 << 20]), ..sh("wc -c; exit 3") }).await;
        assert_eq!(first_line(&mut child).await, "1048576");
        assert_eq!(child.wait().await, Ended { exit: Exit::Code(3), limit: false });
        assert_eq!(child.clean().await, Clean::None);
        assert_eq!((child.descendants().len(), child.tool_ticks()), (0, 0));
        assert_eq!(end_leftovers(&[child.ident.clone()]), []);
        let error =
            Guardian::start(None).unwrap().spawn(ChildSpec { argv: vec!["planex-none".into()], ..sh("") }).await;
        assert_eq!(error.err().unwrap().kind(), io::ErrorKind::NotFound);
    }

    #[tokio::test]
    async fn limit_signal_and_kill_end_the_group() {
        let limit = Some(Duration::from_millis(100));
        let mut child = start(ChildSpec { hard_limit: limit, ..sh("trap '' TERM; sleep 600; sleep 600") }).await;
        assert_eq!(child.wait().await, Ended { exit: Exit::Signal(9), limit: true });
        let mut child = start(sh("trap 'exit 7' INT; echo ready; sleep 600 & wait")).await;
        first_line(&mut child).await;
        child.signal(2);
        assert_eq!(child.wait().await.exit, Exit::Code(7));
        assert_eq!(child.clean().await, Clean::None);
        let mut child = start(sh("echo ready; exec sleep 600")).await;
        first_line(&mut child).await;
        child.terminate();
        assert_eq!(child.wait().await.exit, Exit::Signal(15));
        let mut child = start(sh("echo ready; exec sleep 600")).await;
        child.kill();
        assert_eq!(child.wait().await.exit, Exit::Signal(9));
    }

    #[tokio::test]
    async fn a_dropped_handle_ends_the_job() {
        let mut child = start(ChildSpec { stdin: Stdin::Piped, ..sh("echo $$; exec sleep 600") }).await;
        let pid: u32 = first_line(&mut child).await.parse().unwrap();
        let mut seen = child.seen.clone();
        let silent = tokio::time::timeout(Duration::from_millis(20), child.stderr.read_u8()).await;
        assert!(silent.is_err());
        assert!(child.stdin.is_some());
        drop(child);
        seen.wait_for(|state| state.clean).await.unwrap();
        while group_lives(pid) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
