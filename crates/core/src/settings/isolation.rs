//! How tasks are kept from each other and from the user, and how their claims are checked (spec 70).

use std::fmt;
use std::str::FromStr;

use super::value::Value;

/// `--isolation`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum IsolationPolicy {
    /// A tree per task wherever there is a git repository with a commit, else none.
    #[default]
    Auto,
    /// A tree per task; where that cannot be, nothing runs.
    Worktree,
    /// All tasks work in the user's tree.
    None,
}

/// `--scope`: what a change outside of a task's scope means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScopePolicy {
    /// The task fails and nothing of it is merged.
    Enforce,
    /// It is merged and reported.
    Warn,
}

/// `--into`: where results go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Into {
    /// The user's working tree.
    #[default]
    Tree,
    /// This branch, one commit a task; the user's tree stays untouched.
    Branch(String),
    /// A patch in the session's folder; the user's tree stays untouched.
    Patch,
}

impl FromStr for Into {
    type Err = String;

    /// Reads `tree`, `patch`, `branch NAME` or `branch=NAME`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        match text.split_once(['=', ' ']) {
            Some(("branch", name)) if is_branch(name.trim()) => Ok(Self::Branch(name.trim().to_owned())),
            Some(("branch", name)) => Err(format!("`{}` is no name for a branch", crate::text::one_line(name.trim()))),
            None if text == "tree" => Ok(Self::Tree),
            None if text == "patch" => Ok(Self::Patch),
            _ => Err(format!("expected tree, patch or branch=NAME, found `{}`", crate::text::one_line(text))),
        }
    }
}

impl fmt::Display for Into {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tree => f.write_str("tree"),
            Self::Branch(name) => write!(f, "branch={name}"),
            Self::Patch => f.write_str("patch"),
        }
    }
}

/// Git's rules for names of branches (`git check-ref-format`).
fn is_branch(name: &str) -> bool {
    let bad = |c: char| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c);
    let part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    !name.is_empty()
        && !name.starts_with('-')
        && !name.ends_with('.')
        && name != "@"
        && !name.contains(bad)
        && !name.contains("..")
        && !name.contains("@{")
        && name.split('/').all(part)
}

/// The table `[worktree]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Worktree {
    /// Folder in which tasks' trees are made, instead of the user's cache folder.
    pub root: Option<String>,
    /// Ignored files and folders that are copied into each tree, relative to the project.
    pub copy: Vec<String>,
    /// Ignored files and folders that are linked into each tree.
    pub link: Vec<String>,
    /// Commands that prepare each new tree, each one line of the shell.
    pub setup: Vec<String>,
}

/// Everything about isolation and checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IsolationSettings {
    /// `--isolation`.
    pub policy: IsolationPolicy,
    /// `--scope`; each workflow has its own default.
    pub scope: Option<ScopePolicy>,
    /// `--into`.
    pub into: Into,
    /// Whether planex runs the commands of tasks itself; off with `--no-verify`.
    pub verify: bool,
    /// Whether the project's tests run once before; off with `--no-baseline`.
    pub baseline: bool,
    /// `[worktree]`.
    pub worktree: Worktree,
}

impl Default for IsolationSettings {
    fn default() -> Self {
        Self {
            policy: IsolationPolicy::default(),
            scope: None,
            into: Into::default(),
            verify: true,
            baseline: true,
            worktree: Worktree::default(),
        }
    }
}

impl IsolationSettings {
    /// Puts one value where it belongs; `false` if the key is none of these. The kinds were checked when it was read.
    pub(super) fn apply(&mut self, name: &str, value: &Value) -> bool {
        match (name, value) {
            ("isolation", Value::Text(word)) => {
                self.policy = match word.as_str() {
                    "worktree" => IsolationPolicy::Worktree,
                    "none" => IsolationPolicy::None,
                    _ => IsolationPolicy::Auto,
                };
            }
            ("scope", Value::Text(word)) => {
                self.scope = Some(if word == "warn" { ScopePolicy::Warn } else { ScopePolicy::Enforce });
            }
            ("into", Value::Text(word)) => self.into = word.parse().unwrap_or_default(),
            ("verify", Value::Bool(yes)) => self.verify = *yes,
            ("baseline", Value::Bool(yes)) => self.baseline = *yes,
            ("worktree.root", Value::Text(path)) => self.worktree.root = Some(path.clone()),
            ("worktree.copy", Value::List(paths)) => self.worktree.copy.clone_from(paths),
            ("worktree.link", Value::List(paths)) => self.worktree.link.clone_from(paths),
            ("worktree.setup", Value::List(lines)) => self.worktree.setup.clone_from(lines),
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_are_read_and_written() {
        for text in ["tree", "patch", "branch=planex/認証-1"] {
            assert_eq!(text.parse::<Into>().unwrap().to_string(), text);
        }
        assert_eq!("branch x/y".parse::<Into>(), Ok(Into::Branch("x/y".to_owned())));
        for text in ["", "branch", "branch=", "branch=a..b", "branch=-x", "branch=a b", "branch=x.lock", "commit"] {
            assert!(text.parse::<Into>().is_err(), "{text}");
        }
    }
}
