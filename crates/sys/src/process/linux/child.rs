//! Planex's handle on one job.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use planex_core::job::Exit;
use rustix::net::SendFlags;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::super::{ChildSpec, Clean, Ended, Ident, LEFTOVER_GRACE, Proc, Reader, Stdin, Writer};
use super::wire::{self, Command, Report};
use super::{leftovers, procfs, raw};

/// A keeper that is silent this long after it should have ended all is killed; the guardian ends what it leaves.
const SILENT: Duration = Duration::from_secs(5);

/// How long the guardian's work is waited for after a keeper was killed.
const SWEEP_LIMIT: Duration = Duration::from_secs(5);

/// The control socket with what was read of it.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) stream: UnixStream,
    buffer: Vec<u8>,
}

impl Control {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self { stream, buffer: Vec::new() }
    }

    /// The next report; `None` at the end. Nothing is lost when the caller stops waiting.
    pub(super) async fn report(&mut self) -> io::Result<Option<Report>> {
        loop {
            if let Some(report) = wire::take_frame(&mut self.buffer)? {
                return Ok(Some(report));
            }
            match self.stream.read_buf(&mut self.buffer).await {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    fn send(&self, command: Command) {
        // A few bytes into a buffer that is empty but for them; a keeper that is gone needs no command.
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        let _ = rustix::net::send(self.stream.as_fd(), &command.encode(), flags);
    }
}

/// A running job. Dropping it ends the job: SIGTERM, grace, SIGKILL, to all that it started.
pub struct Child {
    /// What it prints.
    pub stdout: Reader,
    /// What it prints as errors.
    pub stderr: Reader,
    /// What it reads, with [`Stdin::Piped`].
    pub stdin: Option<Writer>,
    /// What a later planex needs to find its processes.
    pub ident: Ident,
    control: Option<Control>,
    keeper: Option<OwnedFd>,
    feeder: Option<JoinHandle<()>>,
    grace: Duration,
    /// When the keeper must have spoken; `None` while the agent may run for ever.
    overdue: std::sync::Mutex<Option<Instant>>,
    ended: Option<Ended>,
    clean: Option<Clean>,
    label: String,
}

impl std::fmt::Debug for Child {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Child").field("label", &self.label).field("ident", &self.ident).finish_non_exhaustive()
    }
}

impl Child {
    pub(super) fn new(
        control: Control,
        ident: Ident,
        input: Option<pipe::Sender>,
        output: pipe::Receiver,
        errors: pipe::Receiver,
        spec: &ChildSpec,
    ) -> Self {
        let mut stdin: Option<Writer> = None;
        let mut feeder = None;
        match (input, &spec.stdin) {
            (Some(pipe), Stdin::Bytes(bytes)) => feeder = Some(tokio::spawn(feed(pipe, bytes.clone()))),
            (Some(pipe), Stdin::Piped) => stdin = Some(Box::new(pipe)),
            (_, Stdin::Null | Stdin::File(_) | Stdin::Bytes(_) | Stdin::Piped) => {}
        }
        let limit = spec.hard_limit.and_then(|limit| limit.checked_add(spec.grace)?.checked_add(SILENT));
        let overdue = limit.and_then(|limit| Instant::now().checked_add(limit));
        Self {
            stdout: Box::new(output),
            stderr: Box::new(errors),
            stdin,
            keeper: procfs::open(ident.keeper),
            ident,
            control: Some(control),
            feeder,
            grace: spec.grace,
            overdue: std::sync::Mutex::new(overdue),
            ended: None,
            clean: None,
            label: spec.label.clone(),
        }
    }

    /// Waits until the agent's process has ended. Output may still be in the pipes, and other processes of the job may
    /// still be there: see [`clean`](Self::clean). May be dropped and called again.
    pub async fn wait(&mut self) -> Ended {
        loop {
            if let Some(ended) = self.ended {
                return ended;
            }
            self.step().await;
        }
    }

    /// Waits until no process of the job is left, or is known to be one that cannot be ended. May be dropped and called
    /// again. Wait for this and not for the end of the output: a process that is left holds the pipe.
    pub async fn clean(&mut self) -> Clean {
        loop {
            if let Some(clean) = &self.clean {
                return clean.clone();
            }
            self.step().await;
        }
    }

    /// One report of the keeper, or what follows from its silence.
    async fn step(&mut self) {
        let overdue = *self.deadline();
        let Some(control) = &mut self.control else {
            self.lost().await;
            return;
        };
        let next = control.report();
        let report = match overdue {
            Some(at) => tokio::time::timeout_at(at, next).await,
            None => Ok(next.await),
        };
        match report {
            Ok(Ok(Some(report))) => self.hear(report),
            Ok(Ok(None) | Err(_)) => {
                self.control = None;
                self.lost().await;
            }
            Err(_) => {
                tracing::warn!("{}: the keeper is silent, killing it", self.label);
                self.kill_keeper();
                self.control = None;
                self.lost().await;
            }
        }
    }

    fn hear(&mut self, report: Report) {
        match report {
            Report::Exited { exit, limit } => {
                self.ended = Some(Ended { exit, limit });
                self.expect_within(LEFTOVER_GRACE);
            }
            Report::Working => self.expect_within(self.grace),
            Report::Clean => self.finish(Clean::None),
            Report::Left(left) => self.finish(Clean::Left(left)),
            Report::Ready | Report::Started { .. } | Report::Failed { .. } => {}
        }
    }

    fn finish(&mut self, clean: Clean) {
        self.clean = Some(clean);
        self.ended.get_or_insert(Ended { exit: Exit::Lost, limit: false });
        self.control = None;
        self.stop_feeding();
    }

    /// The keeper is gone without its last word: the guardian ends the rest.
    async fn lost(&mut self) {
        self.ended.get_or_insert(Ended { exit: Exit::Lost, limit: false });
        if self.clean.is_some() {
            return;
        }
        let until = Instant::now() + SWEEP_LIMIT;
        let left = loop {
            let left = leftovers::find(&[&self.ident]);
            if left.is_empty() || Instant::now() > until {
                break left;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        let left: Vec<Proc> = left.into_iter().map(procfs::Stat::into_proc).collect();
        self.finish(if left.is_empty() { Clean::None } else { Clean::Left(left) });
    }

    /// Sends a signal to the agent's process alone.
    pub fn signal(&self, signal: i32) {
        self.send(Command::Signal(signal));
    }

    /// Ends the job: SIGTERM to all its processes, after the grace period SIGKILL. Returns at once.
    pub fn terminate(&self) {
        self.send(Command::Terminate);
        self.expect_within(self.grace);
    }

    /// Ends the job at once: SIGKILL to all its processes. Returns at once.
    pub fn kill(&self) {
        self.send(Command::Kill);
        self.expect_within(Duration::ZERO);
    }

    fn send(&self, command: Command) {
        if let Some(control) = &self.control {
            control.send(command);
        }
    }

    /// The processes of the job other than the agent itself, as far as one look shows them. For the idle limit: tools
    /// that the agent waits for use the processor while it is silent.
    #[must_use]
    pub fn descendants(&self) -> Vec<Proc> {
        let all = procfs::snapshot();
        let ours = procfs::descendants(self.ident.keeper.pid, &all).into_iter();
        let others = ours.filter(|process| process.pid != self.ident.agent.pid && !process.zombie);
        others.cloned().map(procfs::Stat::into_proc).collect()
    }

    /// Processor time, in clock ticks, that the job used so far outside the agent's own process: by its descendants and
    /// by those of them that ended and were waited for. Grows only while tools work.
    #[must_use]
    pub fn tool_ticks(&self) -> u64 {
        let all = procfs::snapshot();
        let ours = procfs::descendants(self.ident.keeper.pid, &all).into_iter();
        let own = procfs::stat(self.ident.keeper.pid).map_or(0, |keeper| keeper.waited_ticks);
        ours.fold(own, |sum, process| {
            let itself = if process.pid == self.ident.agent.pid { 0 } else { process.own_ticks };
            sum + itself + process.waited_ticks
        })
    }

    fn deadline(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.overdue.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn expect_within(&self, time: Duration) {
        *self.deadline() = Instant::now().checked_add(time.saturating_add(SILENT));
    }

    fn kill_keeper(&self) {
        if let Some(keeper) = &self.keeper {
            let _ = raw::pidfd_signal(keeper.as_fd(), libc::SIGKILL);
        }
    }

    fn stop_feeding(&mut self) {
        if let Some(feeder) = self.feeder.take() {
            feeder.abort();
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.stop_feeding();
        if self.clean.is_some() {
            return;
        }
        // The end of the socket is the order to end. A keeper that cannot hear it (the agent stopped it) is killed, if
        // this planex lives that long; else the guardian does it.
        self.control = None;
        if let (Some(keeper), Ok(runtime)) = (self.keeper.take(), tokio::runtime::Handle::try_current()) {
            let time = self.grace + SILENT + SILENT;
            runtime.spawn(async move {
                tokio::time::sleep(time).await;
                let _ = raw::pidfd_signal(keeper.as_fd(), libc::SIGKILL);
            });
        }
    }
}

/// Writes the whole input; a child that does not want it is fine.
async fn feed(mut pipe: pipe::Sender, bytes: Vec<u8>) {
    if let Err(error) = pipe.write_all(&bytes).await {
        tracing::debug!("the input was not read to its end: {error}");
    }
}
