//! Who runs one job: an agent on this machine, or whatever a test puts in its place.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use planex_agents::{AgentRef, AgentSet, DriveContext, Update};
use planex_core::job::{Cause, CauseKind, JobOutcome, JobSpec, Usage};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::registry;
use crate::store::SessionPaths;

/// One run, ready to start.
#[derive(Debug)]
pub struct Execution {
    /// Who runs it.
    pub agent: AgentRef,
    /// The job, with the attempt's id, folder and model.
    pub spec: JobSpec,
    /// Where it tells what it does.
    pub updates: mpsc::Sender<Update>,
    /// Set when it is to end in its own way.
    pub end: CancellationToken,
    /// Set when it is to be killed at once.
    pub kill: CancellationToken,
}

/// A run in progress.
pub type Running = Pin<Box<dyn Future<Output = JobOutcome> + Send>>;

/// Runs jobs. Every failure is an outcome.
pub trait Executor: Send + Sync {
    /// Starts one run. Nothing happens until it is polled.
    fn execute(&self, run: Execution) -> Running;

    /// At most this many jobs of `agent` at once, where configured.
    fn concurrency(&self, agent: &str) -> Option<usize>;
}

/// Runs jobs on the agents of this machine.
#[derive(Debug, Clone)]
pub struct LocalExecutor {
    agents: Arc<AgentSet>,
    context: DriveContext,
    limits: BTreeMap<String, usize>,
}

impl LocalExecutor {
    /// An executor over `agents`. `context` is what all runs share; its `kill` is replaced for each.
    #[must_use]
    pub fn new(agents: Arc<AgentSet>, context: DriveContext) -> Self {
        let limit = |name: &String| Some((name.clone(), agents.resolve(name).ok()?.concurrency()?));
        let limits = agents.names().iter().filter_map(limit).collect();
        Self { agents, context, limits }
    }
}

impl Executor for LocalExecutor {
    fn execute(&self, run: Execution) -> Running {
        let this = self.clone();
        Box::pin(async move {
            let Execution { agent, spec, updates, end, kill } = run;
            let started_at = this.context.clock.now();
            let resolved = match this.agents.resolve(&agent.to_string()) {
                Ok(agent) => agent,
                Err(error) => {
                    let cause = Cause::new(CauseKind::AgentNotUsable, error.to_string());
                    return JobOutcome {
                        model: agent.model,
                        ..JobOutcome::not_run(&spec, agent.agent, cause, started_at)
                    };
                }
            };
            let usage_before = usage_before(&spec);
            let context = DriveContext { kill, usage_before, ..this.context };
            planex_agents::drive::drive(&resolved, &spec, &context, updates, end).await
        })
    }

    fn concurrency(&self, agent: &str) -> Option<usize> {
        self.limits.get(agent).copied()
    }
}

/// What the session that is resumed had used before, for agents that count a whole thread.
fn usage_before(spec: &JobSpec) -> Option<Usage> {
    let thread = spec.resume.as_deref()?;
    let runs = registry::runs(&SessionPaths::new(spec.session_dir.clone())).ok()?;
    let mut usage = Usage::default();
    for outcome in runs.into_iter().filter(|run| run.agent_session() == Some(thread)).filter_map(|run| run.outcome) {
        usage.add(&outcome.usage);
    }
    Some(usage)
}
