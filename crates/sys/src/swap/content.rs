//! What is at a path, told apart by its bytes and not by its times.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Content {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// Whether its owner may execute it.
        executable: bool,
        /// Hash of its bytes.
        sha256: [u8; 32],
    },
    /// A symbolic link.
    Link {
        /// Hash of where it leads.
        sha256: [u8; 32],
    },
    /// A folder, device, FIFO or socket: nothing that is ever expected.
    Other,
}

impl Content {
    /// Looks at a path, symbolic links not followed.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub fn of(path: &Path) -> io::Result<Self> {
        let meta = match std::fs::symlink_metadata(path) {
            Ok(meta) => meta,
            Err(error) if is_absent(&error) => return Ok(Self::Absent),
            Err(error) => return Err(error),
        };
        if meta.is_symlink() {
            let target = std::fs::read_link(path)?;
            return Ok(Self::Link { sha256: Sha256::digest(target.as_os_str().as_encoded_bytes()).into() });
        }
        if !meta.is_file() {
            return Ok(Self::Other);
        }
        Ok(Self::File { executable: is_executable(&meta), sha256: hash(File::open(path)?)? })
    }
}

/// Nothing there; also where a folder on the way is something else.
pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn hash(mut file: File) -> io::Result<[u8; 32]> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let n = file.read(&mut buffer)?;
        if n == 0 {
            return Ok(hasher.finalize().into());
        }
        hasher.update(buffer.get(..n).unwrap_or_default());
    }
}

#[cfg(unix)]
fn is_executable(meta: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    meta.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_meta: &std::fs::Metadata) -> bool {
    false
}

/// Gives a staged file the permissions of the file that it is to replace, executable or not as asked for. Links, and files
/// that replace none, stay as they are.
///
/// # Errors
/// The permissions cannot be set.
pub fn take_permissions(replaced: &Path, staged: &Path, executable: bool) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let regular = |path: &Path| std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file);
        if let (Some(old), Some(_)) = (regular(replaced), regular(staged)) {
            let mode = old.permissions().mode() & 0o777;
            // Who may read may execute, as git does it.
            let mode = if executable { mode | ((mode & 0o444) >> 2) } else { mode & !0o111 };
            std::fs::set_permissions(staged, std::fs::Permissions::from_mode(mode))?;
        }
    }
    #[cfg(not(unix))]
    let _ = (replaced, staged, executable);
    Ok(())
}
