//! What planex keeps in a project stays there: no write through a symbolic link that leads out (spec 70, *Security*).
//!
//! A cloned repository may bring links below `.workflow/`, and an agent may plant them while it runs. Every function of
//! this module's parent that writes, creates or removes asks here first.

use std::io;

use camino::{Utf8Component, Utf8Path};

/// The folder of planex's state in a project.
const STATE: &str = ".workflow";

/// Refuses `path` if a symbolic link on the way from its last `.workflow` on, or at its end, leads out of the folder
/// the link lies in, or nowhere. Paths without `.workflow` are nobody's business here.
///
/// The answer holds for this instant, as that of [`safe_join`](super::safe_join).
pub(crate) fn check(path: &Utf8Path) -> io::Result<()> {
    let parts: Vec<Utf8Component<'_>> = path.components().collect();
    let Some(state) = parts.iter().rposition(|part| part.as_str() == STATE) else { return Ok(()) };
    let (above, below) = parts.split_at(state);
    let mut folder = above.iter().collect::<camino::Utf8PathBuf>();
    for part in below {
        let here = folder.join(part);
        if here.is_symlink() && !leads_inside(&here, &folder) {
            let text = format!(
                "the symbolic link {here} leads out of {folder}, where planex keeps its state; remove the link or put \
                 what it leads to in its place"
            );
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
        }
        folder = here;
    }
    Ok(())
}

/// As [`check`], for what acts on the end of the path itself and not on what a link there leads to: removing.
pub(super) fn check_parent(path: &Utf8Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), check)
}

fn leads_inside(link: &Utf8Path, folder: &Utf8Path) -> bool {
    let folder = if folder.as_str().is_empty() { Utf8Path::new(".") } else { folder };
    match (link.canonicalize_utf8(), folder.canonicalize_utf8()) {
        (Ok(target), Ok(folder)) => target != folder && target.starts_with(folder),
        _ => false,
    }
}
