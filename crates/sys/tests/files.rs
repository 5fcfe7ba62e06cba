//! Files and locks between processes, under `kill -9`, and on a disk that is full or read-only.
//!
//! Parts that must be a process of their own are tests too: this program starts itself for one of them by name, with
//! [`ROLE`] set; without it they do nothing.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests stand outside of test functions here")]

use std::io::{BufRead as _, BufReader, ErrorKind};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use planex_sys::fs::{self, AppendLog, CappedLog};
use planex_sys::lock::{Holder, LockError, SessionLock};

const ROLE: &str = "PLANEX_TEST_FOLDER";

fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(temp.path().to_owned()).unwrap();
    (temp, path)
}

/// The folder that a part works in, if this process is to play it.
fn role() -> Option<Utf8PathBuf> {
    std::env::var(ROLE).ok().map(Utf8PathBuf::from)
}

fn part(name: &str, dir: &Utf8Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture"]).env(ROLE, dir).stdin(Stdio::null());
    command
}

fn start(name: &str, dir: &Utf8Path) -> Child {
    part(name, dir).stdout(Stdio::piped()).spawn().unwrap()
}

/// Waits until the part has printed this line.
fn wait_for_line(child: &mut Child, line: &str) {
    let reader = BufReader::new(child.stdout.as_mut().unwrap());
    assert!(reader.lines().any(|seen| seen.unwrap().ends_with(line)), "{line} never came");
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn holder(command: &str) -> Holder {
    let since = planex_sys::clock::now();
    Holder { pid: std::process::id(), host: planex_sys::program::host_name(), command: command.to_owned(), since }
}

#[test]
fn part_hold_the_lock() {
    let Some(dir) = role() else { return };
    let _lock = SessionLock::acquire(&dir.join("lock"), &holder("planex waves \"x\"")).unwrap();
    println!("\nheld");
    thread::sleep(Duration::from_secs(600));
}

#[test]
fn a_lock_ends_with_its_process() {
    let (_temp, dir) = folder();
    let path = dir.join("lock");
    let mut other = start("part_hold_the_lock", &dir);
    wait_for_line(&mut other, "held");
    let error = SessionLock::acquire(&path, &holder("planex resume")).unwrap_err();
    let LockError::Held { holder: Some(who), .. } = error else { panic!("{error}") };
    assert_eq!((who.pid, who.command.as_str()), (other.id(), "planex waves \"x\""));
    assert_eq!(SessionLock::holder(&path).unwrap(), Some(Some(who)));
    end(other);
    assert_eq!(SessionLock::holder(&path).unwrap(), None);
    SessionLock::acquire(&path, &holder("planex resume")).unwrap().check().unwrap();
}

const SIZE: usize = 300_000;

#[test]
fn part_replace_for_ever() {
    let Some(dir) = role() else { return };
    for letter in (b'a'..=b'z').cycle() {
        fs::write_atomic_nosync(&dir.join("file"), &[letter; SIZE]).unwrap();
    }
}

#[test]
fn a_reader_never_sees_half_a_file() {
    let (_temp, dir) = folder();
    let path = dir.join("file");
    fs::write_atomic(&path, &[b'0'; SIZE]).unwrap();
    let whole = || {
        let bytes = fs::read(&path).unwrap();
        assert_eq!(bytes.len(), SIZE);
        assert!(bytes.iter().all(|byte| *byte == bytes[0]));
        bytes[0]
    };
    let mut seen = std::collections::BTreeSet::new();
    for turn in 0..12_u64 {
        let writer = start("part_replace_for_ever", &dir);
        while whole() == b'0' {}
        for _ in 0..turn * 5 {
            seen.insert(whole());
        }
        thread::sleep(Duration::from_micros(turn * 137));
        end(writer);
        seen.insert(whole());
    }
    assert!(seen.len() > 3, "the writer was really seen at work: {seen:?}");
    fs::remove_temporaries(&dir).unwrap();
    assert_eq!(fs::list(&dir).unwrap().len(), 1);
}

#[test]
fn part_append_lines() {
    let Some(dir) = role() else { return };
    for turn in 0..400 {
        let line = format!("{} {turn} {}", std::process::id(), "x".repeat(turn));
        fs::append_line(&dir.join("log"), &line).unwrap();
    }
}

#[test]
fn lines_of_several_processes_do_not_mix() {
    let (_temp, dir) = folder();
    let writers: Vec<Child> = (0..4).map(|_| start("part_append_lines", &dir)).collect();
    let ids: Vec<u32> = writers.iter().map(Child::id).collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let text = fs::read_to_string(&dir.join("log")).unwrap();
    for id in ids {
        let own = text.lines().filter_map(|line| line.strip_prefix(&format!("{id} "))).collect::<Vec<_>>();
        let want: Vec<String> = (0..400).map(|turn| format!("{turn} {}", "x".repeat(turn))).collect();
        assert_eq!(own, want);
    }
}

/// Runs a part in a mount namespace of its own, on a file system of 1 MiB.
#[cfg(target_os = "linux")]
fn on_a_small_disk(name: &str) {
    let (_temp, dir) = folder();
    let flags = if rustix::process::geteuid().is_root() { "-m" } else { "-Urm" };
    let mount = "mount -t tmpfs -o size=1m none \"$PLANEX_TEST_FOLDER\"";
    let namespace = |script: &str| {
        let mut command = Command::new("unshare");
        command.args([flags, "sh", "-c", script, "sh"]).arg(std::env::current_exe().unwrap());
        command.args([name, "--exact", "--nocapture"]).env(ROLE, &dir);
        command
    };
    if !namespace(mount).output().is_ok_and(|output| output.status.success()) {
        println!("{name}: left out, no file system can be mounted here");
        return;
    }
    let output = namespace(&format!("{mount} && exec \"$@\"")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("part done"), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn part_full_disk() {
    let Some(dir) = role() else { return };
    let (file, log, filler) = (dir.join("file"), dir.join("log"), dir.join("filler"));
    fs::write_atomic(&file, &[b'o'; 100_000]).unwrap();
    let error = fs::write_atomic(&file, &[b'n'; 2 << 20]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    assert!(error.to_string().starts_with(&format!("failed to write {file}: ")), "{error}");
    assert_eq!(fs::read(&file).unwrap(), [b'o'; 100_000], "the old file is whole");
    assert_eq!(fs::list(&dir).unwrap().len(), 1, "and alone");

    fs::append_line(&log, "first").unwrap();
    let mut journal = AppendLog::open(&dir.join("journal")).unwrap();
    journal.append("one").unwrap();
    journal.sync().unwrap();
    // Fills what is left to the last byte.
    assert!(std::fs::write(&filler, vec![0; 2 << 20]).is_err());
    let long = "x".repeat(50_000);
    assert!(fs::append_line(&log, &long).is_err());
    journal.append(&long).unwrap();
    assert_eq!(journal.sync().unwrap_err().kind(), ErrorKind::StorageFull);
    let mut capped = CappedLog::create(&dir.join("out"), 1 << 30).unwrap();
    assert!(capped.write(&[0; 1 << 20]).is_err());
    drop(capped);

    fs::remove_file(&filler).unwrap();
    fs::remove_file(&dir.join("out")).unwrap();
    journal.append("three").unwrap();
    journal.sync().unwrap();
    assert_eq!(fs::read_to_string(&dir.join("journal")).unwrap(), format!("one\n{long}\nthree\n"), "nothing is lost");
    fs::append_line(&log, "last").unwrap();
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.starts_with("first\n") && text.ends_with("\nlast\n"), "the torn line is closed");
    println!("part done");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_files_whole() {
    on_a_small_disk("part_full_disk");
}

#[cfg(target_os = "linux")]
#[test]
fn part_read_only() {
    let Some(dir) = role() else { return };
    let file = dir.join("file");
    fs::write_atomic(&file, b"old").unwrap();
    let lock = SessionLock::acquire(&dir.join("lock"), &holder("x")).unwrap();
    drop(lock);
    assert!(Command::new("mount").args(["-o", "remount,ro", dir.as_str()]).status().unwrap().success());
    let error = fs::write_atomic(&file, b"new").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnlyFilesystem);
    assert_eq!(fs::read(&file).unwrap(), b"old");
    assert!(fs::append_line(&dir.join("log"), "x").is_err());
    assert!(fs::remove_file(&file).is_err());
    assert!(fs::create_dir_all(&dir.join("a/b")).is_err());
    assert!(matches!(SessionLock::acquire(&dir.join("lock"), &holder("x")), Err(LockError::Path(_))));
    assert_eq!(SessionLock::holder(&dir.join("lock")).unwrap(), None);
    println!("part done");
}

#[cfg(target_os = "linux")]
#[test]
fn a_read_only_folder_is_a_clear_error() {
    on_a_small_disk("part_read_only");
}
