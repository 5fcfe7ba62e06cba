//! Processes as `/proc` tells them, and signals that cannot hit a stranger.

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::super::{Proc, ProcId};
use super::raw;

/// Longest command line that is kept, in bytes.
const MAX_COMMAND: usize = 200;

/// What `/proc/PID/stat` tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) pid: u32,
    pub(super) parent: u32,
    pub(super) session: u32,
    pub(super) start: u64,
    /// User and system time.
    pub(super) own_ticks: u64,
    /// The same of children that were waited for.
    pub(super) waited_ticks: u64,
    /// Dead, only its entry is left. (State Z with several threads is a living process whose first thread ended.)
    pub(super) zombie: bool,
}

impl Stat {
    pub(super) fn id(&self) -> ProcId {
        ProcId { pid: self.pid, start: self.start }
    }

    pub(super) fn into_proc(self) -> Proc {
        let command = command(self.pid);
        Proc { pid: self.pid, start: self.start, cpu_ticks: self.own_ticks + self.waited_ticks, command }
    }
}

/// The fields stand behind the last `)`: the name before it may hold anything.
fn parse_stat(pid: u32, text: &str) -> Option<Stat> {
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    // Field N of proc(5) is at N - 3 here.
    let field = |number: usize| fields.get(number - 3).copied();
    let number = |at: usize| field(at)?.parse::<u64>().ok();
    Some(Stat {
        pid,
        parent: field(4)?.parse().ok()?,
        session: field(6)?.parse().ok()?,
        start: number(22)?,
        own_ticks: number(14)? + number(15)?,
        waited_ticks: number(16)? + number(17)?,
        zombie: matches!(field(3)?, "Z" | "X") && number(20)? < 2,
    })
}

/// One process; `None` if it is not there.
pub(super) fn stat(pid: u32) -> Option<Stat> {
    let bytes = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(pid, &String::from_utf8_lossy(&bytes))
}

/// This process, with the id that it has for `/proc`.
pub(super) fn own_stat() -> Option<Stat> {
    let pid = std::fs::read_link("/proc/self").ok()?.to_str()?.parse().ok()?;
    stat(pid)
}

/// All processes that can be seen. Not one instant: what moves meanwhile may be missing.
pub(super) fn snapshot() -> Vec<Stat> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| stat(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// Those of `all` that descend from `root` (itself not counted).
pub(super) fn descendants(root: u32, all: &[Stat]) -> Vec<&Stat> {
    let mut children: HashMap<u32, Vec<&Stat>> = HashMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(process);
    }
    let (mut found, mut seen, mut next) = (Vec::new(), HashSet::from([root]), vec![root]);
    while let Some(parent) = next.pop() {
        for child in children.get(&parent).into_iter().flatten() {
            if seen.insert(child.pid) {
                next.push(child.pid);
                found.push(*child);
            }
        }
    }
    found
}

/// The children of this process, zombies among them. It must have one thread.
pub(super) fn own_children() -> Vec<u32> {
    if let Ok(text) = std::fs::read_to_string("/proc/thread-self/children") {
        return text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    }
    // The file needs CONFIG_PROC_CHILDREN.
    let own = std::process::id();
    snapshot().into_iter().filter(|process| process.parent == own).map(|process| process.pid).collect()
}

/// A descriptor of the process `id`, if that is still the one; later signals through it cannot hit another.
pub(super) fn open(id: ProcId) -> Option<OwnedFd> {
    let pid = Pid::from_raw(i32::try_from(id.pid).ok()?)?;
    let fd = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    // Looked at again after the descriptor is fixed: an id that was given anew has another start.
    stat(id.pid).filter(|now| now.start == id.start)?;
    Some(fd)
}

/// Signals exactly the process `id`.
pub(super) fn send(id: ProcId, signal: i32) -> io::Result<()> {
    match open(id) {
        Some(fd) => raw::pidfd_signal(fd.as_fd(), signal),
        None => Err(io::Error::from_raw_os_error(libc::ESRCH)),
    }
}

/// Asks all descendants of `root` to end, and wakes those that are stopped so that they can. One pass of at most
/// `budget`: where they come faster than they are asked, the killing that follows is what counts.
pub(super) fn ask_to_end(root: u32, budget: Duration) {
    let until = Instant::now() + budget;
    let all = snapshot();
    for process in descendants(root, &all) {
        if process.zombie {
            continue;
        }
        if Instant::now() > until {
            return;
        }
        if let Some(fd) = open(process.id()) {
            // Gone, or another user's: nothing to do about either here.
            let _ = raw::pidfd_signal(fd.as_fd(), libc::SIGTERM);
            let _ = raw::pidfd_signal(fd.as_fd(), libc::SIGCONT);
        }
    }
}

/// The command line, capped; the name in brackets where there is none.
pub(super) fn command(pid: u32) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let mut text = String::from_utf8_lossy(bytes.get(..bytes.len().min(MAX_COMMAND)).unwrap_or_default())
        .trim_end_matches(['\0', '\u{fffd}'])
        .replace('\0', " ");
    if text.is_empty() {
        let name = std::fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
        text = format!("[{}]", String::from_utf8_lossy(&name).trim_end());
    }
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Whether the environment of the process holds one of the marks (`NAME=value`).
pub(super) fn has_mark<'a>(pid: u32, marks: impl Iterator<Item = &'a str>) -> bool {
    let marks: HashSet<&[u8]> = marks.map(str::as_bytes).collect();
    if marks.is_empty() {
        return false;
    }
    let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environ.split(|&byte| byte == 0).any(|variable| marks.contains(variable))
}

/// The inode of this process's pid namespace; 0 where not known.
pub(super) fn pid_namespace() -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self/ns/pid").map_or(0, |meta| meta.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_anything_in_it_does_not_shift_the_fields() {
        let rest = "S 7 9 11 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 777 0 0";
        for name in ["sh", "a b", "x) S 1 1 1", "((", ""] {
            let seen = parse_stat(42, &format!("42 ({name}) {rest}")).unwrap();
            let want =
                Stat { pid: 42, parent: 7, session: 11, start: 777, own_ticks: 30, waited_ticks: 70, zombie: false };
            assert_eq!(seen, want, "{name}");
        }
        assert!(parse_stat(1, "1 (x) Z 7 9 11 0 -1 0 1 2 3 4 0 0 0 0 20 0 1 0 5").unwrap().zombie);
        assert!(!parse_stat(1, "1 (x) Z 7 9 11 0 -1 0 1 2 3 4 0 0 0 0 20 0 2 0 5").unwrap().zombie, "threads live");
        for broken in ["", "1", "1 (x)", "1 (x) S", "1 (x) S a b c d e f g h i j k l m n o p q r s t"] {
            assert_eq!(parse_stat(1, broken), None, "{broken}");
        }
    }

    #[test]
    fn this_process_is_seen() {
        let own = std::process::id();
        let seen = stat(own).unwrap();
        assert!(snapshot().iter().any(|process| process.id() == seen.id()));
        assert!(!command(own).is_empty());
        assert!(pid_namespace() > 0);
        assert!(open(seen.id()).is_some());
        assert!(open(ProcId { start: seen.start + 1, ..seen.id() }).is_none(), "another start, another process");
        assert_eq!(send(ProcId { pid: own, start: 0 }, 0).unwrap_err().raw_os_error(), Some(libc::ESRCH));
    }

    #[test]
    fn a_loop_of_parents_does_not_hang() {
        let one =
            |pid, parent| Stat { pid, parent, session: 0, start: 0, own_ticks: 0, waited_ticks: 0, zombie: false };
        let all = [one(1, 3), one(2, 1), one(3, 2), one(4, 9)];
        assert_eq!(descendants(1, &all).iter().map(|p| p.pid).collect::<Vec<_>>(), [2, 3]);
    }
}
