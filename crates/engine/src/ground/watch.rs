//! The bridge from runs to their trees: a tree when a run starts, a look at it when it ends.

use std::collections::HashMap;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use planex_core::glob::Scope;
use planex_core::job::{Cause, CauseKind, JobOutcome, JobStatus};
use planex_isolation::{Placed, RepoPath, TaskTree};
use tokio_util::sync::CancellationToken;

use super::{Observed, Trees, claims_success};
use crate::error::{EngineError, Result};
use crate::run::{JobRequest, Place, Watch};
use crate::verify::{self, CheckContext};

/// What one wave runs on.
#[derive(Debug, Clone)]
pub(crate) struct Wave {
    /// The commit of the snapshot.
    pub base: String,
    /// What comes along.
    pub placed: Placed,
    /// Scopes by task.
    pub scopes: HashMap<String, Scope>,
    /// Commands by task; none where planex does not verify.
    pub commands: HashMap<String, Vec<String>>,
    /// How commands are run, in folders of their logs below its own. `None`: they are not.
    pub check: Option<CheckContext>,
}

/// Gives each run of a wave a tree, and looks at what it made.
#[derive(Debug)]
pub(crate) struct WaveWatch {
    trees: Arc<Trees>,
    wave: Wave,
    runtime: tokio::runtime::Handle,
}

impl WaveWatch {
    /// Watches a wave. Call it inside the runtime that runs its jobs.
    pub(crate) fn new(trees: Arc<Trees>, wave: Wave) -> Self {
        Self { trees, wave, runtime: tokio::runtime::Handle::current() }
    }

    /// Prepares a new tree by the user's own shell lines.
    fn set_up(&self, tree: &TaskTree, task: &str) -> Result<()> {
        let (lines, Some(context)) = (self.trees.setup(), self.context(tree, task, "setup")) else { return Ok(()) };
        let checks = self.runtime.block_on(verify::run_checks(&context, lines, &context.kill));
        match checks.iter().find(|check| !check.passed()) {
            None => Ok(()),
            Some(check) => Err(EngineError::internal(format!(
                "`{}` of worktree.setup {} in the tree of {task}",
                check.command, check.verdict
            ))
            .hint(format!("its output is in {}", check.log))),
        }
    }

    /// How commands run in a tree; `run` names their logs.
    fn context(&self, tree: &TaskTree, run: &str, name: &str) -> Option<CheckContext> {
        let context = self.wave.check.clone()?;
        let mut env = context.env;
        env.extend(self.trees.environment(tree));
        let logs = context.logs.join(run);
        Some(CheckContext { env, cwd: self.trees.project_in(tree), logs, name: name.to_owned(), ..context })
    }

    fn look(&self, task: &str, run: &str, outcome: &mut JobOutcome, end: &CancellationToken) -> Result<Observed> {
        let tree = self.trees.open(task, &self.wave.base, &self.wave.placed)?;
        let everything = Scope::Everything;
        let scope = self.wave.scopes.get(task).unwrap_or(&everything);
        let prefix = self.trees.repo.prefix();
        let in_scope = |path: &Utf8Path| !path.starts_with("..") && scope.matches(path.as_str());
        let named = |path: &RepoPath| in_scope(&path.in_project(prefix));
        let wanted: Option<&dyn Fn(&RepoPath) -> bool> = if scope.is_limited() { Some(&named) } else { None };
        let collected = tree.collect(&self.trees.repo, &self.trees.session, task, wanted)?;
        let changed: Vec<Utf8PathBuf> = collected.changes.iter().map(|change| change.path.in_project(prefix)).collect();
        let left_out = collected.left_out.iter().map(|left| self.trees.repo.say_left_out(left));
        let in_submodules = collected.in_submodules.iter().map(|path| format!("{path} (in a submodule)"));
        let refused = left_out.chain(in_submodules).collect();
        let outside = changed.iter().filter(|path| !in_scope(path) && !is_lock_of(path, &changed, &in_scope));
        let mut observed = Observed {
            base: self.wave.base.clone(),
            commit: if changed.is_empty() { self.wave.base.clone() } else { collected.commit },
            outside: outside.cloned().collect(),
            refused,
            remarks: collected.remarks.iter().map(ToString::to_string).collect(),
            checks: Vec::new(),
            changed,
        };
        outcome.files_changed.clone_from(&observed.changed);
        let commands = self.wave.commands.get(task).map(Vec::as_slice).unwrap_or_default();
        // A task that says itself that it failed has nothing to verify.
        if claims_success(outcome)
            && let Some(context) = self.context(&tree, run, "check")
        {
            observed.checks = self.runtime.block_on(verify::run_checks(&context, commands, end));
        }
        Ok(observed)
    }
}

impl Watch for WaveWatch {
    fn started(&self, job: &JobRequest) -> Result<Place> {
        let Some(task) = &job.item else { return Ok(Place::default()) };
        let tree = self.trees.make(task, &self.wave.base, &self.wave.placed)?;
        self.set_up(&tree, task)?;
        Ok(Place { cwd: Some(self.trees.project_in(&tree)), env: self.trees.environment(&tree) })
    }

    fn ended(
        &self,
        job: &JobRequest,
        run_dir: &Utf8Path,
        outcome: &mut JobOutcome,
        end: &CancellationToken,
    ) -> Result<()> {
        let Some(task) = &job.item else { return Ok(()) };
        match self.look(task, run_dir.file_name().unwrap_or(task), outcome, end) {
            Ok(observed) => observed.save(run_dir)?,
            // What cannot be looked at cannot be merged: this job failed, the others go on.
            Err(error) => {
                let cause = Cause::new(CauseKind::Failed, format!("its changes cannot be collected: {error}"));
                (outcome.status, outcome.cause) = (JobStatus::Failed, Some(cause));
            }
        }
        self.trees.give_back(task);
        Ok(())
    }
}

/// Lock files and the manifests that they belong to.
const LOCKS: [(&str, &[&str]); 14] = [
    ("Cargo.lock", &["Cargo.toml"]),
    ("package-lock.json", &["package.json"]),
    ("npm-shrinkwrap.json", &["package.json"]),
    ("yarn.lock", &["package.json"]),
    ("pnpm-lock.yaml", &["package.json"]),
    ("bun.lock", &["package.json"]),
    ("bun.lockb", &["package.json"]),
    ("poetry.lock", &["pyproject.toml"]),
    ("uv.lock", &["pyproject.toml"]),
    ("pdm.lock", &["pyproject.toml"]),
    ("Pipfile.lock", &["Pipfile"]),
    ("go.sum", &["go.mod"]),
    ("Gemfile.lock", &["Gemfile"]),
    ("composer.lock", &["composer.json"]),
];

/// A lock file belongs to the scope that holds its manifest: the one beside it, or, in a workspace, one below it that the
/// task changed.
fn is_lock_of(path: &Utf8Path, changed: &[Utf8PathBuf], in_scope: &dyn Fn(&Utf8Path) -> bool) -> bool {
    let Some((_, manifests)) = LOCKS.iter().find(|(lock, _)| path.file_name() == Some(lock)) else { return false };
    let folder = path.parent().unwrap_or(Utf8Path::new(""));
    let is_manifest = |path: &&Utf8PathBuf| path.file_name().is_some_and(|name| manifests.contains(&name));
    manifests.iter().any(|name| in_scope(&folder.join(name)))
        || changed.iter().filter(is_manifest).any(|path| path.starts_with(folder) && in_scope(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_belongs_to_the_scope_of_its_manifest() {
        let in_scope = |path: &Utf8Path| path.starts_with("crates/a");
        let changed: Vec<Utf8PathBuf> = ["Cargo.lock", "crates/a/Cargo.toml"].map(Utf8PathBuf::from).into();
        assert!(is_lock_of("Cargo.lock".into(), &changed, &in_scope), "a member's manifest was changed");
        assert!(!is_lock_of("Cargo.lock".into(), &changed[..1], &in_scope), "no manifest was changed");
        assert!(is_lock_of("crates/a/Cargo.lock".into(), &[], &in_scope));
        assert!(!is_lock_of("crates/b/go.sum".into(), &changed, &in_scope));
        assert!(!is_lock_of("crates/b/other.lock".into(), &changed, &in_scope));
    }
}
