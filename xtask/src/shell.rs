//! Where the repository is, how chores speak and how they start programs.

use std::ffi::OsStr;
use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use camino::{Utf8Path, Utf8PathBuf};

/// Prints one line to standard error, where it stays in order with what cargo says.
pub(crate) fn say(line: &str) {
    // A closed standard error is no reason to stop a chore.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The repository's top folder.
pub(crate) fn root() -> Utf8PathBuf {
    let here = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// A command in the repository's top folder, without standard input.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// The cargo that runs this chore.
pub(crate) fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a command with its output shown; anything but success is an error.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let shown = show(command);
    say(&format!("$ {shown}"));
    let status = command.status().with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed: {status}");
    }
    Ok(())
}

/// Runs a command and returns what it printed; its standard error is part of the error.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let shown = show(command);
    let output = command.output().with_context(|| format!("cannot start `{shown}`"))?;
    if !output.status.success() {
        let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(20).collect();
        bail!("`{shown}` failed: {}\n{}", output.status, lines.join("\n"));
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{shown}` did not print UTF-8"))
}

/// Whether a program can be started at all.
pub(crate) fn exists(program: &str) -> bool {
    let mut probe = command(program);
    probe.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok()
}

fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
