//! Real git, real repositories, an environment that is hostile where it can be.

use std::os::unix::ffi::OsStringExt as _;

use super::*;
use crate::program;

struct Repo {
    _temp: tempfile::TempDir,
    root: Utf8PathBuf,
    env: Environment,
}

impl Repo {
    /// An empty folder with a home of its own.
    fn bare_folder() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(temp.path().canonicalize().unwrap()).unwrap();
        let path = std::env::var("PATH").unwrap();
        let env = [("PATH", path.as_str()), ("HOME", root.as_str()), ("GIT_CONFIG_NOSYSTEM", "1")];
        Self { env: env.into_iter().collect(), root, _temp: temp }
    }

    fn new() -> Self {
        let repo = Self::bare_folder();
        repo.git(&["init", "-q", "--initial-branch=main", "w"]);
        Self { root: repo.root.join("w"), ..repo }
    }

    fn git(&self, args: &[&str]) {
        let identity = ["-c", "user.name=T", "-c", "user.email=t@example.com"];
        let caller = Caller::new(&self.env, &self.root);
        caller.bytes(&[&identity[..], args].concat(), Vec::new()).unwrap();
    }

    fn open(&self) -> Git {
        Git::discover(&self.root, &self.env).unwrap().unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write_atomic(&path, text.as_bytes()).unwrap();
    }
}

#[test]
fn versions_of_all_vendors_are_read() {
    let version = |text| parse_version(text).map(|version| version.to_string());
    assert_eq!(version("git version 2.47.3\n").as_deref(), Some("2.47.3"));
    assert_eq!(version("git version 2.39.3 (Apple Git-146)").as_deref(), Some("2.39.3"));
    assert_eq!(version("git version 2.45.1.windows.1").as_deref(), Some("2.45.1"));
    assert_eq!(version("git version 2.50-rc1").as_deref(), Some("2.50.0"));
    assert_eq!(version("git version x"), None);
    assert!(super::version(&Repo::bare_folder().env).unwrap() > Version { major: 1, minor: 0, patch: 0 });
}

#[test]
fn no_git_no_repository_and_a_bare_one_are_told_apart() {
    let plain = Repo::bare_folder();
    assert!(Git::discover(&plain.root, &plain.env).unwrap().is_none());
    let mut without = plain.env.clone();
    without.set("PATH", "/planex/none");
    assert!(matches!(Git::discover(&plain.root, &without), Err(GitError::NotInstalled)));
    let nowhere = plain.root.join("none");
    assert!(matches!(Git::discover(&nowhere, &plain.env), Err(GitError::Run(_))));
    plain.git(&["init", "-q", "--bare", "b.git"]);
    assert!(Git::discover(&plain.root.join("b.git"), &plain.env).unwrap().is_none());
    let repo = Repo::new();
    assert!(Git::discover(&repo.root.join(".git"), &repo.env).unwrap().is_none());
    repo.write(".git/HEAD", "nonsense");
    assert!(Git::discover(&repo.root, &repo.env).unwrap().is_none(), "git itself does not call this a repository");
}

#[test]
fn the_top_is_found_from_below_whatever_the_environment_says() {
    let repo = Repo::new();
    let other = Repo::new();
    repo.write("日本 語/x", "");
    let mut env = repo.env.clone();
    env.set("GIT_DIR", other.root.join(".git").as_str());
    env.set("GIT_WORK_TREE", "/");
    env.set("GIT_INDEX_FILE", "/planex/none");
    env.set("GIT_TRACE", "2");
    env.set("GIT_CONFIG_COUNT", "1");
    env.set("GIT_CONFIG_KEY_0", "core.worktree");
    env.set("GIT_CONFIG_VALUE_0", "/");
    let git = Git::discover(&repo.root.join("日本 語"), &env).unwrap().unwrap();
    assert_eq!(git.toplevel, repo.root);
    assert_eq!(git.git_dir, repo.root.join(".git"));
    assert_eq!(git.common_dir, git.git_dir);
    assert_eq!(git.untracked().unwrap(), ["日本 語/x".as_bytes()]);
}

#[test]
fn head_is_unborn_on_a_branch_or_detached() {
    let repo = Repo::new();
    let git = repo.open();
    assert_eq!(git.head().unwrap(), Head::Unborn { branch: Some("main".to_owned()) });
    repo.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    let Head::Commit { oid, branch } = git.head().unwrap() else { panic!("no commit") };
    assert_eq!((oid.len(), branch.as_deref()), (40, Some("main")));
    repo.git(&["checkout", "-q", "-b", "feature/ü"]);
    assert_eq!(git.head().unwrap(), Head::Commit { oid: oid.clone(), branch: Some("feature/ü".to_owned()) });
    repo.git(&["checkout", "-q", "--detach"]);
    assert_eq!(git.head().unwrap(), Head::Commit { oid, branch: None });
}

#[test]
fn lists_are_bytes_and_pathspecs_literal() {
    let repo = Repo::new();
    for path in ["a b", "line\nfeed", "*.rs", "sub/x.rs", "build/keep", ".gitignore"] {
        repo.write(path, if path == ".gitignore" { "build/\n*.log\n" } else { "" });
    }
    std::fs::write(repo.root.as_std_path().join(std::ffi::OsString::from_vec(b"\xff".to_vec())), "").unwrap();
    repo.git(&["add", "-f", "."]);
    repo.write("new", "");
    repo.write("x.log", "");
    let git = repo.open();
    let tracked = git.ls_files().unwrap();
    assert_eq!(tracked.len(), 7);
    for path in [&b"line\nfeed"[..], b"\xff", b"*.rs"] {
        assert!(tracked.iter().any(|tracked| tracked == path), "{path:?}");
    }
    assert_eq!(git.untracked().unwrap(), [b"new"]);
    assert_eq!(git.tracked_ignored().unwrap(), [b"build/keep"]);
    assert!(git.is_tracked("sub".into()).unwrap() && git.is_tracked("*.rs".into()).unwrap());
    assert!(!git.is_tracked("*".into()).unwrap() && !git.is_tracked("none".into()).unwrap());
    assert_eq!(lossy_path(b"a\xff".to_vec()), "a\u{fffd}");
}

#[test]
fn status_tells_index_and_tree() {
    let repo = Repo::new();
    repo.write("kept", "1");
    repo.write("moved", "some text that is long enough to be seen as a rename\n");
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "x"]);
    repo.git(&["mv", "moved", "new name"]);
    repo.write("kept", "2");
    repo.write("dir/untracked", "");
    let git = repo.open();
    let seen: Vec<String> = git
        .status_porcelain()
        .unwrap()
        .into_iter()
        .map(|entry| format!("{}{} {}", entry.index as char, entry.tree as char, lossy_path(entry.path)))
        .collect();
    assert_eq!(seen, [" M kept", "D  moved", "A  new name", "?? dir/untracked"]);
}

#[test]
fn a_pattern_is_excluded_once_in_what_all_working_trees_share() {
    let repo = Repo::new();
    repo.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    repo.git(&["worktree", "add", "-q", "../second"]);
    let second = Git::discover(&repo.root.with_file_name("second"), &repo.env).unwrap().unwrap();
    assert_ne!(second.git_dir, second.common_dir);
    let path = repo.root.join(".git/info/exclude");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "# no end").unwrap();
    assert!(second.exclude("/.workflow/").unwrap());
    assert!(!repo.open().exclude("/.workflow/").unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), "# no end\n/.workflow/\n");
    repo.write(".workflow/x", "");
    assert!(repo.open().untracked().unwrap().is_empty());
    fs::remove_dir_all(&repo.root.join(".git/info")).unwrap();
    assert!(repo.open().exclude("/.workflow/").unwrap(), "a repository without the folder gets it");
    for bad in ["", " ", "a\nb"] {
        assert!(repo.open().exclude(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn nothing_of_the_users_runs() {
    let repo = Repo::new();
    repo.write("f", "1");
    let monitor = repo.root.join("monitor");
    std::fs::write(&monitor, format!("#!/bin/sh\ntouch {}/ran\n", repo.root)).unwrap();
    std::fs::set_permissions(&monitor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    repo.git(&["config", "core.fsmonitor", monitor.as_str()]);
    repo.git(&["config", "core.hooksPath", repo.root.as_str()]);
    let git = repo.open();
    assert_eq!(git.status_porcelain().unwrap().len(), 2);
    assert!(!fs::exists(&repo.root.join("ran")));
    let error = git.run(&["no-such-command"], Vec::new()).unwrap_err();
    assert!(error.to_string().starts_with(&format!("git no-such-command in {} failed: ", repo.root)), "{error}");
    assert!(program::find("git", repo.env.get("PATH"), &repo.root).is_some());
}
