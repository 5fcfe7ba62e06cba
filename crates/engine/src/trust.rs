//! Trust on first use (spec 70, *Security*): what in a repository's `planex.toml` runs a command or widens what an agent
//! may do takes effect only after the user trusted exactly that, in exactly that folder. What that is, is decided in
//! [`planex_core::settings::trust`]; here it is remembered.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use planex_core::settings::trust::TrustedParts;
use planex_sys::fs;
use serde::{Deserialize, Serialize};

use crate::error::{EngineError, ErrorKind, Result};

/// The user's list of trusted folders: a file in the user's data folder.
#[derive(Debug, Clone)]
pub struct TrustStore {
    path: Utf8PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Entries {
    #[serde(default)]
    folders: BTreeMap<Utf8PathBuf, String>,
}

impl TrustStore {
    /// The store at `path` (`trust.json` in the user's data folder); it need not exist.
    #[must_use]
    pub fn new(path: impl Into<Utf8PathBuf>) -> Self {
        Self { path: path.into() }
    }

    fn load(&self) -> Result<Entries> {
        let Some(bytes) = fs::read_if_exists(&self.path)? else { return Ok(Entries::default()) };
        serde_json::from_slice(&bytes).map_err(|error| {
            EngineError::internal(format!("{}:{}:{}: {error}", self.path, error.line(), error.column()))
                .hint("remove the file; planex will ask again")
        })
    }

    /// Whether these parts of the configuration of `root` are trusted.
    ///
    /// # Errors
    /// The store is there and cannot be read.
    pub fn is_trusted(&self, root: &Utf8Path, parts: &TrustedParts) -> Result<bool> {
        Ok(self.load()?.folders.get(&key_of(root)) == Some(&parts.hash))
    }

    /// Trusts these parts of the configuration of `root`, as they were shown: if they have changed meanwhile, they are
    /// asked about again.
    ///
    /// # Errors
    /// The store cannot be read or written.
    pub fn grant(&self, root: &Utf8Path, parts: &TrustedParts) -> Result<()> {
        let mut entries = self.load()?;
        entries.folders.insert(key_of(root), parts.hash.clone());
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let text = serde_json::to_vec_pretty(&entries).map_err(EngineError::internal)?;
        Ok(fs::write_private(&self.path, &text)?)
    }

    /// Takes trust back; gives whether there was any.
    ///
    /// # Errors
    /// The store cannot be read or written.
    pub fn revoke(&self, root: &Utf8Path) -> Result<bool> {
        let mut entries = self.load()?;
        let was = entries.folders.remove(&key_of(root)).is_some();
        if was {
            let text = serde_json::to_vec_pretty(&entries).map_err(EngineError::internal)?;
            fs::write_private(&self.path, &text)?;
        }
        Ok(was)
    }
}

fn key_of(root: &Utf8Path) -> Utf8PathBuf {
    fs::canonicalize(root).unwrap_or_else(|_| root.to_owned())
}

/// The error of a configuration that is not trusted where nobody can be asked: exit 4 with the command.
#[must_use]
pub fn not_trusted(root: &Utf8Path, parts: &TrustedParts) -> EngineError {
    let mut error = EngineError::new(ErrorKind::Stopped, format!("{root}/planex.toml is not trusted yet"));
    error.faults.clone_from(&parts.lines);
    error.hint(format!("planex trust {root}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_bound_to_folder_and_content() {
        let temp = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(temp.path()).unwrap();
        let store = TrustStore::new(base.join("data/trust.json"));
        let parts =
            |hash: &str| TrustedParts { lines: vec!["test.command = \"make\"".to_owned()], hash: hash.to_owned() };
        let trusted = |root: &Utf8Path, hash: &str| store.is_trusted(root, &parts(hash)).unwrap();
        assert!(!trusted(base, "a"));
        store.grant(base, &parts("a")).unwrap();
        assert!(trusted(base, "a") && trusted(&base.join("data/.."), "a"));
        assert!(!trusted(base, "b") && !trusted(&base.join("data"), "a"));
        store.grant(base, &parts("b")).unwrap();
        assert!(trusted(base, "b") && !trusted(base, "a"));
        assert!(store.revoke(base).unwrap() && !store.revoke(base).unwrap());
        assert!(!trusted(base, "b"));
    }

    #[test]
    fn a_broken_store_says_how_to_mend_it() {
        let temp = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(temp.path()).unwrap().join("trust.json");
        std::fs::write(&path, "{").unwrap();
        let error = TrustStore::new(path.clone()).revoke(Utf8Path::new("/x")).unwrap_err();
        assert!(error.message.starts_with(path.as_str()) && error.hints.len() == 1, "{error:?}");
    }
}
