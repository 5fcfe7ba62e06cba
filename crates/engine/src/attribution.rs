//! Whose change is it, where tasks share one tree (spec 70, *Isolation none*).
//!
//! A change inside exactly one running task's scope is that task's; any other is unattributed and fails nobody. Changes
//! are looked for whenever a task starts or ends, so that each falls into the shortest time in which it can have
//! happened.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use planex_sys::observe::{self, ObserveOptions, TreeState};

/// Whether a path, relative to the project's root, lies in a task's scope.
pub type InScope = Box<dyn Fn(&Utf8Path) -> bool + Send + Sync>;

/// Looks which paths changed since it was last asked, relative to the project's root.
pub type Look = Box<dyn FnMut() -> Vec<Utf8PathBuf> + Send>;

/// What one task changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Inside its scope and no other running task's, sorted.
    pub attributed: Vec<Utf8PathBuf>,
    /// Changed while it ran, by nobody who can be named, sorted. Each path is told once, to the task that ends first.
    pub unattributed: Vec<Utf8PathBuf>,
}

/// Keeps the books of one shared tree.
pub struct Attribution {
    books: Mutex<Books>,
}

struct Books {
    look: Look,
    running: BTreeMap<String, Task>,
    unattributed: BTreeSet<Utf8PathBuf>,
}

struct Task {
    scope: InScope,
    mine: BTreeSet<Utf8PathBuf>,
}

impl std::fmt::Debug for Attribution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attribution").finish_non_exhaustive()
    }
}

impl Attribution {
    /// Begins: what `look` finds now was there before. It is called once at each start and end of a task.
    #[must_use]
    pub fn new(mut look: Look) -> Self {
        let _before = look();
        Self { books: Mutex::new(Books { look, running: BTreeMap::new(), unattributed: BTreeSet::new() }) }
    }

    /// Keeps the books of the tree at `root`, looking with `options`.
    #[must_use]
    pub fn of_tree(root: Utf8PathBuf, options: ObserveOptions) -> Self {
        let mut last = TreeState::default();
        Self::new(Box::new(move || {
            let now = TreeState::scan(&root, &options);
            let changed = observe::diff(&last, &now).into_iter().map(|change| change.path).collect();
            last = now;
            changed
        }))
    }

    /// A task starts. What changed before it is none of its.
    pub fn start(&self, task: &str, scope: InScope) {
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        books.absorb();
        books.running.insert(task.to_owned(), Task { scope, mine: BTreeSet::new() });
    }

    /// A task ended: what it changed.
    pub fn finish(&self, task: &str) -> Changes {
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        books.absorb();
        let mine = books.running.remove(task).map(|task| task.mine).unwrap_or_default();
        let unattributed = std::mem::take(&mut books.unattributed);
        Changes { attributed: mine.into_iter().collect(), unattributed: unattributed.into_iter().collect() }
    }
}

impl Books {
    fn absorb(&mut self) {
        for path in (self.look)() {
            let mut owners = self.running.values_mut().filter(|task| (task.scope)(&path));
            match (owners.next(), owners.next()) {
                (Some(owner), None) => {
                    owner.mine.insert(path);
                }
                (None, _) | (Some(_), Some(_)) => {
                    self.unattributed.insert(path);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn below(prefix: &'static str) -> InScope {
        Box::new(move |path| path.starts_with(prefix))
    }

    fn tree() -> (Arc<Mutex<Vec<Utf8PathBuf>>>, Attribution) {
        let changed = Arc::new(Mutex::new(vec![Utf8PathBuf::from("a/before")]));
        let seen = Arc::clone(&changed);
        (changed, Attribution::new(Box::new(move || std::mem::take(&mut *seen.lock().unwrap()))))
    }

    #[test]
    fn a_change_is_the_one_running_tasks_that_may_make_it() {
        let (changed, books) = tree();
        books.start("T1", below("a"));
        books.start("T2", below("b"));
        changed.lock().unwrap().extend(["a/x", "b/y", "c/z"].map(Utf8PathBuf::from));
        let first = books.finish("T1");
        assert_eq!(first.attributed, ["a/x"]);
        assert_eq!(first.unattributed, ["c/z"]);
        // T1 is over: what changes in its scope now is nobody's.
        changed.lock().unwrap().extend(["a/late", "b/y"].map(Utf8PathBuf::from));
        let second = books.finish("T2");
        assert_eq!(second.attributed, ["b/y"]);
        assert_eq!(second.unattributed, ["a/late"]);
    }

    #[test]
    fn what_two_may_change_is_nobodys() {
        let (changed, books) = tree();
        books.start("T1", below("a"));
        books.start("T2", below("a"));
        changed.lock().unwrap().push("a/x".into());
        assert_eq!(books.finish("T1"), Changes { attributed: vec![], unattributed: vec!["a/x".into()] });
        assert_eq!(books.finish("T2"), Changes::default());
        assert_eq!(books.finish("unknown"), Changes::default());
    }
}
