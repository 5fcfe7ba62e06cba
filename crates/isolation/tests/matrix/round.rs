//! One wave: snapshot, tasks in trees of their own, merge into the user's tree, undo.

use camino::Utf8Path;
use planex_isolation::{Collected, Conflict, Merger, Repo, RepoPath, Snapshot, TaskTree, TreeSpec, With, Written};

use crate::state::{Files, assert_files, walk};
use crate::user::{State, User};

pub(crate) const SESSION: &str = "wpp-1";
pub(crate) const WAVE: &str = "w1";

/// A wave that has begun.
pub(crate) struct Wave<'u> {
    pub(crate) user: &'u User,
    pub(crate) repo: Repo,
    pub(crate) base: Snapshot,
    /// Everything of the user's before.
    pub(crate) before: State,
    pub(crate) tasks: Vec<(TaskTree, Collected)>,
}

impl<'u> Wave<'u> {
    /// Takes the snapshot, by which nothing of the user's changes.
    #[track_caller]
    pub(crate) fn start(user: &'u User) -> Self {
        Self::start_with(user, user.repo())
    }

    #[track_caller]
    pub(crate) fn start_with(user: &'u User, repo: Repo) -> Self {
        let before = user.state();
        let base = repo.snapshot(SESSION, WAVE, &user.planex("scratch")).unwrap();
        before.assert_same(&user.state(), &[], "after the snapshot");
        Self { user, repo, base, before, tasks: Vec::new() }
    }

    pub(crate) fn spec(&self, name: &str) -> TreeSpec {
        TreeSpec {
            dir: self.user.planex("trees").join(name),
            own: self.user.planex("own").join(name),
            base: self.base.commit.clone(),
            placed: Vec::new(),
            submodules: Vec::new(),
        }
    }

    pub(crate) fn tree(&self, name: &str) -> TaskTree {
        TaskTree::create(&self.repo, self.spec(name)).unwrap()
    }

    /// Shell lines in a tree, as an agent would run them.
    pub(crate) fn run(&self, tree: &TaskTree, script: &str) {
        let env = &self.user.env;
        let run = env.command("bash").args(["-ec", script]).current_dir(tree.dir());
        let _printed =
            tree.environment().iter().fold(run, |run, (name, value)| run.env(name, value)).output().success();
    }

    pub(crate) fn collect(&mut self, tree: TaskTree) -> &Collected {
        let name = tree.dir().file_name().unwrap().to_owned();
        let collected = tree.collect(&self.repo, SESSION, &name, None).unwrap();
        self.tasks.push((tree, collected));
        &self.tasks.last().unwrap().1
    }

    /// A task: its tree, what it does, what it made.
    pub(crate) fn task(&mut self, script: &str) -> &Collected {
        let tree = self.tree(&format!("T{}", self.tasks.len() + 1));
        self.run(&tree, script);
        self.collect(tree)
    }

    pub(crate) fn merger(&self) -> Merger<'_> {
        Merger::start(&self.repo, &self.base.commit, true, &self.user.planex("scratch")).unwrap()
    }

    /// Merges all tasks; the conflict of each, where it has one.
    pub(crate) fn add_all(&self, merger: &mut Merger<'_>) -> Vec<Option<Conflict>> {
        self.tasks.iter().map(|(_, task)| merger.add(&task.commit, "task").unwrap().err()).collect()
    }

    /// Merges all tasks, which must work, and writes.
    #[track_caller]
    pub(crate) fn merge(&self) -> String {
        let mut merger = self.merger();
        let conflicts: Vec<_> = self.add_all(&mut merger).into_iter().flatten().collect();
        assert!(conflicts.is_empty(), "{conflicts:?}");
        assert_done(&merger.write(&self.user.planex("swap")).unwrap());
        merger.integration().to_owned()
    }

    #[track_caller]
    pub(crate) fn undo(&self, integration: &str) {
        let (scratch, swap) = (self.user.planex("scratch"), self.user.planex("swap"));
        assert_done(&self.repo.write(integration, &self.base.commit, &scratch, &swap).unwrap());
    }

    /// What the user's tree has to become: these shell lines run in a copy of it.
    pub(crate) fn model(&self, script: &str) -> Files {
        let copy = self.user.planex("model");
        self.user.sh(&format!("rm -rf {copy}; mkdir -p {copy}; cp -a . {copy}; rm -rf {copy}/.git"));
        self.user.sh_in(&copy, script);
        let mut files = walk(copy.as_std_path(), &|_| false);
        for (path, seen) in &mut files {
            let unchanged = self
                .before
                .files
                .get(path)
                .filter(|old| (old.kind, old.mode, &old.content) == (seen.kind, seen.mode, &seen.content));
            seen.time = unchanged.and_then(|old| old.time);
        }
        files
    }

    /// The whole way: two tasks' changes are in the user's tree exactly as the model has it, then gone again, and
    /// nothing else of the user's ever changes.
    #[track_caller]
    pub(crate) fn finish(&self, model: &str) {
        let user = self.user;
        self.before.assert_same(&user.state(), &[], "after the tasks");
        let want = self.model(model);
        let integration = self.merge();
        let now = user.state();
        assert_files(&want, &now.files, "the tree after the merge");
        self.before.assert_git_same(&now, "after the merge");
        // In a sub-folder or a linked worktree the session's name says so: `refs/planex/{session}+{folder}+{worktree}`.
        let mut found = user.hidden();
        for name in &mut found {
            let rest = name.strip_prefix(&format!("refs/planex/{SESSION}")).map(str::to_owned).unwrap_or_default();
            let (place, below) = rest.split_once('/').unwrap_or_default();
            assert!(place.is_empty() || place.starts_with('+'), "{name}");
            *name = below.to_owned();
        }
        let of_tasks = (1..=self.tasks.len()).map(|n| format!("t/T{n}"));
        let refs: Vec<String> = of_tasks.chain([WAVE.to_owned()]).collect();
        assert_eq!(found, refs);
        self.undo(&integration);
        let written: Vec<Vec<u8>> = self
            .repo
            .changes(&self.base.commit, &integration, &user.planex("scratch"))
            .unwrap()
            .into_iter()
            .map(|change| change.path.0)
            .collect();
        self.before.assert_same(&user.state(), &written, "after the undo");
        self.repo.release_all(SESSION).unwrap();
        assert!(user.hidden().is_empty());
        assert_eq!(user.sh("git -c core.fsmonitor=false fsck --no-dangling --no-progress 2>&1"), "");
    }

    /// The one task (or the last) conflicts, with these paths, and nothing of the user's changes by it.
    #[track_caller]
    pub(crate) fn conflicts(&self, with: With, paths: &[&str]) {
        let before = self.user.state();
        let mut merger = self.merger();
        let last = self.add_all(&mut merger).pop().flatten().expect("no conflict");
        let paths: Vec<RepoPath> = paths.iter().map(|path| RepoPath::from(*path)).collect();
        assert_eq!(last, Conflict { paths, with });
        before.assert_same(&self.user.state(), &[], "after the conflict");
    }

    /// The tree of a task holds what git would list of the user's, but for `missing`.
    #[track_caller]
    pub(crate) fn assert_tree_like_user(&self, dir: &Utf8Path, missing: &[&str]) {
        let listed = self.user.sh("git ls-files -z -c -o --exclude-standard | sort -zu | tr '\\0' '\\1'");
        let mine: Files = (self.before.files.iter())
            .filter(|(path, _)| {
                let text = String::from_utf8_lossy(path);
                listed.split('\u{1}').any(|line| line == text) && !missing.contains(&&*text)
            })
            .filter(|(_, seen)| seen.kind != 'd')
            .map(|(path, seen)| (path.clone(), plain(seen)))
            .collect();
        let theirs = walk(dir.as_std_path(), &|path| path == b".git");
        let theirs: Files =
            theirs.into_iter().filter(|(_, s)| s.kind != 'd').map(|(path, seen)| (path, plain(&seen))).collect();
        assert_files(&mine, &theirs, "the task's tree");
    }
}

/// As git keeps it: executable or not, no time.
fn plain(seen: &crate::state::Seen) -> crate::state::Seen {
    let mode = if seen.kind == 'f' { 0o644 | seen.mode & 0o100 } else { 0 };
    crate::state::Seen { mode, time: None, ..seen.clone() }
}

#[track_caller]
pub(crate) fn assert_done(written: &Written) {
    let Written::Done { kept, .. } = written else { panic!("not written: {written:?}") };
    assert!(kept.is_empty(), "{kept:?}");
}

/// A wave whose tasks touch different files: what they do in their trees is what happens to the user's.
#[track_caller]
pub(crate) fn round(user: &User, tasks: &[&str]) {
    let mut wave = Wave::start(user);
    for script in tasks {
        wave.task(script);
    }
    wave.assert_tree_like_user(wave.tree("other").dir(), &[]);
    wave.finish(&tasks.join("\n"));
}
