//! Running one shell line after another.

use std::collections::VecDeque;
use std::io;
use std::time::Instant;

use camino::Utf8Path;
use planex_core::text::{end_chars, strip_controls};
use planex_sys::fs::{self, MaskedLog};
use planex_sys::process::{CHUNK, Child, ChildSpec, Clean, Stdin, drain, next_bytes};
use tokio_util::sync::CancellationToken;

use super::{Check, CheckContext, Verdict};

/// Characters of the end of the output that are kept beside the verdict.
const TAIL_CHARS: usize = 3000;

/// Bytes of the end of the output that are kept in memory: enough for the characters and the colours between them.
const TAIL_BYTES: usize = 8 * TAIL_CHARS;

/// The shell of every command: the one that POSIX names, and not the user's, so that a line means the same on every
/// machine. A line for another shell says so itself (`bash -c '…'`).
///
/// The outer one only leads both outputs into one, in the order in which they are written. The line is handed over as an
/// argument and so stays exactly as approved.
const SHELL: [&str; 4] = ["/bin/sh", "-c", "exec /bin/sh -c \"$1\" 2>&1", "sh"];

/// Runs `commands` in their order, all of them, also after one that failed. The answer has one entry for each; those
/// that were not begun when `cancel` was set are [`Verdict::Interrupted`].
///
/// Nothing that a command started is left when its entry is there: what it leaves in the background is ended.
pub async fn run_checks(context: &CheckContext, commands: &[String], cancel: &CancellationToken) -> Vec<Check> {
    let mut checks = Vec::with_capacity(commands.len());
    for (at, command) in commands.iter().enumerate() {
        checks.push(run_check(context, at + 1, command, cancel).await);
    }
    checks
}

/// Runs one command. `number`, counted from 1, tells its log from those of others.
pub async fn run_check(context: &CheckContext, number: usize, command: &str, cancel: &CancellationToken) -> Check {
    let begun = Instant::now();
    let mut check = Check {
        command: command.to_owned(),
        verdict: Verdict::Interrupted,
        duration_s: 0.0,
        tail: String::new(),
        log: context.log(number),
        cut: false,
        notes: Vec::new(),
    };
    if cancel.is_cancelled() {
        return check;
    }
    if let Err(reason) = follow(context, number, &mut check, cancel).await {
        check.verdict = Verdict::could_not_run(reason);
    }
    check.duration_s = begun.elapsed().as_secs_f64();
    check
}

/// Starts the command and sees it through. An error says why it could not be run.
async fn follow(
    context: &CheckContext,
    number: usize,
    check: &mut Check,
    cancel: &CancellationToken,
) -> Result<(), String> {
    fs::create_dir_all(&context.logs).map_err(|error| error.to_string())?;
    let log = MaskedLog::create(&check.log, context.log_cap, &context.masker).map_err(|error| error.to_string())?;
    let spec = child_spec(context, &check.command, &check.log);
    let child = context.guardian.spawn(spec).await.map_err(|error| not_started(&error, &context.cwd))?;
    let ident = context.ident(number);
    let text = serde_json::to_vec(&child.ident).map_err(|error| error.to_string())?;
    // Not flushed: it means nothing after a power cut. Dropping the child ends it.
    fs::write_atomic_nosync(&ident, &text).map_err(|error| error.to_string())?;
    let mut output = Output { log, tail: VecDeque::new() };
    let (verdict, clean) = watch(child, &mut output, context, cancel).await;
    check.verdict = verdict;
    check.tail = output.finish();
    check.cut = output.log.left_out() > 0 || output.log.broken().is_some();
    if let Some(error) = output.log.broken() {
        check.notes.push(format!("the log is not complete: {error}"));
    }
    match clean {
        Clean::None => {
            if let Err(error) = fs::remove_file(&ident) {
                tracing::warn!("{error}");
            }
        }
        Clean::Left(left) => {
            let line = |process: &planex_sys::process::Proc| format!("{} {}", process.pid, process.command);
            let left: Vec<String> = left.iter().map(line).collect();
            check.notes.push(format!("processes could not be ended: {}", left.join(", ")));
        }
    }
    Ok(())
}

fn child_spec(context: &CheckContext, command: &str, log: &Utf8Path) -> ChildSpec {
    let mut env = context.environment.outside_a_run().into_vars();
    env.extend(context.env.iter().map(|(name, value)| (name.clone(), value.clone())));
    // By this a later planex knows the processes of a check, wherever they went.
    env.insert("PLANEX_CHECK_LOG".to_owned(), log.to_string());
    ChildSpec {
        argv: SHELL.into_iter().chain([command]).map(str::to_owned).collect(),
        env,
        cwd: context.cwd.clone(),
        stdin: Stdin::Null,
        hard_limit: (!context.limit.is_zero()).then_some(context.limit),
        grace: context.grace,
        label: log.to_string(),
    }
}

fn not_started(error: &io::Error, cwd: &Utf8Path) -> String {
    if fs::is_dir(cwd) { format!("it could not be started: {error}") } else { format!("{cwd} is no folder") }
}

/// Follows the child until nothing of it is left.
async fn watch(
    mut child: Child,
    output: &mut Output,
    context: &CheckContext,
    cancel: &CancellationToken,
) -> (Verdict, Clean) {
    let mut stream = std::mem::replace(&mut child.stdout, Box::new(tokio::io::empty()));
    let mut buffer = vec![0; CHUNK];
    let (mut open, mut ending, mut killed) = (true, false, false);
    let clean = loop {
        tokio::select! {
            clean = child.clean() => break clean,
            got = next_bytes(&mut stream, &mut buffer), if open => match got {
                Some(bytes) => output.take(bytes),
                None => open = false,
            },
            () = cancel.cancelled(), if !ending => {
                ending = true;
                child.terminate();
            }
            () = context.kill.cancelled(), if !killed => {
                (ending, killed) = (true, true);
                child.kill();
            }
        }
    };
    if open {
        drain(&mut stream, |bytes| output.take(bytes)).await;
    }
    let ended = child.wait().await;
    let verdict = match ended.exit {
        _ if ended.limit => Verdict::TimedOut,
        _ if ending => Verdict::Interrupted,
        exit => Verdict::of(exit),
    };
    (verdict, clean)
}

/// Where the output goes.
#[derive(Debug)]
struct Output {
    log: MaskedLog,
    /// The end of what was written to the log.
    tail: VecDeque<u8>,
}

impl Output {
    fn take(&mut self, bytes: &[u8]) {
        let masked = self.log.push(bytes);
        self.keep(&masked);
    }

    fn keep(&mut self, masked: &[u8]) {
        let from = masked.len().saturating_sub(TAIL_BYTES);
        self.tail.extend(masked.get(from..).unwrap_or_default());
        self.tail.drain(..self.tail.len().saturating_sub(TAIL_BYTES));
    }

    /// Closes the log, and gives the end of the output.
    fn finish(&mut self) -> String {
        let masked = self.log.finish();
        self.keep(&masked);
        let text = strip_controls(&String::from_utf8_lossy(self.tail.make_contiguous()));
        end_chars(text.trim_end(), TAIL_CHARS)
    }
}
