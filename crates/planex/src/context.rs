//! What every command starts from: the options, the environment, the folder.

use camino::{Utf8Path, Utf8PathBuf};
use planex_sys::env::Environment;

use crate::cli::Common;
use crate::error::{CliError, Result};

/// What every command starts from.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// The common options, as typed.
    pub(crate) common: Common,
    /// The environment, read once.
    pub(crate) env: Environment,
    /// Absolute: `-C`, else where planex was started.
    pub(crate) dir: Utf8PathBuf,
}

impl Context {
    /// Finds the folder to start from.
    pub(crate) fn new(common: Common, env: Environment) -> Result<Self> {
        let here = std::env::current_dir()
            .map_err(|error| CliError::failed(format!("the current folder cannot be found: {error}")))?;
        let here = Utf8PathBuf::from_path_buf(here)
            .map_err(|path| CliError::failed(format!("the current folder is not UTF-8: {}", path.display())))?;
        let dir = common.cd.as_ref().map_or_else(|| here.clone(), |dir| here.join(dir));
        if !dir.is_dir() {
            return Err(CliError::usage(format!("`{dir}` is not a folder")).hint("give an existing folder with -C DIR"));
        }
        let dir = dir.canonicalize_utf8().unwrap_or(dir);
        let context = Self { common, env, dir };
        if context.common.trust {
            context.refuse_inside_job("--trust")?;
        }
        Ok(context)
    }

    /// A path as typed, made absolute from where the command works.
    pub(crate) fn path(&self, typed: &Utf8Path) -> Utf8PathBuf {
        self.dir.join(typed)
    }

    /// Refuses what no agent may do to its own session (spec 80, *Gates*). Clearing `PLANEX_JOB_ID` does not help: the
    /// process stays below its keeper.
    pub(crate) fn refuse_inside_job(&self, what: &str) -> Result<()> {
        let job = match self.env.non_empty("PLANEX_JOB_ID") {
            Some(job) => format!(" ({})", planex_core::text::one_line(job)),
            None if planex_sys::process::is_inside_job() => String::new(),
            None => return Ok(()),
        };
        Err(CliError::usage(format!("`planex {what}` is refused inside a job{job}"))
            .hint("no agent answers its own gate; the user runs this outside the job"))
    }
}
