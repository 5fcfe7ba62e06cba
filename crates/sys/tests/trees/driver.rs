//! What stands in planex's place: starts one job per kind of runaway, and ends as the scenario says.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use planex_core::job::Exit;
use planex_sys::fs;
use planex_sys::process::{Child, ChildSpec, Clean, Guardian, Ident, Stdin};
use tokio::io::AsyncReadExt as _;

use crate::runaway::KINDS;

pub(crate) const GRACE: Duration = Duration::from_millis(200);

/// Limit of the jobs that have one: long enough that all runaways have run away before it.
const LIMIT: Duration = Duration::from_millis(2500);

pub(crate) fn run(scenario: &str, dir: &str) {
    let dir = Utf8Path::new(dir);
    let guardian = Guardian::start(None).unwrap();
    fs::write_atomic(&dir.join("guardian"), guardian.pid().to_string().as_bytes()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let problems = runtime.block_on(async {
        match scenario {
            "race" => race(&guardian, dir).await,
            "flood" => flood(&guardian, dir).await,
            "one-limit" => one_limit(&guardian, dir).await,
            _ => all_kinds(&guardian, scenario, dir).await,
        }
    });
    fs::write_atomic(&dir.join("result"), problems.as_bytes()).unwrap();
    // As planex ends: without waiting for what tasks it may have left.
    std::process::exit(0);
}

fn spec(kind: &str, dir: &Utf8Path, hard_limit: Option<Duration>) -> ChildSpec {
    let exe = std::env::current_exe().unwrap().into_os_string().into_string().unwrap();
    let path = std::env::var("PATH").unwrap();
    let mark = dir.join(format!("{kind}.result")).into_string();
    ChildSpec {
        argv: [exe, "runaway".to_owned(), kind.to_owned(), notes(kind, dir).into_string()].to_vec(),
        env: BTreeMap::from([("PATH".to_owned(), path), ("PLANEX_RESULT_FILE".to_owned(), mark)]),
        cwd: "/".into(),
        stdin: Stdin::Null,
        hard_limit,
        grace: GRACE,
        label: kind.to_owned(),
    }
}

pub(crate) fn notes(kind: &str, dir: &Utf8Path) -> Utf8PathBuf {
    dir.join(format!("{kind}.notes"))
}

/// Whether a pid namespace can be had here; where not, that runaway is left out.
pub(crate) fn kinds() -> Vec<(&'static str, usize)> {
    let flag = if rustix::process::geteuid().is_root() { "-pf" } else { "-Urpf" };
    let can = std::process::Command::new("unshare").args([flag, "true"]).output().is_ok_and(|o| o.status.success());
    KINDS.into_iter().filter(|(kind, _)| can || *kind != "pid-namespace").collect()
}

async fn start_all(guardian: &Guardian, dir: &Utf8Path, limit: impl Fn(&str) -> Option<Duration>) -> Vec<Child> {
    let mut children = Vec::new();
    for (kind, _) in kinds() {
        children.push(guardian.spawn(spec(kind, dir, limit(kind))).await.unwrap());
    }
    let idents: Vec<&Ident> = children.iter().map(|child| &child.ident).collect();
    fs::write_atomic(&dir.join("idents"), &serde_json::to_vec(&idents).unwrap()).unwrap();
    for (kind, count) in kinds() {
        while pids(kind, dir).len() < count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    fs::write_atomic(&dir.join("ready"), b"").unwrap();
    children
}

fn pids(kind: &str, dir: &Utf8Path) -> Vec<u32> {
    let text = std::fs::read_to_string(notes(kind, dir)).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Living processes of the kind; a zombie with threads lives.
fn alive(kind: &str, dir: &Utf8Path) -> Vec<u32> {
    let lives = |pid: &u32| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields: Vec<&str> = text.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
        fields.first().is_some_and(|state| *state != "Z" || fields.get(17).is_some_and(|threads| *threads != "1"))
    };
    pids(kind, dir).into_iter().filter(lives).collect()
}

async fn all_kinds(guardian: &Guardian, scenario: &str, dir: &Utf8Path) -> String {
    let limit = (scenario == "limit").then_some(LIMIT);
    let children = start_all(guardian, dir, |_| limit).await;
    if scenario == "stop-keeper-cancel" {
        for child in &children {
            stop(child.ident.keeper.pid);
        }
    }
    if scenario == "drop" {
        drop(children);
        return wait_until_gone(dir).await;
    }
    let mut problems = String::new();
    let mut ends = Vec::new();
    for (child, (kind, _)) in children.into_iter().zip(kinds()) {
        match scenario {
            "cancel" | "stop-keeper-cancel" => child.terminate(),
            "kill" => child.kill(),
            // The others are ended from outside, or by their limit.
            _ => {}
        }
        ends.push((kind, tokio::spawn(end(child))));
    }
    for (kind, end) in ends {
        let (exit, limit, clean) = end.await.unwrap();
        let left = alive(kind, dir);
        let right = match scenario {
            "limit" => limit && matches!(exit, Exit::Signal(15 | 9)),
            "cancel" => exit == Exit::Signal(15),
            "kill" => exit == Exit::Signal(9),
            _ => exit == Exit::Lost,
        };
        if !right || clean != Clean::None || !left.is_empty() {
            writeln!(problems, "{kind}: {exit:?} limit={limit} {clean:?}, alive {left:?}").unwrap();
        }
    }
    problems
}

async fn end(mut child: Child) -> (Exit, bool, Clean) {
    let ended = child.wait().await;
    let clean = child.clean().await;
    (ended.exit, ended.limit, clean)
}

fn stop(pid: u32) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
}

async fn wait_until_gone(dir: &Utf8Path) -> String {
    let until = Instant::now() + Duration::from_secs(10);
    let left = || kinds().into_iter().flat_map(|(kind, _)| alive(kind, dir)).collect::<Vec<_>>();
    while Instant::now() < until && !left().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    if left().is_empty() { String::new() } else { format!("alive: {:?}", left()) }
}

/// The limit of one job ends exactly that one.
async fn one_limit(guardian: &Guardian, dir: &Utf8Path) -> String {
    let mut children = start_all(guardian, dir, |kind| (kind == "all-at-once").then_some(LIMIT)).await;
    let at = kinds().iter().position(|(kind, _)| *kind == "all-at-once").unwrap();
    let (_, _, clean) = end(children.remove(at)).await;
    let mut problems = String::new();
    if clean != Clean::None || !alive("all-at-once", dir).is_empty() {
        writeln!(problems, "the job itself: {clean:?}").unwrap();
    }
    for (kind, count) in kinds().into_iter().filter(|(kind, _)| *kind != "all-at-once") {
        if alive(kind, dir).len() != count {
            writeln!(problems, "{kind}: {:?} of {count} live", alive(kind, dir)).unwrap();
        }
    }
    problems
}

/// Jobs start as fast as they can until the driver is killed.
async fn race(guardian: &Guardian, dir: &Utf8Path) -> String {
    fs::write_atomic(&dir.join("ready"), b"").unwrap();
    loop {
        let starts = (0..8).map(|_| guardian.spawn(spec("setsid", dir, None)));
        for start in starts.collect::<Vec<_>>() {
            if let Ok(child) = start.await {
                std::mem::forget(child);
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Any amount of output in bounded memory and a bounded file.
async fn flood(guardian: &Guardian, dir: &Utf8Path) -> String {
    const CAP: u64 = 4 << 20;
    const BYTES: u64 = 200 << 20;
    let mut child = guardian.spawn(spec(&format!("flood:{BYTES}"), dir, None)).await.unwrap();
    let mut log = fs::CappedLog::create(&dir.join("log"), CAP).unwrap();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match child.stdout.read(&mut buffer).await.unwrap() {
            0 => break,
            count => log.write(&buffer[..count]).unwrap(),
        }
    }
    let summary = log.finish().unwrap();
    let exit = child.wait().await.exit;
    let length = fs::metadata(&dir.join("log")).unwrap().len();
    let status = fs::read_to_string("/proc/self/status".into()).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
    let peak: u64 = peak.unwrap();
    println!("  flood: {} MiB through, peak of the reader {} MiB", BYTES >> 20, peak >> 10);
    let right = exit == Exit::Code(0) && summary.total == BYTES && length < CAP + 200 && peak < 64 * 1024;
    if right { String::new() } else { format!("{exit:?} {summary:?}, log {length}, peak {peak} kB") }
}
