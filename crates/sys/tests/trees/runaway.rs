//! Agents that try to get away.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process, set_child_subreaper, set_parent_process_death_signal, setsid};

use crate::raw;

/// Every kind, with the number of processes that note themselves.
pub(crate) const KINDS: [(&str, usize); 15] = [
    ("none", 1),
    ("setsid", 2),
    ("double-fork", 2),
    ("nohup", 2),
    ("sh-background", 2),
    ("clear-env", 2),
    ("closed-and-renamed", 2),
    ("stubborn", 2),
    ("sub-reaper", 3),
    ("no-death-signal", 2),
    ("zombie-leader", 2),
    ("stopped", 2),
    ("pid-namespace", 2),
    ("all-at-once", 3),
    ("storm", 1),
];

/// Lineages of the storm, each a chain of processes that fork, move to a session and end.
const LINEAGES: usize = 12;

/// How long a lineage goes on.
const STORM_STEPS: u32 = 400;

pub(crate) fn run(kind: &str, notes: &str) {
    match kind {
        "none" => note(notes),
        "setsid" => agent(notes, |leaf| start(leaf, "leaf:setsid", notes)),
        "double-fork" => agent(notes, |leaf| wait(leaf, "middle", notes)),
        "nohup" => agent(notes, |_| shell("nohup \"$0\" runaway leaf \"$1\" >/dev/null 2>&1 &", notes)),
        "sh-background" => agent(notes, |_| shell("\"$0\" runaway leaf \"$1\" & exit 0", notes)),
        "clear-env" => agent(notes, |leaf| start(leaf.env_clear(), "leaf", notes)),
        "closed-and-renamed" => agent(notes, |leaf| start(leaf.arg0("[kworker/0:0]"), "leaf:setsid,closed", notes)),
        "stubborn" => agent(notes, |leaf| start(leaf, "leaf:setsid,stubborn", notes)),
        "sub-reaper" => agent(notes, |leaf| start(leaf, "nest:leaf:setsid", notes)),
        "no-death-signal" => agent(notes, |leaf| start(leaf, "leaf:setsid,orphan", notes)),
        "zombie-leader" => agent(notes, |leaf| start(leaf, "leaf:zombie", notes)),
        "stopped" => agent(notes, |leaf| start(leaf, "leaf:stopped", notes)),
        "pid-namespace" => agent(notes, |_| namespace(notes)),
        "all-at-once" => {
            agent(notes, |leaf| {
                start(leaf.arg0("[kworker/0:1]"), "nest:leaf:setsid,stubborn,orphan,stopped,closed", notes);
            });
        }
        "storm" => agent(notes, |_| (0..LINEAGES).for_each(|_| lineage(STORM_STEPS, notes))),
        "middle" => {
            start(&mut own(), "leaf:setsid", notes);
            return;
        }
        "leaf" => note(notes),
        other => special(other, notes),
    }
    idle();
}

/// Parts with parameters: `leaf:…`, `nest:…`, `storm:…`, and the agents of single cases.
fn special(kind: &str, notes: &str) {
    match kind.split_once(':') {
        Some(("leaf", traits)) => leaf(traits, notes),
        Some(("nest", inner)) => {
            set_child_subreaper(Some(getpid())).unwrap();
            raw::ignore_polite_signals();
            start(&mut own(), inner, notes);
            note(notes);
        }
        Some(("storm", left)) => {
            let _ = setsid();
            raw::ignore_polite_signals();
            thread::sleep(Duration::from_millis(5));
            if let Some(left) = left.parse::<u32>().unwrap().checked_sub(1) {
                lineage(left, notes);
            }
            std::process::exit(0);
        }
        Some(("flood", bytes)) => flood(bytes.parse().unwrap()),
        _ => panic!("no such runaway: {kind}"),
    }
}

fn leaf(traits: &str, notes: &str) {
    let has = |name| traits.split(',').any(|word| word == name);
    if has("setsid") {
        setsid().unwrap();
    }
    if has("stubborn") {
        raw::ignore_polite_signals();
    }
    if has("orphan") {
        set_parent_process_death_signal(None).unwrap();
    }
    note(notes);
    if has("closed") {
        raw::close_all();
    }
    if has("zombie") {
        thread::spawn(idle);
        raw::end_this_thread();
    }
    if has("stopped") {
        kill_process(getpid(), Signal::STOP).unwrap();
    }
}

fn agent(notes: &str, escape: impl FnOnce(&mut Command)) {
    escape(&mut own());
    note(notes);
}

fn own() -> Command {
    Command::new("/proc/self/exe")
}

/// Starts a part of this program and does not wait for it.
#[expect(clippy::zombie_processes, reason = "a runaway does not wait for what it starts")]
fn start(command: &mut Command, part: &str, notes: &str) {
    let _running = command.args(["runaway", part, notes]).stdin(Stdio::null()).spawn().unwrap();
}

fn wait(command: &mut Command, part: &str, notes: &str) {
    assert!(command.args(["runaway", part, notes]).status().unwrap().success());
}

fn shell(script: &str, notes: &str) {
    let exe = std::env::current_exe().unwrap();
    assert!(Command::new("sh").args(["-c", script]).arg(exe).arg(notes).status().unwrap().success());
}

#[expect(clippy::zombie_processes, reason = "a runaway does not wait for what it starts")]
fn namespace(notes: &str) {
    let exe = std::env::current_exe().unwrap();
    let flag = if rustix::process::geteuid().is_root() { "-pf" } else { "-Urpf" };
    let _running = Command::new("unshare").arg(flag).arg(exe).args(["runaway", "leaf", notes]).spawn().unwrap();
}

fn lineage(left: u32, notes: &str) {
    // A machine that is full for an instant ends a lineage, and the storm is weaker by one.
    let _ = own().args(["runaway", &format!("storm:{left}"), notes]).stdin(Stdio::null()).spawn();
}

/// One line per process: its id as seen from outside of any namespace.
fn note(notes: &str) {
    let pid = std::fs::read_link("/proc/self").unwrap();
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(notes).unwrap();
    file.write_all(format!("{}\n", pid.display()).as_bytes()).unwrap();
}

fn flood(bytes: usize) {
    let block = vec![b'\xfe'; 1 << 20];
    let mut out = std::io::stdout();
    for _ in 0..bytes >> 20 {
        out.write_all(&block).unwrap();
    }
    std::process::exit(0);
}

fn idle() {
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}
