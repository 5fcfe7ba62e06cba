//! The one driver that all agents share: it starts, watches, ends and judges one job.
//!
//! Files of a run, in [`JobSpec::run_dir`]: `prompt.md`, `schema.json`, `item.json`, `ident.json` (before the first
//! output is read), `output.log` and `stderr.log` (masked, capped), `answer.json` (the agent's own result file),
//! `reports.ndjson` (from `planex mcp`: one `{"ts","result":{…},"stop":bool}` a line), `tmp/` (its `TMPDIR`, removed
//! afterwards); of a repair turn `prompt-repair.md`, `output-repair.log`, `stderr-repair.log`. The caller writes
//! `result.json`, its last step.
//!
//! An outcome is `completed` when the agent's end condition was met and a valid result is there, or when a valid report
//! came by MCP (a custom agent: or by the result file), however the agent ended afterwards. What the result *says*
//! (`status: failed`, `tests_passed: false`) is the caller's to judge.

mod context;
mod files;
mod idle;
mod inside;
mod judge;
mod lines;
mod outcome;
mod output;
mod process;
mod turn;

use planex_core::job::{Cause, CauseKind, JobOutcome, JobSpec};
use planex_sys::fs;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub(crate) use context::one_line;
pub use context::{DriveContext, Update};
pub(crate) use files::{inherited, run_variables};
pub use judge::{STOP_NOTE, asked_to_stop};

use crate::adapter::RunFiles;
use crate::set::{Agent, Engine};
use judge::Judge;
use outcome::Report;

/// Runs one job on one agent. Never fails and never panics: whatever happens is in the outcome.
///
/// `updates` is told what happens while it runs; a receiver that does not keep up misses lines, never the outcome.
/// Cancelling `cancel` ends the job (SIGTERM, grace, SIGKILL, to all that it started); [`DriveContext::kill`] at once.
/// `usage` is that of this run alone. `files_changed` stays empty: observing them is the caller's.
pub async fn drive(
    agent: &Agent,
    spec: &JobSpec,
    context: &DriveContext,
    updates: mpsc::Sender<Update>,
    cancel: CancellationToken,
) -> JobOutcome {
    let mut spec = spec.clone();
    if spec.model.is_none() {
        spec.model = agent.model().map(str::to_owned);
    }
    let files = RunFiles::new(&spec);
    let mut report = Report::new(agent, &spec, context);
    if let Some(refused) = refuse(agent, &spec) {
        return report.fail(refused).finish(context);
    }
    let judge = match Judge::new(&spec, &context.masker) {
        Ok(judge) => judge,
        Err(error) => {
            let message = format!("the result schema is not valid: {error}");
            return report.fail(Cause::new(CauseKind::Failed, message)).finish(context);
        }
    };
    if let Err(error) = files::prepare(&spec, &files) {
        let message = format!("failed to prepare the run: {error}");
        return report.fail(Cause::new(CauseKind::Failed, message)).finish(context);
    }
    match &agent.engine {
        Engine::InProcess(inside) => inside::run(inside, &spec, context, &judge, &mut report, &updates, &cancel).await,
        Engine::Process(adapter) => {
            let job = process::Job {
                agent,
                adapter: adapter.as_ref(),
                spec: &spec,
                files: &files,
                context,
                judge: &judge,
                updates: &updates,
                cancel: &cancel,
            };
            job.run(&mut report).await;
        }
    }
    if let Err(error) = fs::remove_dir_all(&files.tmp) {
        report.notes.push(format!("the run's temporary folder stays: {error}"));
    }
    report.finish(context)
}

fn refuse(agent: &Agent, spec: &JobSpec) -> Option<Cause> {
    (!agent.can(spec.mode)).then(|| {
        let message = format!("the agent `{}` cannot do jobs of mode {}", agent.name(), spec.mode);
        Cause::new(CauseKind::AgentNotUsable, message)
    })
}
