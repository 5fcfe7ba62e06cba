//! Whether a process is part of a job: whether a keeper or guardian is among its ancestors.
//!
//! A job's processes can clear their environment, but not change their ancestors: whatever loses its parent moves to its
//! keeper, the nearest sub-reaper, and what loses its keeper to the guardian. Not seen: a process in a pid namespace of
//! its own with its own `/proc`, and what foreign daemons start.

use super::{procfs, wire};

/// Most steps of one look, also for what makes and ends processes to be in the way.
const MAX_STEPS: usize = 10_000;

/// Whether this process is part of a job of any planex.
#[must_use]
pub fn is_inside_job() -> bool {
    // By this name, and not by its own idea of its id, which counts in its own namespace.
    procfs::own_stat().is_some_and(|own| is_below_keeper(own.pid))
}

pub(super) fn is_below_keeper(pid: u32) -> bool {
    let mut at = pid;
    for _ in 0..MAX_STEPS {
        // Ended meanwhile: its children have another parent now.
        let Some(parent) = procfs::stat(at).map(|stat| stat.parent) else {
            if at == pid {
                return false;
            }
            at = pid;
            continue;
        };
        if parent == 0 {
            return false;
        }
        if is_keeper(parent) {
            return true;
        }
        if procfs::stat(parent).is_some() {
            at = parent;
        } else if procfs::stat(at).is_some_and(|stat| stat.parent == parent) {
            // It is there, and hidden from this user: above it there is no keeper, which runs as the same user.
            return false;
        }
    }
    // Only what wants to hide looks like this.
    true
}

/// Keepers are forks of their guardian, so both have its arguments.
fn is_keeper(pid: u32) -> bool {
    let (name, word) = wire::GUARDIAN_ARGS;
    procfs::command(pid) == format!("{name} {word}")
}
