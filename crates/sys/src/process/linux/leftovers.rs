//! What is left of jobs whose planex, guardian and keeper were all killed.

use std::thread;
use std::time::{Duration, Instant};

use super::super::{Ident, Proc};
use super::procfs::{self, Stat};
use crate::program;

/// How long a keeper that is still there may take to end its job by itself.
const KEEPER_LIMIT: Duration = Duration::from_secs(8);

/// Time between asking and killing.
const GRACE: Duration = Duration::from_secs(1);

/// Killing goes on for this long.
const KILL_LIMIT: Duration = Duration::from_secs(5);

const PAUSE: Duration = Duration::from_millis(20);

/// Ends the processes that earlier jobs left, and gives those that could not be ended.
///
/// For the holder of the session's lock: no planex may be driving these jobs any more. Blocks, at worst for some 15 s;
/// returns at once where nothing is left. An ident of another start of the machine, or of another pid namespace, is
/// passed over.
///
/// Known as a job's: the agent by pid and start; every process of the agent's session (whose number stays taken as
/// long as one lives) that started no earlier; every process with the job's mark in its environment; and all that
/// descend from these. Not known: a tool that left the session and cleared its environment.
#[must_use]
pub fn end_leftovers(idents: &[Ident]) -> Vec<Proc> {
    let namespace = procfs::pid_namespace();
    let ours = |ident: &&Ident| ident.boot_id == program::boot_id() && ident.pid_ns == namespace;
    let idents: Vec<&Ident> = idents.iter().filter(ours).collect();
    wait_for_keepers(&idents);
    let asked = signal_all(&idents, libc::SIGTERM);
    if asked.is_empty() {
        return Vec::new();
    }
    tracing::info!("ending {} processes that an earlier run left", asked.len());
    wait_until_empty(&idents, GRACE);
    let until = Instant::now() + KILL_LIMIT;
    loop {
        let left = signal_all(&idents, libc::SIGKILL);
        if left.is_empty() || Instant::now() > until {
            return left.into_iter().map(Stat::into_proc).collect();
        }
        thread::sleep(PAUSE);
    }
}

/// A keeper that lives is ending its job: it does that better than anyone else can. One that is stuck is killed, and
/// then its guardian, if there is one, or the search below does the rest.
fn wait_for_keepers(idents: &[&Ident]) {
    let until = Instant::now() + KEEPER_LIMIT;
    for ident in idents {
        let lives = || procfs::stat(ident.keeper.pid).is_some_and(|now| now.id() == ident.keeper && !now.zombie);
        while lives() && Instant::now() < until {
            thread::sleep(PAUSE);
        }
        if lives() {
            let _ = procfs::send(ident.keeper, libc::SIGKILL);
        }
    }
}

fn wait_until_empty(idents: &[&Ident], limit: Duration) {
    let until = Instant::now() + limit;
    while Instant::now() < until && !find(idents).is_empty() {
        thread::sleep(PAUSE);
    }
}

/// Signals all that is found and gives it. Stopped ones are woken.
fn signal_all(idents: &[&Ident], signal: i32) -> Vec<Stat> {
    let found = find(idents);
    for process in &found {
        let _ = procfs::send(process.id(), signal);
        let _ = procfs::send(process.id(), libc::SIGCONT);
    }
    found
}

/// The living processes that belong to the jobs, their keepers not counted.
pub(super) fn find(idents: &[&Ident]) -> Vec<Stat> {
    let all = procfs::snapshot();
    let own = std::process::id();
    let Some(oldest) = idents.iter().map(|ident| ident.agent.start).min() else { return Vec::new() };
    let is_keeper = |process: &Stat| idents.iter().any(|ident| ident.keeper == process.id());
    let mut found: Vec<Stat> = Vec::new();
    for process in &all {
        if process.zombie || process.start < oldest || process.pid == own || is_keeper(process) {
            continue;
        }
        if is_root(process, idents) {
            found.push(process.clone());
            found.extend(procfs::descendants(process.pid, &all).into_iter().cloned());
        }
    }
    found.retain(|process| !process.zombie && process.pid != own);
    found.sort_by_key(Stat::id);
    found.dedup_by_key(|process| process.id());
    found
}

/// Whether the process itself shows that it belongs to one of the jobs.
fn is_root(process: &Stat, idents: &[&Ident]) -> bool {
    let by_id = |ident: &Ident| {
        process.id() == ident.agent || (process.session == ident.agent.pid && process.start >= ident.agent.start)
    };
    if idents.iter().any(|ident| by_id(ident)) {
        return true;
    }
    let marks =
        idents.iter().filter(|ident| process.start >= ident.agent.start).filter_map(|ident| ident.mark.as_deref());
    procfs::has_mark(process.pid, marks)
}
