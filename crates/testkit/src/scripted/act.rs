//! Carrying out actions.

use std::fs;
use std::io::{self, Write as _};
use std::process::Command;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use serde_json::{Value, json};

use super::context::Context;
use super::format::{Action, Stream};
use super::{mcp, process};

/// Exit code of an agent whose file or command was not as the script expected.
const FAILED: u8 = 4;

/// Carries out one action. `Some`: the agent ends with this code.
pub(super) fn perform(action: &Action, context: &Context) -> Result<Option<u8>, String> {
    match action {
        Action::Reply(value) => say(&context.fill_value(value).to_string()),
        Action::Completed => say(&completed(context).to_string()),
        Action::Fenced(value) => say(&format!("Here it is:\n\n```json\n{:#}\n```", context.fill_value(value))),
        Action::Prose(value) => say(&format!("I did {{most}} of it: {} as asked.", context.fill_value(value))),
        Action::Say(text) => say(&context.fill(text)),
        Action::SayErr(text) => to_stderr(format!("{}\n", context.fill(text)).as_bytes()),
        Action::ResultFile(value) => write_result(context, &context.fill_value(value).to_string())?,
        Action::ResultText(text) => write_result(context, &context.fill(text))?,
        Action::Report(value) => {
            let line = json!({ "ts": "2026-01-02T03:04:05Z", "result": context.fill_value(value), "stop": false });
            append(&context.path("{run_dir}/reports.ndjson"), &format!("{line}\n"))?;
        }
        Action::AppendLine { path, value } => {
            append(&context.path(path), &format!("{}\n", context.fill_value(value)))?;
        }
        Action::Mcp { command, tool, args } => {
            let command: Vec<String> = command.iter().map(|word| context.fill(word)).collect();
            say(&mcp::call(&command, &context.fill(tool), &context.fill_value(args))?.to_string());
        }
        Action::SleepMs(time) => std::thread::sleep(Duration::from_millis(*time)),
        Action::BusyMs(time) => busy(Duration::from_millis(*time)),
        Action::Hang => loop {
            std::thread::park();
        },
        Action::IgnoreTerm => process::ignore_term()?,
        Action::Spawn(spawn) => process::leave_behind(spawn, context)?,
        Action::Flood { bytes, to, lines } => flood(*bytes, *to, *lines),
        Action::InvalidUtf8 => to_stdout(b"\xff\xfe\x80 not UTF-8 \xc3\x28\n"),
        Action::Write { path, content } => write(&context.path(path), &context.fill(content))?,
        Action::Append { path, content } => append(&context.path(path), &context.fill(content))?,
        Action::Edit { path, old, new } => return edit(&context.path(path), &context.fill(old), &context.fill(new)),
        Action::Delete(path) => {
            let path = context.path(path);
            fs::remove_file(&path).map_err(|error| format!("{path}: {error}"))?;
        }
        Action::Touch(path) => write(&context.path(path), "")?,
        Action::WaitFor(path) => wait_for(&context.path(path))?,
        Action::Run(words) => return run(words, context),
        Action::RateLimit { times, message } => return Ok(rate_limit(*times, message.as_deref(), context)),
        Action::AuthFailure => {
            to_stderr(b"Error: 401 Unauthorized: not logged in, please run login\n");
            return Ok(Some(1));
        }
        Action::Exit(code) => return Ok(Some(*code)),
    }
    Ok(None)
}

/// The result of a job that went well.
fn completed(context: &Context) -> Value {
    let (id, findings) = (&context.id, format!("{} of {} went well", context.role, context.id));
    if context.role == "explore" {
        json!({ "id": id, "status": "completed", "findings": findings, "key_files": [], "error": "" })
    } else {
        json!({ "id": id, "status": "completed", "findings": findings, "files_modified": [], "tests_passed": true,
                "acceptance_met": "all met", "error": "" })
    }
}

fn say(text: &str) {
    to_stdout(format!("{text}\n").as_bytes());
}

/// A reader that has gone away is planex's right: the agent goes on.
fn to_stdout(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

pub(super) fn to_stderr(bytes: &[u8]) {
    let _ = io::stderr().lock().write_all(bytes);
}

fn flood(bytes: u64, to: Stream, lines: bool) {
    // A multiple of the lines' length, so that lines go on over blocks.
    let mut block = vec![b'x'; 64_000];
    if lines {
        block.iter_mut().skip(99).step_by(100).for_each(|byte| *byte = b'\n');
    }
    let mut left = bytes;
    while left > 0 {
        let size = usize::try_from(left).unwrap_or(usize::MAX).min(block.len());
        let sent = match to {
            Stream::Stdout => io::stdout().lock().write_all(&block[..size]),
            Stream::Stderr => io::stderr().lock().write_all(&block[..size]),
        };
        if sent.is_err() {
            return;
        }
        left -= u64::try_from(size).unwrap_or(left);
    }
    let _ = io::stdout().lock().flush();
}

fn busy(time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

fn write_result(context: &Context, text: &str) -> Result<(), String> {
    let file = context.result_file.as_deref().ok_or("PLANEX_RESULT_FILE is not set")?;
    write(file, text)
}

fn write(file: &Utf8Path, text: &str) -> Result<(), String> {
    let made = file.parent().map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(file, text)).map_err(|error| format!("{file}: {error}"))
}

fn append(file: &Utf8Path, text: &str) -> Result<(), String> {
    let mut options = fs::OpenOptions::new();
    let made = file.parent().map_or(Ok(()), fs::create_dir_all);
    let opened = made.and_then(|()| options.append(true).create(true).open(file));
    opened.and_then(|mut open| open.write_all(text.as_bytes())).map_err(|error| format!("{file}: {error}"))
}

fn edit(file: &Utf8Path, old: &str, new: &str) -> Result<Option<u8>, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    if !text.contains(old) {
        to_stderr(format!("{file} does not contain {old:?}\n").as_bytes());
        return Ok(Some(FAILED));
    }
    write(file, &text.replacen(old, new, 1)).map(|()| None)
}

fn wait_for(file: &Utf8Path) -> Result<(), String> {
    let end = Instant::now() + Duration::from_secs(30);
    while !file.exists() {
        if Instant::now() > end {
            return Err(format!("{file} did not appear"));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

fn run(words: &[String], context: &Context) -> Result<Option<u8>, String> {
    let words: Vec<String> = words.iter().map(|word| context.fill(word)).collect();
    let (program, args) = words.split_first().ok_or("`run` without a program")?;
    let status = Command::new(program).args(args).status().map_err(|error| format!("{program}: {error}"))?;
    Ok((!status.success()).then_some(FAILED))
}

fn rate_limit(times: u32, message: Option<&str>, context: &Context) -> Option<u8> {
    if context.attempt > times {
        return None;
    }
    let message = message.unwrap_or("Error: 429 Too Many Requests: rate limit reached, try again in 1s");
    to_stderr(format!("{}\n", context.fill(message)).as_bytes());
    Some(1)
}
