//! Processes that do not want to go.
//!
//! The process left behind is this program again, started with `--child=…`: it detaches *itself*, so that no code has
//! to run between fork and exec.

use std::env;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::context::Context;
use super::format::{Spawn, SpawnKind};

/// Starts a process that outlives the agent, and waits until it is what it should be.
pub(super) fn leave_behind(spawn: &Spawn, context: &Context) -> Result<(), String> {
    let pid_file = match &spawn.pid_file {
        Some(path) => context.path(path),
        None => context.path(&format!(".scripted-{}.pid", std::process::id())),
    };
    // One from an earlier run would end the wait too early.
    let _ = fs::remove_file(&pid_file);
    let order = json!({
        "kind": spawn.kind, "sleep_ms": spawn.sleep_ms, "ignore_term": spawn.ignore_term,
        "hold_output": spawn.hold_output, "pid_file": pid_file,
        "beat_file": spawn.beat_file.as_ref().map(|path| context.path(path)),
    });
    start(&order, spawn.hold_output)?;
    let end = Instant::now() + Duration::from_secs(10);
    while fs::read_to_string(&pid_file).unwrap_or_default().is_empty() {
        if Instant::now() > end {
            return Err("the child did not come up".to_owned());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    if spawn.pid_file.is_none() {
        let _ = fs::remove_file(&pid_file);
    }
    Ok(())
}

/// The child's whole life.
pub(super) fn live(order: &str) -> Result<u8, String> {
    let mut order: Value = serde_json::from_str(order).map_err(|error| error.to_string())?;
    let kind: SpawnKind = serde_json::from_value(order["kind"].clone()).map_err(|error| error.to_string())?;
    match kind {
        SpawnKind::Child => {}
        SpawnKind::Setsid => new_session()?,
        SpawnKind::DoubleFork => {
            new_session()?;
            order["kind"] = json!(SpawnKind::Child);
            start(&order, order["hold_output"] == true)?;
            return Ok(0);
        }
    }
    if order["ignore_term"] == true {
        ignore_term()?;
    }
    if let Some(file) = order["pid_file"].as_str() {
        let fresh = format!("{file}.new");
        let written = fs::write(&fresh, std::process::id().to_string()).and_then(|()| fs::rename(&fresh, file));
        written.map_err(|error| format!("{file}: {error}"))?;
    }
    let end = Instant::now() + Duration::from_millis(order["sleep_ms"].as_u64().unwrap_or_default());
    let beat = order["beat_file"].as_str();
    while Instant::now() < end {
        if let Some(file) = beat {
            let opened = fs::OpenOptions::new().append(true).create(true).open(file);
            // The folder may be gone with its test.
            let _ = opened.and_then(|mut open| open.write_all(b"alive\n"));
        }
        std::thread::sleep(Duration::from_millis(20).min(end.saturating_duration_since(Instant::now())));
    }
    Ok(0)
}

fn start(order: &Value, hold_output: bool) -> Result<(), String> {
    let this = env::current_exe().map_err(|error| error.to_string())?;
    let output = || if hold_output { Stdio::inherit() } else { Stdio::null() };
    let mut command = Command::new(this);
    command.arg(format!("--child={order}")).stdin(Stdio::null()).stdout(output()).stderr(output());
    // Not waited for: that is the point.
    command.spawn().map(drop).map_err(|error| error.to_string())
}

#[cfg(unix)]
fn new_session() -> Result<(), String> {
    rustix::process::setsid().map(drop).map_err(|error| error.to_string())
}

#[cfg(not(unix))]
fn new_session() -> Result<(), String> {
    Ok(())
}

/// Signals that ask for an end do nothing from here on.
#[cfg(unix)]
pub(super) fn ignore_term() -> Result<(), String> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let _inside = runtime.enter();
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        // The handler stays for the life of the process, also after the listener and its runtime are gone.
        signal(kind).map(drop).map_err(|error| error.to_string())?;
    }
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn ignore_term() -> Result<(), String> {
    Ok(())
}
