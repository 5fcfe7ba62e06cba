//! A set of changes put into a tree, under `kill -9` in the middle, onwards and backwards.
//!
//! The parts that are killed are tests too: this program starts itself for one of them by name, with [`ROLE`] set;
//! without it they do nothing.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests stand outside of test functions here")]

use std::process::{Child, Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use planex_sys::swap::{Content, Found, Recovered, Step, Swap, forget, look};

const ROLE: &str = "PLANEX_TEST_FOLDER";

/// Files of the tree; the write replaces, removes or makes each.
const FILES: usize = 120;

fn name(number: usize) -> String {
    format!("{}/{number:03}", number % 7)
}

/// What the write does to a file, by its number: 0 replaces, 1 removes, 2 makes.
fn kind(number: usize) -> usize {
    number % 3
}

fn content(root: &Utf8Path, number: usize) -> Content {
    let Found::Is(content) = look(root, name(number).as_bytes()).unwrap() else { panic!("no file: {number}") };
    content
}

/// A tree and the staged files.
fn set_up() -> (tempfile::TempDir, Utf8PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(temp.path().to_owned()).unwrap();
    for number in 0..FILES {
        for (folder, without, text) in [("tree", 2, "old"), ("write/new", 1, "new")] {
            let path = root.join(folder).join(name(number));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            if kind(number) != without {
                std::fs::write(path, format!("{text} {number}")).unwrap();
            }
        }
    }
    (temp, root)
}

/// Whether the file is as after the write, or as before it.
fn is_written(root: &Utf8Path, number: usize) -> bool {
    let text = std::fs::read_to_string(root.join("tree").join(name(number))).unwrap_or_default();
    match kind(number) {
        1 => text.is_empty(),
        _ => text == format!("new {number}"),
    }
}

fn written(root: &Utf8Path) -> usize {
    (0..FILES).filter(|number| is_written(root, *number)).count()
}

fn part(name: &str, root: &Utf8Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact"]).env(ROLE, root).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
}

/// Kills the part as soon as the condition holds; `false` if it came to its end before.
fn kill_when(mut child: Child, condition: impl Fn() -> bool) -> bool {
    let mut over = false;
    while !condition() && !over {
        over = child.try_wait().unwrap().is_some();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    !over
}

fn role() -> Option<Utf8PathBuf> {
    std::env::var(ROLE).ok().map(Utf8PathBuf::from)
}

#[test]
fn part_write() {
    let Some(root) = role() else { return };
    let (top, dir) = (root.join("tree"), root.join("write"));
    let steps = (0..FILES).map(|number| Step {
        path: name(number).into_bytes(),
        old: content(&top, number),
        new: content(&dir.join("new"), number),
    });
    Swap::prepare(&top, &dir, steps.collect()).unwrap().run().unwrap();
}

#[test]
fn part_recover() {
    let Some(root) = role() else { return };
    Swap::recover(&root.join("tree"), &root.join("write")).unwrap();
}

#[test]
fn a_killed_write_is_finished() {
    let mut in_the_middle = 0;
    for turn in 0..30 {
        let (_temp, root) = set_up();
        let limit = turn * FILES / 30;
        kill_when(part("part_write", &root), || written(&root) > limit);
        in_the_middle += usize::from((1..FILES).contains(&written(&root)));
        let recovered = Swap::recover(&root.join("tree"), &root.join("write")).unwrap();
        let expected = if recovered == Recovered::Nothing { 0 } else { FILES };
        assert_eq!(written(&root), expected, "{recovered:?}");
        forget(&root.join("write")).unwrap();
    }
    assert!(in_the_middle > 3, "the write was really killed at work: {in_the_middle}");
}

#[test]
fn a_killed_write_is_taken_back_around_an_edit_though_that_is_killed_as_well() {
    let mut back_and_killed = 0;
    for turn in 0..30 {
        let (_temp, root) = set_up();
        kill_when(part("part_write", &root), || written(&root) > FILES / 2);
        // The last of all to be written, so that everything else has to be taken back.
        let last = (0..FILES).rev().find(|number| kind(*number) != 1 && !is_written(&root, *number));
        let Some(last) = last else { continue };
        let edited = root.join("tree").join(name(last));
        std::fs::write(&edited, "mine").unwrap();
        let (start, limit) = (written(&root), turn * FILES / 60);
        back_and_killed += usize::from(kill_when(part("part_recover", &root), || written(&root) + limit < start));
        let recovered = Swap::recover(&root.join("tree"), &root.join("write")).unwrap();
        let Recovered::RolledBack { paths, kept } = recovered else { panic!("{recovered:?}") };
        assert_eq!((paths, kept), (vec![name(last).into_bytes()], Vec::new()));
        assert_eq!(std::fs::read_to_string(&edited).unwrap(), "mine");
        assert_eq!(written(&root), 0);
        forget(&root.join("write")).unwrap();
    }
    assert!(back_and_killed > 3, "the way back was really killed at work: {back_and_killed}");
}
