//! Hidden refs: `refs/planex/{session}/{name}`, which hold commits as long as their session is there.
//!
//! A repository can hold several projects (folders of a monorepo, linked worktrees), and their sessions can be of the
//! same name: unless the project is the top of the main working tree, the session's part says where it is too,
//! `{session}+{folder}+{worktree}`.

use camino::{Utf8Path, Utf8PathBuf};
use planex_sys::fs;

use crate::{Repo, Result};

/// Where all of planex's refs are.
const FRONT: &str = "refs/planex/";

/// Whose refs some are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The session.
    pub session: String,
    /// The root of its project; `None`: the working tree that it was in is no more.
    pub project: Option<Utf8PathBuf>,
    /// The part of the refs' names that all of them share.
    key: String,
}

impl Repo {
    /// Holds a commit by the hidden ref `refs/planex/{session}/{name}`, so that no `gc` of the user's takes it.
    ///
    /// # Errors
    /// Git refuses.
    pub fn keep(&self, session: &str, name: &str, commit: &str) -> Result<()> {
        self.git.run(&["update-ref", &self.ref_name(session, name), commit], Vec::new())?;
        Ok(())
    }

    /// Lets a hidden ref go; an absent one is fine.
    ///
    /// # Errors
    /// Git refuses.
    pub fn release(&self, session: &str, name: &str) -> Result<()> {
        self.git.run(&["update-ref", "-d", &self.ref_name(session, name)], Vec::new())?;
        Ok(())
    }

    /// The names of the hidden refs of one of this project's sessions.
    ///
    /// # Errors
    /// Git refuses.
    pub fn names(&self, session: &str) -> Result<Vec<String>> {
        let front = format!("{FRONT}{}/", self.key(session));
        let refs = self.refs_below(&front)?;
        Ok(refs.iter().filter_map(|name| name.strip_prefix(&front)).map(decode).collect())
    }

    /// Lets all hidden refs of one of this project's sessions go.
    ///
    /// # Errors
    /// Git refuses.
    pub fn release_all(&self, session: &str) -> Result<()> {
        self.release_key(&self.key(session))
    }

    /// Lets all hidden refs of a session go, wherever its project is or was.
    ///
    /// # Errors
    /// Git refuses.
    pub fn release_of(&self, owner: &Owner) -> Result<()> {
        self.release_key(&owner.key)
    }

    fn release_key(&self, key: &str) -> Result<()> {
        for name in self.refs_below(&format!("{FRONT}{key}/"))? {
            self.git.run(&["update-ref", "-d", &name], Vec::new())?;
        }
        Ok(())
    }

    /// Sessions that have hidden refs, of all projects in this repository. Left out are those in a working tree that
    /// cannot be looked at now (on a disk that is not there).
    ///
    /// # Errors
    /// Git refuses.
    pub fn owners(&self) -> Result<Vec<Owner>> {
        let refs = self.refs_below(FRONT)?;
        let mut keys: Vec<&str> =
            refs.iter().filter_map(|name| name.strip_prefix(FRONT)?.split_once('/')).map(|(key, _)| key).collect();
        keys.sort_unstable();
        keys.dedup();
        Ok(keys.into_iter().filter_map(|key| self.owner(key)).collect())
    }

    fn owner(&self, key: &str) -> Option<Owner> {
        let mut parts = key.split('+').map(decode);
        let session = parts.next()?;
        let (folder, worktree) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let project = match self.top_of(&worktree) {
            Top::At(top) if folder.is_empty() => Some(top),
            Top::At(top) => Some(top.join(folder)),
            Top::Gone => None,
            Top::Unknown => return None,
        };
        Some(Owner { session, project, key: key.to_owned() })
    }

    /// Where a working tree of the repository is; an empty name is the main one.
    fn top_of(&self, worktree: &str) -> Top {
        if worktree == self.worktree() {
            return Top::At(self.top().to_owned());
        }
        let top = if worktree.is_empty() {
            self.git
                .common_dir
                .parent()
                .filter(|_| self.git.common_dir.file_name() == Some(".git"))
                .map(Utf8Path::to_owned)
        } else {
            let link = self.git.common_dir.join("worktrees").join(worktree).join("gitdir");
            match fs::read_to_string(&link) {
                Ok(text) => Utf8Path::new(text.trim_end()).parent().map(Utf8Path::to_owned),
                Err(error) if error.is_not_found() => return Top::Gone,
                Err(_) => None,
            }
        };
        top.filter(|top| fs::is_dir(top)).map_or(Top::Unknown, Top::At)
    }

    /// The name of the working tree; empty for the main one.
    fn worktree(&self) -> &str {
        if self.git.git_dir == self.git.common_dir { "" } else { self.git.git_dir.file_name().unwrap_or_default() }
    }

    fn refs_below(&self, front: &str) -> Result<Vec<String>> {
        let refs = self.git.run(&["for-each-ref", "--format=%(refname)", front], Vec::new())?;
        Ok(String::from_utf8_lossy(&refs).lines().map(str::to_owned).collect())
    }

    fn ref_name(&self, session: &str, name: &str) -> String {
        let name: Vec<String> = name.split('/').map(encode).collect();
        format!("{FRONT}{}/{}", self.key(session), name.join("/"))
    }

    fn key(&self, session: &str) -> String {
        key(session, self.prefix(), self.worktree())
    }
}

enum Top {
    At(Utf8PathBuf),
    Gone,
    /// It cannot be looked at now.
    Unknown,
}

fn key(session: &str, folder: &str, worktree: &str) -> String {
    let session = encode(session);
    if folder.is_empty() && worktree.is_empty() {
        return session;
    }
    format!("{session}+{}+{}", encode(folder), encode(worktree))
}

/// A text that git accepts as part of a ref's name, and that can be read back. Git refuses `..`, a dot in front, `.lock`
/// at the end, spaces and some more.
fn encode(text: &str) -> String {
    let mut part = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() || c == '-' || c == '_' || !c.is_ascii() {
            part.push(c);
        } else {
            part.push_str(&format!("%{:02X}", u32::from(c)));
        }
    }
    part
}

fn decode(part: &str) -> String {
    let mut text = String::new();
    let mut rest = part;
    while let Some((before, after)) = rest.split_once('%') {
        text.push_str(before);
        let code = after.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok());
        match code {
            Some(code) => {
                text.push(char::from(code));
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                text.push('%');
                rest = after;
            }
        }
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_refs_hold_nothing_that_git_refuses_and_can_be_read_back() {
        assert_eq!(key("wpp-20260228-認証", "", ""), "wpp-20260228-認証");
        assert_eq!(key("s", "apps/my web", "w+1"), "s+apps%2Fmy%20web+w%2B1");
        assert_eq!(encode(".a..lock"), "%2Ea%2E%2Elock");
        for text in ["wpp-20260228-認証", ".a..lock", "a b~^:?*[\\", "100%", "%2E", "w+1/x"] {
            assert_eq!(decode(&encode(text)), text);
        }
        assert_eq!(decode("%"), "%");
        assert_eq!(decode("%zz"), "%zz");
    }
}
