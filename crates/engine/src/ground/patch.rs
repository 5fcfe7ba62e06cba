//! What tasks made and was not merged: kept as a patch, shown, applied, dropped (spec 70, *Where results go*).

use camino::{Utf8Path, Utf8PathBuf};
use planex_isolation::{Merger, Repo, Written};
use planex_sys::fs;
use planex_sys::swap::Swap;
use serde::{Deserialize, Serialize};

use super::book::{Phase, WaveBook};
use super::forget;
use super::observed::some;
use super::{Observed, Trees};
use crate::error::{EngineError, ErrorKind, Result};
use crate::store::SessionPaths;

/// A task's changes that are not in the user's tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    /// The task.
    pub task: String,
    /// Its title.
    pub title: String,
    /// Why it was not merged.
    pub why: String,
    /// The commit that it started from.
    pub base: String,
    /// What it made.
    pub commit: String,
    /// The changed paths, relative to the project.
    pub files: Vec<Utf8PathBuf>,
}

/// Hidden ref that holds a patch's commit; its base is the commit's parent.
fn ref_of(task: &str) -> String {
    format!("p/{task}")
}

fn paths_of(paths: &SessionPaths, task: &str) -> (Utf8PathBuf, Utf8PathBuf) {
    let folder = paths.patches();
    (folder.join(format!("{task}.patch")), folder.join(format!("{task}.json")))
}

/// Keeps what a task made. An earlier patch of the same task is replaced.
///
/// # Errors
/// Git or the disk fails.
pub fn keep(trees: &Trees, paths: &SessionPaths, task: &str, title: &str, why: &str, made: &Observed) -> Result<()> {
    if !made.has_changes() {
        return Ok(());
    }
    fs::create_dir_all(&paths.patches())?;
    let (patch, note) = paths_of(paths, task);
    fs::write_atomic(&patch, &trees.repo.patch(&made.base, &made.commit, &trees.scratch())?)?;
    trees.repo.keep(&trees.session, &ref_of(task), &made.commit)?;
    let kept = Patch {
        task: task.to_owned(),
        title: title.to_owned(),
        why: why.to_owned(),
        base: made.base.clone(),
        commit: made.commit.clone(),
        files: made.changed.clone(),
    };
    Ok(fs::write_atomic(&note, &serde_json::to_vec_pretty(&kept).map_err(EngineError::internal)?)?)
}

/// All patches of a session, by task.
///
/// # Errors
/// One cannot be read.
pub fn list(paths: &SessionPaths) -> Result<Vec<Patch>> {
    if !fs::is_dir(&paths.patches()) {
        return Ok(Vec::new());
    }
    let mut patches = Vec::new();
    for entry in fs::list(&paths.patches())?.iter().filter(|entry| entry.name.ends_with(".json")) {
        let bytes = fs::read(&entry.path)?;
        patches.push(
            serde_json::from_slice(&bytes)
                .map_err(|error| EngineError::internal(format!("{}: {error}", entry.path)))?,
        );
    }
    Ok(patches)
}

/// One patch.
///
/// # Errors
/// The task has none; those that have are named.
pub fn find(paths: &SessionPaths, task: &str) -> Result<Patch> {
    let patches = list(paths)?;
    let known: Vec<String> = patches.iter().map(|patch| patch.task.clone()).collect();
    patches.into_iter().find(|patch| patch.task == task).ok_or_else(|| {
        let known = if known.is_empty() { "no task has one".to_owned() } else { format!("there are {}", some(&known)) };
        EngineError::usage(format!("the task {} has no patch; {known}", task.escape_debug()))
    })
}

/// The patch itself, as `git apply` takes it.
///
/// # Errors
/// It cannot be read.
pub fn text(paths: &SessionPaths, patch: &Patch) -> Result<Vec<u8>> {
    Ok(fs::read(&paths_of(paths, &patch.task).0)?)
}

/// Merges a patch three-way into the user's tree as it is now; gives the number of changed paths.
///
/// # Errors
/// It conflicts with what is in the tree (exit 5; the paths are named, nothing is written), or git or the disk fails.
pub fn apply(repo: &Repo, session: &str, paths: &SessionPaths, patch: &Patch) -> Result<usize> {
    let scratch = paths.scratch();
    settled(repo, session, paths)?;
    let now = repo.snapshot(session, "apply", &scratch)?;
    let merged = Merger::onto(repo, &patch.base, &now.commit, &scratch)?;
    let written = merge(merged, repo, patch, &paths.swap());
    repo.release(session, "apply")?;
    fs::remove_dir_all(&scratch)?;
    let paths_written = written?;
    drop_patch(repo, session, paths, patch)?;
    Ok(paths_written)
}

/// What an earlier write of this session into the tree left is finished or taken back; one of a wave is the wave's.
fn settled(repo: &Repo, session: &str, paths: &SessionPaths) -> Result<()> {
    let open = WaveBook::load_all(paths)?.into_iter().any(|book| book.phase.is_open() || book.phase == Phase::Undoing);
    if open {
        return Err(EngineError::usage(format!("a wave of {session} is not written to its end yet"))
            .hint(format!("go on with `planex resume {session}` first")));
    }
    Swap::recover(repo.top(), &paths.swap()).map_err(planex_isolation::IsolationError::from)?;
    forget(&paths.swap())
}

fn merge(mut merger: Merger<'_>, repo: &Repo, patch: &Patch, swap: &Utf8Path) -> Result<usize> {
    let conflict = |list: &[planex_isolation::RepoPath], with: &str| {
        let files: Vec<Utf8PathBuf> = list.iter().map(|path| path.in_project(repo.prefix())).collect();
        EngineError::new(
            ErrorKind::TasksFailed,
            format!("the patch of {} conflicts with {with}: {}; nothing was written", patch.task, some(&files)),
        )
        .hint("`planex patch show` prints it; `git apply --3way` leaves conflict markers")
    };
    if let Err(found) = merger.add(&patch.commit, &format!("planex: {}", patch.task))? {
        return Err(conflict(&found.paths, "what is in your tree"));
    }
    match merger.write(swap)? {
        Written::Done { paths, .. } => {
            forget(swap)?;
            Ok(paths)
        }
        Written::Conflict(list) => Err(conflict(&list, "what is in your tree")),
    }
}

/// Throws a patch away.
///
/// # Errors
/// A file cannot be removed.
pub fn drop_patch(repo: &Repo, session: &str, paths: &SessionPaths, patch: &Patch) -> Result<()> {
    let (text, note) = paths_of(paths, &patch.task);
    fs::remove_file(&note)?;
    fs::remove_file(&text)?;
    Ok(repo.release(session, &ref_of(&patch.task))?)
}
