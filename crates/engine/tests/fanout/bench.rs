//! A project with a CSV, and an agent that is a shell script.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use camino::Utf8PathBuf;
use planex_agents::AgentSet;
use planex_core::csv::Table;
use planex_core::job::Mode;
use planex_core::settings::{AgentSettings, Concurrency, Settings};
use planex_engine::project::Project;
use planex_engine::requests::{self, Request};
use planex_engine::session::{self, Found, SessionStatus};
use planex_engine::workflow::fanout::{self, FanoutOptions, FanoutReport, Source};
use planex_engine::{Engine, EngineError};
use planex_sys::env::Environment;
use planex_sys::process::Guardian;

fn guardian() -> Arc<Guardian> {
    static ONE: OnceLock<Arc<Guardian>> = OnceLock::new();
    Arc::clone(ONE.get_or_init(|| Arc::new(Guardian::start(None).unwrap())))
}

/// A schema that most tests use.
pub(crate) const SCHEMA: &str = r#"{"type":"object","properties":{"id":{"type":"string"},"findings":{"type":"string"},
    "files":{"type":"array","items":{"type":"string"}}},"required":["id","findings"]}"#;

pub(crate) struct Bench {
    _temp: tempfile::TempDir,
    pub(crate) root: Utf8PathBuf,
    pub(crate) settings: Settings,
    pub(crate) options: FanoutOptions,
}

impl Bench {
    /// `csv` is `jobs.csv`; `script` runs with `sh` in the project's folder, the prompt on its standard input.
    pub(crate) fn new(csv: &str, script: &str) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(temp.path().canonicalize().unwrap()).unwrap().join("p");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("jobs.csv"), csv).unwrap();
        let agent =
            AgentSettings { command: ["sh", "-c", script].map(str::to_owned).to_vec(), ..AgentSettings::default() };
        let mut settings = Settings { agent: Some("mine".to_owned()), ..Settings::default() };
        settings.agents.insert("mine".to_owned(), agent);
        settings.limits.grace = Duration::from_millis(200);
        let options = FanoutOptions {
            input: root.join("jobs.csv"),
            instruction: Source { name: "template.md".to_owned(), text: "Look at {id}".to_owned(), path: None },
            id_column: Some("id".to_owned()),
            output: None,
            schema: Some(Source { name: "schema.json".to_owned(), text: SCHEMA.to_owned(), path: None }),
            mode: Mode::Analysis,
            retries: 0,
        };
        Self { _temp: temp, root, settings, options }
    }

    pub(crate) fn concurrency(mut self, jobs: usize) -> Self {
        self.settings.concurrency = Concurrency(jobs);
        self
    }

    pub(crate) fn template(mut self, text: &str) -> Self {
        text.clone_into(&mut self.options.instruction.text);
        self
    }

    pub(crate) fn engine(&self) -> Engine {
        let env: Environment = [("PATH", "/usr/local/bin:/usr/bin:/bin")].into_iter().collect();
        let agents = AgentSet::new(&self.settings, &env, None, []);
        let project = Project::find(&self.root, None);
        let mut engine = Engine::new(self.settings.clone(), env, project, agents, guardian(), None);
        engine.policy.retry_base = Duration::from_millis(10);
        engine.policy.rate_limit_base = Duration::from_millis(10);
        engine.policy.poll = Duration::from_millis(20);
        engine
    }

    pub(crate) async fn run(&self) -> Result<FanoutReport, EngineError> {
        fanout::run(&self.engine(), &self.options).await
    }

    pub(crate) fn output(&self) -> Table {
        Table::parse(&std::fs::read(self.root.join("jobs.results.csv")).unwrap()).unwrap()
    }

    /// One column of the output.
    pub(crate) fn column(&self, name: &str) -> Vec<String> {
        let table = self.output();
        assert!(table.index(name).is_some(), "no column {name} in {:?}", table.columns);
        (0..table.rows.len()).map(|row| table.cell(row, name).unwrap().to_owned()).collect()
    }

    /// Waits until something is so.
    ///
    /// # Panics
    /// It never is.
    pub(crate) async fn until(&self, is: impl Fn() -> bool) {
        for _ in 0..3000 {
            if is() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("what was waited for never came");
    }

    /// The session that runs, else the newest one: those of one second have no order.
    pub(crate) fn found(&self) -> Found {
        let mut all = session::find_all(&self.root).unwrap();
        let runs = |found: &Found| matches!(session::status_of(&found.paths(), None), SessionStatus::Running(_));
        let running = all.iter().position(runs).unwrap_or(0);
        all.remove(running)
    }

    /// Leaves a request for the newest session.
    pub(crate) fn asks(&self, request: &Request) {
        requests::place(&self.found().paths(), request, planex_sys::clock::now()).unwrap();
    }

    /// Requests of the newest session that wait.
    pub(crate) fn asked(&self) -> usize {
        requests::waiting(&self.found().paths()).unwrap().len()
    }

    /// A new session, of which `request` is asked as soon as the first row has answered or noted that it runs.
    pub(crate) async fn run_and_ask(&self, request: Request) -> FanoutReport {
        let before = self.ran().len();
        let asking = async {
            self.until(|| self.ran().len() > before).await;
            self.asks(&request);
        };
        let (report, ()) = tokio::join!(self.run(), asking);
        report.unwrap()
    }

    /// Goes on with the newest session.
    pub(crate) async fn resume(&self, retry: Option<&[String]>, reopen: bool) -> Result<FanoutReport, EngineError> {
        fanout::resume(&self.engine(), &self.found(), retry, reopen).await
    }

    /// `--continue`.
    pub(crate) async fn go_on(&self) -> Result<FanoutReport, EngineError> {
        fanout::go_on(&self.engine(), &self.options).await
    }

    /// The journal of the newest session.
    pub(crate) fn journal(&self) -> String {
        std::fs::read_to_string(self.found().paths().journal()).unwrap()
    }

    /// How often the script ran for each line of `ran.txt`.
    pub(crate) fn ran(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.root.join("ran.txt")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

/// A script that answers well.
pub(crate) const GOOD: &str = r#"cat >/dev/null; printf '{"id":"%s","findings":"about %s","files":["a","b"]}' "$PLANEX_FIELD_ID" "$PLANEX_FIELD_ID""#;
