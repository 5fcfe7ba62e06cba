//! What is refused, by planex or by the file system.

use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{PermissionsExt, symlink};

use super::super::disk::Op;
use super::super::{Content, Recovered, Step, Swap, SwapError, forget};
use super::model::{Ground, Lacks, Someone, Tree, after, at, file, gone, killed_at, read, set, tree};
use super::steps::everything;

fn names(paths: &[Vec<u8>]) -> Vec<String> {
    paths.iter().map(|path| path.escape_ascii().to_string()).collect()
}

#[test]
fn a_call_that_is_refused_takes_all_back() {
    let (before, changes) = everything();
    let mut refused = 0;
    for number in 0.. {
        let ground = Ground::new(&before);
        let steps = ground.stage(&changes);
        let watch =
            Someone::new(
                move |call| {
                    if call.number == number && !call.over { Err(ErrorKind::StorageFull.into()) } else { Ok(()) }
                },
            );
        match Swap::prepare_watched(&ground.top, &ground.dir, steps, watch).and_then(Swap::run) {
            Ok(done) => {
                assert_eq!(done.kept, []);
                break;
            }
            // Before anything was written, or in the middle: all is as before.
            Err(SwapError::Path(cause) | SwapError::Failed { cause, .. }) => {
                assert_eq!(cause.kind(), ErrorKind::StorageFull);
                assert_eq!(ground.read(), before);
                refused += 1;
            }
            // While it noted that it is over: recovery finishes it.
            Err(SwapError::Unfinished { .. }) => {
                let Recovered::Finished(_) = Swap::recover(&ground.top, &ground.dir).unwrap() else { panic!() };
                assert_eq!(ground.read(), after(&before, &changes));
            }
            Err(error) => panic!("{error}"),
        }
        forget(&ground.dir).unwrap();
    }
    assert!(refused > 60, "{refused}");
}

#[test]
fn a_file_system_that_refuses_the_way_back_too_is_asked_again_later() {
    let (before, changes) = everything();
    let ground = Ground::new(&before);
    let steps = ground.stage(&changes);
    let watch = Someone::new(|call| {
        let refused = matches!(call.op, Op::Exchange | Op::RenameNew) && !call.over;
        if refused { Err(ErrorKind::PermissionDenied.into()) } else { Ok(()) }
    });
    let error = Swap::prepare_watched(&ground.top, &ground.dir, steps, watch).and_then(Swap::run).unwrap_err();
    assert!(matches!(error, SwapError::Unfinished { .. }), "{error}");
    assert_ne!(ground.read(), before);
    assert!(matches!(forget(&ground.dir), Err(SwapError::Busy { .. })), "the old files are in there");
    let Recovered::RolledBack { paths, kept } = Swap::recover(&ground.top, &ground.dir).unwrap() else { panic!() };
    assert_eq!((paths, kept), (Vec::new(), Vec::new()));
    assert_eq!(ground.read(), before);
}

#[test]
fn modes_of_folders_come_back() {
    let mut before = tree([("d/e/f", file(0o644, "x")), ("other", file(0o644, "x"))]);
    before.insert(b"d".to_vec(), super::model::Node::Folder(0o2770));
    before.insert(b"d/e".to_vec(), super::model::Node::Folder(0o700));
    let changes = [gone("d/e/f"), set("other", file(0o644, "new"))];
    for number in 0.. {
        let ground = Ground::new(&before);
        let steps = ground.stage(&changes);
        let (watch, seen) = killed_at(number, Lacks::Nothing);
        let killed = Swap::prepare_watched(&ground.top, &ground.dir, steps, watch).and_then(Swap::run).is_err();
        // The last path changes, so that all before it has to be taken back.
        std::fs::write(ground.top.join("other"), "mine").unwrap();
        match Swap::recover(&ground.top, &ground.dir).unwrap() {
            Recovered::Finished(_) => assert!(!ground.read().contains_key(&b"d"[..])),
            _ => assert_eq!(without(&ground.read(), b"other"), without(&before, b"other")),
        }
        if !killed || *seen.lock().unwrap() <= number {
            break;
        }
    }
}

fn without(tree: &Tree, path: &[u8]) -> Tree {
    tree.iter().filter(|(other, _)| *other != path).map(|(path, node)| (path.clone(), node.clone())).collect()
}

#[test]
fn a_program_that_goes_on_writing_to_a_replaced_file_loses_nothing() {
    let before = tree([("dir/a b;.txt", file(0o644, "old")), ("gone", file(0o644, "old"))]);
    let ground = Ground::new(&before);
    let steps = ground.stage(&[set("dir/a b;.txt", file(0o644, "new")), gone("gone")]);
    let open = |path: &str| std::fs::OpenOptions::new().append(true).open(ground.top.join(path)).unwrap();
    let mut editors = [open("dir/a b;.txt"), open("gone")];
    let watch = Someone::new(move |call| {
        // The last flushes come after every exchange.
        if call.op == Op::Flush && call.number > 10 {
            for editor in &mut editors {
                editor.write_all(b"+")?;
            }
        }
        Ok(())
    });
    let done = Swap::prepare_watched(&ground.top, &ground.dir, steps, watch).and_then(Swap::run).unwrap();
    let kept: Vec<(&[u8], Vec<u8>)> =
        done.kept.iter().map(|kept| (&*kept.path, std::fs::read(&kept.at).unwrap())).collect();
    assert!(
        matches!(&kept[..], [(b"dir/a b;.txt", a), (b"gone", b)] if a.starts_with(b"old+") && b.starts_with(b"old+")),
        "{kept:?}"
    );
    assert_eq!(done.kept[0].at.file_name(), Some("1-a_b_.txt"));
    forget(&ground.dir).unwrap();
    assert!(done.kept.iter().all(|kept| kept.at.exists()), "what is kept outlives the write");
    assert_eq!(std::fs::read_dir(&ground.dir).unwrap().count(), 1);
    assert_eq!(Swap::recover(&ground.top, &ground.dir).unwrap(), Recovered::Nothing);
}

#[test]
fn nothing_is_written_through_a_link_planted_on_the_way() {
    let (before, changes) = everything();
    for instant in (0..).step_by(3) {
        let ground = Ground::new(&before);
        let outside = ground.top.with_file_name("outside");
        std::fs::create_dir_all(outside.join("a/b")).unwrap();
        std::fs::write(outside.join("a/b/c"), "x").unwrap();
        let untouched = read(outside.as_std_path());
        let top = ground.top.clone();
        let steps = ground.stage(&changes);
        let planted = std::sync::Arc::new(std::sync::Mutex::new(false));
        let note = std::sync::Arc::clone(&planted);
        let watch = Someone::new(move |call| {
            if call.number * 2 + usize::from(call.over) == instant {
                *note.lock().unwrap() = true;
                for folder in ["deep", "fresh", "to-folder"] {
                    // A folder that is not there yet, or a file, is simply in the way.
                    let _: io::Result<()> = std::fs::rename(top.join(folder), top.join(format!("{folder}-moved")));
                    symlink("../outside", top.join(folder))?;
                }
            }
            Ok(())
        });
        // However it ends: it may well be over, or the folder moved with its files.
        let _: Result<_, SwapError> = Swap::prepare_watched(&ground.top, &ground.dir, steps, watch).and_then(Swap::run);
        assert_eq!(read(outside.as_std_path()), untouched, "at instant {instant}");
        if !*planted.lock().unwrap() {
            break;
        }
    }
}

#[test]
fn a_fifo_or_folder_in_the_place_of_a_file_is_a_conflict() {
    let before = tree([("a", file(0o644, "x")), ("b", file(0o644, "x")), ("c", file(0o644, "x"))]);
    let ground = Ground::new(&before);
    let steps = ground.stage(&[
        set("a", file(0o644, "new")),
        gone("b"),
        set("c", file(0o644, "new")),
        set("d", file(0o644, "new")),
    ]);
    for name in ["a", "b", "c"] {
        std::fs::remove_file(ground.top.join(name)).unwrap();
    }
    let mode = rustix::fs::Mode::RUSR;
    for name in ["a", "d"] {
        let path = at(ground.top.as_std_path(), name.as_bytes());
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    }
    std::fs::create_dir(ground.top.join("b")).unwrap();
    symlink("a", ground.top.join("c")).unwrap();
    let error = Swap::prepare(&ground.top, &ground.dir, steps).unwrap_err();
    let SwapError::Conflict { paths, .. } = error else { panic!("{error}") };
    assert_eq!(names(&paths), ["b", "a", "c", "d"]);
}

#[test]
fn a_folder_that_holds_something_else_is_not_replaced_by_a_file() {
    let before = tree([("d/mine", file(0o644, "x")), ("d/x", file(0o644, "x")), ("z", file(0o644, "x"))]);
    let ground = Ground::new(&before);
    let steps = ground.stage(&[gone("d/x"), set("d", file(0o644, "new")), set("z", file(0o644, "new"))]);
    let error = Swap::prepare(&ground.top, &ground.dir, steps).unwrap().run().unwrap_err();
    let SwapError::Conflict { paths, kept } = error else { panic!("{error}") };
    assert_eq!((names(&paths), kept), (vec!["d".to_owned()], Vec::new()));
    assert_eq!(ground.read(), before);
    let again = Swap::recover(&ground.top, &ground.dir).unwrap();
    assert_eq!(again, Recovered::RolledBack { paths: Vec::new(), kept: Vec::new() });
}

#[test]
fn steps_that_cannot_be_are_refused() {
    let ground = Ground::new(&tree([("a", file(0o644, "x"))]));
    let some = Content::File { executable: false, sha256: [0; 32] };
    let step = |path: &str| Step { path: path.into(), old: Content::Absent, new: some };
    for path in ["", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "a\0b"] {
        let error = Swap::prepare(&ground.top, &ground.dir, vec![step(path)]).unwrap_err();
        assert!(matches!(error, SwapError::Invalid { .. }), "{path}: {error}");
    }
    for paths in [["b", "b"], ["b/c", "b"]] {
        let error = Swap::prepare(&ground.top, &ground.dir, paths.map(step).to_vec()).unwrap_err();
        assert!(matches!(error, SwapError::Invalid { .. }), "{paths:?}: {error}");
    }
    let error = Swap::prepare(&ground.top, &ground.dir, vec![step("x\u{1b}\n")]).unwrap_err();
    assert!(matches!(error, SwapError::Staged { .. }), "{error}");
    assert!(!error.to_string().contains(['\u{1b}', '\n']), "{error}");
    let same = Step { old: some, ..step("a") };
    Swap::prepare(&ground.top, &ground.dir, vec![same]).unwrap().run().unwrap();
}

#[test]
fn a_damaged_journal_is_left_alone() {
    let ground = Ground::new(&tree([("a", file(0o644, "x"))]));
    let path = ground.dir.join("journal");
    std::fs::write(&path, "{").unwrap();
    let error = Swap::recover(&ground.top, &ground.dir).unwrap_err();
    assert!(error.to_string().starts_with(&format!("the journal {path} cannot be read: ")), "{error}");
    assert!(matches!(forget(&ground.dir), Err(SwapError::Journal { .. })));
    assert!(path.exists());
}

#[test]
fn another_file_system_is_refused_before_anything_is_written() {
    let ground = Ground::new(&tree([("a", file(0o644, "x"))]));
    let elsewhere = tempfile::tempdir().unwrap();
    let here = std::os::unix::fs::MetadataExt::dev(&ground.top.metadata().unwrap());
    if std::os::unix::fs::MetadataExt::dev(&elsewhere.path().metadata().unwrap()) == here {
        return;
    }
    let dir = camino::Utf8Path::from_path(elsewhere.path()).unwrap();
    let steps = ground.stage(&[gone("a")]);
    let error = Swap::prepare(&ground.top, dir, steps).unwrap_err();
    assert!(error.to_string().contains("it is on another file system than"), "{error}");
}

#[test]
fn a_private_file_stays_private_though_the_mode_changes_in_the_meantime() {
    let before = tree([("secret", file(0o644, "old"))]);
    let ground = Ground::new(&before);
    let steps = ground.stage(&[set("secret", file(0o644, "new"))]);
    let path = ground.top.join("secret");
    let secret = path.clone();
    let watch = Someone::new(move |call| {
        if call.op == Op::Exchange && !call.over {
            std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o600))?;
        }
        Ok(())
    });
    Swap::prepare_watched(&ground.top, &ground.dir, steps, watch).and_then(Swap::run).unwrap();
    assert_eq!(ground.read(), tree([("secret", file(0o600, "new"))]));
}

#[test]
fn an_empty_folder_makes_room_for_a_file_and_comes_back() {
    let mut before = tree([("other", file(0o644, "x"))]);
    before.insert(b"d".to_vec(), super::model::Node::Folder(0o750));
    let changes = [set("d", file(0o644, "new")), set("other", file(0o644, "new"))];
    let ground = Ground::new(&before);
    let steps = ground.stage(&changes);
    let swap = Swap::prepare(&ground.top, &ground.dir, steps).unwrap();
    std::fs::write(ground.top.join("other"), "mine").unwrap();
    assert!(matches!(swap.run(), Err(SwapError::Conflict { .. })));
    assert_eq!(without(&ground.read(), b"other"), without(&before, b"other"));

    let ground = Ground::new(&before);
    let steps = ground.stage(&changes);
    Swap::prepare(&ground.top, &ground.dir, steps).unwrap().run().unwrap();
    assert_eq!(ground.read(), after(&before, &changes));
}

#[test]
fn what_an_earlier_write_kept_stays_apart() {
    let before = tree([("a", file(0o644, "old"))]);
    let ground = Ground::new(&before);
    for turn in ["1", "2"] {
        let mut editor = std::fs::OpenOptions::new().append(true).open(ground.top.join("a")).unwrap();
        let steps = ground.stage(&[set("a", file(0o644, turn))]);
        let watch = Someone::new(move |call| {
            // The flushes after the exchange.
            if call.op == Op::Flush && call.number > 6 { editor.write_all(b"+") } else { Ok(()) }
        });
        let done = Swap::prepare_watched(&ground.top, &ground.dir, steps, watch).and_then(Swap::run).unwrap();
        assert_eq!(done.kept.len(), 1, "{turn}: {done:?}");
        assert!(std::fs::read_to_string(&done.kept[0].at).unwrap().ends_with('+'));
        forget(&ground.dir).unwrap();
    }
    assert_eq!(std::fs::read_dir(&ground.dir).unwrap().count(), 2);
}
