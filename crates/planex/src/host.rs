//! Everything that driving a session needs, put together once: engine, runtime, terminal, signals.

use std::future::Future;
use std::sync::Arc;

use planex_agents::{AgentSet, InProcess, McpServer};
use planex_engine::native::Native;
use planex_engine::{Cancel, Engine};
use planex_sys::process::Guardian;
use tokio::runtime::Runtime;

use crate::context::Context;
use crate::error::{CliError, Result};
use crate::setup::{Setup, approvals};
use crate::ui::Ui;
use crate::ui::terminal::Terminal;

/// An engine with a runtime to drive it.
#[derive(Debug)]
pub(crate) struct Host {
    /// The engine.
    pub(crate) engine: Engine,
    runtime: Runtime,
}

impl Host {
    /// Puts it together. `what` says in the lock what this process does.
    pub(crate) fn new(setup: Setup, context: &Context, ui: &Ui, what: &str) -> Result<Self> {
        Self::with(setup, context, ui, what, Vec::new())
    }

    /// The same, with more agents inside planex.
    pub(crate) fn with(
        setup: Setup,
        context: &Context,
        ui: &Ui,
        what: &str,
        others: Vec<Arc<dyn InProcess>>,
    ) -> Result<Self> {
        // Before the runtime: the guardian is forked from a process with one thread.
        let guardian = Guardian::start(None)
            .map_err(|error| CliError::failed(format!("the guardian of jobs cannot start: {error}")))?;
        let runtime = runtime()?;
        let native = native(&setup);
        let agents = agents(&setup, context, Arc::clone(&native), others);
        let language = setup.settings().lang;
        let mcp = mcp_server();
        let approvals = approvals(&setup.folders);
        let cache = setup.folders.cache.clone();
        let Setup { loaded, project, .. } = setup;
        let mut engine = Engine::new(loaded.settings, context.env.clone(), project, agents, Arc::new(guardian), mcp);
        engine.native = native;
        engine.cache = cache;
        engine.approvals = approvals;
        engine.command = format!("planex {what}");
        let terminal = Terminal::new(ui.clone(), language, engine.cancel.clone());
        engine.add_surface(Box::new(terminal.clone()));
        engine.set_asker(Box::new(terminal));
        runtime.spawn(hear_signals(engine.cancel.clone()));
        Ok(Self { engine, runtime })
    }

    /// Runs to the end.
    pub(crate) fn run<'a, F: Future>(&'a self, work: impl FnOnce(&'a Engine) -> F) -> F::Output {
        self.runtime.block_on(work(&self.engine))
    }
}

/// A runtime for what waits.
pub(crate) fn runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::failed(format!("the runtime cannot start: {error}")))
}

/// planex's own explorer and planner for the project.
pub(crate) fn native(setup: &Setup) -> Arc<Native> {
    let stamp = setup.zone().stamp(planex_sys::clock::now());
    Arc::new(Native::new(setup.project.root.clone(), setup.folders.cache.clone(), stamp))
}

/// Which agents there are.
pub(crate) fn agents(
    setup: &Setup,
    context: &Context,
    native: Arc<Native>,
    others: Vec<Arc<dyn InProcess>>,
) -> AgentSet {
    AgentSet::new(setup.settings(), &context.env, Some(native), others)
}

/// planex's own MCP server, for agents that take one per run. Without a path to itself there is none: agents report in
/// their other ways.
pub(crate) fn mcp_server() -> Option<McpServer> {
    let program = std::env::current_exe().ok()?;
    let command = program.to_str()?.to_owned();
    Some(McpServer { command, args: vec!["mcp".to_owned()], ..McpServer::default() })
}

/// The first Ctrl-C, SIGTERM or SIGHUP ends jobs in their own way, the second kills.
#[cfg(unix)]
async fn hear_signals(cancel: Cancel) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()), signal(SignalKind::hangup()))
    else {
        return;
    };
    loop {
        let heard = tokio::select! {
            heard = interrupt.recv() => heard,
            heard = terminate.recv() => heard,
            heard = hangup.recv() => heard,
        };
        if heard.is_none() {
            return;
        }
        cancel.interrupt();
    }
}

/// The first Ctrl-C ends jobs in their own way, the second kills.
#[cfg(not(unix))]
async fn hear_signals(cancel: Cancel) {
    while tokio::signal::ctrl_c().await.is_ok() {
        cancel.interrupt();
    }
}
