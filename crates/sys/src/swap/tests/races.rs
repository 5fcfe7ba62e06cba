//! The user changes something at any instant of the write: it is never lost, and the rest is whole.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::super::{Kept, Swap, SwapError};
use super::model::{Change, Ground, Lacks, Node, Someone, Tree, after, at};
use super::steps::everything;

/// What the user does to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edit {
    /// Writes into the file that is there.
    InPlace,
    /// Puts another file there, as editors do.
    Replace,
    Remove,
    /// Turns the execution bit of the owner.
    Chmod,
}

impl Edit {
    pub(super) const ALL: [Self; 4] = [Self::InPlace, Self::Replace, Self::Remove, Self::Chmod];

    pub(super) const TEXT: &[u8] = b"the user's own";

    /// Does it; `false` if the path is such that it cannot be done.
    pub(super) fn make(self, top: &Path, path: &[u8]) -> bool {
        let target = at(top, path);
        let is_file = target.symlink_metadata().is_ok_and(|meta| meta.is_file());
        match self {
            Self::InPlace => is_file && std::fs::write(&target, Self::TEXT).is_ok(),
            Self::Replace => {
                let other = top.parent().unwrap().join("other");
                std::fs::write(&other, Self::TEXT).unwrap();
                std::fs::rename(&other, &target).is_ok()
            }
            Self::Remove => std::fs::remove_file(&target).is_ok(),
            Self::Chmod => {
                let Ok(meta) = target.symlink_metadata() else { return false };
                let mode = PermissionsExt::from_mode((meta.permissions().mode() & 0o777) ^ 0o100);
                is_file && std::fs::set_permissions(&target, mode).is_ok()
            }
        }
    }
}

/// The tree without the path and the folders that lead to it.
fn without(tree: &Tree, path: &[u8]) -> Tree {
    let leads = |folder: &[u8]| folder == path || path.starts_with(&[folder, b"/"].concat());
    let mut tree = tree.clone();
    tree.retain(|path, _| !leads(path));
    tree
}

/// All but the path is as before or as after, and what the user did there is there, or kept.
pub(super) fn check(
    ground: &Ground,
    before: &Tree,
    changes: &[Change],
    path: &[u8],
    edit: Edit,
    kept: &[Kept],
    done: bool,
) {
    let now = ground.read();
    let whole = if done { after(before, changes) } else { before.clone() };
    assert_eq!(without(&now, path), without(&whole, path), "{edit:?} {}", path.escape_ascii());
    match edit {
        Edit::InPlace | Edit::Replace => {
            let there = matches!(now.get(path), Some(Node::File(_, bytes)) if bytes == Edit::TEXT);
            let aside = kept.iter().any(|kept| kept.path == path && std::fs::read(&kept.at).unwrap() == Edit::TEXT);
            assert!(there || aside, "{edit:?} {} is lost, {kept:?}", path.escape_ascii());
        }
        Edit::Remove => assert_eq!(now.get(path), None, "{} came back", path.escape_ascii()),
        Edit::Chmod => assert!(now.contains_key(path) || !kept.is_empty() || done),
    }
}

/// Runs with one edit at one instant; `false` if the write has fewer instants.
fn run_edited(path: &[u8], edit: Edit, instant: usize, lacks: Lacks) -> bool {
    let (before, changes) = everything();
    let ground = Ground::new(&before);
    let (top, name) = (ground.top.clone(), path.to_vec());
    let made = std::sync::Arc::new(std::sync::Mutex::new(None));
    let note = std::sync::Arc::clone(&made);
    let watch = Someone::new(move |call| {
        if call.number * 2 + usize::from(call.over) == instant {
            *note.lock().unwrap() = Some(edit.make(top.as_std_path(), &name));
        }
        lacks.answer(call)
    });
    let steps = ground.stage(&changes);
    let result = Swap::prepare_watched(&ground.top, &ground.dir, steps, watch).and_then(Swap::run);
    let (kept, done) = match result {
        Ok(done) => (done.kept, true),
        Err(SwapError::Conflict { paths, kept }) => {
            assert!(!paths.is_empty());
            (kept, false)
        }
        Err(error) => panic!("{error}"),
    };
    let made = *made.lock().unwrap();
    if made == Some(true) {
        check(&ground, &before, &changes, path, edit, &kept, done);
    }
    made.is_some()
}

#[test]
fn an_edit_at_any_instant_is_never_lost() {
    for (lacks, stride) in [(Lacks::Nothing, 5), (Lacks::Exchange, 11), (Lacks::RenameNew, 11)] {
        for path in [&b"edit"[..], b"deep/a/b/c", b"to-file/x/y", b"fresh/l", b"link", b"to-folder/x/y"] {
            for edit in Edit::ALL {
                let mut instant = 0;
                while run_edited(path, edit, instant, lacks) {
                    instant += stride;
                }
            }
        }
    }
}

#[test]
fn a_path_that_differs_already_is_told_before_anything_is_written() {
    let (before, changes) = everything();
    for edit in Edit::ALL {
        let ground = Ground::new(&before);
        let steps = ground.stage(&changes);
        for path in [&b"edit"[..], b"drop"] {
            assert!(edit.make(ground.top.as_std_path(), path));
        }
        let edited = ground.read();
        let error = Swap::prepare(&ground.top, &ground.dir, steps).unwrap_err();
        let SwapError::Conflict { paths, .. } = &error else { panic!("{error}") };
        assert_eq!(paths, &[b"drop".to_vec(), b"edit".to_vec()]);
        let text = "these paths changed in the meantime and were left as they are: drop, edit";
        assert_eq!(error.to_string(), text);
        assert_eq!(ground.read(), edited);
    }
}
