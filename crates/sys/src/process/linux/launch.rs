//! Planex's side: starting the guardian, and a job by it.

use std::fs::File;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, socketpair,
};
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::super::{ChildSpec, Ident, Stdin, check_strings, mark_of};
use super::child::{Child, Control};
use super::wire::{self, Order, Report};
use super::{last, procfs, raw, wait_readable};
use crate::program;

/// The program itself, also after an upgrade has replaced its file.
const SELF: &str = "/proc/self/exe";

/// How long a new guardian may take for its first word.
const HELLO_LIMIT: Duration = Duration::from_secs(20);

/// How long a keeper may take to start an agent (a folder on a network that hangs).
const START_LIMIT: Duration = Duration::from_secs(60);

/// The process below which all jobs run. One per planex; when it is dropped (or planex is killed) all jobs end.
#[derive(Debug)]
pub struct Guardian {
    exe: Utf8PathBuf,
    link: Mutex<Link>,
}

#[derive(Debug)]
struct Link {
    socket: OwnedFd,
    process: std::process::Child,
}

impl Drop for Link {
    fn drop(&mut self) {
        // It ends by itself, after its jobs; only an ended one can be reaped without waiting.
        let _ = self.process.try_wait();
    }
}

/// What went wrong before anything was started, so that another try is right.
enum Attempt {
    /// The guardian is gone.
    NoGuardian(io::Error),
    /// Anything else.
    Failed(io::Error),
}

impl From<io::Error> for Attempt {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl Guardian {
    /// Starts the guardian: `exe` (whose `main` calls [`main_if_guardian`](super::main_if_guardian) first), or this
    /// very program. Best before the async runtime and any other thread; later works too.
    ///
    /// # Errors
    /// The program cannot be started, or does not answer as a guardian within 20 s.
    pub fn start(exe: Option<&Utf8Path>) -> io::Result<Self> {
        #[cfg(any(test, feature = "test-guardian"))]
        raw::keep_early_guardian();
        let exe = exe.unwrap_or(Utf8Path::new(SELF)).to_owned();
        let link = Mutex::new(Link::start(&exe)?);
        Ok(Self { exe, link })
    }

    /// Process id of the guardian.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.link.lock().unwrap_or_else(PoisonError::into_inner).process.id()
    }

    /// Starts a job. If the guardian was killed, a new one is started for this and all later jobs; jobs that run go
    /// on.
    ///
    /// The caller writes [`Child::ident`] down before it reads the first output.
    ///
    /// # Errors
    /// What the system said about the program: `NotFound`, `PermissionDenied`, `E2BIG` (argument list too long), … ;
    /// an unusable working folder (its name is in the text); no guardian.
    pub async fn spawn(&self, spec: ChildSpec) -> io::Result<Child> {
        check_strings(&spec.argv, &spec.env, spec.cwd.as_str())?;
        match self.attempt(&spec).await {
            Ok(child) => return Ok(child),
            Err(Attempt::Failed(error)) => return Err(error),
            Err(Attempt::NoGuardian(error)) => tracing::warn!("the guardian is gone ({error}): starting a new one"),
        }
        self.restart()?;
        self.attempt(&spec).await.map_err(|attempt| match attempt {
            Attempt::Failed(error) | Attempt::NoGuardian(error) => error,
        })
    }

    fn restart(&self) -> io::Result<()> {
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        // Another job may have started a new one meanwhile.
        if !link.answers() {
            *link = Link::start(&self.exe)?;
        }
        Ok(())
    }

    async fn attempt(&self, spec: &ChildSpec) -> Result<Child, Attempt> {
        let order = wire::frame(&Order {
            argv: spec.argv.clone(),
            env: spec.env.clone(),
            cwd: spec.cwd.to_string(),
            limit_ms: spec.hard_limit.map(wire::millis),
            grace_ms: wire::millis(spec.grace),
        })?;
        let stdio = Stdio3::open(&spec.stdin)?;
        let (ours, theirs) = StdStream::pair()?;
        let fds = [theirs.as_fd(), stdio.stdin.as_fd(), stdio.stdout.as_fd(), stdio.stderr.as_fd()];
        self.send(fds, spec.grace).await?;
        // Only the keeper may hold these now: the end of the agent's output must be seen here.
        drop(theirs);
        let Stdio3 { input, output, errors, .. } = stdio;
        ours.set_nonblocking(true)?;
        let mut control = Control::new(UnixStream::from_std(ours)?);
        let first = tokio::time::timeout(START_LIMIT, first_words(&mut control, &order)).await;
        let (keeper, agent) = match first {
            Ok(Ok(ids)) => ids,
            Ok(Err(Attempt::Failed(error))) => return Err(Attempt::Failed(explain(error, spec))),
            Ok(Err(other)) => return Err(other),
            Err(_) => return Err(Attempt::Failed(io::Error::new(io::ErrorKind::TimedOut, "no answer of the keeper"))),
        };
        let ident = Ident {
            boot_id: program::boot_id().to_owned(),
            pid_ns: procfs::pid_namespace(),
            keeper,
            agent,
            mark: mark_of(&spec.env),
        };
        Ok(Child::new(control, ident, input, output, errors, spec))
    }

    /// Hands the descriptors to the guardian.
    async fn send(&self, fds: [std::os::fd::BorrowedFd<'_>; 4], grace: Duration) -> Result<(), Attempt> {
        loop {
            {
                let link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
                match link.send(fds, grace) {
                    Ok(()) => return Ok(()),
                    // Its queue is full: hundreds of jobs at once.
                    Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR | rustix::io::Errno::TOOMANYREFS) => {}
                    Err(error) => return Err(Attempt::NoGuardian(error.into())),
                }
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

impl Link {
    fn start(exe: &Utf8Path) -> io::Result<Self> {
        let (ours, theirs) = last(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None))?;
        let (name, word) = wire::GUARDIAN_ARGS;
        // No `pre_exec`: it would make this a fork of the whole planex instead of a spawn.
        let mut process = Command::new(exe)
            .arg0(name)
            .arg(word)
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let [readable] = wait_readable([Some(ours.as_fd())], Some(Instant::now() + HELLO_LIMIT));
        let mut word = [0; 16];
        let said = readable && {
            let received = rustix::net::recv(&ours, &mut word[..], RecvFlags::DONTWAIT);
            received.is_ok_and(|(_, count)| word.get(..count) == Some(wire::HELLO))
        };
        if said {
            return Ok(Self { socket: ours, process });
        }
        let _ = process.kill();
        let _ = process.wait();
        Err(io::Error::other(format!("{exe} did not start as the guardian of jobs")))
    }

    fn send(&self, fds: [std::os::fd::BorrowedFd<'_>; 4], grace: Duration) -> rustix::io::Result<()> {
        let [a, b, c, d, e, f, g, h] = wire::millis(grace).to_le_bytes();
        let word = [wire::JOB, a, b, c, d, e, f, g, h];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&fds));
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        rustix::net::sendmsg(&self.socket, &[IoSlice::new(&word)], &mut control, flags).map(|_| ())
    }

    /// Whether the guardian still holds its end.
    fn answers(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }
}

/// Sends the order and hears whether the agent runs.
async fn first_words(
    control: &mut Control,
    order: &[u8],
) -> Result<(super::super::ProcId, super::super::ProcId), Attempt> {
    if let Err(error) = control.stream.write_all(order).await {
        return Err(Attempt::NoGuardian(error));
    }
    let mut ready = false;
    loop {
        match control.report().await? {
            Some(Report::Ready) => ready = true,
            Some(Report::Started { keeper, agent }) => return Ok((keeper, agent)),
            Some(Report::Failed { errno, step }) => {
                let error = io::Error::from_raw_os_error(errno);
                let folder = step == raw::Step::Chdir as u8;
                return Err(if folder { Attempt::Failed(folder_error(&error)) } else { error.into() });
            }
            Some(Report::Exited { .. } | Report::Working | Report::Clean | Report::Left(_)) => {}
            // Before the first word nothing was started: another guardian may try. Afterwards that is not known.
            None if ready => return Err(io::Error::other("the keeper of the job was killed at its start").into()),
            None => return Err(Attempt::NoGuardian(io::ErrorKind::UnexpectedEof.into())),
        }
    }
}

/// Text that [`explain`] completes with the name of the folder.
const FOLDER: &str = "the working folder cannot be used";

fn folder_error(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{FOLDER}: {error}"))
}

fn explain(error: io::Error, spec: &ChildSpec) -> io::Error {
    let text = error.to_string();
    match text.strip_prefix(FOLDER) {
        Some(rest) => io::Error::new(error.kind(), format!("the working folder {} cannot be used{rest}", spec.cwd)),
        None => error,
    }
}

/// The child's ends of its streams, and planex's.
struct Stdio3 {
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
    input: Option<pipe::Sender>,
    output: pipe::Receiver,
    errors: pipe::Receiver,
}

impl Stdio3 {
    fn open(stdin: &Stdin) -> io::Result<Self> {
        let (stdin, input) = match stdin {
            Stdin::Null => (File::open("/dev/null")?.into(), None),
            Stdin::File(path) => {
                let open = File::open(path).map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")));
                (open?.into(), None)
            }
            Stdin::Bytes(_) | Stdin::Piped => {
                let (read, write) = last(pipe_with(PipeFlags::CLOEXEC))?;
                (read, Some(pipe::Sender::from_owned_fd(write)?))
            }
        };
        let (output, stdout) = last(pipe_with(PipeFlags::CLOEXEC))?;
        let (errors, stderr) = last(pipe_with(PipeFlags::CLOEXEC))?;
        let (output, errors) = (pipe::Receiver::from_owned_fd(output)?, pipe::Receiver::from_owned_fd(errors)?);
        Ok(Self { stdin, stdout, stderr, input, output, errors })
    }
}
