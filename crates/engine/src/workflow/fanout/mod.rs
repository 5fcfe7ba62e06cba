//! `planex fanout`: one agent job per CSV row (spec 10, *fanout*).
//!
//! [`run`] checks everything first ([`input`]), keeps copies of what it was given ([`copies`]), then drives the rows
//! through the dispatcher ([`drive`]); each row's outcome is flushed before it counts, and the output CSV ([`output`]) is
//! whole and true at any moment. [`resume`] goes on where a session stopped, [`go_on`] (`--continue`) runs whatever is not
//! completed; which session that is, and whose an output is, says [`family`].

mod copies;
mod drive;
mod family;
mod input;
mod output;
mod prompt;
mod rows;

use camino::Utf8PathBuf;
use planex_core::gate::Gate;
use planex_core::id;
use planex_core::job::{Role, Usage};

pub use input::{FanoutOptions, Source};
use input::{Prepared, prepare};
pub use rows::row_ids;

use crate::engine::Engine;
use crate::error::Result;
use crate::session::{Counts, Found, Meta, Workflow};
use crate::workflow::frame;

/// How a fanout ended.
#[derive(Debug, Clone, PartialEq)]
pub struct FanoutReport {
    /// Its session.
    pub session: String,
    /// The session's folder.
    pub dir: Utf8PathBuf,
    /// The output CSV.
    pub output: Utf8PathBuf,
    /// Rows by status.
    pub counts: Counts,
    /// Rows that failed or were skipped: id and error.
    pub failures: Vec<(String, String)>,
    /// Tokens and cost of all workers.
    pub usage: Usage,
    /// Exit code of the command.
    pub exit: u8,
    /// `completed`, `failed`, `stopped`, `paused`, `waiting`, `cancelled`, `interrupted`.
    pub status: &'static str,
    /// The gate that is open (a used-up budget).
    pub gate: Option<Gate>,
    /// The command to go on with, where something is left.
    pub next: Option<String>,
}

/// What would run, without running it (`--dry-run`).
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// Ids and whole prompts, in order.
    pub prompts: Vec<(String, String)>,
    /// Where the results would go.
    pub output: Utf8PathBuf,
}

/// Checks everything and shows what would run.
///
/// # Errors
/// Faults of the input, all of them (exit 3).
pub fn preview(engine: &Engine, options: &FanoutOptions) -> Result<Preview> {
    let prepared = prepare(options, &input::read(options)?)?;
    let prompts =
        prepared.rows.iter().map(|row| (row.id.clone(), row_prompt(engine, options, &prepared, row))).collect();
    Ok(Preview { prompts, output: prepared.output })
}

/// Runs a new fanout.
///
/// # Errors
/// Faults of the input (exit 3, nothing was started), an output that something else wrote (exit 2), no usable agent (exit
/// 7), or the disk fails. Rows that fail are no errors: see [`FanoutReport::exit`].
pub async fn run(engine: &Engine, options: &FanoutOptions) -> Result<FanoutReport> {
    let bytes = input::read(options)?;
    let prepared = prepare(options, &bytes)?;
    family::guard_output(&engine.project.root, options, &prepared.output)?;
    let chain = engine.chain(Role::Job, options.mode, None).await?;
    let now = engine.now();
    let wished = id::fanout_session_id(input::stem(&options.input), engine.zone.date(now));
    let name = options.input.file_name().unwrap_or_default();
    let mut meta = Meta::new(Workflow::Fanout, wished, name, engine.zone.stamp(now));
    copies::remember(&mut meta, options, &prepared.output, copies::FIRST);
    let session = engine.create(meta)?;
    copies::save(&session, options, &bytes, copies::FIRST)?;
    drive::drive(engine, session, options, &prepared, &chain, drive::Taken::new()).await
}

/// Goes on where a session stopped, with its own copies of input, instruction and schema: rows that have an outcome keep
/// it. With `retry`, rows that failed or were skipped run again (an empty list: all of them). With `reopen`, also a
/// session that was cancelled.
///
/// # Errors
/// As [`run`]; also when another process drives the session, or a row to retry is unknown (exit 2).
pub async fn resume(engine: &Engine, found: &Found, retry: Option<&[String]>, reopen: bool) -> Result<FanoutReport> {
    let session = frame::take_up(engine, found, &engine.command, reopen)?;
    let copy = copies::load(&session)?;
    let prepared = prepare(&copy.options, &copy.input)?;
    let chain = engine.chain(Role::Job, copy.options.mode, None).await?;
    if let Some(retry) = retry {
        rows::require(&prepared, retry)?;
        rows::set_back(&session, &prepared, retry)?;
    }
    session.save()?;
    drive::drive(engine, session, &copy.options, &prepared, &chain, drive::Taken::up(copy.changed())).await
}

/// `--continue`: runs what is not completed of the newest session of the same input file that was not cancelled; without
/// any session of that file, a new one.
///
/// Input, instruction, schema and the other options may differ from those of the first run; from now on these count.
///
/// # Errors
/// As [`run`]; or all sessions of that file were cancelled (exit 4).
pub async fn go_on(engine: &Engine, options: &FanoutOptions) -> Result<FanoutReport> {
    let Some(found) = family::to_continue(&engine.project.root, options)? else { return run(engine, options).await };
    let bytes = input::read(options)?;
    let prepared = prepare(options, &bytes)?;
    family::guard_output(&engine.project.root, options, &prepared.output)?;
    let chain = engine.chain(Role::Job, options.mode, None).await?;
    let mut session = frame::take_up(engine, &found, &engine.command, false)?;
    rows::set_back(&session, &prepared, &[])?;
    // The new copies count from the moment that `meta.json` names them.
    let (before, number) = copies::numbers(&session);
    copies::save(&session, options, &bytes, number)?;
    copies::remember(&mut session.meta, options, &prepared.output, number);
    session.save()?;
    copies::forget(&session, before)?;
    drive::drive(engine, session, options, &prepared, &chain, drive::Taken::up(Vec::new())).await
}

fn row_prompt(engine: &Engine, options: &FanoutOptions, prepared: &Prepared, row: &input::JobRow) -> String {
    let limits = &engine.settings.limits;
    let limit = engine.settings.limit_of(Role::Job);
    prompt::prompt(row, prepared.schema.as_ref(), options.mode, limit, limits.prompt_bytes)
}
