//! `planex logs`.

use std::time::Duration;

use planex_core::text::safe;
use planex_engine::journal::Tail;
use planex_engine::registry;
use planex_engine::session::{self, Found, SessionStatus};

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::setup::{Setup, shown};
use crate::ui::lines::Teller;
use crate::ui::{Ui, Verbosity};

/// Show what happened in a session, or the log of one task's agent
#[derive(Debug, clap::Args)]
pub(crate) struct LogsArgs {
    /// Its id, a part of it, or words in it
    pub(crate) session: String,
    /// Id of a task, row or run: its agent's own output
    pub(crate) task: Option<String>,
    /// Go on showing what comes
    #[arg(short, long)]
    pub(crate) follow: bool,
}

/// How often a followed file is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// Most bytes of an agent's log that are shown; the path is said for the rest.
const MOST: u64 = 1024 * 1024;

/// Runs the command.
pub(crate) fn run(args: &LogsArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    let setup = Setup::read(context)?;
    let found = session::find(&setup.project.root, &args.session, None)?;
    match &args.task {
        None => journal(&found, args.follow, &setup, ui),
        Some(task) => run_log(&found, task, args.follow, context, ui),
    }
}

fn journal(found: &Found, follow: bool, setup: &Setup, ui: &mut Ui) -> Result<Exit> {
    let mut tail = Tail::new(found.paths().journal());
    let mut teller = Teller::new(setup.settings().lang, ui.verbosity().max(Verbosity::Normal));
    loop {
        for event in tail.poll()? {
            if ui.is_json() {
                ui.json_line(&event);
            } else if let Some(line) = teller.line(&event.kind) {
                ui.result(format_args!("{}  {}", clock_of(&event.ts), line.text));
            }
        }
        let goes_on = follow && matches!(session::summary_of(found).status, SessionStatus::Running(_));
        if !goes_on || ui.is_in_vain() {
            return Ok(Exit::Done);
        }
        std::thread::sleep(LOOK);
    }
}

/// `10:00:00` of `2026-02-28T10:00:00.123+08:00`.
fn clock_of(stamp: &str) -> String {
    let time = stamp.split_once('T').map_or(stamp, |(_, time)| time);
    time.chars().take(8).collect()
}

fn run_log(found: &Found, task: &str, follow: bool, context: &Context, ui: &mut Ui) -> Result<Exit> {
    let runs = registry::runs(&found.paths())?;
    let fits = |run: &&registry::Run| {
        run.id == task || run.record.as_ref().is_some_and(|record| record.item.as_deref() == Some(task))
    };
    // The newest attempt.
    let Some(run) = runs.iter().filter(fits).max_by_key(|run| run.record.as_ref().map(|record| record.attempt)) else {
        let known: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
        return Err(CliError::usage(format!("{} has no run of `{}`", found.id, planex_core::text::one_line(task)))
            .faults(known));
    };
    let logs: Vec<_> = planex_sys::fs::list(run.paths.dir())?
        .into_iter()
        .filter(|entry| entry.name.ends_with(".log"))
        .map(|entry| entry.path)
        .collect();
    ui.status(format_args!("{}: {}", run.id, shown(run.paths.dir(), &context.dir)));
    let mut offsets: Vec<u64> = Vec::new();
    for path in &logs {
        let bytes = planex_sys::fs::read_tail(path, MOST)?;
        ui.result(safe(&String::from_utf8_lossy(&bytes)).trim_end());
        offsets.push(planex_sys::fs::metadata(path)?.len());
    }
    while follow && !ui.is_in_vain() && registry::load_outcome(run.paths.dir())?.is_none() {
        std::thread::sleep(LOOK);
        for (path, offset) in logs.iter().zip(&mut offsets) {
            let size = planex_sys::fs::metadata(path)?.len();
            if size > *offset {
                let new = planex_sys::fs::read_tail(path, size - *offset)?;
                *offset = size;
                ui.result(safe(&String::from_utf8_lossy(&new)).trim_end());
            }
        }
        if !matches!(session::summary_of(found).status, SessionStatus::Running(_)) {
            break;
        }
    }
    if let Some(outcome) = &run.outcome {
        let cause = outcome.cause.as_ref().map(|cause| format!(": {}", safe(&cause.to_string()))).unwrap_or_default();
        ui.status(format_args!("{:?}{cause}", outcome.status));
    }
    Ok(Exit::Done)
}
