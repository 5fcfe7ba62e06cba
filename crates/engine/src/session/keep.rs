//! Putting sessions away: archive, delete, prune.

use std::time::Duration;

use camino::Utf8Path;
use jiff::Timestamp;
use planex_sys::fs;

use super::find::Found;
use super::holder;
use super::list::{SessionStatus, Summary, list};
use crate::error::{EngineError, Result};
use crate::gate::ApprovalStore;
use crate::store::SessionPaths;

/// Moves a session into `.workflow/archives/`; a name that is taken there gets `-2`, …. What was
/// answered where it was does not come along.
///
/// # Errors
/// It runs, it is archived already, or it cannot be moved.
pub fn archive(
    root: &Utf8Path,
    found: &Found,
    approvals: &ApprovalStore,
    now: Timestamp,
) -> Result<camino::Utf8PathBuf> {
    if found.archived {
        return Err(EngineError::usage(format!("{} is in the archive already", found.id)));
    }
    let lock = claim(found, "planex sessions archive", now)?;
    let parent = root.join(".workflow").join("archives");
    fs::create_dir_all(&parent)?;
    let mut target = parent.join(&found.id);
    let mut suffix = 2;
    while fs::exists(&target) {
        target = parent.join(format!("{}-{suffix}", found.id));
        suffix += 1;
    }
    let record = approvals.of(&found.paths());
    fs::rename(&found.dir, &target)?;
    drop(lock);
    record.remove()?;
    Ok(target)
}

/// Removes a session's folder, and the record of its answers.
///
/// # Errors
/// It runs, or it cannot be removed whole.
pub fn delete(found: &Found, approvals: &ApprovalStore, now: Timestamp) -> Result<u64> {
    let lock = claim(found, "planex sessions delete", now)?;
    let size = fs::dir_size(&found.dir);
    let record = approvals.of(&found.paths());
    // Renamed first: whoever looks while the folder goes must not take the rest for a session.
    let name = format!(".deleting-{}", found.id);
    let away = found.dir.parent().map_or_else(|| name.clone().into(), |parent| parent.join(&name));
    fs::remove_dir_all(&away)?;
    fs::rename(&found.dir, &away)?;
    fs::remove_dir_all(&away)?;
    drop(lock);
    record.remove()?;
    Ok(size)
}

fn claim(found: &Found, command: &str, now: Timestamp) -> Result<planex_sys::lock::SessionLock> {
    let paths = SessionPaths::new(found.dir.clone());
    fs::create_dir_all(&paths.planex())?;
    Ok(planex_sys::lock::SessionLock::acquire(&paths.lock(), &holder(command, now))?)
}

/// What `sessions prune` may keep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PruneLimits {
    /// Sessions older than this go.
    pub older_than: Option<Duration>,
    /// Of the sessions that have ended, this many of the newest stay.
    pub keep: Option<usize>,
    /// Nothing is removed, only said.
    pub dry_run: bool,
}

/// One session that was (or would be) removed.
#[derive(Debug, Clone, PartialEq)]
pub struct Pruned {
    /// The session.
    pub summary: Summary,
    /// Why it could not be removed.
    pub error: Option<String>,
}

/// Removes old sessions, and the records of answers whose session is gone. Running ones always stay; those that wait or stopped in the middle go by age alone.
///
/// # Errors
/// The sessions cannot be listed. One that cannot be removed is reported and stops no other.
pub fn prune(root: &Utf8Path, limits: PruneLimits, approvals: &ApprovalStore, now: Timestamp) -> Result<Vec<Pruned>> {
    let mut ended = 0;
    let mut pruned = Vec::new();
    for summary in list(root)? {
        if matches!(summary.status, SessionStatus::Running(_)) {
            continue;
        }
        let too_old = limits.older_than.is_some_and(|age| is_older(&summary, age, now));
        let mut too_many = false;
        if summary.status.has_ended() {
            ended += 1;
            too_many = limits.keep.is_some_and(|keep| ended > keep);
        }
        if !(too_old || too_many) {
            continue;
        }
        let error =
            if limits.dry_run { None } else { delete(&summary.found, approvals, now).err().map(|e| e.to_string()) };
        pruned.push(Pruned { summary, error });
    }
    if !limits.dry_run {
        approvals.remove_orphans()?;
    }
    Ok(pruned)
}

fn is_older(summary: &Summary, age: Duration, now: Timestamp) -> bool {
    let seconds = i64::try_from(age.as_secs()).unwrap_or(i64::MAX);
    now.as_second().saturating_sub(summary.found.created()) > seconds
}
