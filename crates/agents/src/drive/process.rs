//! Jobs of agents that run as processes: a first turn, and at most one more to mend the answer.

use std::io;
use std::time::Duration;

use planex_core::job::{Cause, CauseKind, JobSpec, Usage};
use planex_core::text::head_tail;
use planex_sys::fs;
use planex_sys::process::{ChildSpec, Stdin};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::context::{DriveContext, Update};
use super::files::{inherited, run_variables};
use super::idle::Watchdog;
use super::judge::{Judge, Rules, Verdict};
use super::outcome::{Report, local_zone};
use super::output::Stream;
use super::turn::{State, Turn, TurnEnd, Why, minus};
use crate::adapter::{Adapter, Launch, RunFiles, StdinPlan};
use crate::set::Agent;

/// Least time that a repair turn gets; with less left there is none.
const REPAIR_LEAST: Duration = Duration::from_secs(5);

/// Bytes of the first answer that an agent is shown when it is asked anew.
const SHOWN_ANSWER: usize = 60 * 1024;

/// The part of the log's cap that is kept for the repair turn, so that both turns together stay below it.
const REPAIR_PART: u64 = 8;

/// Smallest and largest part of the log's cap that standard error gets.
const STDERR_CAP: (u64, u64) = (64 * 1024, 4 * 1024 * 1024);

/// One job on one process agent.
pub(crate) struct Job<'a> {
    pub(crate) agent: &'a Agent,
    pub(crate) adapter: &'a dyn Adapter,
    pub(crate) spec: &'a JobSpec,
    pub(crate) files: &'a RunFiles,
    pub(crate) context: &'a DriveContext,
    pub(crate) judge: &'a Judge<'a>,
    pub(crate) updates: &'a mpsc::Sender<Update>,
    pub(crate) cancel: &'a CancellationToken,
}

/// Names and figures of one turn.
struct TurnPlan<'p> {
    spec: &'p JobSpec,
    prompt_file: camino::Utf8PathBuf,
    suffix: &'static str,
    usage_before: Usage,
    limit: Duration,
}

impl Job<'_> {
    /// Runs the job and settles `report`.
    pub(crate) async fn run(&self, report: &mut Report) {
        let first = TurnPlan {
            spec: self.spec,
            prompt_file: self.files.prompt.clone(),
            suffix: "",
            usage_before: self.context.usage_before.unwrap_or_default(),
            limit: self.spec.limit,
        };
        let end = match self.turn(&first).await {
            Ok(end) => end,
            Err(cause) => {
                report.fail(cause);
                return;
            }
        };
        let raw_usage = end.ending.usage;
        let Some(complaint) = self.settle(end, &first, report) else { return };
        self.repair(&complaint, raw_usage, report).await;
    }

    /// Takes over what a turn came to. `Some`: it ended well, but left no valid result; what to tell the agent.
    fn settle(&self, end: TurnEnd, plan: &TurnPlan<'_>, report: &mut Report) -> Option<String> {
        let rules = Rules {
            sources: self.agent.sources(),
            // Of a custom agent that planex ended, the file may be half a result of something that was never done.
            report_beats_exit: self.adapter.report_beats_exit() && end.why.is_none() && !end.limit,
        };
        let mut notes = end.notes;
        notes.extend(end.ending.notes.iter().cloned());
        let verdict = self.judge.all(&end.ending, self.files, rules, &mut notes);
        let usage = if self.adapter.usage_is_cumulative() {
            minus(end.ending.usage, &plan.usage_before)
        } else {
            end.ending.usage
        };
        report.usage.add(&usage);
        report.exit = Some(end.exit);
        report.text.clone_from(&end.ending.text);
        report.model = end.ending.model.clone().or_else(|| report.model.take());
        report.agent_session = end.ending.session.clone().or_else(|| report.agent_session.take());
        report.left_running.extend(end.left);
        let fault = end.ending.fault.clone();
        let stopped = self.stopped(end.limit, end.why.as_ref());
        let complaint = match verdict {
            Verdict::Accepted(accepted) => {
                if let Some(cause) = &stopped {
                    notes.push(format!("it had reported before it was ended: {}", cause.message));
                } else if let Some(fault) = &fault {
                    notes.push(format!("it had reported before it failed: {}", fault.message));
                }
                report.complete(accepted);
                None
            }
            // Its work was done; what it said last counts like that of one that ended by itself.
            Verdict::Nothing | Verdict::Unfit(_) | Verdict::Foreign(_) if stopped.is_some() => {
                report.fail(stopped.unwrap_or_else(|| timeout(self.spec)));
                None
            }
            Verdict::Nothing | Verdict::Unfit(_) | Verdict::Foreign(_) if !end.ending.well => {
                let now = self.context.clock.now();
                let cause = fault.map(|fault| fault.to_cause(now, &local_zone(now)));
                report.fail(cause.unwrap_or_else(|| Cause::new(CauseKind::Failed, "it did not end well")));
                None
            }
            Verdict::Nothing => {
                report.fail(Cause::new(CauseKind::NoResult, "no result reported"));
                Some("no result was reported".to_owned())
            }
            Verdict::Foreign(complaint) => {
                report.fail(Cause::new(CauseKind::NoResult, format!("no result reported: {complaint}")));
                Some(complaint)
            }
            Verdict::Unfit(complaint) => {
                report.fail(Cause::new(CauseKind::InvalidResult, complaint.clone()));
                Some(complaint)
            }
        };
        report.notes.append(&mut notes);
        complaint
    }

    /// The cause, when planex or the limit ended the process (unless it only did not go away after it was done).
    fn stopped(&self, limit: bool, why: Option<&Why>) -> Option<Cause> {
        let now = self.context.clock.now();
        match why {
            Some(Why::Cancelled) => Some(Cause::new(CauseKind::Cancelled, "the job was ended")),
            Some(Why::Idle(limit)) => {
                let message = format!("silent for {} s: no output, no tool call, no work", limit.as_secs_f64());
                Some(Cause::new(CauseKind::Idle, message))
            }
            Some(Why::GaveUp(fault)) => Some(fault.to_cause(now, &local_zone(now))),
            None if limit => Some(timeout(self.spec)),
            Some(Why::Lingered) | None => None,
        }
    }

    /// Asks once more, for the result alone.
    async fn repair(&self, complaint: &str, raw_usage: Usage, report: &mut Report) {
        let left = match self.spec.limit {
            limit if limit.is_zero() => Duration::ZERO,
            limit => limit.saturating_sub(report.elapsed()),
        };
        if self.cancel.is_cancelled() || (!self.spec.limit.is_zero() && left < REPAIR_LEAST) {
            report.notes.push("there was no time to ask for the result again".to_owned());
            return;
        }
        let session = report.agent_session.clone().filter(|_| self.adapter.capabilities().resume);
        let resumed = session.is_some();
        let mut spec = self.spec.clone();
        spec.prompt = repair_prompt(self.spec, complaint, (!resumed).then_some(report.text.as_str()));
        spec.resume = session;
        let prompt_file = self.files.dir.join("prompt-repair.md");
        if let Err(error) = fs::write_atomic_nosync(&prompt_file, spec.prompt.as_bytes()) {
            report.notes.push(format!("the result could not be asked for again: {error}"));
            return;
        }
        report.notes.push(format!("asked once more for the result: {complaint}"));
        let plan = TurnPlan {
            spec: &spec,
            prompt_file,
            suffix: "-repair",
            usage_before: if resumed { raw_usage } else { Usage::default() },
            limit: left,
        };
        match self.turn(&plan).await {
            Ok(end) => {
                let first_text = report.text.clone();
                let _ = self.settle(end, &plan, report);
                if report.text.trim().is_empty() {
                    report.text = first_text;
                }
            }
            Err(cause) => report.notes.push(format!("the result could not be asked for again: {cause}")),
        }
    }

    /// One process of the agent.
    async fn turn(&self, plan: &TurnPlan<'_>) -> Result<TurnEnd, Cause> {
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            Cause::new(CauseKind::Failed, format!("failed to {what}: {error}"))
        };
        let files = RunFiles { prompt: plan.prompt_file.clone(), ..self.files.clone() };
        let environment = inherited(plan.spec, &self.context.environment, &self.agent.settings.env);
        let variables = run_variables(plan.spec, &files);
        let mcp = self.context.mcp.clone().map(|mut server| {
            server.env.extend(variables.iter().map(|(name, value)| (name.clone(), value.clone())));
            server.env.retain(|name, _| !name.starts_with("PLANEX_FIELD_"));
            server
        });
        let launch = Launch {
            program: &self.agent.program,
            settings: &self.agent.settings,
            mcp: mcp.as_ref(),
            environment: &environment,
        };
        let invocation = self.adapter.command(plan.spec, &files, &launch);
        for (path, content) in &invocation.files {
            // What an agent's configuration names may hold values of its environment.
            fs::write_private(path, content.as_bytes()).map_err(|error| failed("write a file of the run", &error))?;
        }
        let mut env = environment.into_vars();
        env.retain(|name, _| !invocation.env_remove.contains(name));
        env.extend(invocation.env);
        env.extend(variables);
        let stdin = match invocation.stdin {
            StdinPlan::Prompt => Stdin::Bytes(plan.spec.prompt.clone().into_bytes()),
            StdinPlan::Null => Stdin::Null,
        };
        let log = |name: &str, cap: u64| {
            let path = self.files.dir.join(format!("{name}{}.log", plan.suffix));
            Stream::create(&path, cap, &self.context.masker).map_err(|error| failed("open the run's log", &error))
        };
        let of_turn = |cap: u64| if plan.suffix.is_empty() { cap - cap / REPAIR_PART } else { cap / REPAIR_PART };
        let stdout = log("output", of_turn(self.context.log_cap))?;
        let stderr = log("stderr", of_turn((self.context.log_cap / 4).clamp(STDERR_CAP.0, STDERR_CAP.1)))?;
        let child = ChildSpec {
            argv: invocation.argv,
            env,
            cwd: plan.spec.cwd.clone(),
            stdin,
            hard_limit: (!plan.limit.is_zero()).then_some(plan.limit),
            grace: plan.spec.grace,
            label: plan.spec.run_id.clone(),
        };
        let child = self.context.guardian.spawn(child).await.map_err(|error| self.not_started(&error))?;
        let ident = child.ident.clone();
        if let Ok(text) = serde_json::to_string_pretty(&ident) {
            let path = self.files.dir.join("ident.json");
            // Not flushed: it names processes of this boot, so it means nothing after a power cut. Dropping the child
            // ends it.
            fs::write_atomic_nosync(&path, text.as_bytes())
                .map_err(|error| failed("write down its process", &error))?;
        }
        let _ = self.updates.send(Update::Started { ident }).await;
        let turn = Turn {
            reader: self.adapter.reader(plan.spec),
            stdout,
            stderr,
            context: self.context,
            updates: self.updates,
            cancel: self.cancel,
            end_by: self.adapter.end_by(),
            grace: plan.spec.grace,
            idle: Watchdog::new(plan.spec.idle),
            reports: self.files.reports.clone(),
            report_is_valid: &|| matches!(self.judge.reports(self.files, &mut Vec::new()), Verdict::Accepted(_)),
            usage_before: if self.adapter.usage_is_cumulative() { plan.usage_before } else { Usage::default() },
            state: State::default(),
        };
        Ok(turn.run(child).await)
    }

    fn not_started(&self, error: &io::Error) -> Cause {
        let program = self.agent.program.first().map_or("", String::as_str);
        let there = crate::probe::find_program(self.agent, &self.context.environment).is_some();
        let message = match (there, self.agent.known) {
            (false, Some(known)) => format!("`{program}` is not installed; {}", known.install_hint()),
            (false, None) => format!("`{program}` is not installed or not on the path"),
            (true, _) => format!("`{program}` could not be started: {error}"),
        };
        let kind = match (there, error.kind()) {
            (false, _) | (true, io::ErrorKind::PermissionDenied) => CauseKind::AgentNotUsable,
            (true, _) => CauseKind::Failed,
        };
        Cause::new(kind, message)
    }
}

/// The cause of a job that its time limit ended.
pub(crate) fn timeout(spec: &JobSpec) -> Cause {
    Cause::new(CauseKind::Timeout, format!("not done within {} s", spec.limit.as_secs_f64()))
}

/// What an agent is asked when its result could not be taken; with its answer, when it does not know it any more.
fn repair_prompt(spec: &JobSpec, complaint: &str, answer: Option<&str>) -> String {
    let mut prompt = format!(
        "Your result for the job `{}` could not be taken.\n\nWhat is wrong: {complaint}\n\nDo no further work. Answer \
         with the result alone: one JSON value, without any words around it.",
        spec.run_id
    );
    if let Some(id) = &spec.expected_id {
        prompt.push_str(&format!(" Its `id` is `{id}`."));
    }
    if let Some(schema) = &spec.schema {
        prompt.push_str(&format!("\n\nIt has to fit this JSON Schema:\n\n{schema:#}\n"));
    }
    if let Some(answer) = answer {
        let job = head_tail(&spec.prompt, SHOWN_ANSWER);
        let answer = head_tail(answer, SHOWN_ANSWER);
        prompt.push_str(&format!("\n\nThe job was:\n\n{job}\n\nYour answer was:\n\n{answer}\n"));
    }
    prompt
}
