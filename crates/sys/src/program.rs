//! Programs on the search path, and facts about this machine.

use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};

/// Where programs are looked for when the environment names no `PATH` (what `execvp` does).
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// The file that `name` starts, as a shell in `cwd` with this `PATH` would find it.
///
/// A name with a separator is a path relative to `cwd`. Empty and relative entries of the path are relative to `cwd`
/// too. Only files that this user may execute count.
#[must_use]
pub fn find(name: &str, path_var: Option<&str>, cwd: &Utf8Path) -> Option<Utf8PathBuf> {
    if name.is_empty() || name.contains('\0') {
        return None;
    }
    if name.contains(std::path::is_separator) {
        return executable(cwd.join(name));
    }
    let path = path_var.unwrap_or(DEFAULT_PATH);
    std::env::split_paths(path)
        .filter_map(|dir| Utf8PathBuf::from_path_buf(dir).ok())
        .find_map(|dir| executable(cwd.join(dir).join(name)))
}

/// `path` (on Windows also with the usual extensions), if this user may execute it.
fn executable(path: Utf8PathBuf) -> Option<Utf8PathBuf> {
    if cfg!(windows) && path.extension().is_none() {
        let with = |extension: &str| Some(path.with_extension(extension)).filter(|path| may_execute(path));
        return ["exe", "cmd", "bat", "com"].into_iter().find_map(with);
    }
    Some(path).filter(|path| may_execute(path))
}

#[cfg(unix)]
fn may_execute(path: &Utf8Path) -> bool {
    path.is_file() && rustix::fs::access(path.as_std_path(), rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(not(unix))]
fn may_execute(path: &Utf8Path) -> bool {
    path.is_file()
}

/// The name of this machine; `localhost` where it has none.
#[must_use]
pub fn host_name() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    if name.is_empty() { "localhost".to_owned() } else { name }
}

/// A text that changes with every start of this machine; empty where the system has none.
#[must_use]
pub fn boot_id() -> &'static str {
    static BOOT: OnceLock<String> = OnceLock::new();
    BOOT.get_or_init(|| {
        std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
    })
}

/// Whether a process of this id runs, whoever's it is. Where the system does not tell: yes.
#[must_use]
pub fn is_running(pid: u32) -> bool {
    #[cfg(unix)]
    {
        let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else { return false };
        rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
    }
    #[cfg(not(unix))]
    {
        let _ = pid;
        true
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn script(dir: &Utf8Path, name: &str, mode: u32) -> Utf8PathBuf {
        let path = dir.join(name);
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        let temp = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temp.path()).unwrap();
        for dir in ["a", "b", "a/folder"] {
            std::fs::create_dir(root.join(dir)).unwrap();
        }
        script(&root.join("a"), "plain", 0o644);
        let second = script(&root.join("b"), "plain", 0o755);
        let here = script(root, "here", 0o755);
        let path = format!("{root}/missing:{root}/a:b");

        assert_eq!(find("plain", Some(&path), root), Some(second.clone()), "the first one is not executable");
        assert_eq!(find("folder", Some(&path), root), None, "a folder is no program");
        assert_eq!(find("here", Some(&path), root), None);
        assert_eq!(find("here", Some(":/nowhere"), root), Some(here.clone()), "an empty entry is the folder");
        assert_eq!(find("./here", None, root), Some(root.join("./here")));
        assert_eq!(find("b/plain", None, root), Some(second));
        assert_eq!(find("", Some(&path), root), None);
        assert_eq!(find("a\0b", Some(&path), root), None);
        assert!(find("sh", None, root).is_some());
    }

    #[test]
    fn the_machine_has_a_name() {
        assert!(!host_name().is_empty());
        assert_eq!(boot_id(), boot_id());
        if cfg!(target_os = "linux") {
            assert_eq!(boot_id().len(), 36);
        }
    }
}
