//! The registry of runs: planex's own ids and the agents' session ids (spec 10, *Registry of runs*).
//!
//! Each run's folder says who it is (`run.json`, written at its start and when the agent tells its session) and, once it
//! is finished, what came out (`result.json`). Together they are the registry; nothing else is kept.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use planex_core::id;
use planex_core::job::{JobOutcome, Mode, Role};
use planex_sys::fs::{self, EntryKind};
use planex_sys::process::{self, Ident};
use serde::{Deserialize, Serialize};

use crate::error::{EngineError, Result};
use crate::store::{RunPaths, SessionPaths};

/// `run.json`: a run as it was started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The run's id.
    pub run_id: String,
    /// What for.
    pub role: Role,
    /// What it might do.
    pub mode: Mode,
    /// The adapter.
    pub agent: String,
    /// The model asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The row or task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// What is shown for it.
    #[serde(default)]
    pub title: String,
    /// 1 for the first try.
    pub attempt: u32,
    /// Working folder.
    pub cwd: Utf8PathBuf,
    /// When it was started.
    pub started_at: jiff::Timestamp,
    /// The agent's own session id, once it told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<String>,
    /// Hash of the job's input: a finished run counts only for the same job.
    #[serde(default)]
    pub input: String,
}

/// One run of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its id, the name of its folder.
    pub id: String,
    /// Its files.
    pub paths: RunPaths,
    /// How it was started.
    pub record: Option<RunRecord>,
    /// What came out; `None`: it is running, or was killed.
    pub outcome: Option<JobOutcome>,
}

impl Run {
    /// The agent's own session id, by the outcome or else by the record.
    #[must_use]
    pub fn agent_session(&self) -> Option<&str> {
        let told = self.outcome.as_ref().and_then(|o| o.agent_session.as_deref());
        told.or_else(|| self.record.as_ref().and_then(|r| r.agent_session.as_deref()))
    }

    /// The agent that ran.
    #[must_use]
    pub fn agent(&self) -> Option<&str> {
        let ran = self.outcome.as_ref().map(|o| o.agent.as_str());
        ran.or_else(|| self.record.as_ref().map(|r| r.agent.as_str()))
    }
}

/// Path of `run.json` in a run's folder.
#[must_use]
pub fn record_path(run_dir: &Utf8Path) -> Utf8PathBuf {
    run_dir.join("run.json")
}

/// Writes a run's record. Not flushed: what it says matters only while this machine is up.
///
/// # Errors
/// It cannot be written.
pub fn save_record(run_dir: &Utf8Path, record: &RunRecord) -> Result<()> {
    let text = serde_json::to_vec_pretty(record).map_err(EngineError::internal)?;
    Ok(fs::write_atomic_nosync(&record_path(run_dir), &text)?)
}

/// The outcome in a run's folder; a file that is not whole counts as none (the run is done again).
///
/// # Errors
/// It is there and cannot be read.
pub fn load_outcome(run_dir: &Utf8Path) -> Result<Option<JobOutcome>> {
    let bytes = fs::read_if_exists(&RunPaths::new(run_dir).result())?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// Reads a run's folder.
///
/// # Errors
/// A file is there and cannot be read.
pub fn load_run(dir: &Utf8Path) -> Result<Run> {
    let record = fs::read_if_exists(&record_path(dir))?.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let id = dir.file_name().unwrap_or_default().to_owned();
    Ok(Run { id, paths: RunPaths::new(dir), record, outcome: load_outcome(dir)? })
}

/// Every run of a session, by id.
///
/// # Errors
/// The folder cannot be listed or a file not read.
pub fn runs(paths: &SessionPaths) -> Result<Vec<Run>> {
    let folder = paths.runs();
    if !fs::is_dir(&folder) {
        return Ok(Vec::new());
    }
    fs::list(&folder)?.iter().filter(|e| e.kind == EntryKind::Dir).map(|entry| load_run(&entry.path)).collect()
}

/// The run that `--resume OLD_ID` means, in any of `sessions` (newest first): planex's own id, or the agent's.
///
/// # Errors
/// There is none, or it told no session of its agent.
pub fn resolve(sessions: &[SessionPaths], old: &str) -> Result<Run> {
    id::check_run_id(old)
        .map_err(|error| EngineError::usage(format!("`{}` is no id of a run: {error}", old.escape_debug())))?;
    for paths in sessions {
        let dir = paths.run(old);
        if fs::is_dir(&dir) {
            return resumable(load_run(&dir)?);
        }
    }
    for paths in sessions {
        if let Some(run) = runs(paths)?.into_iter().find(|run| run.agent_session() == Some(old)) {
            return Ok(run);
        }
    }
    let mut known: Vec<String> = Vec::new();
    for paths in sessions.iter().take(5) {
        known.extend(runs(paths)?.into_iter().map(|run| run.id));
    }
    let mut error = EngineError::usage(format!("no run is named `{old}`"));
    error.faults = known.into_iter().take(20).collect();
    Err(error.hint("`planex logs SESSION` lists the runs of a session"))
}

fn resumable(run: Run) -> Result<Run> {
    if run.agent_session().is_some() {
        return Ok(run);
    }
    Err(EngineError::usage(format!("the run {} cannot be resumed: its agent told no session", run.id))
        .hint("start it anew with `planex agent run`"))
}

/// The command that goes on with a run that failed or timed out.
#[must_use]
pub fn resume_command(run_id: &str, agent: &str) -> String {
    format!("planex agent run --tool {agent} --resume {run_id} -p \"go on\"")
}

/// Ends what killed runs and checks left behind (spec 10, *Running*: known by boot id, pid and start time). Gives what could not be
/// ended. Only for the holder of the session's lock; blocks for some seconds where something is left.
///
/// # Errors
/// The runs cannot be listed.
pub fn end_leftovers(paths: &SessionPaths) -> Result<Vec<String>> {
    let mut idents: Vec<Ident> = crate::verify::idents(paths)?;
    // Runs that finished have nothing left.
    for run in runs(paths)?.into_iter().filter(|run| run.outcome.is_none()) {
        let bytes = fs::read_if_exists(&run.paths.ident())?.unwrap_or_default();
        idents.extend(serde_json::from_slice::<Ident>(&bytes).ok());
    }
    if idents.is_empty() {
        return Ok(Vec::new());
    }
    Ok(process::end_leftovers(&idents).iter().map(|p| format!("process {} ({})", p.pid, p.command)).collect())
}

/// Marks every finished run of `base` as superseded, so that a retry runs anew and does not take an old result. Called
/// before the row is set back to pending: killed in between, the row just stays as it was.
///
/// # Errors
/// A mark cannot be written.
pub fn supersede(paths: &SessionPaths, base: &str) -> Result<()> {
    fs::remove_file(&paths.skipped(base))?;
    for attempt in 1..=attempts(paths, base) {
        let dir = paths.run(&id::retry_of(base, attempt - 1));
        if fs::exists(&RunPaths::new(dir.clone()).result()) {
            fs::write_atomic(&superseded(&dir), b"")?;
        }
    }
    Ok(())
}

/// Writes that the user skipped or ended the job `base`, with what it came to: no run of it follows until a retry.
///
/// # Errors
/// It cannot be written.
pub fn skip(paths: &SessionPaths, base: &str, outcome: &JobOutcome) -> Result<()> {
    let file = paths.skipped(base);
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let text = serde_json::to_vec_pretty(outcome).map_err(EngineError::internal)?;
    Ok(fs::write_atomic(&file, &text)?)
}

/// What the job `base` came to when the user skipped or ended it; `None`: the user did not.
///
/// # Errors
/// It is there and cannot be read.
pub fn skipped(paths: &SessionPaths, base: &str) -> Result<Option<JobOutcome>> {
    let bytes = fs::read_if_exists(&paths.skipped(base))?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// Whether a finished run was superseded by a retry.
#[must_use]
pub fn is_superseded(run_dir: &Utf8Path) -> bool {
    fs::exists(&superseded(run_dir))
}

fn superseded(run_dir: &Utf8Path) -> Utf8PathBuf {
    run_dir.join("superseded")
}

/// How many attempts of the run `base` have a folder.
#[must_use]
pub fn attempts(paths: &SessionPaths, base: &str) -> u32 {
    (0..u32::MAX).take_while(|n| fs::is_dir(&paths.run(&id::retry_of(base, *n)))).last().map_or(0, |n| n + 1)
}

/// Files that all attempts of the run `base` together changed, those before a retry by the user included.
///
/// # Errors
/// A run cannot be read.
pub fn files_changed(paths: &SessionPaths, base: &str) -> Result<BTreeSet<Utf8PathBuf>> {
    let mut files = BTreeSet::new();
    for attempt in 0..attempts(paths, base) {
        let outcome = load_outcome(&paths.run(&id::retry_of(base, attempt)))?;
        files.extend(outcome.into_iter().flat_map(|outcome| outcome.files_changed));
    }
    Ok(files)
}

/// Whether the last attempt of the run `base` was started and came to no outcome: planex was killed meanwhile.
///
/// # Errors
/// It cannot be read.
pub fn is_interrupted(paths: &SessionPaths, base: &str) -> Result<bool> {
    let Some(last) = attempts(paths, base).checked_sub(1) else { return Ok(false) };
    let run = load_run(&paths.run(&id::retry_of(base, last)))?;
    Ok(run.record.is_some() && run.outcome.is_none())
}

/// Finished outcomes by run id.
///
/// # Errors
/// The runs cannot be read.
pub fn outcomes(paths: &SessionPaths) -> Result<BTreeMap<String, JobOutcome>> {
    Ok(runs(paths)?.into_iter().filter_map(|run| run.outcome.map(|outcome| (run.id, outcome))).collect())
}
