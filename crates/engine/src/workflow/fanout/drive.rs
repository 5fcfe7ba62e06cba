//! Driving the rows of one session, and what became of them.

use camino::Utf8PathBuf;
use planex_agents::AgentRef;
use planex_core::event::{EventKind, Level};
use planex_core::job::{JobStatus, Mode, Role};
use planex_core::rows::RowStatus;

use super::input::{self, FanoutOptions, Prepared};
use super::output::{Output, skipped, verdict};
use super::{FanoutReport, row_prompt, rows};
use crate::engine::{Driver, Engine};
use crate::error::Result;
use crate::gate::open_gates;
use crate::registry;
use crate::run::{BatchReport, Ended, Finished, JobRequest, Next, Stop};
use crate::session::{Counts, Ending, Session, Workflow};
use crate::workflow::frame;

/// Everything of one run that rows are counted in.
struct Tally {
    output: Output,
    counts: Counts,
    failures: Vec<(String, String)>,
    /// Whether what comes was so before this process.
    known: bool,
}

/// How a session comes to be driven.
pub(super) struct Taken {
    resumed: bool,
    /// Originals that are not what they were at the start.
    changed: Vec<Utf8PathBuf>,
}

impl Taken {
    /// A new one.
    pub(super) fn new() -> Self {
        Self { resumed: false, changed: Vec::new() }
    }

    /// One that was there.
    pub(super) fn up(changed: Vec<Utf8PathBuf>) -> Self {
        Self { resumed: true, changed }
    }
}

/// Drives a session's rows to their end.
pub(super) async fn drive(
    engine: &Engine,
    session: Session,
    options: &FanoutOptions,
    prepared: &Prepared,
    chain: &[AgentRef],
    taken: Taken,
) -> Result<FanoutReport> {
    let mut driver = engine.drive(session)?;
    let ran = match begin(&driver, options, &taken) {
        Ok(()) => batches(engine, &mut driver, options, prepared, chain).await,
        Err(error) => Err(error),
    };
    match ran {
        Ok((tally, report)) => finish(&mut driver, prepared, tally, &report),
        Err(error) => {
            let (exit, usage) = (error.exit_code(), driver.used());
            driver.events.emit(EventKind::SessionFinished { status: "stopped".to_owned(), exit, usage });
            // The first failure is what the user must know; that the journal failed as well is no news then.
            let _ = driver.events.flush();
            Err(error.hint(format!("go on with `planex resume {}`", driver.session.id)))
        }
    }
}

fn begin(driver: &Driver, options: &FanoutOptions, taken: &Taken) -> Result<()> {
    let events = &driver.events;
    events.emit(EventKind::SessionStarted {
        session: driver.session.id.clone(),
        workflow: Workflow::Fanout.to_string(),
        requirement: driver.session.meta.requirement.clone(),
        resumed: taken.resumed,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    });
    for original in &taken.changed {
        let text = format!(
            "{original} is not what it was when this session started: it goes on with its own copy; \
             `planex fanout … --continue` takes the changes along"
        );
        events.notice(Level::Warning, text);
    }
    if taken.resumed {
        for left in registry::end_leftovers(&driver.session.paths)? {
            events.notice(Level::Warning, format!("could not end {left}, which an earlier run left behind"));
        }
    }
    if options.mode == Mode::Write {
        let text = "rows that write share one folder, without isolation: they can disturb each other";
        events.notice(Level::Warning, text);
    }
    Ok(())
}

/// Runs all rows; and again those that another process asked to retry meanwhile.
async fn batches(
    engine: &Engine,
    driver: &mut Driver,
    options: &FanoutOptions,
    prepared: &Prepared,
    chain: &[AgentRef],
) -> Result<(Tally, BatchReport)> {
    let all: Vec<usize> = (0..prepared.rows.len()).collect();
    rows::take_requests(driver, prepared, &all)?;
    let title = format!("{} rows", prepared.rows.len());
    driver.events.emit(EventKind::PhaseStarted { phase: "execute".to_owned(), title });
    loop {
        let jobs = jobs(engine, driver, options, prepared, chain);
        let (tally, report) = batch(driver, prepared, jobs).await?;
        if report.stop.is_some() || !rows::take_requests(driver, prepared, &report.open)? {
            return Ok((tally, report));
        }
    }
}

async fn batch(driver: &mut Driver, prepared: &Prepared, jobs: Vec<JobRequest>) -> Result<(Tally, BatchReport)> {
    let mut tally =
        Tally { output: Output::new(prepared), counts: Counts::default(), failures: Vec::new(), known: true };
    let mut dispatcher = driver.dispatcher(None);
    let events = driver.events.clone();
    let each = |tally: &mut Tally, finished: Finished| take(prepared, &events, tally, &finished);
    let batch = dispatcher.enqueue(jobs, &mut |finished| each(&mut tally, finished))?;
    tally.known = false;
    tally.output.begin()?;
    let ran = dispatcher.finish(batch, |finished| each(&mut tally, finished)).await;
    driver.account(&dispatcher);
    let written = tally.output.finish();
    let report = ran?;
    written?;
    Ok((tally, report))
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
    let verdict = if *ended == Ended::Skipped { skipped(outcome) } else { verdict(outcome) };
    tally.output.put(*index, outcome, &verdict, *attempts)?;
    let id = prepared.rows.get(*index).map(|row| row.id.clone()).unwrap_or_default();
    match verdict.status {
        RowStatus::Completed => tally.counts.completed += 1,
        RowStatus::Failed => tally.counts.failed += 1,
        RowStatus::Skipped => tally.counts.skipped += 1,
        RowStatus::Pending => {}
    }
    if verdict.status != RowStatus::Completed {
        tally.failures.push((id.clone(), verdict.error.clone()));
    }
    if !tally.known {
        events.emit(EventKind::ItemFinished {
            item: id.clone(),
            title: id.clone(),
            status: verdict.status.to_string(),
            error: verdict.error,
        });
    }
    // A row that asked for it before a resume has been heeded then; `--continue` means to go on.
    if *ended == Ended::Ran && wants_stop(outcome) {
        events.notice(Level::Warning, format!("{id} asks to stop: rows that have not started stay pending"));
        return Ok(Next::Stop);
    }
    Ok(Next::GoOn)
}

fn wants_stop(outcome: &planex_core::job::JobOutcome) -> bool {
    let said = outcome.result.as_ref().and_then(|result| result.get("stop")) == Some(&serde_json::Value::Bool(true));
    outcome.status == JobStatus::Completed && (said || planex_agents::drive::asked_to_stop(outcome))
}

fn finish(driver: &mut Driver, prepared: &Prepared, mut tally: Tally, report: &BatchReport) -> Result<FanoutReport> {
    let counts = &mut tally.counts;
    let done = counts.completed + counts.failed + counts.skipped;
    counts.pending = u32::try_from(prepared.rows.len()).unwrap_or(u32::MAX).saturating_sub(done);
    let id = driver.session.id.clone();
    let resume = format!("planex resume {id}");
    let failed = counts.failed + counts.skipped > 0;
    let all_done = counts.pending == 0;
    let (exit, status, ending, next) = match &report.stop {
        Some(Stop::Interrupted) => (130, "interrupted", None, Some(resume)),
        Some(Stop::Cancelled) => (4, "cancelled", Some(Ending::Cancelled), Some(format!("{resume} --reopen"))),
        Some(Stop::Paused) => (4, "paused", None, Some(resume)),
        Some(Stop::Budget(_)) => (4, "waiting", None, Some(resume)),
        None | Some(Stop::Asked) if failed => {
            (5, "failed", Some(Ending::Failed).filter(|_| all_done), Some(format!("{resume} --retry")))
        }
        Some(Stop::Asked) if !all_done => (0, "stopped", None, Some(resume)),
        None | Some(Stop::Asked) => (0, "completed", Some(Ending::Completed), None),
    };
    let gate = match &report.stop {
        Some(Stop::Budget(_)) => open_gates(&driver.session.paths)?.pop(),
        _ => None,
    };
    let Counts { completed, failed, skipped, pending } = tally.counts;
    let summary = format!("{completed} completed, {failed} failed, {skipped} skipped, {pending} pending");
    driver.events.emit(EventKind::PhaseFinished { phase: "execute".to_owned(), summary });
    let usage = driver.used();
    driver.events.emit(EventKind::SessionFinished { status: status.to_owned(), exit, usage });
    if let Some(ending) = ending {
        frame::close(&mut driver.session, ending)?;
    }
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
