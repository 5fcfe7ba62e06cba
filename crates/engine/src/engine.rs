//! All of it tied together: what a command needs to start or take up a session.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use camino::Utf8PathBuf;
use jiff::Timestamp;
use planex_agents::{ANY_AGENT, AgentRef, AgentSet, McpServer};
use planex_core::id;
use planex_core::job::{JobSpec, Mode, Role, Usage};
use planex_core::mask::Masker;
use planex_core::settings::Settings;
use planex_core::time::Zone;
use planex_sys::clock::Clock;
use planex_sys::env::Environment;
use planex_sys::process::Guardian;

use crate::cancel::Cancel;
use crate::error::{EngineError, ErrorKind, Result};
use crate::gate::{ApprovalStore, Asker, Gates, Nobody, SharedAsker};
use crate::journal::{self, EventSink, Journal, Surface, Surfaces};
use crate::native::Native;
use crate::project::Project;
use crate::run::{BudgetState, Dispatcher, Executor, LocalExecutor, Parts, Policy, Watch};
use crate::session::{Meta, Session};
use crate::store::SessionPaths;
use crate::usage;
use crate::verify::CheckContext;

/// Name of planex's own explorer and planner.
pub const NATIVE: &str = "native";

/// What planex works with: made once by the binary (or a test), lent to every workflow.
pub struct Engine {
    /// Configuration and flags.
    pub settings: Settings,
    /// The environment, read once.
    pub env: Arc<Environment>,
    /// Where it works.
    pub project: Project,
    /// Which agents there are.
    pub agents: Arc<AgentSet>,
    /// Who runs jobs.
    pub executor: Arc<dyn Executor>,
    /// The time.
    pub clock: Clock,
    /// The zone of stored times.
    pub zone: Zone,
    /// Takes secrets out of what is stored and shown.
    pub masker: Arc<Masker>,
    /// Ends everything.
    pub cancel: Cancel,
    /// What this process does, as typed, for the lock.
    pub command: String,
    /// planex's own explorer and planner; the same one that the agents know as `native`.
    pub native: Arc<Native>,
    /// Times and counts of the dispatcher; concurrency and limits come from the settings.
    pub policy: Policy,
    /// Below which commands run; `None`: they do not.
    pub guardian: Option<Arc<Guardian>>,
    /// The user's cache folder of planex's, where tasks' trees are made.
    pub cache: Option<Utf8PathBuf>,
    /// Where answers are vouched for, outside the project.
    pub approvals: ApprovalStore,
    asker: SharedAsker,
    surfaces: Surfaces,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("project", &self.project).field("command", &self.command).finish_non_exhaustive()
    }
}

impl Engine {
    /// An engine whose jobs run on the agents of this machine, below `guardian`.
    ///
    /// `mcp` is planex's own MCP server for jobs: this program and `mcp`.
    #[must_use]
    pub fn new(
        settings: Settings,
        env: Environment,
        project: Project,
        agents: AgentSet,
        guardian: Arc<Guardian>,
        mcp: Option<McpServer>,
    ) -> Self {
        let (env, agents) = (Arc::new(env), Arc::new(agents));
        let masker = Arc::new(masker(&env, &settings));
        let clock = Clock::system();
        let executor = LocalExecutor::new(
            Arc::clone(&agents),
            planex_agents::DriveContext {
                guardian: Arc::clone(&guardian),
                masker: Arc::clone(&masker),
                environment: Arc::clone(&env),
                mcp,
                clock: clock.clone(),
                log_cap: settings.limits.log_bytes,
                kill: tokio_util::sync::CancellationToken::new(),
                usage_before: None,
            },
        );
        Self {
            masker,
            guardian: Some(guardian),
            ..Self::with_executor(settings, env, project, agents, Arc::new(executor), clock)
        }
    }

    /// How planex runs commands in the session of `paths`: where and with what names their logs, each caller says.
    #[must_use]
    pub fn check_context(&self, paths: &SessionPaths) -> Option<CheckContext> {
        let limits = &self.settings.limits;
        Some(CheckContext {
            guardian: Arc::clone(self.guardian.as_ref()?),
            masker: Arc::clone(&self.masker),
            environment: Arc::clone(&self.env),
            env: BTreeMap::new(),
            cwd: self.project.root.clone(),
            logs: paths.all_checks(),
            name: String::new(),
            limit: self.settings.limit_of(Role::Execute),
            grace: limits.grace,
            log_cap: limits.log_bytes,
            kill: self.cancel.kill().clone(),
        })
    }

    /// An engine whose jobs run on `executor`: for tests.
    #[must_use]
    pub fn with_executor(
        settings: Settings,
        env: Arc<Environment>,
        project: Project,
        agents: Arc<AgentSet>,
        executor: Arc<dyn Executor>,
        clock: Clock,
    ) -> Self {
        let zone =
            Zone::new(&settings.timezone, &jiff::tz::TimeZone::fixed(planex_sys::clock::local_offset(clock.now())));
        let policy = Policy {
            concurrency: settings.concurrency.0.max(1),
            rate_limit_retries: settings.limits.rate_limit_retries,
            ..Policy::default()
        };
        Self {
            masker: Arc::new(masker(&env, &settings)),
            native: Arc::new(Native::new(project.root.clone(), None, zone.stamp(clock.now()))),
            settings,
            env,
            project,
            agents,
            executor,
            clock,
            zone,
            cancel: Cancel::new(),
            command: "planex".to_owned(),
            policy,
            guardian: None,
            cache: None,
            approvals: ApprovalStore::default(),
            asker: Arc::new(Mutex::new(Box::new(Nobody))),
            surfaces: Arc::new(Mutex::new(Vec::new())),
        }
    }

    /// Sets whoever is asked at gates.
    pub fn set_asker(&self, asker: Box<dyn Asker>) {
        *self.asker.lock().unwrap_or_else(PoisonError::into_inner) = asker;
    }

    /// Adds someone who is shown all events from now on.
    pub fn add_surface(&self, surface: Box<dyn Surface>) {
        self.surfaces.lock().unwrap_or_else(PoisonError::into_inner).push(surface);
    }

    /// Makes a new session. What was answered in an earlier one of the same folder does not count in it.
    ///
    /// # Errors
    /// As [`Session::create`]; or a left-over record cannot be removed.
    pub fn create(&self, meta: Meta) -> Result<Session> {
        let session = Session::create(&self.project.root, meta, &self.command, self.now())?;
        self.approvals.of(&session.paths).remove()?;
        Ok(session)
    }

    /// Opens the journal and the gates of a session that this process holds.
    ///
    /// # Errors
    /// The journal cannot be opened, or earlier runs not be read.
    pub fn drive(&self, session: Session) -> Result<Driver> {
        let journal =
            Journal::open(&session.paths.journal(), Arc::clone(&self.surfaces), self.clock.clone(), self.zone.clone())?;
        let events = journal.sink();
        let gates = Gates {
            paths: session.paths.clone(),
            events: events.clone(),
            clock: self.clock.clone(),
            policy: self.settings.gates,
            asker: Arc::clone(&self.asker),
            approvals: self.approvals.of(&session.paths),
        };
        let before = journal::driven(&journal::read(&session.paths.journal())?.events);
        let budget = BudgetState::new(self.settings.budget, usage::of_session(&session.paths)?, before);
        let dispatch = Parts {
            paths: session.paths.clone(),
            executor: Arc::clone(&self.executor),
            events: events.clone(),
            gates: Some(gates.clone()),
            clock: self.clock.clone(),
            zone: self.zone.clone(),
            cancel: self.cancel.clone(),
            budget,
            policy: self.policy.clone(),
            watch: None,
        };
        Ok(Driver { session, events, gates, dispatch, journal })
    }

    /// Now, as it is stored.
    #[must_use]
    pub fn stamp(&self) -> String {
        self.zone.stamp(self.now())
    }

    /// Now.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The agents that jobs of `role` run on, usable ones first: what flags name, else `assigned` (by the row or plan),
    /// else the configuration, else the first usable one; then the role's fall-backs. Where no agent is usable, analysis
    /// goes on with `native` if that fills the role.
    ///
    /// # Errors
    /// No agent is usable, or the one that is named cannot do it: exit 7, with how to get one.
    pub async fn chain(&self, role: Role, mode: Mode, assigned: Option<&str>) -> Result<Vec<AgentRef>> {
        let flag = self.settings.agent_by_role.get(&role).or(self.settings.agent.as_ref());
        let configured = self.settings.roles.get(&role).and_then(|r| r.agent.as_deref());
        let named = flag.map(String::as_str).or(assigned).or(configured).unwrap_or(ANY_AGENT);
        let mut chain = Vec::new();
        if named == ANY_AGENT {
            match self.agents.first_usable(mode).await {
                Some(agent) => chain.push(AgentRef { agent: agent.name().to_owned(), model: None }),
                None if self.native_fills(role) => chain.push(AgentRef::parse(NATIVE)),
                None => return Err(no_agent(role)),
            }
        } else {
            chain.push(self.require_usable(named, role, mode).await?);
        }
        let fallback = self.settings.roles.get(&role).map(|r| r.fallback.as_slice()).unwrap_or_default();
        for link in fallback {
            // A fall-back that is not there is no reason to stop; the first link is.
            if let Ok(link) = self.require_usable(link, role, mode).await
                && !chain.contains(&link)
            {
                chain.push(link);
            }
        }
        Ok(chain)
    }

    fn native_fills(&self, role: Role) -> bool {
        matches!(role, Role::Assess | Role::Explore | Role::Plan)
            && self.agents.names().iter().any(|name| name == NATIVE)
    }

    async fn require_usable(&self, name: &str, role: Role, mode: Mode) -> Result<AgentRef> {
        let agent = self.agents.resolve(name).map_err(|error| {
            EngineError::new(ErrorKind::NoAgent, error.to_string())
                .hint("`planex agent list` shows the agents there are")
        })?;
        if !agent.can(mode) {
            let message = format!("the agent `{name}` cannot fill the role {role}: it does no jobs of mode {mode}");
            return Err(EngineError::new(ErrorKind::NoAgent, message).hint("choose another with --agent NAME"));
        }
        if agent.is_in_process() {
            return Ok(AgentRef { agent: agent.name().to_owned(), model: None });
        }
        let probe = self.agents.probe(name).await;
        if !probe.usable() {
            let what = if probe.found.is_none() { "is not installed" } else { "is not logged in" };
            let error = EngineError::new(ErrorKind::NoAgent, format!("the agent `{name}` {what}"));
            return Err(error.hint(probe.remedy().unwrap_or_else(|| "see `planex agent check`".to_owned())));
        }
        Ok(AgentRef {
            agent: agent.name().to_owned(),
            model: agent.model().map(str::to_owned).filter(|_| name.contains(':')),
        })
    }
}

fn no_agent(role: Role) -> EngineError {
    EngineError::new(ErrorKind::NoAgent, format!("no agent is usable for the role {role}"))
        .hint("install and log in to one of claude, codex, gemini, qwen or opencode; `planex agent list` says how")
        .hint("or set your own under [agents.NAME] and choose it with --agent NAME")
}

/// Masks secrets of the environment and of what the configuration adds to it for agents and roles.
#[must_use]
pub fn masker(env: &Environment, settings: &Settings) -> Masker {
    let of_agents = settings.agents.values().flat_map(|agent| &agent.env);
    let of_roles = settings.roles.values().flat_map(|role| &role.env);
    Masker::new(env.vars().iter().chain(of_agents).chain(of_roles))
}

/// A session that this process drives.
pub struct Driver {
    /// The session, locked.
    pub session: Session,
    /// Where everything is told.
    pub events: EventSink,
    /// Where everything is asked.
    pub gates: Gates,
    dispatch: Parts,
    /// Last, so that it is dropped after every sink's owner here.
    #[expect(dead_code, reason = "held for its drop, which waits until all is on disk")]
    journal: Journal,
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver").field("session", &self.session.id).finish_non_exhaustive()
    }
}

impl Driver {
    /// A dispatcher for this session; `watch` is told of each run.
    #[must_use]
    pub fn dispatcher(&self, watch: Option<Arc<dyn Watch>>) -> Dispatcher {
        Dispatcher::new(Parts { watch, ..self.dispatch.clone() })
    }

    /// Keeps what a dispatcher counted, so that the next one goes on from there. Call it after each batch.
    pub fn account(&mut self, dispatcher: &Dispatcher) {
        self.dispatch.budget = dispatcher.budget().clone();
    }

    /// Tokens and money of the session so far, by what was accounted.
    #[must_use]
    pub fn used(&self) -> Usage {
        self.dispatch.budget.used()
    }

    /// A job of this session with everything that settings say about its role. Prompt, schema and item are the caller's.
    #[must_use]
    pub fn spec(&self, engine: &Engine, role: Role, mode: Mode, item: &str) -> JobSpec {
        let settings = &engine.settings;
        let mut of_role = settings.roles.get(&role).cloned().unwrap_or_default();
        let flag = settings.agent_by_role.get(&role).or(settings.agent.as_ref());
        // A flag that names another agent than the role's takes the role's model and arguments out of the game.
        if flag.is_some_and(|flag| of_role.agent.as_ref() != Some(flag)) {
            of_role.model = None;
            of_role.args.clear();
        }
        let run_id = id::run_id(&self.session.id, item);
        JobSpec {
            run_dir: self.session.paths.run(&run_id),
            run_id,
            role,
            mode,
            prompt: String::new(),
            cwd: engine.project.root.clone(),
            session_dir: self.session.paths.dir().to_owned(),
            schema: None,
            expected_id: None,
            item: None,
            limit: settings.limit_of(role),
            idle: settings.limits.idle,
            grace: settings.limits.grace,
            model: of_role.model,
            extra_args: of_role.args,
            env: of_role.env,
            resume: None,
        }
    }
}
