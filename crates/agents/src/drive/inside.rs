//! Jobs of agents inside planex.

use std::sync::Arc;

use planex_core::job::{Cause, CauseKind, JobSpec, ResultSource};
use planex_sys::fs;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::context::{DriveContext, Update};
use super::judge::{Judge, Verdict};
use super::outcome::Report;
use crate::inprocess::{Control, InProcess};

/// Runs the job on a thread where blocking is fine. One that does not look at its [`Control`] when it is to end is left
/// alone there, and its answer is dropped.
pub(crate) async fn run(
    agent: &Arc<dyn InProcess>,
    spec: &JobSpec,
    context: &DriveContext,
    judge: &Judge<'_>,
    report: &mut Report,
    updates: &mpsc::Sender<Update>,
    cancel: &CancellationToken,
) {
    let own_cancel = cancel.child_token();
    let control = Control {
        cancel: own_cancel.clone(),
        updates: updates.clone(),
        handle: Handle::current(),
        context: context.clone(),
    };
    let (worker, job) = (Arc::clone(agent), spec.clone());
    let task = tokio::task::spawn_blocking(move || worker.run(&job, &control));
    let answer = tokio::select! {
        // A worker that obeys answers at the same instant; what it answers then does not count.
        biased;
        () = cancel.cancelled() => {
            report.fail(Cause::new(CauseKind::Cancelled, "the job was ended"));
            return;
        }
        () = limit(spec) => {
            own_cancel.cancel();
            report.fail(super::process::timeout(spec));
            return;
        }
        answer = task => answer,
    };
    match answer {
        Err(error) => {
            report.fail(Cause::new(CauseKind::Failed, format!("the agent broke: {error}")));
        }
        Ok(Err(cause)) => {
            report.fail(cause);
        }
        Ok(Ok(answer)) => {
            report.notes.extend(answer.notes);
            report.text = answer.text;
            let log = context.masker.mask(&report.text).into_owned();
            if let Err(error) = fs::write_atomic_nosync(&spec.run_dir.join("output.log"), log.as_bytes()) {
                report.notes.push(format!("the run's log could not be written: {error}"));
            }
            let verdict = match (&answer.result, &spec.schema) {
                (serde_json::Value::Null, None) => judge.text(&report.text, ResultSource::InProcess, &mut report.notes),
                (serde_json::Value::Null, Some(_)) => Verdict::Nothing,
                (result, _) => judge.value(result, ResultSource::InProcess, &mut report.notes),
            };
            match verdict {
                Verdict::Accepted(accepted) => report.complete(accepted),
                Verdict::Nothing => report.fail(Cause::new(CauseKind::NoResult, "no result reported")),
                Verdict::Foreign(complaint) => report.fail(Cause::new(CauseKind::NoResult, complaint)),
                Verdict::Unfit(complaint) => report.fail(Cause::new(CauseKind::InvalidResult, complaint)),
            };
        }
    }
}

/// Until the job's limit; for ever without one.
async fn limit(spec: &JobSpec) {
    if spec.limit.is_zero() {
        std::future::pending::<()>().await;
    }
    tokio::time::sleep(spec.limit).await;
}
