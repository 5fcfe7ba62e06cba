//! Joining a name from outside to a folder without ever leaving it (spec 00, *Ids, slugs, paths*).

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

/// Why a name is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// It is empty or only dots.
    #[error("the path `{0}` names no file")]
    Empty(String),
    /// It starts at the root or at a drive.
    #[error("the path `{0}` is absolute; it must be relative")]
    Absolute(String),
    /// It climbs.
    #[error("the path `{0}` contains `..`")]
    Parent(String),
    /// It holds a byte that no path can hold.
    #[error("the path `{}` contains a NUL character", .0.escape_debug())]
    Nul(String),
    /// A symbolic link on the way leads outside, or nowhere.
    #[error("the path `{path}` leads out of {root} through the symbolic link {link}")]
    Link {
        /// The name.
        path: String,
        /// The folder that must not be left.
        root: Utf8PathBuf,
        /// The link.
        link: Utf8PathBuf,
    },
    /// The folder itself cannot be resolved.
    #[error("the folder {0} cannot be resolved")]
    Root(Utf8PathBuf),
}

/// `root` joined with `relative`, if that lies below `root`: no absolute path, no `..`, no symbolic link on the way
/// (nor at the end) that leads out of `root` or nowhere. Parts that do not exist are fine.
///
/// The answer holds for this instant: an agent that may write there can swap a folder for a link afterwards.
///
/// # Errors
/// The name is refused, with the reason.
pub fn safe_join(root: &Utf8Path, relative: impl AsRef<Utf8Path>) -> Result<Utf8PathBuf, JoinError> {
    let relative = relative.as_ref();
    let text = || relative.as_str().to_owned();
    if relative.as_str().contains('\0') {
        return Err(JoinError::Nul(text()));
    }
    let real_root = root.canonicalize_utf8().map_err(|_| JoinError::Root(root.to_owned()))?;
    let mut path = root.to_owned();
    let mut parts = 0;
    for component in relative.components() {
        match component {
            Utf8Component::Normal(name) => path.push(name),
            Utf8Component::CurDir => continue,
            Utf8Component::ParentDir => return Err(JoinError::Parent(text())),
            Utf8Component::RootDir | Utf8Component::Prefix(_) => return Err(JoinError::Absolute(text())),
        }
        parts += 1;
        if path.is_symlink() && !path.canonicalize_utf8().is_ok_and(|real| real.starts_with(&real_root)) {
            return Err(JoinError::Link { path: text(), root: root.to_owned(), link: path });
        }
    }
    if parts == 0 { Err(JoinError::Empty(text())) } else { Ok(path) }
}
