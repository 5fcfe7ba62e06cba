//! What checks need beside their commands.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use planex_core::mask::Masker;
use planex_sys::env::Environment;
use planex_sys::fs::{self, EntryKind};
use planex_sys::process::{Guardian, Ident};
use planex_sys::program;
use tokio_util::sync::CancellationToken;

use crate::Result;
use crate::store::SessionPaths;

/// Ending of the files that name a check's processes while it runs.
const IDENT: &str = ".ident.json";

/// What checks need beside their commands.
#[derive(Debug, Clone)]
pub struct CheckContext {
    /// Below which all processes run.
    pub guardian: Arc<Guardian>,
    /// Takes secrets out of what is logged.
    pub masker: Arc<Masker>,
    /// planex's own environment. Variables of a run that planex itself is part of are left out.
    pub environment: Arc<Environment>,
    /// Added to it, and stronger. Each command also sees `PLANEX_CHECK_LOG`, the path of its log.
    pub env: BTreeMap<String, String>,
    /// Working folder: the tree that is verified.
    pub cwd: Utf8PathBuf,
    /// Folder of the logs, `{name}-{number}.log`; created. One of [`SessionPaths::checks`], where the next planex
    /// finds the processes that a killed one left.
    pub logs: Utf8PathBuf,
    /// Beginning of the logs' names: `check`, `merged`.
    pub name: String,
    /// Limit of wall-clock time of each command; zero: none.
    pub limit: Duration,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Bytes of each log.
    pub log_cap: u64,
    /// Ends what is being ended at once (a second Ctrl-C).
    pub kill: CancellationToken,
}

impl CheckContext {
    /// Where the output of the command `number`, counted from 1, goes.
    #[must_use]
    pub fn log(&self, number: usize) -> Utf8PathBuf {
        self.logs.join(format!("{}-{number}.log", self.name))
    }

    pub(super) fn ident(&self, number: usize) -> Utf8PathBuf {
        self.logs.join(format!("{}-{number}{IDENT}", self.name))
    }
}

/// Whether the first word of a line is a program on the `PATH` of `environment`, or a file of the project.
#[must_use]
pub fn is_program(word: &str, environment: &Environment, project: &Utf8Path) -> bool {
    program::find(word, environment.get("PATH"), project).is_some()
        || fs::safe_join(project, word).is_ok_and(|path| fs::is_file(&path))
}

/// The processes of checks that were running when their planex was killed.
pub(crate) fn idents(paths: &SessionPaths) -> Result<Vec<Ident>> {
    let all = paths.all_checks();
    let mut idents = Vec::new();
    if !fs::is_dir(&all) {
        return Ok(idents);
    }
    for folder in fs::list(&all)?.iter().filter(|entry| entry.kind == EntryKind::Dir) {
        for entry in fs::list(&folder.path)?.iter().filter(|entry| entry.path.as_str().ends_with(IDENT)) {
            let bytes = fs::read_if_exists(&entry.path)?.unwrap_or_default();
            idents.extend(serde_json::from_slice::<Ident>(&bytes).ok());
        }
    }
    Ok(idents)
}
