//! A keeper: the parent of one agent, sub-reaper of all that the agent starts.
//!
//! It kills only its own children: their ids cannot be given to anyone else before it reaps them itself. Each killed
//! one hands its children up to the keeper, so killing and reaping go on until `waitid` says that there is no child.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

use rustix::net::{RecvFlags, SendFlags};
use rustix::pipe::{PipeFlags, pipe_with};

use super::super::{LEFTOVER_GRACE, MAX_ORPHAN_GRACE, Proc, ProcId};
use super::wire::{self, Command, Order, Report};
use super::{Reaped, drain, last, procfs, raw, reap, wait_readable};

/// Longest pass that asks processes to end before they are killed.
const ASK_BUDGET: Duration = Duration::from_millis(200);

/// Pause between two rounds of killing.
const KILL_PAUSE: Duration = Duration::from_millis(20);

/// Killing that gets nowhere for this long is given up where the system forbids it (another user's process) …
const FORBIDDEN_LIMIT: Duration = Duration::from_secs(3);

/// … and for this long where a process just does not die (the disk holds it).
const STUCK_LIMIT: Duration = Duration::from_secs(10);

/// How often planex is told that the ending goes on.
const WORKING_EVERY: Duration = Duration::from_secs(1);

/// Most processes that are told as left.
const MAX_LEFT: usize = 100;

/// Exit codes of a keeper; the guardian looks for orphans after every other than 0.
const OK: i32 = 0;
const LEFT_SOME: i32 = 3;
const BROKEN: i32 = 4;

/// Keeps one job, from the order on its control socket to the last process; gives the exit code.
pub(super) fn run([control, stdin, stdout, stderr]: [OwnedFd; 4]) -> i32 {
    match start(control, [stdin, stdout, stderr]) {
        Ok(Some(mut keeper)) => keeper.keep(),
        Ok(None) => OK,
        Err(_) => BROKEN,
    }
}

/// Where a job is on its way out.
enum Phase {
    Running,
    /// Asked to end; killed at this instant.
    Asked(Instant),
    Killing(Killing),
}

struct Killing {
    next: Instant,
    progress: Instant,
    known: HashSet<u32>,
    forbidden: bool,
}

struct Keeper {
    /// `None` once planex is gone.
    control: Option<OwnedFd>,
    signals: OwnedFd,
    agent: u32,
    agent_lives: bool,
    phase: Phase,
    limit_at: Option<Instant>,
    limit_hit: bool,
    grace: Duration,
    told: Instant,
}

/// Reads the order and starts the agent; `None` if there is nothing to keep.
fn start(control: OwnedFd, stdio: [OwnedFd; 3]) -> io::Result<Option<Keeper>> {
    last(rustix::process::setsid())?;
    last(rustix::process::set_child_subreaper(Some(rustix::process::getpid())))?;
    let signals = raw::child_signal_fd()?;
    let _ = rustix::thread::set_name(c"px-keeper");
    let mut control = File::from(control);
    // An end here: planex is gone before anything was started.
    let Ok(order) = wire::read_frame::<Order>(&mut control) else { return Ok(None) };
    let control = OwnedFd::from(control);
    tell(&control, &Report::Ready)?;
    let (agent, failure) = start_agent(&order, &stdio)?;
    drop(stdio);
    if let Some((step, errno)) = failure {
        tell(&control, &Report::Failed { errno, step })?;
        while reap(|_, _| {}) != Reaped::NoChild {
            wait_readable([Some(signals.as_fd())], None);
        }
        return Ok(None);
    }
    let now = Instant::now();
    let id = |pid| ProcId { pid, start: procfs::stat(pid).map_or(0, |stat| stat.start) };
    // A planex that is gone meanwhile is seen by the loop.
    let _ = tell(&control, &Report::Started { keeper: id(std::process::id()), agent: id(agent) });
    Ok(Some(Keeper {
        control: Some(control),
        signals,
        agent,
        agent_lives: true,
        phase: Phase::Running,
        limit_at: order.limit_ms.and_then(|limit| now.checked_add(Duration::from_millis(limit))),
        limit_hit: false,
        grace: Duration::from_millis(order.grace_ms),
        told: now,
    }))
}

/// Forks the agent and waits until it runs; gives its id and, if it does not run, the step and the error number.
fn start_agent(order: &Order, stdio: &[OwnedFd; 3]) -> io::Result<(u32, Option<(u8, i32)>)> {
    let env: Vec<String> = order.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let program = raw::Program::new(&candidates(order), &order.argv, &env, &order.cwd)?;
    // The exec closes it: an end without a word means that the agent runs.
    let (read, write) = last(pipe_with(PipeFlags::CLOEXEC))?;
    let keeper = rustix::process::getpid();
    match raw::fork()? {
        raw::Fork::Child => {
            let (step, error) = match prepare_agent(keeper) {
                Ok(()) => raw::become_agent(&program, stdio.each_ref().map(|fd| fd.as_fd())),
                Err(error) => (raw::Step::Setup, error),
            };
            let [a, b, c, d] = error.raw_os_error().unwrap_or(libc::EIO).to_le_bytes();
            let _ = File::from(write).write_all(&[step as u8, a, b, c, d]);
            raw::exit_now(127);
        }
        raw::Fork::Parent(agent) => {
            drop(write);
            let mut word = [0; 5];
            let failed = File::from(read).read_exact(&mut word).is_ok();
            let [step, a, b, c, d] = word;
            Ok((agent, failed.then_some((step, i32::from_le_bytes([a, b, c, d])))))
        }
    }
}

/// A session of its own, so that `kill 0` in a tool does not reach the keeper; death with the keeper, which has one
/// thread only, so that the signal comes when the process ends and not when some thread does.
fn prepare_agent(keeper: rustix::process::Pid) -> io::Result<()> {
    last(rustix::process::setsid())?;
    last(rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)))?;
    if rustix::process::getppid() == Some(keeper) { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
}

/// The files to try for a program, in order. Relative ones count from the agent's own folder, as in `execvp`.
fn candidates(order: &Order) -> Vec<String> {
    let Some(name) = order.argv.first() else { return Vec::new() };
    if name.contains('/') {
        return vec![name.clone()];
    }
    let path = order.env.get("PATH").map_or("/bin:/usr/bin", String::as_str);
    let place = |dir: &str| if dir.is_empty() { format!("./{name}") } else { format!("{dir}/{name}") };
    path.split(':').map(place).collect()
}

fn tell(control: &OwnedFd, report: &Report) -> io::Result<()> {
    let bytes = wire::frame(report)?;
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        match rustix::net::send(control, rest, SendFlags::NOSIGNAL) {
            Ok(sent) => rest = rest.get(sent..).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

impl Keeper {
    fn keep(&mut self) -> i32 {
        loop {
            let reaped = self.reap();
            if reaped == Reaped::NoChild {
                self.report(&Report::Clean);
                return OK;
            }
            if let Some(left) = self.act_on_time() {
                self.report(&Report::Left(left));
                return LEFT_SOME;
            }
            let until = if reaped == Reaped::More { Some(Instant::now()) } else { self.next_time() };
            let fds = [self.control.as_ref().map(|fd| fd.as_fd()), Some(self.signals.as_fd())];
            let [command, signal] = wait_readable(fds, until);
            if signal {
                drain(self.signals.as_fd());
            }
            if command {
                self.receive();
            }
        }
    }

    fn report(&self, report: &Report) {
        if let Some(control) = &self.control {
            // Planex gone: the loop sees that by itself.
            let _ = tell(control, report);
        }
    }

    fn reap(&mut self) -> Reaped {
        let (mut agent_exit, mut any) = (None, false);
        let reaped = reap(|pid, exit| {
            any = true;
            if self.agent_lives && pid == self.agent {
                agent_exit = Some(exit);
            }
        });
        if let (Phase::Killing(killing), true) = (&mut self.phase, any) {
            killing.progress = Instant::now();
        }
        if let Some(exit) = agent_exit {
            self.agent_lives = false;
            self.report(&Report::Exited { exit, limit: self.limit_hit });
            if reaped != Reaped::NoChild {
                self.ask(self.grace.min(LEFTOVER_GRACE));
            }
        }
        reaped
    }

    /// Begins the ending, or brings the killing forward.
    fn ask(&mut self, grace: Duration) {
        let kill_at = Instant::now() + grace;
        match &mut self.phase {
            Phase::Running => {
                procfs::ask_to_end(std::process::id(), ASK_BUDGET);
                self.phase = Phase::Asked(kill_at);
                self.told = Instant::now();
            }
            Phase::Asked(at) => *at = kill_at.min(*at),
            Phase::Killing(_) => {}
        }
    }

    fn kill(&mut self) {
        if !matches!(self.phase, Phase::Killing(_)) {
            let now = Instant::now();
            self.phase = Phase::Killing(Killing { next: now, progress: now, known: HashSet::new(), forbidden: true });
        }
    }

    fn next_time(&self) -> Option<Instant> {
        match &self.phase {
            Phase::Running => self.limit_at,
            Phase::Asked(at) => Some((*at).min(self.told + WORKING_EVERY)),
            Phase::Killing(killing) => Some(killing.next),
        }
    }

    /// Does what is due; gives the processes that remain when killing is given up.
    fn act_on_time(&mut self) -> Option<Vec<Proc>> {
        let now = Instant::now();
        if matches!(self.phase, Phase::Running) {
            if self.limit_at.is_some_and(|at| at <= now) {
                self.limit_hit = true;
                self.ask(self.grace);
            }
            return None;
        }
        if now >= self.told + WORKING_EVERY {
            self.told = now;
            self.report(&Report::Working);
        }
        if matches!(self.phase, Phase::Asked(at) if at <= now) {
            self.kill();
        }
        match &mut self.phase {
            Phase::Killing(killing) if killing.next <= now => killing.strike(now),
            Phase::Running | Phase::Asked(_) | Phase::Killing(_) => None,
        }
    }

    /// Commands that came, or the end of planex.
    fn receive(&mut self) {
        let Some(control) = &self.control else { return };
        let mut command = [0; wire::COMMAND_LEN];
        // Commands are written whole into an empty buffer: they come whole.
        match rustix::net::recv(control, &mut command[..], RecvFlags::DONTWAIT) {
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            Ok((_, count)) if count > 0 => self.obey(Command::decode(command)),
            Ok(_) | Err(_) => {
                self.control = None;
                self.ask(self.grace.min(MAX_ORPHAN_GRACE));
            }
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Signal(signal) if self.agent_lives => {
                // It may have ended this instant; not reaped, its id is still its own.
                let _ = raw::kill_child(self.agent, signal);
            }
            Command::Signal(_) => {}
            Command::Terminate => self.ask(self.grace),
            Command::Kill => self.kill(),
        }
    }
}

impl Killing {
    /// One round: every child is killed. Gives what remains when it gets nowhere.
    fn strike(&mut self, now: Instant) -> Option<Vec<Proc>> {
        let children = procfs::own_children();
        let mut forbidden = !children.is_empty();
        for &pid in &children {
            let refused = raw::kill_child(pid, libc::SIGKILL).is_err_and(|e| e.raw_os_error() == Some(libc::EPERM));
            forbidden &= refused;
            if self.known.insert(pid) {
                self.progress = now;
            }
        }
        self.known.retain(|pid| children.contains(pid));
        self.forbidden = forbidden;
        self.next = now + KILL_PAUSE;
        let limit = if self.forbidden { FORBIDDEN_LIMIT } else { STUCK_LIMIT };
        if now < self.progress + limit {
            return None;
        }
        let all = procfs::snapshot();
        let left = procfs::descendants(std::process::id(), &all).into_iter().filter(|process| !process.zombie);
        Some(left.take(MAX_LEFT).cloned().map(procfs::Stat::into_proc).collect())
    }
}
