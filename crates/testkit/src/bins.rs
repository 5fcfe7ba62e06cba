//! Where programs are: the real agents, and the programs of this workspace that tests start.

use std::process::Command;
use std::sync::Mutex;
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};

use crate::env::must;

/// Where `cargo xtask agents` installs: `PLANEX_AGENTS_DIR`, else `.agents` at the top of the repository.
#[must_use]
pub fn agents_dir() -> Utf8PathBuf {
    match std::env::var("PLANEX_AGENTS_DIR") {
        Ok(path) if !path.is_empty() => path.into(),
        _ => repository().join(".agents"),
    }
}

/// The program of a real agent; `None`: it is not installed.
#[must_use]
pub fn find_agent(name: &str) -> Option<Utf8PathBuf> {
    let program = agents_dir().join(name).join("node_modules/.bin").join(name);
    program.exists().then_some(program)
}

/// The program of a real agent that must be there: tests with codex and claude never skip themselves.
///
/// # Panics
/// When it is not installed.
#[must_use]
#[expect(clippy::panic, reason = "a test that skipped itself without a word would prove nothing")]
pub fn require_agent(name: &str) -> Utf8PathBuf {
    find_agent(name).unwrap_or_else(|| panic!("{name} is not in {}: run `cargo xtask agents`", agents_dir()))
}

/// The program `planex-scripted-agent`, see [`crate::scripted`].
///
/// # Panics
/// When it cannot be built.
#[must_use]
pub fn scripted_agent() -> Utf8PathBuf {
    workspace_bin("planex-testkit", "planex-scripted-agent")
}

/// A program of this workspace, built if it is not there or older than its package's sources.
///
/// Cargo tells tests the path of their own package's programs only; this is for those of other packages.
///
/// # Panics
/// When it cannot be built.
#[must_use]
pub fn workspace_bin(package: &str, bin: &str) -> Utf8PathBuf {
    static BUILDING: Mutex<()> = Mutex::new(());
    let _one = BUILDING.lock();
    let target = target_dir();
    let path = target.join(format!("{bin}{}", std::env::consts::EXE_SUFFIX));
    // This package uses no other; every other one may be built of all.
    let folder = if package == env!("CARGO_PKG_NAME") { "crates/testkit" } else { "crates" };
    let sources = repository().join(folder);
    let built = path.metadata().and_then(|meta| meta.modified()).ok();
    if built.is_none_or(|built| newest(&sources).is_some_and(|changed| changed > built)) {
        build(package, bin, &target);
        // Cargo leaves the time of a program alone that it finds good as it is; the next test need not ask again.
        if let Ok(file) = std::fs::File::options().append(true).open(&path) {
            let _ = file.set_modified(SystemTime::now());
        }
    }
    path
}

#[expect(clippy::panic, reason = "a room for tests: without the program the test cannot go on")]
fn build(package: &str, bin: &str, target: &Utf8Path) {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(repository()).args(["build", "--quiet", "--package", package, "--bin", bin]);
    if let Some(folder) = target.parent() {
        cargo.args(["--target-dir", folder.as_str()]);
    }
    if target.file_name() == Some("release") {
        cargo.arg("--release");
    }
    let output = must("start cargo", cargo.output());
    if !output.status.success() {
        panic!("cannot build {bin}:\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// The folder that the running test was built into, without `deps`.
fn target_dir() -> Utf8PathBuf {
    let exe = must("find the running program", std::env::current_exe());
    let exe = must("use its path", Utf8PathBuf::try_from(exe));
    let folders = exe.ancestors().skip(1);
    // Programs are in target/debug, tests in target/debug/deps, documentation tests in a folder elsewhere.
    let found = folders.clone().find(|folder| folder.join("deps").is_dir());
    found.map_or_else(|| repository().join("target/debug"), Utf8Path::to_owned)
}

fn repository() -> Utf8PathBuf {
    let here = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

fn newest(folder: &Utf8Path) -> Option<SystemTime> {
    let mut newest = None;
    for entry in folder.read_dir_utf8().ok()?.flatten() {
        let name = entry.file_name();
        let time = match entry.file_type() {
            Ok(kind) if kind.is_dir() && name != "tests" => self::newest(entry.path()),
            Ok(kind) if kind.is_file() => entry.metadata().and_then(|meta| meta.modified()).ok(),
            _ => None,
        };
        newest = newest.max(time);
    }
    newest
}
