//! `planex fanout`: one agent job per CSV row (spec 10, *fanout*).
//!
//! [`run`] checks everything first ([`input`]), then drives the rows through the dispatcher; each row's outcome is
//! flushed before it counts, and the output CSV ([`output`]) is whole at any moment. [`resume`] goes on where a session
//! stopped, [`go_on`] (`--continue`) runs whatever is not completed.

mod input;
mod output;
mod prompt;

use camino::{Utf8Path, Utf8PathBuf};
use planex_agents::AgentRef;
use planex_core::event::{EventKind, Level};
use planex_core::gate::Gate;
use planex_core::id;
use planex_core::job::{JobStatus, Mode, Role, Usage};
use planex_core::rows::RowStatus;
use planex_sys::fs;

pub use input::{FanoutOptions, Source};
use input::{Prepared, prepare};
use output::{Output, verdict};

use crate::engine::{Driver, Engine};
use crate::error::{EngineError, ErrorKind, Result};
use crate::gate::open_gates;
use crate::registry;
use crate::run::{BatchReport, Ended, Finished, JobRequest, Next, Stop};
use crate::session::{Counts, Ending, Found, Meta, Session, Workflow, find_all};

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
    /// Rows that failed: id and error.
    pub failures: Vec<(String, String)>,
    /// Tokens and cost of all workers.
    pub usage: Usage,
    /// Exit code of the command.
    pub exit: u8,
    /// `completed`, `failed`, `stopped`, `waiting`, `cancelled`, `interrupted`.
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
    let prepared = prepare(options)?;
    let prompts =
        prepared.rows.iter().map(|row| (row.id.clone(), row_prompt(engine, options, &prepared, row))).collect();
    Ok(Preview { prompts, output: prepared.output })
}

/// Runs a new fanout.
///
/// # Errors
/// Faults of the input (exit 3, nothing was started), no usable agent (exit 7), or the disk fails. Rows that fail are no
/// errors: see [`FanoutReport::exit`].
pub async fn run(engine: &Engine, options: &FanoutOptions) -> Result<FanoutReport> {
    let prepared = prepare(options)?;
    let chain = engine.chain(Role::Job, options.mode, None).await?;
    let now = engine.now();
    let wished = id::fanout_session_id(input::stem(&options.input), engine.zone.date(now));
    let name = options.input.file_name().unwrap_or_default();
    let mut meta = Meta::new(Workflow::Fanout, wished, name, engine.zone.stamp(now));
    remember(&mut meta, options, &prepared.output);
    let session = engine.create(meta)?;
    save_inputs(&session, options)?;
    drive(engine, session, options, prepared, chain, false).await
}

/// Goes on where a session stopped: rows that have an outcome keep it. With `retry`, rows that failed run again (an
/// empty list: all of them). With `reopen`, also a session that was cancelled.
///
/// # Errors
/// As [`run`]; also when another process drives the session, or a row to retry is unknown (exit 2).
pub async fn resume(engine: &Engine, found: &Found, retry: Option<&[String]>, reopen: bool) -> Result<FanoutReport> {
    let mut session = Session::open(found, &engine.command, engine.now())?;
    if session.meta.ended == Some(Ending::Cancelled) && !reopen {
        return Err(EngineError::new(ErrorKind::Stopped, format!("the session {} was cancelled", session.id))
            .hint(format!("take it up again with `planex resume {} --reopen`", session.id)));
    }
    let options = load_inputs(&session)?;
    let prepared = prepare(&options)?;
    let chain = engine.chain(Role::Job, options.mode, None).await?;
    if let Some(retry) = retry {
        set_back(&session, &prepared, retry)?;
    }
    session.meta.ended = None;
    session.save()?;
    drive(engine, session, &options, prepared, chain, true).await
}

/// `--continue`: runs what is not completed of the newest session of the same input file; without one, a new session.
///
/// Instruction, schema and the other options may differ from those of the first run.
///
/// # Errors
/// As [`run`].
pub async fn go_on(engine: &Engine, options: &FanoutOptions) -> Result<FanoutReport> {
    let Some(found) = newest_of(&engine.project.root, &options.input)? else { return run(engine, options).await };
    let prepared = prepare(options)?;
    let chain = engine.chain(Role::Job, options.mode, None).await?;
    let mut session = Session::open(&found, &engine.command, engine.now())?;
    set_back(&session, &prepared, &[])?;
    session.meta.ended = None;
    remember(&mut session.meta, options, &prepared.output);
    session.save()?;
    save_inputs(&session, options)?;
    drive(engine, session, options, prepared, chain, true).await
}

fn newest_of(root: &Utf8Path, input: &Utf8Path) -> Result<Option<Found>> {
    let same = |found: &Found| {
        let meta = Meta::load(&found.paths(), found.workflow).ok();
        meta.is_some_and(|meta| meta.workflow == Workflow::Fanout && meta.option_str("input") == Some(input.as_str()))
    };
    Ok(find_all(root)?.into_iter().find(|found| !found.archived && same(found)))
}

fn remember(meta: &mut Meta, options: &FanoutOptions, output: &Utf8Path) {
    let mut set = |name: &str, value: serde_json::Value| drop(meta.options.insert(name.to_owned(), value));
    set("input", options.input.as_str().into());
    set("output", output.as_str().into());
    set("mode", options.mode.as_str().into());
    set("retries", options.retries.into());
    set("id_column", options.id_column.clone().into());
    set("instruction", options.instruction.name.clone().into());
    set("schema", options.schema.as_ref().map(|schema| schema.name.clone()).into());
}

/// The session keeps its own copies, so that it can be resumed after the originals changed.
fn save_inputs(session: &Session, options: &FanoutOptions) -> Result<()> {
    let folder = session.paths.inputs();
    fs::create_dir_all(&folder)?;
    fs::write_atomic(&folder.join("instruction.md"), options.instruction.text.as_bytes())?;
    match &options.schema {
        Some(schema) => fs::write_atomic(&folder.join("schema.json"), schema.text.as_bytes())?,
        None => fs::remove_file(&folder.join("schema.json"))?,
    }
    Ok(())
}

fn load_inputs(session: &Session) -> Result<FanoutOptions> {
    let (meta, folder) = (&session.meta, session.paths.inputs());
    let Some(input) = meta.option_str("input") else {
        return Err(EngineError::internal(format!("the session {} does not say what its input is", session.id))
            .hint("start it again with `planex fanout JOBS.csv --continue`"));
    };
    let schema = match meta.option_str("schema") {
        Some(name) => Some(Source { name: name.to_owned(), text: fs::read_to_string(&folder.join("schema.json"))? }),
        None => None,
    };
    let retries = meta.options.get("retries").and_then(serde_json::Value::as_u64).unwrap_or(0);
    Ok(FanoutOptions {
        input: input.into(),
        instruction: Source {
            name: meta.option_str("instruction").unwrap_or("the instruction").to_owned(),
            text: fs::read_to_string(&folder.join("instruction.md"))?,
        },
        id_column: meta.option_str("id_column").map(str::to_owned),
        output: meta.option_str("output").map(Into::into),
        schema,
        mode: if meta.option_str("mode") == Some("write") { Mode::Write } else { Mode::Analysis },
        retries: u32::try_from(retries).unwrap_or(u32::MAX),
    })
}

/// Rows that did not complete lose their outcome, so that they run again. An empty list: all of them.
fn set_back(session: &Session, prepared: &Prepared, rows: &[String]) -> Result<()> {
    let unknown = rows.iter().find(|row| !prepared.rows.iter().any(|known| known.id == **row));
    if let Some(row) = unknown {
        let mut error = EngineError::usage(format!("there is no row `{row}`"));
        error.faults = prepared.rows.iter().take(20).map(|row| row.id.clone()).collect();
        return Err(error.hint("name one of the rows listed"));
    }
    for row in prepared.rows.iter().filter(|row| rows.is_empty() || rows.contains(&row.id)) {
        let base = id::run_id(&session.id, &row.id);
        let attempts = registry::attempts(&session.paths, &base);
        let Some(last) = attempts.checked_sub(1) else { continue };
        let outcome = registry::load_outcome(&session.paths.run(&id::retry_of(&base, last)))?;
        let completed = outcome.is_some_and(|outcome| verdict(&outcome).status == RowStatus::Completed);
        if !completed || rows.contains(&row.id) {
            registry::supersede(&session.paths, &base)?;
        }
    }
    Ok(())
}

fn row_prompt(engine: &Engine, options: &FanoutOptions, prepared: &Prepared, row: &input::JobRow) -> String {
    let limits = &engine.settings.limits;
    let limit = engine.settings.limit_of(Role::Job);
    prompt::prompt(row, prepared.schema.as_ref(), options.mode, limit, limits.prompt_bytes)
}

/// Everything of one run that rows are counted in.
struct Tally {
    output: Output,
    counts: Counts,
    failures: Vec<(String, String)>,
    asked_to_stop: bool,
}

async fn drive(
    engine: &Engine,
    session: Session,
    options: &FanoutOptions,
    prepared: Prepared,
    chain: Vec<AgentRef>,
    resumed: bool,
) -> Result<FanoutReport> {
    let mut driver = engine.drive(session)?;
    driver.events.emit(EventKind::SessionStarted {
        session: driver.session.id.clone(),
        workflow: Workflow::Fanout.to_string(),
        requirement: driver.session.meta.requirement.clone(),
        resumed,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    });
    if resumed {
        for left in registry::end_leftovers(&driver.session.paths)? {
            driver.events.notice(Level::Warning, format!("could not end {left}, which an earlier run left behind"));
        }
    }
    if options.mode == Mode::Write {
        let text = "rows that write share one folder, without isolation: they can disturb each other";
        driver.events.notice(Level::Warning, text);
    }
    let mut tally = Tally {
        output: Output::start(&prepared)?,
        counts: Counts::default(),
        failures: Vec::new(),
        asked_to_stop: false,
    };
    let jobs = jobs(engine, &driver, options, &prepared, &chain);
    let total = jobs.len();
    driver.events.emit(EventKind::PhaseStarted { phase: "execute".to_owned(), title: format!("{total} rows") });
    let mut dispatcher = driver.dispatcher(None);
    let events = driver.events.clone();
    let ran = dispatcher.run(jobs, |finished| take(&prepared, &events, &mut tally, &finished)).await;
    driver.account(&dispatcher);
    let written = tally.output.finish();
    let report = ran.and_then(|report| written.map(|()| report));
    match report {
        Ok(report) => finish(&mut driver, &prepared, tally, &report, dispatcher.budget().used(), total),
        Err(error) => {
            let (exit, usage) = (error.exit_code(), dispatcher.budget().used());
            driver.events.emit(EventKind::SessionFinished { status: "stopped".to_owned(), exit, usage });
            // The first failure is what the user must know; that the journal failed as well is no news then.
            let _ = driver.events.flush();
            Err(error.hint(format!("go on with `planex resume {}`", driver.session.id)))
        }
    }
}

fn jobs(
    engine: &Engine,
    driver: &Driver,
    options: &FanoutOptions,
    prepared: &Prepared,
    chain: &[AgentRef],
) -> Vec<JobRequest> {
    let job = |row: &input::JobRow| {
        let mut spec = driver.spec(engine, Role::Job, options.mode, &row.id);
        spec.prompt = row_prompt(engine, options, prepared, row);
        spec.schema.clone_from(&prepared.schema);
        spec.expected_id = Some(row.id.clone());
        spec.item = Some(row.item.clone());
        JobRequest {
            spec,
            chain: chain.to_vec(),
            item: Some(row.id.clone()),
            title: row.id.clone(),
            retries: options.retries,
        }
    };
    prepared.rows.iter().map(job).collect()
}

fn take(
    prepared: &Prepared,
    events: &crate::journal::EventSink,
    tally: &mut Tally,
    finished: &Finished,
) -> Result<Next> {
    let Finished { index, outcome, attempts, ended } = finished;
    let verdict = verdict(outcome);
    tally.output.put(*index, outcome, &verdict, *attempts)?;
    let id = prepared.rows.get(*index).map(|row| row.id.clone()).unwrap_or_default();
    match verdict.status {
        RowStatus::Completed => tally.counts.completed += 1,
        RowStatus::Failed => {
            tally.counts.failed += 1;
            tally.failures.push((id.clone(), verdict.error.clone()));
        }
        RowStatus::Skipped | RowStatus::Pending => {}
    }
    if *ended != Ended::Reused {
        events.emit(EventKind::ItemFinished {
            item: id.clone(),
            title: id.clone(),
            status: verdict.status.to_string(),
            error: verdict.error,
        });
    }
    // A row that asked for it before a resume has been heeded then; `--continue` means to go on.
    if *ended == Ended::Ran && wants_stop(outcome) {
        tally.asked_to_stop = true;
        events.notice(Level::Warning, format!("{id} asks to stop: rows that have not started stay pending"));
        return Ok(Next::Stop);
    }
    Ok(Next::GoOn)
}

fn wants_stop(outcome: &planex_core::job::JobOutcome) -> bool {
    let said = outcome.result.as_ref().and_then(|result| result.get("stop")) == Some(&serde_json::Value::Bool(true));
    outcome.status == JobStatus::Completed && (said || planex_agents::drive::asked_to_stop(outcome))
}

fn finish(
    driver: &mut Driver,
    prepared: &Prepared,
    mut tally: Tally,
    report: &BatchReport,
    usage: Usage,
    total: usize,
) -> Result<FanoutReport> {
    let done = tally.counts.completed + tally.counts.failed;
    tally.counts.pending = u32::try_from(total).unwrap_or(u32::MAX).saturating_sub(done);
    let id = driver.session.id.clone();
    let resume = format!("planex resume {id}");
    let failed = tally.counts.failed > 0;
    let (exit, status, ending, next) = match &report.stop {
        Some(Stop::Interrupted) => (130, "interrupted", None, Some(resume)),
        Some(Stop::Cancelled) => (4, "cancelled", Some(Ending::Cancelled), Some(format!("{resume} --reopen"))),
        Some(Stop::Paused) => (4, "stopped", None, Some(resume)),
        Some(Stop::Budget(_)) => (4, "waiting", None, Some(resume)),
        None | Some(Stop::Asked) if failed => {
            (5, "failed", Some(Ending::Failed), Some(format!("planex resume {id} --retry")))
        }
        Some(Stop::Asked) if tally.counts.pending > 0 => (0, "stopped", None, Some(resume)),
        None | Some(Stop::Asked) => (0, "completed", Some(Ending::Completed), None),
    };
    let gate = match &report.stop {
        Some(Stop::Budget(_)) => open_gates(&driver.session.paths)?.pop(),
        _ => None,
    };
    let summary = format!(
        "{} completed, {} failed, {} pending",
        tally.counts.completed, tally.counts.failed, tally.counts.pending
    );
    driver.events.emit(EventKind::PhaseFinished { phase: "execute".to_owned(), summary });
    driver.events.emit(EventKind::SessionFinished { status: status.to_owned(), exit, usage });
    driver.session.meta.ended = ending;
    driver.session.save()?;
    driver.events.flush()?;
    Ok(FanoutReport {
        session: id,
        dir: driver.session.paths.dir().to_owned(),
        output: prepared.output.clone(),
        counts: tally.counts,
        failures: tally.failures,
        usage,
        exit,
        status,
        gate,
        next,
    })
}
