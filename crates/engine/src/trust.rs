//! Trust on first use (spec 70, *Security*): what in a repository's `planex.toml` runs a command or widens what an agent
//! may do takes effect only after the user trusted exactly that, in exactly that folder.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use planex_core::settings;
use planex_core::settings::file::Source;
use planex_sys::fs;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::{EngineError, ErrorKind, Result};

/// Tables and keys of `planex.toml` that only work once they are trusted.
pub const TRUSTED_KEYS: [&str; 9] =
    ["agents", "roles", "worktree", "hooks", "test", "isolation", "scope", "verify", "baseline"];

/// Keys of `[roles.NAME]` that need no trust: they choose, they don't run anything new.
const HARMLESS_ROLE_KEYS: [&str; 4] = ["agent", "model", "timeout", "fallback"];

/// What of a `planex.toml` needs trust, ready to be shown and hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedParts {
    /// `key.path = value`, one each, sorted.
    pub lines: Vec<String>,
    /// Hash of them.
    pub hash: String,
}

/// Whether a folder's configuration may take effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Nothing in it needs trust.
    NotNeeded,
    /// It is trusted as it is.
    Trusted,
    /// It was never trusted.
    Unknown(TrustedParts),
    /// It was trusted, and has changed since.
    Changed(TrustedParts),
}

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

/// The parts of a configuration that need trust.
///
/// # Errors
/// The text is no TOML; the fault names its place.
pub fn trusted_parts(file: &Utf8Path, text: &str) -> Result<TrustedParts> {
    let table: toml::Table = text.parse().map_err(|error| unreadable(file, text, &error))?;
    let mut lines = Vec::new();
    for (key, value) in table.iter().filter(|(key, _)| TRUSTED_KEYS.contains(&key.as_str())) {
        flatten(key, value, &mut lines);
    }
    lines.retain(|line| !is_harmless(line));
    lines.sort();
    let hash = Sha256::digest(lines.join("\n").as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(TrustedParts { lines, hash })
}

/// The reader of settings says what is wrong and where, also for what TOML's own types cannot hold (a huge number).
fn unreadable(file: &Utf8Path, text: &str, error: &toml::de::Error) -> EngineError {
    let faults = match settings::file::parse(Source { file: file.as_str(), text }) {
        Err(faults) => faults.iter().map(ToString::to_string).collect(),
        Ok(_) => vec![format!("{file}:1:1: {}", error.message())],
    };
    EngineError::input(format!("{file} cannot be read"), faults)
}

fn is_harmless(line: &str) -> bool {
    let key = line.split(" = ").next().unwrap_or_default();
    let Some(rest) = key.strip_prefix("roles.") else { return false };
    rest.rsplit('.').next().is_some_and(|last| HARMLESS_ROLE_KEYS.contains(&last)) && rest.matches('.').count() == 1
}

fn flatten(prefix: &str, value: &toml::Value, lines: &mut Vec<String>) {
    match value {
        toml::Value::Table(table) if !table.is_empty() => {
            for (key, value) in table {
                flatten(&format!("{prefix}.{}", quoted(key)), value, lines);
            }
        }
        other => lines.push(format!("{prefix} = {other}")),
    }
}

/// A key that could be taken for a path of keys is quoted, so that nothing passes for something else.
fn quoted(key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { key.to_owned() } else { format!("{key:?}") }
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

    /// How `planex.toml` of `root` stands.
    ///
    /// # Errors
    /// A file is there and cannot be read, or the configuration is no TOML.
    pub fn status(&self, root: &Utf8Path) -> Result<Status> {
        let file = root.join("planex.toml");
        let Some(bytes) = fs::read_if_exists(&file)? else { return Ok(Status::NotNeeded) };
        let text = String::from_utf8(bytes)
            .map_err(|_| EngineError::input(format!("{file} is not UTF-8"), vec![format!("{file}:1:1: not UTF-8")]))?;
        let parts = trusted_parts(&file, &text)?;
        if parts.lines.is_empty() {
            return Ok(Status::NotNeeded);
        }
        let key = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        Ok(match self.load()?.folders.get(&key) {
            Some(hash) if *hash == parts.hash => Status::Trusted,
            Some(_) => Status::Changed(parts),
            None => Status::Unknown(parts),
        })
    }

    /// Trusts what `planex.toml` of `root` says now, provided that it is still what `hash` was shown for.
    ///
    /// # Errors
    /// It changed meanwhile, or the store cannot be written.
    pub fn grant(&self, root: &Utf8Path, hash: &str) -> Result<()> {
        match self.status(root)? {
            Status::NotNeeded | Status::Trusted => return Ok(()),
            Status::Unknown(parts) | Status::Changed(parts) if parts.hash == hash => {}
            Status::Unknown(_) | Status::Changed(_) => {
                return Err(EngineError::internal(format!("{root}/planex.toml changed while it was being trusted"))
                    .hint("look at it again and repeat `planex trust`"));
            }
        }
        let mut entries = self.load()?;
        let key = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        entries.folders.insert(key, hash.to_owned());
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
        let key = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let was = entries.folders.remove(&key).is_some();
        if was {
            let text = serde_json::to_vec_pretty(&entries).map_err(EngineError::internal)?;
            fs::write_private(&self.path, &text)?;
        }
        Ok(was)
    }
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

    fn project(text: &str) -> (tempfile::TempDir, Utf8PathBuf, TrustStore) {
        let temp = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(temp.path()).unwrap().to_owned();
        let root = base.join("p");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("planex.toml"), text).unwrap();
        (temp, root, TrustStore::new(base.join("data/trust.json")))
    }

    #[test]
    fn only_what_runs_or_widens_needs_trust() {
        for harmless in
            ["", "timezone = \"utc\"\nprotect = [\"*.key\"]", "[roles.plan]\nagent = \"codex\"\nmodel = \"x\""]
        {
            let (_temp, root, store) = project(harmless);
            assert_eq!(store.status(&root).unwrap(), Status::NotNeeded, "{harmless}");
        }
        for risky in [
            "[agents.mine]\ncommand = [\"sh\"]",
            "[agents.codex]\nfull_access = true",
            "[roles.plan]\nargs = [\"--yolo\"]",
            "[roles.plan]\nenv = { A = \"1\" }",
            "[worktree]\nsetup = \"make\"",
            "[test]\ncommand = \"rm -rf /\"",
        ] {
            let (_temp, root, store) = project(risky);
            assert!(matches!(store.status(&root).unwrap(), Status::Unknown(_)), "{risky}");
        }
    }

    #[test]
    fn trust_is_bound_to_folder_and_content() {
        let (_temp, root, store) = project("lang = \"en\"\n[test]\ncommand = \"make\"");
        let Status::Unknown(parts) = store.status(&root).unwrap() else { panic!() };
        assert_eq!(parts.lines, ["test.command = \"make\""]);
        store.grant(&root, &parts.hash).unwrap();
        assert_eq!(store.status(&root).unwrap(), Status::Trusted);
        std::fs::write(root.join("planex.toml"), "lang = \"ja\"\n[test]\ncommand = \"make\"").unwrap();
        assert_eq!(store.status(&root).unwrap(), Status::Trusted, "other keys don't matter");
        std::fs::write(root.join("planex.toml"), "[test]\ncommand = \"make evil\"").unwrap();
        let Status::Changed(_) = store.status(&root).unwrap() else { panic!() };
        assert!(store.grant(&root, &parts.hash).is_err(), "what was shown is not what is there");
        let other = root.with_file_name("q");
        std::fs::create_dir(&other).unwrap();
        std::fs::write(other.join("planex.toml"), "[test]\ncommand = \"make\"").unwrap();
        assert!(matches!(store.status(&other).unwrap(), Status::Unknown(_)));
        assert!(store.revoke(&root).unwrap());
        assert!(matches!(store.status(&root).unwrap(), Status::Unknown(_)));
    }

    #[test]
    fn a_broken_file_names_its_place() {
        let (_temp, root, store) = project("a = 1\nb = = 2\n");
        let error = store.status(&root).unwrap_err();
        assert_eq!(error.exit_code(), 3);
        assert!(error.faults[0].contains("planex.toml:2:"), "{error}");
    }
}
