//! A job, an agent that is a shell script, and a driver around them.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use planex_agents::drive::drive;
use planex_agents::{Agent, AgentSet, DriveContext, Update};
use planex_core::job::{JobOutcome, JobSpec, Mode, Role};
use planex_core::mask::Masker;
use planex_core::settings::{AgentSettings, Settings};
use planex_sys::clock::Clock;
use planex_sys::env::Environment;
use planex_sys::process::Guardian;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// One guardian for all tests of this program.
fn guardian() -> Arc<Guardian> {
    static ONE: OnceLock<Arc<Guardian>> = OnceLock::new();
    Arc::clone(ONE.get_or_init(|| Arc::new(Guardian::start(None).unwrap())))
}

/// A place to run one job in.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    pub(crate) settings: AgentSettings,
    pub(crate) spec: JobSpec,
    pub(crate) cancel: CancellationToken,
    pub(crate) context: DriveContext,
}

/// What a job came to, and what it told.
pub(crate) struct Ran {
    pub(crate) outcome: JobOutcome,
    pub(crate) updates: Vec<Update>,
}

impl Bench {
    /// A custom agent that runs `script` with `sh`.
    pub(crate) fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap().canonicalize_utf8().unwrap();
        let cwd = root.join("tree");
        std::fs::create_dir(&cwd).unwrap();
        let environment: Environment =
            [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("MY_API_KEY", "hunter2hunter2")].into_iter().collect();
        let context = DriveContext {
            guardian: guardian(),
            masker: Arc::new(Masker::new(environment.vars().iter())),
            environment: Arc::new(environment),
            mcp: None,
            clock: Clock::system(),
            log_cap: 1024 * 1024,
            kill: CancellationToken::new(),
            usage_before: None,
        };
        Self {
            settings: AgentSettings {
                command: vec!["sh".into(), "-c".into(), script.into()],
                ..AgentSettings::default()
            },
            spec: spec(&root, &cwd),
            cancel: CancellationToken::new(),
            context,
            folder,
        }
    }

    pub(crate) fn path(&self, name: &str) -> Utf8PathBuf {
        self.spec.run_dir.join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(&std::fs::read(self.path(name)).unwrap()).into_owned()
    }

    pub(crate) fn agent(&self) -> Agent {
        let settings =
            Settings { agents: BTreeMap::from([("mine".to_owned(), self.settings.clone())]), ..Settings::default() };
        AgentSet::new(&settings, &self.context.environment, None, []).resolve("mine").unwrap()
    }

    pub(crate) async fn run(&self) -> Ran {
        self.run_as(&self.agent()).await
    }

    pub(crate) async fn run_as(&self, agent: &Agent) -> Ran {
        let (sender, mut receiver) = mpsc::channel(256);
        let outcome = drive(agent, &self.spec, &self.context, sender, self.cancel.clone()).await;
        let mut updates = Vec::new();
        while let Ok(update) = receiver.try_recv() {
            updates.push(update);
        }
        assert!(self.folder.path().exists());
        assert!(!self.path("tmp").exists(), "the temporary folder of the run is left");
        Ran { outcome, updates }
    }
}

fn spec(root: &Utf8Path, cwd: &Utf8Path) -> JobSpec {
    JobSpec {
        run_id: "s-T1".into(),
        role: Role::Execute,
        mode: Mode::Write,
        prompt: "the prompt".into(),
        cwd: cwd.to_owned(),
        session_dir: root.to_owned(),
        run_dir: root.join(".planex/runs/s-T1"),
        schema: Some(json!({
            "type": "object",
            "properties": { "id": { "type": "string" }, "ok": { "type": "boolean" } },
            "required": ["id", "ok"]
        })),
        expected_id: Some("T1".into()),
        item: json!({ "id": "T1", "key files": "a;b" }).as_object().cloned(),
        limit: Duration::from_secs(60),
        idle: Duration::from_secs(30),
        grace: Duration::from_millis(500),
        model: None,
        extra_args: Vec::new(),
        env: BTreeMap::new(),
        resume: None,
    }
}

/// Whether a process with this id is alive (a zombie is not).
pub(crate) fn alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// Waits for `done`, at most 20 seconds.
pub(crate) async fn until(what: &str, mut done: impl FnMut() -> bool) {
    let end = tokio::time::Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(tokio::time::Instant::now() < end, "{what}: it did not come");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whether the file is there and written.
pub(crate) fn holds_a_line(path: &Utf8Path) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| text.ends_with('\n'))
}
