//! Where tasks work: each in a tree of its own, or all in the user's (spec 70, *Isolation*).
//!
//! [`Ground::choose`] decides once per walk. [`Trees`] makes and collects the trees of one session; [`WaveWatch`] is the
//! bridge from runs to them; [`book`] remembers on disk how far each wave has come, so that a kill at any instant is
//! finished or taken back; [`undo`] and [`patch`] work from what the book says; [`Upkeep`] takes away what sessions leave.

pub mod book;
mod observed;
pub mod patch;
mod trees;
pub mod undo;
mod upkeep;
mod watch;

use std::sync::Arc;

use camino::Utf8Path;

use planex_core::settings::{Into as Destination, IsolationPolicy};
use planex_isolation::{Absent, Repo};

pub use observed::Observed;
pub(crate) use observed::{claims_success, contradiction, not_run_of, some};
pub use trees::Trees;
pub use upkeep::{Leftover, Upkeep};
pub(crate) use watch::{Wave, WaveWatch};

use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::store::SessionPaths;

/// Where tasks work.
#[derive(Debug, Clone)]
pub enum Ground {
    /// In the user's tree, all together; why.
    Shared(String),
    /// Each in a tree of its own.
    Trees(Arc<Trees>),
}

impl Ground {
    /// Decides for a session whose results go into `into`.
    ///
    /// # Errors
    /// Git refuses; or a tree per task was asked for, or results elsewhere than in the tree, and neither can be.
    pub fn choose(engine: &Engine, session: &str, paths: &SessionPaths, into: Destination) -> Result<Self> {
        match usable(engine, &into)? {
            Ok(repo) => Ok(Self::Trees(Arc::new(Trees::new(engine, repo, session, paths, into)?))),
            Err(why) => Ok(Self::Shared(why)),
        }
    }

    /// Refuses what a new session could not do in the end, before anything runs.
    ///
    /// # Errors
    /// As [`Self::choose`]; the branch that results are to go into is there already, or cannot be made.
    pub fn check(engine: &Engine) -> Result<()> {
        let into = &engine.settings.isolation.into;
        match (usable(engine, into)?, into) {
            (Ok(repo), Destination::Branch(name)) => Ok(repo.check_branch(name, None)?),
            _ => Ok(()),
        }
    }

    /// The trees, where tasks have some.
    #[must_use]
    pub fn trees(&self) -> Option<&Arc<Trees>> {
        match self {
            Self::Shared(_) => None,
            Self::Trees(trees) => Some(trees),
        }
    }
}

/// The repository for trees, or why tasks work without.
fn usable(engine: &Engine, into: &Destination) -> Result<std::result::Result<Repo, String>> {
    let policy = engine.settings.isolation.policy;
    let why = match policy {
        IsolationPolicy::None => "isolation none was asked for".to_owned(),
        IsolationPolicy::Auto | IsolationPolicy::Worktree => match repository(engine)? {
            Ok(repo) => return Ok(Ok(repo)),
            Err(absent) => absent.to_string(),
        },
    };
    if policy == IsolationPolicy::Worktree {
        return Err(EngineError::usage(format!("tasks cannot have trees of their own: {why}"))
            .hint("without --isolation worktree they work in this folder, all together"));
    }
    if *into != Destination::Tree {
        return Err(EngineError::usage(format!("results cannot go into {into}: {why}"))
            .hint("leave --into away; results then go into this folder"));
    }
    Ok(Err(why))
}

/// The repository that tasks' trees are made from, with what the user protects left out; or why there is none.
///
/// # Errors
/// Git refuses, or a glob of `protect` is none.
pub fn repository(engine: &Engine) -> Result<std::result::Result<Repo, Absent>> {
    let repo = match Repo::open(&engine.project.root, &engine.env)? {
        Ok(repo) => repo,
        Err(absent) => return Ok(Err(absent)),
    };
    let globs = engine.settings.protect.join(";");
    if globs.trim().is_empty() {
        return Ok(Ok(repo));
    }
    let (scope, faults) = planex_core::glob::Scope::parse(&globs, |_| true);
    let faults: Vec<String> = faults.iter().filter(|fault| fault.is_error()).map(|f| format!("protect: {f}")).collect();
    if !faults.is_empty() {
        return Err(EngineError::input("the configuration cannot be used", faults));
    }
    Ok(Ok(repo.protecting(Arc::new(move |path| scope.matches(path.as_str())))))
}

/// Lets the folder of a write into the user's tree go, once its result is noted.
///
/// # Errors
/// The write is not over, or the disk fails.
pub(crate) fn forget(swap: &Utf8Path) -> Result<()> {
    Ok(planex_sys::swap::forget(swap).map_err(planex_isolation::IsolationError::from)?)
}

impl From<planex_isolation::IsolationError> for EngineError {
    fn from(error: planex_isolation::IsolationError) -> Self {
        match error {
            planex_isolation::IsolationError::Branch { .. } => {
                Self::usage(error.to_string()).hint("name another one with --into branch=NAME, or take that one away")
            }
            error => Self::internal(error).hint("tasks can work in this folder, all together, with --isolation none"),
        }
    }
}
