//! The user changes something at any instant of the write: it is never lost, and the rest is whole.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::super::{Kept, Swap, SwapError};
use super::model::{Change, Ground, Lacks, Node, Someone, Tree, after, at, file, set, tree};
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

pub(super) fn is_below(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.first() == Some(&b'/'))
}

fn is_kept(kept: &[Kept], path: &[u8], node: &Node) -> bool {
    kept.iter().filter(|kept| kept.path == path).any(|kept| match node {
        Node::File(_, bytes) => std::fs::read(&kept.at).is_ok_and(|read| &read == bytes),
        Node::Link(target) => std::fs::read_link(&kept.at).is_ok_and(|read| read.as_os_str().as_bytes() == target),
        Node::Folder(_) => false,
    })
}

/// What is to hold after an edit of the user's at the path, however the write ended.
pub(super) struct Claim<'a> {
    pub(super) before: &'a Tree,
    pub(super) changes: &'a [Change],
    pub(super) path: &'a [u8],
    pub(super) edit: Edit,
    pub(super) lacks: Lacks,
}

impl Claim<'_> {
    /// All but the path is as before or as after, or kept where the edit is in its way; what the user did is there.
    pub(super) fn check(&self, ground: &Ground, kept: &[Kept], done: bool) {
        let (path, edit) = (self.path, self.edit);
        let name = path.escape_ascii();
        let (mut now, mut whole) =
            (ground.read(), if done { after(self.before, self.changes) } else { self.before.clone() });
        match edit {
            Edit::InPlace | Edit::Replace => {
                let mine = |node: &Node| matches!(node, Node::File(_, bytes) if bytes == Edit::TEXT);
                assert!(now.get(path).is_some_and(mine), "{edit:?} {name} is lost, {kept:?}");
            }
            // A half creation by links is done again; a folder may come back where a file was removed that had replaced it.
            Edit::Remove if self.lacks < Lacks::RenameNew => {
                assert!(matches!(now.get(path), None | Some(Node::Folder(_))), "{name} came back");
            }
            Edit::Remove | Edit::Chmod => {}
        }
        whole.remove(path);
        whole.retain(|other, node| {
            let in_the_way = is_below(other, path) || is_below(path, other);
            let missing = in_the_way && now.get(other) != Some(node);
            assert!(
                !missing || matches!(node, Node::Folder(_)) || is_kept(kept, other, node),
                "{} is lost by {edit:?} {name}, {kept:?}",
                other.escape_ascii()
            );
            !missing
        });
        now.retain(|other, node| other != path && (!is_below(path, other) || whole.get(other) == Some(node)));
        assert_eq!(now, whole, "{edit:?} {name}");
    }
}

/// One change of each kind, so that every instant of every one can be tried.
/// Blocked: the last change finds its path taken, so that all has to be taken back.
fn something(blocked: bool) -> (Tree, Vec<Change>) {
    let (mut before, mut changes) = everything();
    let parts = [&b"edit"[..], b"deep", b"to-file", b"fresh", b"link", b"to-folder"];
    let chosen = |path: &[u8]| parts.iter().any(|part| path == *part || is_below(path, part));
    before.retain(|path, _| chosen(path));
    changes.retain(|(path, _)| chosen(path));
    if blocked {
        before.extend(tree([("z/z/z/z/other", file(0o644, "x"))]));
        changes.push(set("z/z/z/z", file(0o644, "new")));
    }
    (before, changes)
}

/// Runs with one edit at one instant; `false` if the write has fewer instants.
fn run_edited(path: &[u8], edit: Edit, instant: usize, lacks: Lacks, blocked: bool) -> bool {
    let (before, changes) = something(blocked);
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
        Ok(done) if !blocked => (done.kept, true),
        Ok(_) => panic!("written over a folder"),
        Err(SwapError::Conflict { paths, kept }) => {
            assert!(!paths.is_empty());
            (kept, false)
        }
        Err(error) => panic!("{error}"),
    };
    let made = *made.lock().unwrap();
    if made == Some(true) {
        Claim { before: &before, changes: &changes, path, edit, lacks }.check(&ground, &kept, done);
    }
    made.is_some()
}

fn edit_everywhere(blocked: bool) {
    for (lacks, stride) in [(Lacks::Nothing, 5), (Lacks::Exchange, 9), (Lacks::RenameNew, 9)] {
        for path in [&b"edit"[..], b"deep/a/b/c", b"to-file/x/y", b"to-file", b"fresh/l", b"link", b"to-folder/x/y"] {
            for edit in Edit::ALL {
                let mut instant = 0;
                while run_edited(path, edit, instant, lacks, blocked) {
                    instant += stride;
                }
                assert!(instant > 40, "{instant} instants only");
            }
        }
    }
}

#[test]
fn an_edit_at_any_instant_is_never_lost() {
    edit_everywhere(false);
}

#[test]
fn an_edit_at_any_instant_of_a_roll_back_is_never_lost() {
    edit_everywhere(true);
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
