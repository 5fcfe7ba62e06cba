//! Where planex works: the project's root, and `.workflow/` kept out of the user's commits (spec 00, *Project root*).

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use planex_sys::env::Environment;
use planex_sys::fs;
use planex_sys::process::{CommandSpec, run};

use crate::error::Result;

/// What is added to `info/exclude`.
const EXCLUDED: &str = "/.workflow/";

/// Longest time that one question to git may take.
const GIT_LIMIT: Duration = Duration::from_secs(20);

/// A project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its root, absolute. All stored paths are relative to it.
    pub root: Utf8PathBuf,
    /// The git top level that holds it, if there is one.
    pub git: Option<Utf8PathBuf>,
}

impl Project {
    /// Finds the project of `start` (absolute): the nearest folder upwards with `planex.toml` or `.workflow/`, else the
    /// git top level, else `start`.
    ///
    /// The search never goes above the git top level, and never takes `home` unless it starts there.
    #[must_use]
    pub fn find(start: &Utf8Path, home: Option<&Utf8Path>) -> Self {
        let allowed = |dir: &Utf8Path| dir == start || Some(dir) != home;
        let git = start.ancestors().find(|dir| fs::exists(&dir.join(".git"))).filter(|dir| allowed(dir));
        let mut marked = None;
        for dir in start.ancestors() {
            if allowed(dir) && (fs::is_file(&dir.join("planex.toml")) || fs::is_dir(&dir.join(".workflow"))) {
                marked = Some(dir);
                break;
            }
            // Nothing above the top level belongs to the project; nothing above the home folder is the user's.
            if Some(dir) == git || Some(dir) == home {
                break;
            }
        }
        let root = marked.or(git).unwrap_or(start).to_owned();
        Self { root, git: git.map(Utf8Path::to_owned) }
    }

    /// `.workflow/`.
    #[must_use]
    pub fn workflow(&self) -> Utf8PathBuf {
        self.root.join(".workflow")
    }

    /// Adds `.workflow/` to git's `info/exclude`, unless the user tracks it or excludes it already. Not a git repository:
    /// nothing happens. Gives whether a line was added.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn exclude_workflow(&self, env: &Environment) -> Result<bool> {
        let Some(common) = self.git.as_deref().and_then(common_dir) else { return Ok(false) };
        let Some(top) = &self.git else { return Ok(false) };
        if self.is_tracked(env) {
            return Ok(false);
        }
        let below = self.root.strip_prefix(top).map(Utf8Path::as_str).unwrap_or_default();
        let line = if below.is_empty() { EXCLUDED.to_owned() } else { format!("/{}{EXCLUDED}", escape(below)) };
        let file = common.join("info").join("exclude");
        let bytes = fs::read_if_exists(&file)?.unwrap_or_default();
        let known = |l: &[u8]| {
            let l = l.trim_ascii();
            l == line.as_bytes() || [&b".workflow"[..], b".workflow/", b"/.workflow", b"**/.workflow/"].contains(&l)
        };
        if bytes.split(|b| *b == b'\n').any(known) {
            return Ok(false);
        }
        fs::create_dir_all(&common.join("info"))?;
        fs::append_line(&file, &line)?;
        Ok(true)
    }

    /// Whether the user keeps something of `.workflow/` in git. Without git on the PATH: no.
    fn is_tracked(&self, env: &Environment) -> bool {
        if !fs::is_dir(&self.workflow()) {
            return false;
        }
        let argv = ["git", "-c", "core.hooksPath=/dev/null", "ls-files", "-z", "--", ".workflow"];
        let mut vars = env.vars().clone();
        vars.insert("GIT_OPTIONAL_LOCKS".to_owned(), "0".to_owned());
        // Set inside hooks, they would point at another repository.
        ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"].iter().for_each(|name| drop(vars.remove(*name)));
        let spec = CommandSpec {
            argv: argv.map(str::to_owned).to_vec(),
            env: vars,
            cwd: self.root.clone(),
            stdin: Vec::new(),
            limit: GIT_LIMIT,
            output_cap: 4096,
        };
        run(&spec).is_ok_and(|output| output.success() && !output.stdout.is_empty())
    }
}

/// Characters that mean something in a pattern.
fn escape(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '\\' | '!' | '#' | ' ') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The folder that all worktrees of a repository share, where `info/exclude` is.
fn common_dir(top: &Utf8Path) -> Option<Utf8PathBuf> {
    let dot_git = top.join(".git");
    if fs::is_dir(&dot_git) {
        return Some(dot_git);
    }
    // A worktree or submodule: a file that says where.
    let text = fs::read_to_string(&dot_git).ok()?;
    let dir = top.join(text.trim().strip_prefix("gitdir:")?.trim());
    let common = fs::read_to_string(&dir.join("commondir")).ok();
    let found = common.map_or_else(|| dir.clone(), |text| dir.join(text.trim()));
    fs::is_dir(&found).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(entries: &[&str]) -> (tempfile::TempDir, Utf8PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temp.path()).unwrap().canonicalize_utf8().unwrap();
        for entry in entries {
            let path = root.join(entry);
            if entry.ends_with('/') {
                std::fs::create_dir_all(path).unwrap();
            } else {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "").unwrap();
            }
        }
        (temp, root)
    }

    #[test]
    fn the_root_is_the_nearest_mark_but_never_above_git_or_home() {
        /// Entries, where it starts, the home folder, the root, the git top level.
        type Case = (&'static [&'static str], &'static str, &'static str, &'static str, Option<&'static str>);
        let cases: &[Case] = &[
            (&["h/p/.git/", "h/p/a/b/"], "h/p/a/b", "h", "h/p", Some("h/p")),
            (&["h/p/.git/", "h/p/a/planex.toml", "h/p/a/b/"], "h/p/a/b", "h", "h/p/a", Some("h/p")),
            (&["h/p/.git/", "h/p/a/.workflow/", "h/p/a/b/"], "h/p/a/b", "h", "h/p/a", Some("h/p")),
            (&["h/planex.toml", "h/p/.git/", "h/p/a/"], "h/p/a", "x", "h/p", Some("h/p")),
            (&["h/.workflow/", "h/p/a/"], "h/p/a", "h", "h/p/a", None),
            (&["h/.workflow/", "h/p/a/"], "h", "h", "h", None),
            (&["h/.git/", "h/p/a/"], "h/p/a", "h", "h/p/a", None),
            (&["h/.git/"], "h", "h", "h", Some("h")),
            (&["planex.toml", "h/p/a/"], "h/p/a", "h", "h/p/a", None),
            (&["h/p/a/"], "h/p/a", "h", "h/p/a", None),
            (&["h/p/.workflow/", "h/p/a/"], "h/p/a", "h", "h/p", None),
        ];
        for (entries, start, home, root, git) in cases {
            let (_temp, base) = tree(entries);
            let found = Project::find(&base.join(start), Some(&base.join(home)));
            assert_eq!(found.root, base.join(root), "{entries:?} from {start}");
            assert_eq!(found.git, git.map(|g| base.join(g)), "{entries:?} from {start}");
        }
    }

    #[test]
    fn the_workflow_folder_is_excluded_once() {
        let (_temp, root) = tree(&[".git/info/", "sub dir/planex.toml"]);
        std::fs::write(root.join(".git/info/exclude"), "# by hand").unwrap();
        let env = Environment::default();
        let project = Project::find(&root, None);
        assert!(project.exclude_workflow(&env).unwrap());
        assert!(!project.exclude_workflow(&env).unwrap());
        let below = Project::find(&root.join("sub dir"), None);
        assert!(below.exclude_workflow(&env).is_ok());
        let text = std::fs::read_to_string(root.join(".git/info/exclude")).unwrap();
        assert_eq!(text, "# by hand\n/.workflow/\n/sub\\ dir/.workflow/\n");
    }

    #[test]
    fn a_linked_worktree_shares_the_file_of_its_repository() {
        let (_temp, root) = tree(&["main/.git/worktrees/w/", "w/"]);
        std::fs::write(root.join("w/.git"), format!("gitdir: {root}/main/.git/worktrees/w\n")).unwrap();
        std::fs::write(root.join("main/.git/worktrees/w/commondir"), "../..\n").unwrap();
        assert!(Project::find(&root.join("w"), None).exclude_workflow(&Environment::default()).unwrap());
        assert!(root.join("main/.git/info/exclude").exists());
    }
}
