//! What the user does while tasks run, and tasks that touch the same files.

use planex_isolation::With;

use crate::round::{Wave, assert_done};
use crate::user::User;

/// A wave of one task, then what the user does before the merge, which conflicts.
#[track_caller]
fn user_conflict(setup: &str, task: &str, meanwhile: &str, paths: &[&str]) {
    let user = User::new(setup);
    let mut wave = Wave::start(&user);
    wave.task(task);
    user.sh(meanwhile);
    wave.conflicts(With::User, paths);
}

#[test]
fn the_user_changed_the_same_file() {
    let task = "echo z >> a.txt; echo z >> b.txt; echo n > n.txt";
    user_conflict("", task, "echo mine >> a.txt", &["a.txt"]);
    user_conflict("", task, "rm b.txt", &["b.txt"]);
    user_conflict("", task, "chmod +x b.txt", &["b.txt"]);
    user_conflict("", task, "echo mine > n.txt", &["n.txt"]);
    user_conflict("", task, "ln -s a.txt n.txt", &["n.txt"]);
    user_conflict("", task, "mkfifo n.txt", &["n.txt"]);
    user_conflict("", task, "rm a.txt; mkdir a.txt; echo x > a.txt/x", &["a.txt"]);
    user_conflict("", "rm a.txt", "echo mine >> a.txt", &["a.txt"]);
    user_conflict("", "mkdir n; echo n > n/n.txt", "echo mine > n", &["n/n.txt"]);
    user_conflict("", "mkdir n; echo n > n/n.txt", "ln -s d n", &["n/n.txt"]);
    user_conflict("echo u > u.txt", "echo z >> u.txt", "echo mine >> u.txt", &["u.txt"]);
    user_conflict("", "echo z >> a.txt", "echo mine >> a.txt; git commit -qam mine", &["a.txt"]);
}

#[test]
fn what_git_ignores_or_planex_left_out_is_in_the_way() {
    user_conflict("echo mine > x.log", "echo '!x.log' >> .gitignore; echo z > x.log", "true", &["x.log"]);
    user_conflict("truncate -s 60M big", "echo z > big", "true", &["big"]);
    user_conflict("mkfifo pipe", "echo z > pipe", "true", &["pipe"]);
    // A link that no rule ignores as a folder.
    user_conflict(
        "ln -s d build",
        "echo '!build' >> .gitignore; rm build; mkdir build; echo z > build/z",
        "rm build; ln -s ../elsewhere build",
        &["build"],
    );
}

#[test]
fn a_file_in_place_of_a_folder_that_holds_ignored_files() {
    let user = User::new("echo mine > d/x.log");
    let mut wave = Wave::start(&user);
    wave.task("rm -r d; echo file > d");
    let mut merger = wave.merger();
    let conflicts = wave.add_all(&mut merger);
    let written = if conflicts[0].is_none() { Some(merger.write(&user.planex("swap")).unwrap()) } else { None };
    assert!(matches!(&written, None | Some(planex_isolation::Written::Conflict(_))), "{written:?}");
    wave.before.assert_same(&user.state(), &[], "after the conflict");
}

#[test]
fn what_the_user_does_elsewhere_does_not_matter() {
    for meanwhile in [
        "echo mine >> b.txt; rm lines.txt; echo u > u.txt",
        "echo mine >> b.txt; git add b.txt",
        "echo mine >> b.txt; git commit -qam mine",
        "git switch -qc other",
        "git checkout -q --detach",
        "touch a.txt d/c.txt; git status >/dev/null",
        "git tag v1; git branch x; git stash list; git config user.name Other",
        "git commit -q --allow-empty -m x; git reset -q --hard HEAD~",
        "git gc -q --prune=now",
        "git reflog expire --all --expire=now; git repack -qad; git prune --expire=now",
    ] {
        let user = User::new("echo dirty >> d/e/f.txt; echo u > v.txt");
        let mut wave = Wave::start(&user);
        wave.task("echo z >> a.txt; echo n > n.txt");
        wave.task("echo z >> d/c.txt; rm v.txt");
        user.sh(meanwhile);
        wave.before = user.state();
        wave.finish("echo z >> a.txt; echo n > n.txt; echo z >> d/c.txt; rm v.txt");
    }
}

#[test]
fn the_users_gc_while_a_task_works() {
    let user = User::new("echo dirty >> a.txt; echo u > u.txt");
    let mut wave = Wave::start(&user);
    let tree = wave.tree("T1");
    let gc = "git reflog expire --all --expire=now; git gc -q --prune=now";
    user.sh(gc);
    wave.run(&tree, "git log >/dev/null; git show HEAD:u.txt >/dev/null; echo z >> u.txt");
    wave.collect(tree);
    user.sh(gc);
    wave.before = user.state();
    wave.finish("echo z >> u.txt");
}

#[test]
fn the_user_edits_after_the_merge_then_undoes() {
    let user = User::new("");
    let mut wave = Wave::start(&user);
    wave.task("echo z >> a.txt; echo z >> b.txt");
    let integration = wave.merge();
    user.sh("echo mine >> a.txt");
    let now = user.state();
    let (scratch, swap) = (user.planex("scratch"), user.planex("swap"));
    let undone = wave.repo.write(&integration, &wave.base.commit, &scratch, &swap).unwrap();
    let planex_isolation::Written::Conflict(paths) = undone else { panic!("overwritten") };
    assert_eq!(paths, [planex_isolation::RepoPath::from("a.txt")]);
    now.assert_same(&user.state(), &[], "after the refused undo");
}

/// Two tasks, merged: the tree is as these shell lines make it.
#[track_caller]
fn merged(first: &str, second: &str, model: &str) {
    let user = User::new("");
    let mut wave = Wave::start(&user);
    wave.task(first);
    wave.task(second);
    wave.finish(model);
}

#[test]
fn two_tasks_that_go_together() {
    merged(
        "sed -i s/^5$/five/ lines.txt",
        "sed -i s/^30$/thirty/ lines.txt",
        "sed -i 's/^5$/five/; s/^30$/thirty/' lines.txt",
    );
    merged(
        "mv lines.txt moved.txt",
        "sed -i s/^5$/five/ lines.txt",
        "sed -i s/^5$/five/ lines.txt; mv lines.txt moved.txt",
    );
    merged(
        "sed -i s/^5$/five/ lines.txt",
        "mkdir x; mv lines.txt x/",
        "sed -i s/^5$/five/ lines.txt; mkdir x; mv lines.txt x/",
    );
    merged("echo same > n.txt", "echo same > n.txt", "echo same > n.txt");
    merged("rm a.txt", "rm a.txt", "rm a.txt");
    merged("chmod +x lines.txt", "sed -i s/^5$/five/ lines.txt", "chmod +x lines.txt; sed -i s/^5$/five/ lines.txt");
    merged("mv d moved", "echo n > d/n.txt", "mkdir moved; mv d/* moved; echo n > d/n.txt");
    merged("echo z >> a.txt", "true", "echo z >> a.txt");
}

/// Two tasks of which the second conflicts with the first in these paths.
#[track_caller]
fn clash(first: &str, second: &str, paths: &[&str]) {
    let user =
        User::new("echo t > 'a~b'; echo t > x~; mkdir 'd~1'; echo t > 'd~1/f'; git add -A; git commit -qm tilde");
    let mut wave = Wave::start(&user);
    wave.task(first);
    wave.task(second);
    wave.conflicts(With::Task, paths);
    // The first alone is merged all the same.
    let mut merger = wave.merger();
    assert_eq!(wave.add_all(&mut merger).iter().map(Option::is_some).collect::<Vec<_>>(), [false, true]);
    assert_done(&merger.write(&user.planex("swap")).unwrap());
    let integration = merger.integration().to_owned();
    wave.undo(&integration);
    assert_eq!(user.sh("git status --porcelain"), "");
}

#[test]
fn two_tasks_that_do_not() {
    clash("sed -i s/^5$/five/ lines.txt", "sed -i s/^5$/V/ lines.txt", &["lines.txt"]);
    clash("rm lines.txt", "sed -i s/^5$/V/ lines.txt", &["lines.txt"]);
    clash("sed -i s/^5$/V/ lines.txt", "rm lines.txt", &["lines.txt"]);
    clash("echo one > n.txt", "echo other > n.txt", &["n.txt"]);
    clash("echo file > n", "mkdir n; echo x > n/x", &["n"]);
    clash("mkdir n; echo x > n/x", "echo file > n", &["n"]);
    clash("ln -s a.txt n", "ln -s b.txt n", &["n"]);
    clash("mv lines.txt one.txt", "mv lines.txt other.txt", &["lines.txt", "one.txt", "other.txt"]);
    clash("echo 1 > '日本 語'", "echo 2 > '日本 語'", &["日本 語"]);
    // Git's invented names hold a tilde, and so do these.
    clash("echo 1 > 'a~b'", "echo 2 > 'a~b'", &["a~b"]);
    clash("echo 1 > x~", "rm x~", &["x~"]);
    clash("echo 1 > 'd~1/f'", "echo 2 > 'd~1/f'; echo 3 > a.txt", &["d~1/f"]);
}
