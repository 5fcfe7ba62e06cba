//! Processes: every job's whole tree is known, limited, and ended with nothing left.
//!
//! # Linux
//!
//! `planex -> px-guard -> px-keeper (one per job) -> agent`. Guardian and keepers are child sub-reapers in sessions of
//! their own, so that whatever a job starts stays below its keeper, wherever it moves. A keeper owns the job's hard
//! limit; told to end (or when planex is gone and its socket ends) it asks with SIGTERM, and after the grace period
//! kills until `waitid` says that it has no child. A killed keeper's orphans fall to the guardian, which ends them. The
//! binary calls [`main_if_guardian`] first thing in `main`, before any thread, and holds one [`Guardian`].
//!
//! Not reached: work handed to foreign daemons (docker, systemd-run, at, a tmux server that was running), set-uid
//! children of another user (reported as [`Clean::Left`]), `kill -9 -1`. If planex, guardian and keepers are all
//! killed, [`end_leftovers`] finds what it can at the next resume.
//!
//! # Other systems
//!
//! Each job is a process group (on Windows: one process, until job objects are there), ended by a signal to the group;
//! a tool in a session of its own escapes, and nothing ends the group when planex itself is killed. The interface is
//! the same.
//!
//! # Short helpers
//!
//! [`run`] is for planex's own helpers (`git`, `codex --version`): bounded time, bounded output, ended by group.

mod command;
#[cfg(any(test, not(target_os = "linux")))]
mod fallback;
#[cfg(target_os = "linux")]
mod linux;
mod read;

use std::collections::BTreeMap;
use std::time::Duration;

use camino::Utf8PathBuf;
use planex_core::job::Exit;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};

pub use command::{CommandSpec, Output, RunError, run, run_async};
#[cfg(not(target_os = "linux"))]
pub use fallback::{Child, Guardian, end_leftovers, is_inside_job, main_if_guardian};
#[cfg(target_os = "linux")]
pub use linux::{Child, Guardian, end_leftovers, is_inside_job, main_if_guardian};
pub use read::{CHUNK, drain, next_bytes};

/// Longest time that a job's processes are asked to end when planex itself is gone, whatever their grace period: no
/// orphan survives planex by more than 10 s (spec 10, *Running*).
pub const MAX_ORPHAN_GRACE: Duration = Duration::from_secs(5);

/// Grace for what an agent left running when it ended by itself.
pub const LEFTOVER_GRACE: Duration = Duration::from_secs(1);

/// A stream of a child's output.
pub type Reader = Box<dyn AsyncRead + Send + Sync + Unpin>;

/// A child's input.
pub type Writer = Box<dyn AsyncWrite + Send + Sync + Unpin>;

/// What a child gets to read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Stdin {
    /// Nothing.
    #[default]
    Null,
    /// These bytes, then the end. More than a pipe holds is fine, and so is a child that never reads.
    Bytes(Vec<u8>),
    /// This file.
    File(Utf8PathBuf),
    /// What the caller writes to [`Child::stdin`].
    Piped,
}

/// Everything that starting a child needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildSpec {
    /// Program and arguments. A name without `/` is looked for in the `PATH` of `env`. No shell is involved.
    pub argv: Vec<String>,
    /// The complete environment: nothing of planex's own is added.
    pub env: BTreeMap<String, String>,
    /// Working folder.
    pub cwd: Utf8PathBuf,
    /// What it reads.
    pub stdin: Stdin,
    /// Limit of wall-clock time, held even while planex is stopped.
    pub hard_limit: Option<Duration>,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Name for logs: the run's id.
    pub label: String,
}

/// A process by the only name that is its own: id and start time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProcId {
    /// Process id.
    pub pid: u32,
    /// Start, in clock ticks since the start of the machine (field 22 of `/proc/PID/stat`); 0 where not known.
    pub start: u64,
}

/// A process, seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proc {
    /// Process id.
    pub pid: u32,
    /// Start, in clock ticks since the start of the machine.
    pub start: u64,
    /// Processor time used by it and by children that it waited for, in clock ticks (usually 100 a second).
    pub cpu_ticks: u64,
    /// Its command line, at most 200 bytes of it.
    pub command: String,
}

/// What a later planex needs to find a job's processes; written down before the first output is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ident {
    /// The start of the machine that it belongs to.
    pub boot_id: String,
    /// The pid namespace that the ids belong to (inode; 0 where not known).
    pub pid_ns: u64,
    /// The keeper.
    pub keeper: ProcId,
    /// The agent; also the id of its session.
    pub agent: ProcId,
    /// A variable in the environment of all that the job started, as `NAME=value`, that no other job has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
}

/// How an agent's process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Code, signal, or unknown.
    pub exit: Exit,
    /// Whether the hard limit ended it.
    pub limit: bool,
}

/// Whether anything of a job is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clean {
    /// Nothing.
    None,
    /// These could not be ended.
    Left(Vec<Proc>),
}

/// Variables whose value only one run has; the first that is set becomes [`Ident::mark`].
const MARKS: [&str; 3] = ["PLANEX_CHECK_LOG", "PLANEX_RESULT_FILE", "PLANEX_JOB_ID"];

fn mark_of(env: &BTreeMap<String, String>) -> Option<String> {
    MARKS.iter().find_map(|name| env.get(*name).map(|value| format!("{name}={value}")))
}

/// Text that `execve` cannot take.
fn check_strings(argv: &[String], env: &BTreeMap<String, String>, cwd: &str) -> std::io::Result<()> {
    let wrong = |what: &str| Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, what.to_owned()));
    if argv.first().is_none_or(String::is_empty) {
        return wrong("no program is given");
    }
    if argv.iter().any(|arg| arg.contains('\0')) || cwd.contains('\0') {
        return wrong("an argument contains a NUL character");
    }
    if env.iter().any(|(name, value)| name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')) {
        return wrong("an environment variable has an empty name or contains `=` in its name or a NUL character");
    }
    Ok(())
}
