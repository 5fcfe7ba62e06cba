//! The user's index and working tree in every state that git knows.

use planex_isolation::Absent;

use crate::round::{Wave, round};
use crate::user::User;

/// Changes of all kinds, in two tasks.
const ALL: [&str; 2] = [
    "echo more >> a.txt; rm b.txt; echo new > new.txt; mkdir -p n/m; echo deep > n/m/x.txt",
    "echo more >> d/c.txt; chmod -x run.sh; ln -s a.txt link; rm -r d/e",
];

#[test]
fn clean_tree() {
    let user = User::new("");
    let wave = Wave::start(&user);
    assert_eq!(wave.base.commit, user.sh("git rev-parse HEAD").trim(), "a clean tree is HEAD itself");
    round(&user, &ALL);
}

#[test]
fn dirty_staged_untracked_deleted_and_ignored_files() {
    let setup = "echo staged >> a.txt; git add a.txt; echo unstaged >> a.txt; echo x >> d/c.txt; rm lines.txt
        echo untracked > u.txt; mkdir v; echo deep > v/w.txt; echo log > x.log; mkdir build; echo o > build/out.o
        echo added > added.txt; git add added.txt";
    round(&User::new(setup), &ALL);
}

#[test]
fn tasks_change_what_the_user_has_not_committed() {
    let setup = "echo staged >> a.txt; git add a.txt; echo unstaged >> a.txt; echo untracked > u.txt; echo u > u2.txt
        echo added > added.txt; git add added.txt; echo add2 > add2.txt; git add add2.txt";
    round(&User::new(setup), &["echo more >> a.txt; rm u.txt; echo z >> added.txt", "echo z >> u2.txt; rm add2.txt"]);
}

#[test]
fn staged_delete_with_the_file_on_disk_staged_rename_and_intent_to_add() {
    let setup = "git rm -q --cached b.txt; git mv d/c.txt d/moved.txt; echo i > intent.txt; git add -N intent.txt
        git rm -q --cached d/e/f.txt; rm d/e/f.txt";
    round(&User::new(setup), &["echo z >> b.txt; echo z >> intent.txt", "echo z >> d/moved.txt; echo n > d/c.txt"]);
}

#[test]
fn skip_worktree_and_assume_unchanged_with_edits() {
    let setup = "git update-index --skip-worktree a.txt; git update-index --assume-unchanged b.txt lines.txt
        echo mine >> a.txt; echo mine >> b.txt; rm lines.txt";
    round(&User::new(setup), &["echo z >> a.txt; echo z >> d/c.txt", "echo z >> b.txt; echo back > lines.txt"]);
}

#[test]
fn sparse_checkout() {
    let setup = "mkdir -p out/side in; echo o > out/side/o.txt; echo i > in/i.txt; git add -A; git commit -qm more
        git sparse-checkout set in d; echo dirty >> in/i.txt";
    let user = User::new(setup);
    assert!(!user.top.join("out").exists());
    round(&user, &["echo z >> in/i.txt; echo n > in/n.txt", "echo z >> d/c.txt; mkdir -p out; echo x > out/new.txt"]);
}

#[test]
fn sparse_checkout_a_task_writes_where_the_user_has_nothing() {
    let setup = "mkdir out in; echo o > out/o.txt; echo i > in/i.txt; git add -A; git commit -qm more
        git sparse-checkout set in";
    let user = User::new(setup);
    let mut wave = Wave::start(&user);
    wave.task("mkdir -p out; echo z > out/o.txt");
    let integration = wave.merge();
    assert_eq!(user.sh("cat out/o.txt"), "z\n");
    wave.undo(&integration);
    assert_eq!(user.sh("ls"), "a.txt\nb.txt\nin\nlines.txt\nrun.sh\n", "no file, no folder");
    wave.before.assert_same(&user.state(), &[], "after the undo");
}

#[test]
fn sparse_index() {
    let setup = "mkdir -p out/side in; echo o > out/side/o.txt; echo i > in/i.txt; git add -A; git commit -qm more
        git config advice.sparseIndexExpanded false; git sparse-checkout set --sparse-index in";
    round(&User::new(setup), &["echo z >> in/i.txt", "echo z >> a.txt; echo n > in/n.txt"]);
}

#[test]
fn split_index_untracked_cache_and_index_v4() {
    for setup in [
        "git config core.splitIndex true; git update-index --split-index; echo x >> a.txt; git add a.txt",
        "git config core.untrackedCache true; git update-index --force-untracked-cache; git status >/dev/null",
        "git update-index --index-version 4; echo x >> a.txt; git add a.txt",
        "git config feature.manyFiles true; git config index.skipHash true; echo x >> a.txt; git add a.txt",
    ] {
        round(&User::new(setup), &ALL);
    }
}

#[test]
fn fsmonitor_is_not_asked() {
    let user = User::new("git config core.fsmonitor \"$PWD/../monitor\"");
    user.sh(
        "printf '#!/bin/sh\\n[ -z $GIT_LITERAL_PATHSPECS ] || touch ../asked\\n' > ../monitor; chmod +x ../monitor",
    );
    round(&user, &ALL);
    assert!(!user.env.exists("asked"));
}

#[test]
fn index_lock_of_another_git() {
    round(&User::new("echo x >> a.txt; touch .git/index.lock .git/HEAD.lock"), &ALL);
}

#[test]
fn a_missing_index() {
    round(&User::new("rm .git/index"), &ALL);
}

#[test]
fn merge_and_rebase_conflicts_in_progress() {
    let branches = "git switch -qc side; sed -i s/^one/side/ a.txt; git rm -q b.txt; git commit -qam side
        git switch -q main; sed -i s/^one/main/ a.txt; echo x >> b.txt; git commit -qam main;";
    for start in ["git merge side", "git rebase side", "git cherry-pick side"] {
        let user = User::new(&format!("{branches} ! {start} >/dev/null 2>&1"));
        let wave = Wave::start(&user);
        assert_eq!(wave.base.unmerged, ["a.txt", "b.txt"], "{start}");
        round(&user, &["echo z >> a.txt; echo n > n.txt", "echo z >> d/c.txt"]);
    }
}

#[test]
fn detached_head_stash_bisect_and_reflogs() {
    let setup = "git commit -q --allow-empty -m second; echo s >> a.txt; git stash -q; git checkout -q --detach
        git config core.logAllRefUpdates always; git bisect start -q; echo x > u.txt";
    round(&User::new(setup), &ALL);
}

#[test]
fn no_repository_no_commit_and_a_bare_repository() {
    assert_eq!(User::made("true").open().unwrap_err(), Absent::NoRepository);
    assert_eq!(User::made("git init -q; echo x > x; git add x").open().unwrap_err(), Absent::NoCommit);
    assert_eq!(User::made("git init -q --bare").open().unwrap_err(), Absent::NoRepository);
    let inside = User::new("mkdir build; echo x > build/x").project("build");
    assert_eq!(inside.open().unwrap_err(), Absent::NotInTree, "an ignored folder");
}

#[test]
fn linked_worktrees() {
    let linked = "git worktree add -q ../linked -b other; git config extensions.worktreeConfig true
        git -C ../linked config --worktree core.autocrlf false; cd ../linked; echo x >> a.txt; echo u > u.txt";
    round(&User::new(linked).at("linked"), &ALL);
    let bare = "git clone -q --bare . ../x.git; git -C ../x.git worktree add -q ../linked main
        cd ../linked; echo x >> a.txt; git add a.txt";
    round(&User::new(bare).at("linked"), &ALL);
}

#[test]
fn shallow_sha256_and_borrowing_repositories() {
    let shallow = "git commit -q --allow-empty -m two; git clone -q --depth 1 file://$PWD ../linked";
    round(&User::new(shallow).at("linked"), &ALL);
    let shared = "git clone -q --shared . ../linked; echo x >> ../linked/a.txt";
    round(&User::new(shared).at("linked"), &ALL);
    let sha256 = "git init -q --object-format=sha256 -b main .; for f in a b lines; do echo $f > $f.txt; done
        mkdir -p d/e; echo c > d/c.txt; echo f > d/e/f.txt; echo r > run.sh; chmod +x run.sh; git add -A
        git commit -qm start; echo x >> a.txt";
    round(&User::made(sha256), &ALL);
}

#[test]
fn a_folder_of_a_monorepo() {
    let setup = "mkdir -p packages/web/src; echo w > packages/web/src/w.ts; git add -A; git commit -qm web
        echo x >> a.txt; echo u > packages/web/u.txt";
    let user = User::new(setup).project("packages/web");
    assert_eq!(user.repo().prefix(), "packages/web");
    round(&user, &["echo z >> packages/web/src/w.ts; echo n > packages/web/n.ts", "echo z >> a.txt; rm b.txt"]);
}
