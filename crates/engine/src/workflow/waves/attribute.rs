//! Whose change is it: the bridge from runs to [`Attribution`](crate::attribution::Attribution) (spec 70, *Isolation none*).

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use planex_core::glob::Scope;
use planex_core::job::JobOutcome;
use planex_sys::observe::ObserveOptions;
use tokio_util::sync::CancellationToken;

use crate::attribution::Attribution;
use crate::error::Result;
use crate::run::{JobRequest, Place, Watch};

/// Observes one wave: the files each of its tasks changed go into the task's outcome before that is flushed.
pub(super) struct Attribute {
    scopes: HashMap<String, Arc<Scope>>,
    books: Attribution,
    unattributed: Mutex<BTreeSet<Utf8PathBuf>>,
}

impl Attribute {
    /// Begins to observe the tree at `root`; `scopes` by task id.
    pub(super) fn start(root: &Utf8Path, scopes: HashMap<String, Scope>) -> Self {
        Self {
            scopes: scopes.into_iter().map(|(id, scope)| (id, Arc::new(scope))).collect(),
            books: Attribution::of_tree(root.to_owned(), ObserveOptions::default()),
            unattributed: Mutex::new(BTreeSet::new()),
        }
    }

    /// Paths that changed by nobody who can be named, sorted.
    pub(super) fn unattributed(&self) -> Vec<Utf8PathBuf> {
        self.unattributed.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

impl Watch for Attribute {
    fn started(&self, job: &JobRequest) -> Result<Place> {
        let Some(item) = &job.item else { return Ok(Place::default()) };
        let scope = self.scopes.get(item).map_or_else(|| Arc::new(Scope::Everything), Arc::clone);
        self.books.start(item, Box::new(move |path| scope.matches(path.as_str())));
        Ok(Place::default())
    }

    fn ended(
        &self,
        job: &JobRequest,
        _run_dir: &Utf8Path,
        outcome: &mut JobOutcome,
        _end: &CancellationToken,
    ) -> Result<()> {
        let Some(item) = &job.item else { return Ok(()) };
        let changes = self.books.finish(item);
        outcome.files_changed = changes.attributed;
        self.unattributed.lock().unwrap_or_else(PoisonError::into_inner).extend(changes.unattributed);
        Ok(())
    }
}
