//! A user with a repository.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use planex_isolation::{Absent, Repo};
use planex_sys::env::Environment;
use planex_testkit::TestEnv;

use crate::state::{Files, assert_files, walk};

/// What every repository begins with.
const START: &str = "
git init -q -b main .
echo one > a.txt; echo two > b.txt
mkdir -p d/e; echo three > d/c.txt; echo four > d/e/f.txt
seq 1 40 > lines.txt
printf '#!/bin/sh\\necho hi\\n' > run.sh; chmod 755 run.sh
printf '*.log\\nbuild/\\nnode_modules/\\n' > .gitignore
git add -A; git commit -q -m start";

/// A user's repository and an environment around it.
pub(crate) struct User {
    pub(crate) env: TestEnv,
    /// The top of the working tree.
    pub(crate) top: Utf8PathBuf,
    /// The project's folder: the same, or below it.
    pub(crate) project: Utf8PathBuf,
}

/// Everything of the user's.
pub(crate) struct State {
    /// Working tree.
    pub(crate) files: Files,
    /// Git folder, but for objects and planex's refs.
    git: Files,
    /// What git says, by question.
    said: BTreeMap<&'static str, String>,
}

impl User {
    /// A repository with a commit, then these shell lines in it.
    pub(crate) fn new(setup: &str) -> Self {
        Self::made(&format!("{START}\n{setup}"))
    }

    /// A folder, then these shell lines in it.
    pub(crate) fn made(setup: &str) -> Self {
        let env = TestEnv::new();
        let top = env.dir().join("repo");
        std::fs::create_dir(&top).unwrap();
        let user = Self { env, project: top.clone(), top };
        user.sh(setup);
        user
    }

    /// The same with the working tree at another place below the environment's working folder.
    pub(crate) fn at(mut self, top: &str) -> Self {
        self.top = self.env.dir().join(top);
        self.project = self.top.clone();
        self
    }

    /// The same with a folder of the tree as the project.
    pub(crate) fn project(mut self, below: &str) -> Self {
        self.project = self.top.join(below);
        self
    }

    /// Shell lines in the working tree, which must succeed; what they print.
    pub(crate) fn sh(&self, lines: &str) -> String {
        self.sh_in(&self.top, lines)
    }

    /// The same in another folder.
    pub(crate) fn sh_in(&self, dir: &Utf8Path, lines: &str) -> String {
        let shell = self.env.command("bash").args(["-ec", lines]).current_dir(dir);
        shell.output().success().stdout
    }

    pub(crate) fn environment(&self) -> Environment {
        self.env.vars().iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    pub(crate) fn open(&self) -> Result<Repo, Absent> {
        Repo::open(&self.project, &self.environment()).unwrap()
    }

    pub(crate) fn repo(&self) -> Repo {
        self.open().unwrap()
    }

    /// A folder of planex's, on the same file system.
    pub(crate) fn planex(&self, name: &str) -> Utf8PathBuf {
        self.env.root().join("planex").join(name)
    }

    pub(crate) fn files(&self) -> Files {
        walk(self.top.as_std_path(), &|path| path == b".git")
    }

    pub(crate) fn state(&self) -> State {
        let git = |args: &[&str]| {
            let quiet = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
            let run = self.env.command("git").args(quiet).args(args.iter().copied());
            run.env("GIT_OPTIONAL_LOCKS", "0").current_dir(&self.top).output().success().stdout
        };
        let said = [
            ("status", git(&["status", "--porcelain=v2", "-z", "--branch", "-uall", "--ignored"])),
            ("index", git(&["ls-files", "--stage", "-v", "-z"])),
            ("stash", git(&["stash", "list"])),
            ("refs", without_hidden(&git(&["for-each-ref"]))),
        ];
        let folder = |what| Utf8PathBuf::from(git(&["rev-parse", "--path-format=absolute", what]).trim_end());
        let dirs = [folder("--git-dir"), folder("--git-common-dir")];
        let skip = |path: &[u8]| path.starts_with(b"objects") || path.starts_with(b"refs/planex");
        let mut all = Files::new();
        for dir in &dirs {
            let found = walk(dir.as_std_path(), &skip);
            all.extend(found.into_iter().map(|(path, seen)| ([dir.as_str().as_bytes(), b"/", &path].concat(), seen)));
        }
        for (path, seen) in &mut all {
            // Every read of a split index freshens its other half.
            if String::from_utf8_lossy(path).contains("/sharedindex.") {
                seen.time = None;
            }
            if path.ends_with(b"/index") {
                let inode = Utf8PathBuf::from(String::from_utf8_lossy(path).into_owned()).metadata().unwrap().ino();
                seen.content.extend(inode.to_le_bytes());
            }
        }
        State { files: self.files(), git: all, said: said.into() }
    }

    /// The hidden refs.
    pub(crate) fn hidden(&self) -> Vec<String> {
        self.sh("git for-each-ref --format='%(refname)' refs/planex").lines().map(str::to_owned).collect()
    }
}

impl State {
    /// Nothing of the user's git changed since, and what git says but for the state of files.
    #[track_caller]
    pub(crate) fn assert_git_same(&self, now: &Self, when: &str) {
        assert_files(&self.git, &now.git, &format!("the git folder {when}"));
        for what in ["index", "stash", "refs"] {
            assert_eq!(self.said[what], now.said[what], "{what} {when}");
        }
    }

    /// Nothing at all changed since; of the files at `written` the time does not count.
    #[track_caller]
    pub(crate) fn assert_same(&self, now: &Self, written: &[Vec<u8>], when: &str) {
        self.assert_git_same(now, when);
        let mut want = self.files.clone();
        for (_, seen) in want.iter_mut().filter(|(path, _)| written.contains(path)) {
            seen.time = None;
        }
        assert_files(&want, &now.files, &format!("the tree {when}"));
        assert_eq!(self.said["status"], now.said["status"], "status {when}");
    }
}

fn without_hidden(refs: &str) -> String {
    refs.lines().filter(|line| !line.contains("\trefs/planex/")).collect::<Vec<_>>().join("\n")
}
