//! What can go wrong when a tree is opened.

use camino::Utf8PathBuf;

/// Why a folder cannot be explored. Single files that cannot be read are counted, not errors.
#[derive(Debug, thiserror::Error)]
pub enum ExploreError {
    /// It does not exist.
    #[error("the folder {0} does not exist")]
    Missing(Utf8PathBuf),
    /// It is a file or something else.
    #[error("{0} is not a folder")]
    NotAFolder(Utf8PathBuf),
    /// It exists but cannot be listed.
    #[error("{0}")]
    Unreadable(#[from] planex_sys::fs::PathError),
}

impl ExploreError {
    /// How to mend it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Missing(_) | Self::NotAFolder(_) => "name a folder with -C",
            Self::Unreadable(_) => "check the permissions of the folder",
        }
    }
}
