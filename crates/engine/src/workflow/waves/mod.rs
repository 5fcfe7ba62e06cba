//! `planex waves` (spec 20): requirement -> explore.csv -> gate -> explore -> plan -> tasks.csv -> gate -> waves -> report.
//!
//! Steps in reading order: [`angles`], [`explore`], [`planning`], [`execute`], [`aggregate`]. Each step looks at the files
//! of the session to see what is left to do, so starting, resuming and `--continue` are one and the same walk. Nothing
//! here prints or asks a terminal: events out, answers in.

mod aggregate;
mod angles;
mod approve;
mod attribute;
mod baseline;
mod commands;
mod execute;
mod explore;
mod gates;
mod isolated;
mod jobs;
mod merged;
mod planning;
mod preview;
mod retry;
mod settle;

pub use preview::{Estimate, Preview, PreviewAngle, PreviewJob, PreviewTask, preview};

use planex_core::event::{EventKind, Level};
use planex_core::gate::Gate;
use planex_core::id;
use planex_core::job::Usage;
use planex_core::report::Totals;
use planex_core::text::one_line;

use crate::engine::{Driver, Engine};
use crate::error::{EngineError, Result};
use crate::ground::Ground;
use crate::session::{Ending, Found, Meta, Session, Workflow};
use crate::workflow::frame;

/// What a new session is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The requirement, as the user wrote it.
    pub requirement: String,
    /// Whether to explore first (`--no-explore`: not).
    pub explore: bool,
}

/// How an existing session is taken up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resume {
    /// Run these again; an empty list means all that failed or were skipped. `None`: no retry.
    pub retry: Option<Vec<String>>,
    /// Show the gate before execution again, even if exactly this was approved before (`--continue`).
    pub confirm: bool,
    /// Take up a cancelled session.
    pub reopen: bool,
}

/// How planex left a session.
#[derive(Debug, Clone, PartialEq)]
pub struct WavesEnd {
    /// The session.
    pub session: String,
    /// Exit code of the command.
    pub exit: u8,
    /// How it ended, as in [`EventKind::SessionFinished`].
    pub status: &'static str,
    /// Counts, once there are tasks.
    pub totals: Totals,
    /// Tokens and cost of the session so far.
    pub usage: Usage,
    /// Files worth opening: what it is, and its path.
    pub files: Vec<(&'static str, camino::Utf8PathBuf)>,
    /// The gate that is open, if one is.
    pub gate: Option<Gate>,
    /// Commands to go on with, one a line.
    pub next: Vec<String>,
}

/// Why the walk stops before its end. Not an error: the state is saved.
#[derive(Debug)]
pub(crate) enum Leave {
    /// A gate is open and nobody is there to answer.
    AtGate(Box<Gate>),
    /// The user wants to edit this file first.
    Modify(camino::Utf8PathBuf),
    /// The user cancelled.
    Cancelled,
    /// Another process asked to pause.
    Paused,
    /// A budget is used up.
    Budget(String),
    /// Ctrl-C or a signal.
    Interrupted,
    /// Something failed.
    Error(EngineError),
}

impl<E: Into<EngineError>> From<E> for Leave {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

pub(crate) type Walk<T = ()> = std::result::Result<T, Leave>;

/// One walk through a session.
pub(crate) struct Flow<'e> {
    pub(super) engine: &'e Engine,
    pub(super) driver: Driver,
    /// Whether this session explores.
    pub(super) explores: bool,
    /// Whether the gate before execution is shown even if its content is approved.
    pub(super) confirm: bool,
    /// What was said on the way and belongs into the report.
    pub(super) notes: Vec<String>,
    /// The project's own tests, while they run beside the first wave.
    pub(super) baseline: Option<baseline::Running>,
    /// Where tasks work, once that is decided.
    pub(super) ground: Option<Ground>,
}

/// Starts a new session and walks as far as it goes.
///
/// # Errors
/// The session cannot be made, a file is invalid, no agent can execute, the disk fails.
pub async fn start(engine: &Engine, start: Start) -> Result<WavesEnd> {
    let requirement = start.requirement.trim().to_owned();
    if requirement.is_empty() {
        return Err(EngineError::usage("the requirement is empty").hint("say what is to be done, in quotes"));
    }
    Ground::check(engine)?;
    let now = engine.clock.now();
    let wished = id::waves_session_id(&requirement, engine.zone.date(now));
    let mut meta = Meta::new(Workflow::Waves, wished, requirement, engine.zone.stamp(now));
    meta.options.insert("explore".to_owned(), start.explore.into());
    meta.options.insert(isolated::INTO.to_owned(), engine.settings.isolation.into.to_string().into());
    let session = engine.create(meta)?;
    walk(engine, session, false, &Resume::default()).await
}

/// Takes up an existing session where its files say it is.
///
/// # Errors
/// As [`start`]; also when another process drives the session.
pub async fn resume(engine: &Engine, found: &Found, options: Resume) -> Result<WavesEnd> {
    let session = frame::take_up(engine, found, "planex waves", options.reopen)?;
    session.save()?;
    walk(engine, session, true, &options).await
}

async fn walk(engine: &Engine, session: Session, resumed: bool, options: &Resume) -> Result<WavesEnd> {
    let explores = session.meta.options.get("explore").and_then(serde_json::Value::as_bool).unwrap_or(true);
    let driver = engine.drive(session)?;
    driver.events.emit(EventKind::SessionStarted {
        session: driver.session.id.clone(),
        workflow: Workflow::Waves.to_string(),
        requirement: one_line(&driver.session.meta.requirement),
        resumed,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    });
    let mut flow =
        Flow { engine, driver, explores, confirm: options.confirm, notes: Vec::new(), baseline: None, ground: None };
    let walked = match if resumed { flow.clear_leftovers() } else { Ok(()) } {
        Ok(()) => flow.steps(options).await,
        Err(error) => Err(error.into()),
    };
    flow.end(walked)
}

impl Flow<'_> {
    /// The five phases, in order; each skips what its files say is done.
    async fn steps(&mut self, options: &Resume) -> Walk {
        if let Some(tasks) = &options.retry {
            self.set_back(tasks)?;
        }
        if self.explores && !self.has_tasks() {
            self.choose_angles().await?;
            self.approve_angles()?;
            self.explore_waves().await?;
        }
        if !self.has_tasks() {
            self.plan().await?;
        }
        loop {
            self.approve_tasks().await?;
            self.execute_waves().await?;
            self.aggregate()?;
            self.write_patch()?;
            if !self.offer_retry()? {
                return Ok(());
            }
        }
    }

    pub(super) fn has_tasks(&self) -> bool {
        planex_sys::fs::exists(&self.driver.session.paths.tasks_csv())
    }

    /// Says something, and keeps it for the report.
    pub(super) fn say(&mut self, level: Level, text: impl Into<String>) {
        let text = text.into();
        self.driver.events.notice(level, text.clone());
        self.notes.push(text);
    }

    pub(super) fn phase(&self, phase: &str, title: &str) {
        self.driver.events.emit(EventKind::PhaseStarted { phase: phase.to_owned(), title: title.to_owned() });
    }

    pub(super) fn phase_done(&self, phase: &str, summary: String) {
        self.driver.events.emit(EventKind::PhaseFinished { phase: phase.to_owned(), summary });
    }

    /// Ends processes and removes wave files that a killed run left behind.
    fn clear_leftovers(&mut self) -> Result<()> {
        for entry in planex_sys::fs::list(self.driver.session.paths.dir())? {
            if is_wave_file(&entry.name) {
                planex_sys::fs::remove_file(&entry.path)?;
            }
        }
        for left in crate::registry::end_leftovers(&self.driver.session.paths)? {
            self.say(Level::Warning, format!("could not end {left}, which an earlier run left behind"));
        }
        Ok(())
    }

    /// Closes the session's books, however the walk ended.
    fn end(mut self, walked: Walk) -> Result<WavesEnd> {
        let id = self.driver.session.id.clone();
        let resume = format!("planex resume {id}");
        let totals = self.totals();
        let failed = totals.failed + totals.skipped > 0;
        let mut gate = None;
        let (exit, status, next, ending, error) = match walked {
            Ok(()) if failed => (5, "failed", vec![format!("planex resume {id} --retry")], Some(Ending::Failed), None),
            Ok(()) => (0, "completed", Vec::new(), Some(Ending::Completed), None),
            Err(Leave::AtGate(open)) => {
                let line = crate::gate::answer_line(&open, &id);
                gate = Some(*open);
                (4, "waiting", vec![line, resume], None, None)
            }
            Err(Leave::Modify(file)) => {
                (4, "waiting", vec![format!("edit {file}"), format!("planex waves --continue {id}")], None, None)
            }
            Err(Leave::Cancelled) => {
                (4, "cancelled", vec![format!("{resume} --reopen")], Some(Ending::Cancelled), None)
            }
            Err(Leave::Paused) => (4, "paused", vec![resume], None, None),
            Err(Leave::Budget(why)) => {
                self.say(Level::Warning, why);
                gate = crate::gate::open_gates(&self.driver.session.paths)?.pop();
                let answer = gate.as_ref().map(|open| crate::gate::answer_line(open, &id));
                (4, "waiting", answer.into_iter().chain([resume]).collect(), None, None)
            }
            Err(Leave::Interrupted) => (130, "interrupted", vec![resume], None, None),
            Err(Leave::Error(error)) => (error.exit_code(), "stopped", vec![resume], None, Some(error)),
        };
        self.leave_ground();
        let usage = self.usage();
        self.driver.events.emit(EventKind::SessionFinished { status: status.to_owned(), exit, usage });
        let flushed = self.driver.events.flush();
        if let Some(error) = error {
            return Err(next.into_iter().fold(error, |error, line| error.hint(format!("go on with `{line}`"))));
        }
        if let Some(ending) = ending {
            frame::close(&mut self.driver.session, ending)?;
        }
        flushed?;
        Ok(WavesEnd { session: id, exit, status, totals, usage, files: self.files(), gate, next })
    }

    fn files(&self) -> Vec<(&'static str, camino::Utf8PathBuf)> {
        let paths = &self.driver.session.paths;
        [
            ("Results", paths.results_csv()),
            ("Report", paths.context_md()),
            ("Patch", paths.changes_patch()),
            ("Discoveries", paths.discoveries()),
            ("Tasks", paths.tasks_csv()),
            ("Angles", paths.explore_csv()),
        ]
        .into_iter()
        .filter(|(_, path)| planex_sys::fs::exists(path))
        .collect()
    }
}

/// Runs what blocks for long (a look at the whole tree) where that holds up nothing else.
async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(EngineError::internal)
}

/// `explore-wave-3.csv`, `task-wave-3.csv`: a wave's file is there only while that wave runs.
fn is_wave_file(name: &str) -> bool {
    let number = ["explore-wave-", "task-wave-"].iter().find_map(|prefix| name.strip_prefix(prefix));
    number
        .and_then(|rest| rest.strip_suffix(".csv"))
        .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}
