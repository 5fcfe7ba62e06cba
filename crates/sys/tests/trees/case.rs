//! The cases: a driver is started, ended in some way, and nothing may be left.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use planex_sys::process::{Ident, end_leftovers};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, kill_process_group, set_child_subreaper, waitid,
};

/// Every scenario.
const SCENARIOS: [&str; 16] = [
    "limit",
    "one-limit",
    "cancel",
    "kill",
    "drop",
    "flood",
    "kill-driver",
    "kill-group",
    "kill-keepers",
    "kill-driver-and-keepers",
    "kill-guardian-and-driver",
    "kill-everyone-then-resume",
    "stop-keeper-kill-driver",
    "stop-keeper-cancel",
    "race",
    "term-driver",
];

/// No orphan survives planex by more than this (spec 10, *Running*).
const ORPHAN_LIMIT: Duration = Duration::from_secs(10);

/// Cases at once.
const AT_ONCE: usize = 3;

pub(crate) fn run_all(filters: &[&str]) {
    let words: Vec<&&str> = filters.iter().filter(|word| !word.starts_with('-')).collect();
    let chosen: Vec<&str> = SCENARIOS
        .into_iter()
        .filter(|name| words.is_empty() || words.iter().any(|word| name.contains(**word)))
        .collect();
    if crate::driver::kinds().len() < crate::runaway::KINDS.len() {
        println!("no pid namespace can be had here: that runaway is left out");
    }
    let (next, failed, out) = (AtomicUsize::new(0), AtomicBool::new(false), Mutex::new(()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(name) = chosen.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let output = Command::new("/proc/self/exe").args(["case", name]).output().unwrap();
                    let _turn = out.lock();
                    let word = if output.status.success() { "ok" } else { "FAILED" };
                    println!("test {name} ... {word}");
                    print!("{}", String::from_utf8_lossy(&output.stdout));
                    if !output.status.success() {
                        failed.store(true, Ordering::SeqCst);
                        print!("{}", String::from_utf8_lossy(&output.stderr));
                    }
                }
            });
        }
    });
    assert!(!failed.load(Ordering::SeqCst), "some cases failed");
}

/// One case, in a process of its own that is the sub-reaper of all that it starts.
pub(crate) fn run(scenario: &str) {
    set_child_subreaper(Some(getpid())).unwrap();
    let _sweeper = Sweeper;
    let temp = tempfile::tempdir().unwrap();
    let dir = Utf8PathBuf::from_path_buf(temp.path().to_owned()).unwrap();
    if scenario == "race" {
        return race(&dir);
    }
    let driver = Driver::start(scenario, &dir);
    let begun = match scenario {
        "limit" | "one-limit" | "cancel" | "kill" | "drop" | "flood" | "stop-keeper-cancel" => driver.result(),
        "term-driver" => {
            driver.ready();
            driver.signal(Signal::TERM)
        }
        "kill-driver" => {
            driver.ready();
            driver.signal(Signal::KILL)
        }
        "kill-group" => {
            driver.ready();
            driver.kill_group()
        }
        "kill-keepers" => {
            driver.ready();
            driver.keepers(Signal::KILL);
            driver.result()
        }
        "kill-driver-and-keepers" => {
            driver.ready();
            driver.signal(Signal::KILL);
            driver.keepers(Signal::KILL)
        }
        "kill-guardian-and-driver" => {
            driver.ready();
            driver.guardian(Signal::KILL);
            driver.signal(Signal::KILL)
        }
        "stop-keeper-kill-driver" => {
            driver.ready();
            driver.keepers(Signal::STOP);
            driver.signal(Signal::KILL)
        }
        "kill-everyone-then-resume" => {
            driver.ready();
            driver.guardian(Signal::KILL);
            driver.keepers(Signal::KILL);
            let begun = driver.signal(Signal::KILL);
            resume(&driver.idents());
            begun
        }
        other => panic!("no such scenario: {other}"),
    };
    expect_nobody(begun, scenario);
}

/// The next planex ends what is left, while someone (elsewhere it is init) reaps.
fn resume(idents: &[Ident]) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                while let Ok(Some(_)) = waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {}
                thread::sleep(Duration::from_millis(1));
            }
        });
        let left = end_leftovers(idents);
        let again = end_leftovers(idents);
        done.store(true, Ordering::SeqCst);
        assert_eq!((left, again), (Vec::new(), Vec::new()));
    });
}

/// The driver is killed at instants spread over its first jobs.
fn race(dir: &Utf8Path) {
    for turn in 0..24_u64 {
        let dir = dir.join(turn.to_string());
        planex_sys::fs::create_dir_all(&dir).unwrap();
        let driver = Driver::start("race", &dir);
        driver.ready();
        thread::sleep(Duration::from_micros(turn * 1700));
        let begun = if turn % 2 == 0 { driver.signal(Signal::KILL) } else { driver.kill_group() };
        expect_nobody(begun, "race");
    }
}

struct Driver {
    process: Child,
    dir: Utf8PathBuf,
}

impl Driver {
    fn start(scenario: &str, dir: &Utf8Path) -> Self {
        let process = Command::new("/proc/self/exe")
            .args(["driver", scenario, dir.as_str()])
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        Self { process, dir: dir.to_owned() }
    }

    fn wait_for(&self, file: &str) -> String {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            if let Ok(text) = std::fs::read_to_string(self.dir.join(file)) {
                return text;
            }
            assert!(Instant::now() < until, "no {file}: {:?}", stat(self.process.id()));
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn ready(&self) {
        self.wait_for("ready");
    }

    /// The driver found everything as it should be.
    fn result(&self) -> Instant {
        let problems = self.wait_for("result");
        assert!(problems.is_empty(), "{problems}");
        Instant::now()
    }

    fn idents(&self) -> Vec<Ident> {
        serde_json::from_str(&self.wait_for("idents")).unwrap()
    }

    fn signal(&self, signal: Signal) -> Instant {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
        Instant::now()
    }

    fn kill_group(&self) -> Instant {
        kill_process_group(Pid::from_child(&self.process), Signal::KILL).unwrap();
        Instant::now()
    }

    fn guardian(&self, signal: Signal) {
        send(self.wait_for("guardian").parse().unwrap(), signal);
    }

    fn keepers(&self, signal: Signal) -> Instant {
        for ident in self.idents() {
            send(ident.keeper.pid, signal);
        }
        Instant::now()
    }
}

fn send(pid: u32, signal: Signal) {
    // Gone already: so much the better.
    let _ = kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal);
}

/// Reaps until there is no child at all.
fn expect_nobody(begun: Instant, scenario: &str) {
    let until = begun + ORPHAN_LIMIT;
    loop {
        match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
            Err(rustix::io::Errno::CHILD) => break,
            Ok(Some(_)) | Err(_) => {}
            Ok(None) => {
                if Instant::now() > until {
                    let left = descendants();
                    panic!("{scenario}: left after {ORPHAN_LIMIT:?}: {left:#?}");
                }
                thread::sleep(Duration::from_millis(2));
            }
        }
    }
    if scenario != "race" {
        println!("  nobody left after {} ms", begun.elapsed().as_millis());
    }
}

/// A failed case leaves nobody either.
struct Sweeper;

impl Drop for Sweeper {
    fn drop(&mut self) {
        end_all();
    }
}

/// Ends what a failed case left, so that it does not burden the machine.
fn end_all() {
    while waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG).err() != Some(rustix::io::Errno::CHILD) {
        for (pid, parent, _) in processes() {
            if parent == std::process::id() {
                send(pid, Signal::KILL);
            }
        }
    }
}

fn descendants() -> Vec<String> {
    let all = processes();
    let mut ours = vec![std::process::id()];
    let mut told = Vec::new();
    let mut at = 0;
    while let Some(parent) = ours.get(at).copied() {
        for (pid, _, text) in all.iter().filter(|process| process.1 == parent) {
            ours.push(*pid);
            told.push(text.clone());
        }
        at += 1;
    }
    told
}

fn processes() -> Vec<(u32, u32, String)> {
    let ids =
        std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(stat).collect()
}

fn stat(pid: u32) -> Option<(u32, u32, String)> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let parent = text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
    let command = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default().replace('\0', " ");
    Some((pid, parent, format!("{} {command}", text.trim_end())))
}
