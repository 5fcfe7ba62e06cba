//! Guardian, keepers, and planex's side of them. See the parent module for the picture.

mod child;
mod guardian;
mod inside;
mod keeper;
mod launch;
mod leftovers;
mod procfs;
mod raw;
#[cfg(test)]
mod tests;
mod wire;

use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use planex_core::job::Exit;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

pub use child::Child;
pub use inside::is_inside_job;
pub use launch::Guardian;
pub use leftovers::end_leftovers;

/// Longest time that one turn of a loop reaps: orphans can come as fast as they are reaped, and the socket with the
/// order to kill would never be read.
const REAP_BUDGET: Duration = Duration::from_millis(10);

/// Runs the guardian and ends the process, if this process was started as one; else does nothing.
///
/// To be called first thing in `main`, before any thread: the guardian forks.
pub fn main_if_guardian() {
    let mut args = std::env::args_os();
    let (name, word) = wire::GUARDIAN_ARGS;
    if args.next().is_some_and(|arg| arg == name) && args.next().is_some_and(|arg| arg == word) {
        // A panic would unwind into the binary's own main: end here whatever happens.
        let code = std::panic::catch_unwind(guardian::run).unwrap_or(101);
        raw::exit_now(code);
    }
}

/// What a turn of reaping found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reaped {
    /// Children are left, none has ended.
    Waiting,
    /// The time of the turn is over, more have ended.
    More,
    /// There is no child.
    NoChild,
}

/// Reaps ended children for at most [`REAP_BUDGET`], telling each to `seen`.
fn reap(mut seen: impl FnMut(u32, Exit)) -> Reaped {
    let until = Instant::now() + REAP_BUDGET;
    loop {
        match raw::wait_any() {
            raw::Waited::Reaped { pid, exit } => seen(pid, exit),
            raw::Waited::Running => return Reaped::Waiting,
            raw::Waited::NoChild => return Reaped::NoChild,
        }
        if Instant::now() > until {
            return Reaped::More;
        }
    }
}

/// Waits until one of the descriptors can be read, or until `until`; gives which can. An ended peer counts.
fn wait_readable<const N: usize>(fds: [Option<BorrowedFd<'_>>; N], until: Option<Instant>) -> [bool; N] {
    let timeout = until.and_then(|until| {
        // Rounded up: a wait that ends a moment early would spin.
        let left = until.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
        Timespec::try_from(left).ok()
    });
    let mut polled: Vec<PollFd<'_>> =
        fds.iter().flatten().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    // An interrupted or failed wait is a turn without news.
    let _ = poll(&mut polled, timeout.as_ref());
    let mut answers = polled.iter().map(|fd| !fd.revents().is_empty());
    fds.map(|fd| fd.is_some() && answers.next().unwrap_or(false))
}

/// Empties a signal descriptor; what it told is found by reaping.
fn drain(fd: BorrowedFd<'_>) {
    let mut buffer = [0_u8; 1024];
    while rustix::io::read(fd, &mut buffer).is_ok_and(|read| read == buffer.len()) {}
}

fn last<T>(result: rustix::io::Result<T>) -> io::Result<T> {
    result.map_err(io::Error::from)
}
