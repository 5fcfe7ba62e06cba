//! The guardian: forks one keeper per job, and ends what a killed keeper leaves.
//!
//! One thread, no files, no environment. Its only proper children are keepers; every other child is an orphan that
//! moved here because its keeper is gone, and is killed.

use std::collections::{HashMap, HashSet};
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

use planex_core::job::Exit;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags};

use super::super::MAX_ORPHAN_GRACE;
use super::{Reaped, drain, keeper, last, procfs, raw, reap, wait_readable, wire};

/// After planex is gone and the longest grace is over, a keeper has this long before it is killed as hung.
const HUNG_KEEPER: Duration = Duration::from_secs(3);

/// Pause between two rounds of killing orphans while some are left.
const SWEEP_PAUSE: Duration = Duration::from_millis(20);

/// A sweep that kills nobody new for this long is given up: what is left is another user's.
const SWEEP_LIMIT: Duration = Duration::from_secs(3);

/// Exit codes of the guardian.
const OK: i32 = 0;
const NOT_STARTED_BY_PLANEX: i32 = 2;

struct Guardian {
    /// `None` once planex is gone.
    socket: Option<OwnedFd>,
    signals: OwnedFd,
    /// Living keepers with their grace.
    keepers: HashMap<u32, Duration>,
    sweep: Option<Sweep>,
    /// When the remaining keepers count as hung; set when planex is gone.
    hung_at: Option<Instant>,
}

/// Orphans are being killed.
struct Sweep {
    next: Instant,
    give_up: Instant,
    killed: HashSet<u32>,
}

/// Runs the guardian; gives its exit code.
pub(super) fn run() -> i32 {
    let Ok(mut guardian) = Guardian::new() else { return NOT_STARTED_BY_PLANEX };
    guardian.run();
    OK
}

impl Guardian {
    fn new() -> io::Result<Self> {
        let socket = raw::take_stdin()?;
        last(rustix::process::setsid())?;
        last(rustix::process::set_child_subreaper(Some(rustix::process::getpid())))?;
        let signals = raw::child_signal_fd()?;
        let _ = rustix::thread::set_name(c"px-guard");
        // No folder is kept busy.
        let _ = rustix::process::chdir("/");
        last(rustix::net::send(&socket, wire::HELLO, SendFlags::NOSIGNAL))?;
        Ok(Self { socket: Some(socket), signals, keepers: HashMap::new(), sweep: None, hung_at: None })
    }

    fn run(&mut self) {
        loop {
            let (mut orphans, mut ended) = (false, false);
            let reaped = reap(|pid, exit| match self.keepers.remove(&pid) {
                Some(_) => ended |= exit != Exit::Code(0),
                None => orphans = true,
            });
            if orphans || ended {
                self.start_sweep();
            }
            self.act_on_time();
            // After the acting: a sweep that was given up just now is the last thing to wait for.
            if self.is_done(reaped) {
                return;
            }
            let until = if reaped == Reaped::More { Some(Instant::now()) } else { self.next_time() };
            let fds = [self.socket.as_ref().map(|fd| fd.as_fd()), Some(self.signals.as_fd())];
            let [message, signal] = wait_readable(fds, until);
            if signal {
                drain(self.signals.as_fd());
            }
            if message {
                self.receive();
            }
        }
    }

    /// Planex is gone, no keeper is left, and no child but what cannot be killed.
    fn is_done(&self, reaped: Reaped) -> bool {
        self.socket.is_none() && self.keepers.is_empty() && (reaped == Reaped::NoChild || self.sweep.is_none())
    }

    fn next_time(&self) -> Option<Instant> {
        let sweep = self.sweep.as_ref().map(|sweep| sweep.next);
        let hung = self.hung_at.filter(|_| !self.keepers.is_empty());
        sweep.into_iter().chain(hung).min()
    }

    fn act_on_time(&mut self) {
        let now = Instant::now();
        if self.hung_at.is_some_and(|at| at <= now) && !self.keepers.is_empty() {
            for &pid in self.keepers.keys() {
                let _ = raw::kill_child(pid, libc::SIGKILL);
            }
            self.hung_at = Some(now + HUNG_KEEPER);
        }
        if self.sweep.as_ref().is_some_and(|sweep| sweep.next <= now) {
            self.sweep(now);
        }
    }

    fn start_sweep(&mut self) {
        let now = Instant::now();
        let killed = self.sweep.take().map(|sweep| sweep.killed).unwrap_or_default();
        self.sweep = Some(Sweep { next: now, give_up: now + SWEEP_LIMIT, killed });
    }

    /// Kills every child that is no keeper. Each killed one hands its own children here, so rounds go on until there
    /// is no such child.
    fn sweep(&mut self, now: Instant) {
        let Some(sweep) = &mut self.sweep else { return };
        let orphans: HashSet<u32> =
            procfs::own_children().into_iter().filter(|pid| !self.keepers.contains_key(pid)).collect();
        // A reaped id may be given anew: it must count as new then.
        sweep.killed.retain(|pid| orphans.contains(pid));
        for &pid in &orphans {
            let _ = raw::kill_child(pid, libc::SIGKILL);
            if sweep.killed.insert(pid) {
                sweep.give_up = now + SWEEP_LIMIT;
            }
        }
        sweep.next = now + SWEEP_PAUSE;
        if orphans.is_empty() || sweep.give_up <= now {
            self.sweep = None;
        }
    }

    /// One message: a job, or the end of planex.
    fn receive(&mut self) {
        let Some(socket) = &self.socket else { return };
        match receive_job(socket) {
            Ok(Some((fds, grace))) => self.start_keeper(fds, grace),
            // Not for us: a job without its descriptors is answered by closing what came.
            Ok(None) => {}
            Err(Ended) => {
                self.socket = None;
                let grace = self.keepers.values().max().copied().unwrap_or_default().min(MAX_ORPHAN_GRACE);
                self.hung_at = Some(Instant::now() + grace + HUNG_KEEPER);
                // The last look: whatever is here and no keeper has lost its own.
                self.start_sweep();
            }
        }
    }

    fn start_keeper(&mut self, fds: [OwnedFd; 4], grace: Duration) {
        match raw::fork() {
            Ok(raw::Fork::Parent(pid)) => {
                self.keepers.insert(pid, grace);
            }
            Ok(raw::Fork::Child) => {
                self.socket = None;
                let code = std::panic::catch_unwind(|| keeper::run(fds)).unwrap_or(101);
                raw::exit_now(code);
            }
            // The descriptors are closed; planex sees the end of its socket before any word and says so.
            Err(_) => {}
        }
    }
}

/// Planex closed its end.
struct Ended;

fn receive_job(socket: &OwnedFd) -> Result<Option<([OwnedFd; 4], Duration)>, Ended> {
    let mut word = [0_u8; 9];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = match rustix::net::recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut word)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT,
    ) {
        Ok(received) => received.bytes,
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Ok(None),
        Err(_) => return Err(Ended),
    };
    let mut fds = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    if received == 0 {
        return Err(Ended);
    }
    let [kind, millis @ ..] = word;
    let grace = Duration::from_millis(u64::from_le_bytes(millis));
    Ok(if kind == wire::JOB { fds.try_into().ok().map(|fds| (fds, grace)) } else { None })
}
