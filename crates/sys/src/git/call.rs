//! One call of git, always with the same care.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use super::GitError;
use crate::env::Environment;
use crate::process::{CommandSpec, Output, run};

/// Limit of one question.
const LIMIT: Duration = Duration::from_secs(60);

/// Limit of one call that may write a whole tree, on a slow or busy disk.
const LONG_LIMIT: Duration = Duration::from_secs(1_800);

/// Most that one call may print.
const OUTPUT_CAP: usize = 256 << 20;

/// Variables that would point git at another repository, index or configuration, or make it run a program
/// (`git rev-parse --local-env-vars` and more).
const REMOVED: [&str; 24] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DEFAULT_HASH",
    "GIT_DIFF_OPTS",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Fronts of such names.
const REMOVED_FRONTS: [&str; 3] = ["GIT_TRACE", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];

/// What every call sees.
const SET: [(&str, &str); 4] =
    [("GIT_OPTIONAL_LOCKS", "0"), ("GIT_LITERAL_PATHSPECS", "1"), ("GIT_TERMINAL_PROMPT", "0"), ("LC_ALL", "C")];

/// Configuration that every call overrides: no hook or program of the user's runs, no foreign cache is trusted, nothing
/// runs in the background, no setting changes what a call means.
const OPTIONS: [&str; 14] = [
    "core.hooksPath=/dev/null",
    "core.logAllRefUpdates=false",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "index.sparse=false",
    "core.safecrlf=false",
    "core.trustctime=true",
    "core.checkStat=default",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "merge.renormalize=false",
    "merge.directoryRenames=false",
];

/// Git in one folder.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    dir: Utf8PathBuf,
    env: BTreeMap<String, String>,
    limit: Duration,
}

impl Caller {
    pub(super) fn new(env: &Environment, dir: &Utf8Path) -> Self {
        let mut env = env.vars().clone();
        env.retain(|name, _| {
            !REMOVED.contains(&name.as_str()) && !REMOVED_FRONTS.iter().any(|front| name.starts_with(front))
        });
        env.extend(SET.map(|(name, value)| (name.to_owned(), value.to_owned())));
        Self { dir: dir.to_owned(), env, limit: LIMIT }
    }

    /// The same in another folder.
    pub(super) fn at(self, dir: &Utf8Path) -> Self {
        Self { dir: dir.to_owned(), ..self }
    }

    /// The same with more variables, and time to write a whole tree.
    pub(super) fn with(mut self, vars: &[(&str, &str)]) -> Self {
        self.env.extend(vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        Self { limit: LONG_LIMIT, ..self }
    }

    /// Runs git, whatever its exit code.
    pub(super) fn output(&self, args: &[&str], stdin: Vec<u8>) -> Result<Output, GitError> {
        let options = OPTIONS.iter().flat_map(|option| ["-c", option]);
        let argv = ["git"].into_iter().chain(options).chain(args.iter().copied()).map(str::to_owned).collect();
        let spec = CommandSpec {
            argv,
            env: self.env.clone(),
            cwd: self.dir.clone(),
            stdin,
            limit: self.limit,
            output_cap: OUTPUT_CAP,
        };
        let output = run(&spec).map_err(|error| match error.source.kind() {
            io::ErrorKind::NotFound if self.dir.is_dir() => GitError::NotInstalled,
            _ => GitError::Run(error),
        })?;
        if output.timed_out {
            let (command, dir) = (args.join(" "), self.dir.clone());
            return Err(GitError::TimedOut { command, dir, seconds: self.limit.as_secs() });
        }
        if output.truncated {
            return Err(self.strange(args, "more than 256 MiB of output"));
        }
        Ok(output)
    }

    /// Runs git, which must succeed.
    pub(super) fn bytes(&self, args: &[&str], stdin: Vec<u8>) -> Result<Vec<u8>, GitError> {
        let output = self.output(args, stdin)?;
        if output.success() { Ok(output.stdout) } else { Err(self.failed(args, &output)) }
    }

    /// Runs git, which must succeed; its answer without the line's end.
    pub(super) fn text(&self, args: &[&str]) -> Result<String, GitError> {
        let bytes = self.bytes(args, Vec::new())?;
        let text = String::from_utf8(bytes).map_err(|_| self.strange(args, "text that is not UTF-8"))?;
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// Runs git with `--quiet`; `None` if it answers no by exit code 1 and silence.
    pub(super) fn quiet(&self, args: &[&str]) -> Result<Option<String>, GitError> {
        let output = self.output(args, Vec::new())?;
        if !output.success() {
            return if output.stderr.is_empty() { Ok(None) } else { Err(self.failed(args, &output)) };
        }
        let text = String::from_utf8(output.stdout).map_err(|_| self.strange(args, "text that is not UTF-8"))?;
        Ok(Some(text.trim_end_matches('\n').to_owned()))
    }

    pub(super) fn failed(&self, args: &[&str], output: &Output) -> GitError {
        let message = match output.stderr_line() {
            line if line.is_empty() => format!("{:?}", output.exit),
            line => line,
        };
        GitError::Failed { command: args.join(" "), dir: self.dir.clone(), message }
    }

    pub(super) fn strange(&self, args: &[&str], what: &'static str) -> GitError {
        GitError::Strange { command: args.join(" "), dir: self.dir.clone(), what }
    }
}
