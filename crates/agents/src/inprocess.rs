//! Agents that run inside planex: `native` (from the engine) and [`Replay`](crate::replay::Replay).

use std::collections::BTreeMap;

use planex_core::job::{Cause, JobSpec};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::adapter::RunFiles;
use crate::drive::{DriveContext, Update};

/// What an in-process agent answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InProcessAnswer {
    /// The result, checked against the job's schema by the driver.
    pub result: Value,
    /// The final text.
    pub text: String,
    /// Things to say.
    pub notes: Vec<String>,
}

/// What an in-process agent may use while it works.
#[derive(Debug, Clone)]
pub struct Control {
    pub(crate) cancel: CancellationToken,
    pub(crate) updates: mpsc::Sender<Update>,
    pub(crate) handle: Handle,
    pub(crate) context: DriveContext,
}

impl Control {
    /// Whether the job is to end; long work asks now and then and returns.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Says what is being done right now, one line; dropped when nobody keeps up.
    pub fn activity(&self, text: &str) {
        let line = crate::drive::one_line(&self.context.masker.mask(text));
        let _ = self.updates.try_send(Update::Activity(line));
    }

    /// The environment of the job's commands: what agents inherit, the role's, and the run's `PLANEX_*`.
    #[must_use]
    pub fn environment(&self, spec: &JobSpec) -> BTreeMap<String, String> {
        let files = RunFiles::new(spec);
        let mut env = crate::drive::inherited(spec, &self.context.environment, &BTreeMap::new()).into_vars();
        env.extend(crate::drive::run_variables(spec, &files));
        env
    }

    /// Sleeps until `time` is over or the job is to end; `false` when it is to end.
    #[must_use]
    pub fn sleep(&self, time: std::time::Duration) -> bool {
        self.handle.block_on(async {
            tokio::select! {
                () = self.cancel.cancelled() => false,
                () = tokio::time::sleep(time) => true,
            }
        })
    }
}

/// An agent without a process of its own. Runs on a thread where blocking is fine.
pub trait InProcess: Send + Sync {
    /// Its name: `native`, `replay`.
    fn name(&self) -> &str;

    /// Whether it may be given jobs of mode write.
    fn can_write(&self) -> bool {
        false
    }

    /// Does the job.
    ///
    /// # Errors
    /// The cause with which the job fails.
    fn run(&self, spec: &JobSpec, control: &Control) -> Result<InProcessAnswer, Cause>;
}
