//! A project in a temporary folder, and agents that answer from closures.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use camino::{Utf8Path, Utf8PathBuf};
use planex_agents::{AgentRef, AgentSet};
use planex_agents::{Control, InProcess, InProcessAnswer};
use planex_core::csv::Table;
use planex_core::gate::{Answerer, Gate};
use planex_core::job::{Cause, CauseKind, JobOutcome, JobSpec, JobStatus, Role, Usage};
use planex_core::settings::{GatePolicy, Settings};
use planex_engine::gate::{ApprovalStore, Asked, Asker};
use planex_engine::project::Project;
use planex_engine::run::{Execution, Executor, Running};
use planex_engine::session::{self, Found};
use planex_engine::workflow::waves::{self, Resume, Start, WavesEnd};
use planex_engine::{Engine, EngineError};
use planex_sys::clock::Clock;
use planex_sys::env::Environment;
use serde_json::{Value, json};

/// Answers a job: a result, or the cause of its failure.
pub(crate) type Script = Arc<dyn Fn(&JobSpec) -> Result<Value, Cause> + Send + Sync>;

/// What was run: role and item, in the order of their starts.
pub(crate) type Log = Arc<Mutex<Vec<String>>>;

struct Scripted {
    script: Script,
    log: Log,
}

impl Executor for Scripted {
    fn execute(&self, run: Execution) -> Running {
        let (script, log) = (Arc::clone(&self.script), Arc::clone(&self.log));
        Box::pin(async move {
            log.lock().unwrap().push(format!("{} {}", run.spec.role, item(&run.spec)));
            let spec = run.spec.clone();
            let work = tokio::task::spawn_blocking(move || script(&spec));
            tokio::select! {
                answer = work => outcome(&run.agent, &run.spec, answer.unwrap()),
                () = run.end.cancelled() => JobOutcome {
                    status: JobStatus::Cancelled,
                    ..outcome(&run.agent, &run.spec, Err(Cause::new(CauseKind::Cancelled, "ended")))
                },
            }
        })
    }

    fn concurrency(&self, _agent: &str) -> Option<usize> {
        None
    }
}

fn outcome(agent: &AgentRef, spec: &JobSpec, answer: Result<Value, Cause>) -> JobOutcome {
    let (status, result, cause) = match answer {
        Ok(value) => (JobStatus::Completed, Some(value), None),
        Err(cause) => (JobStatus::Failed, None, Some(cause)),
    };
    JobOutcome {
        run_id: spec.run_id.clone(),
        role: spec.role,
        agent: agent.agent.clone(),
        model: None,
        status,
        cause,
        result,
        source: None,
        notes: Vec::new(),
        text: String::new(),
        agent_session: Some(format!("session of {}", spec.run_id)),
        usage: Usage { input_tokens: 10, cached_input_tokens: 0, output_tokens: 5, cost_usd: Some(0.01) },
        started_at: planex_sys::clock::now(),
        duration_s: 0.1,
        exit: None,
        files_changed: Vec::new(),
        attempt: 0,
        left_running: Vec::new(),
    }
}

/// The row's id, or the name of the phase's job.
pub(crate) fn item(spec: &JobSpec) -> String {
    let id = spec.item.as_ref().and_then(|item| item.get("id")).and_then(Value::as_str);
    id.map_or_else(|| spec.role.to_string(), str::to_owned)
}

/// Answers gates from a list; `None` once it is used up.
pub(crate) struct Answers {
    pub(crate) options: Vec<&'static str>,
    pub(crate) seen: Arc<Mutex<Vec<Gate>>>,
}

impl Asker for Answers {
    fn ask(&mut self, gate: &Gate, _outside: &dyn Fn() -> Option<planex_core::gate::Answer>) -> Asked {
        self.seen.lock().unwrap().push(gate.clone());
        if self.options.is_empty() {
            return Asked::Defer;
        }
        let option = self.options.remove(0);
        let question = gate.questions[0].id.clone();
        let answer = gate.answer(&[(question, option.to_owned())], None, Answerer::Terminal, gate.opened_at).unwrap();
        Asked::Answered(answer)
    }
}

/// An agent that is there by name, so that a chain can be made; the executor is what answers.
struct Named(&'static str);

impl InProcess for Named {
    fn name(&self) -> &str {
        self.0
    }

    fn can_write(&self) -> bool {
        true
    }

    fn run(&self, _spec: &JobSpec, _control: &Control) -> Result<InProcessAnswer, Cause> {
        Err(Cause::new(CauseKind::Failed, "only its name is used"))
    }
}

/// A project and what runs in it.
pub(crate) struct Bench {
    _temp: tempfile::TempDir,
    data: Utf8PathBuf,
    pub(crate) root: Utf8PathBuf,
    pub(crate) log: Log,
    pub(crate) gates: Arc<Mutex<Vec<Gate>>>,
    pub(crate) settings: Settings,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let base = Utf8PathBuf::from_path_buf(temp.path().canonicalize().unwrap()).unwrap();
        let (root, data) = (base.join("project"), base.join("data"));
        for (path, text) in [("src/lib.rs", "pub fn one() {}\n"), ("src/auth.rs", "pub fn login() {}\n")] {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::fs::write(root.join(path), text).unwrap();
        }
        let settings = Settings { gates: GatePolicy::Yes, agent: Some("scripted".to_owned()), ..Settings::default() };
        Self { _temp: temp, data, root, log: Log::default(), gates: Arc::default(), settings }
    }

    pub(crate) fn engine(&self, script: &Script, answers: Vec<&'static str>) -> Engine {
        let env = Arc::new(Environment::default());
        let agents = AgentSet::new(
            &self.settings,
            &env,
            None,
            [Arc::new(Named("scripted")) as Arc<dyn InProcess>, Arc::new(Named("other"))],
        );
        let executor = Arc::new(Scripted { script: Arc::clone(script), log: Arc::clone(&self.log) });
        let project = Project { root: self.root.clone(), git: None };
        let mut engine =
            Engine::with_executor(self.settings.clone(), env, project, Arc::new(agents), executor, Clock::system());
        engine.approvals = self.approvals();
        engine.set_asker(Box::new(Answers { options: answers, seen: Arc::clone(&self.gates) }));
        engine
    }

    /// In a folder of their own, as the user's data is.
    pub(crate) fn approvals(&self) -> ApprovalStore {
        ApprovalStore::new(Some(self.data.clone()))
    }

    pub(crate) async fn start(&self, script: &Script, answers: Vec<&'static str>) -> Result<WavesEnd, EngineError> {
        let start = Start { requirement: "Add -y to \"login\"; 認証を直す".to_owned(), explore: true };
        waves::start(&self.engine(script, answers), start).await
    }

    pub(crate) async fn resume(
        &self,
        script: &Script,
        answers: Vec<&'static str>,
        options: Resume,
    ) -> Result<WavesEnd, EngineError> {
        waves::resume(&self.engine(script, answers), &self.found(), options).await
    }

    pub(crate) fn found(&self) -> Found {
        session::find_all(&self.root).unwrap().remove(0)
    }

    pub(crate) fn file(&self, name: &str) -> Utf8PathBuf {
        self.found().dir.join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap()
    }

    /// One column of a CSV by id.
    pub(crate) fn column(&self, file: &str, column: &str) -> BTreeMap<String, String> {
        let table = Table::parse(&std::fs::read(self.file(file)).unwrap()).unwrap();
        (0..table.rows.len())
            .map(|row| (table.cell(row, "id").unwrap().to_owned(), table.cell(row, column).unwrap().to_owned()))
            .collect()
    }

    pub(crate) fn ran(&self, what: &str) -> usize {
        self.log.lock().unwrap().iter().filter(|line| *line == what).count()
    }
}

/// A task of a plan: id, dependencies, scope.
pub(crate) fn task(id: &str, deps: &[&str], scope: &str) -> Value {
    json!({
        "id": id, "title": format!("Do {id}"), "description": format!("Do {id} well"), "test": "a test",
        "acceptance_criteria": "it works", "scope": scope, "hints": "carefully || src/lib.rs",
        "execution_directives": "`cargo test`", "deps": deps, "context_from": ["E1"],
    })
}

/// A diamond of four tasks over three waves.
pub(crate) fn diamond() -> Value {
    json!({"tasks": [
        task("T1", &[], "src/a/**"), task("T2", &["T1"], "src/b/**"),
        task("T3", &["T1"], "src/c/**"), task("T4", &["T2", "T3"], "src/d/**"),
    ]})
}

/// Answers everything well; `execute` may say otherwise for a task.
pub(crate) fn script(
    plan: Value,
    execute: impl Fn(&str, &JobSpec) -> Option<Result<Value, Cause>> + Send + Sync + 'static,
) -> Script {
    Arc::new(move |spec| match spec.role {
        Role::Assess => Ok(json!({"type": "feature", "complexity": "Medium", "angles": [
            {"id": "E1", "angle": "architecture", "description": "d", "focus": "login"},
            {"id": "E2", "angle": "testing", "description": "d", "focus": "tests"},
        ]})),
        Role::Explore => Ok(json!({
            "id": item(spec), "status": "completed", "findings": format!("found by {}", item(spec)),
            "key_files": ["src/lib.rs", "src/absent.rs"], "error": "",
        })),
        Role::Plan => Ok(plan.clone()),
        _ => execute(&item(spec), spec).unwrap_or_else(|| Ok(done(&item(spec)))),
    })
}

/// The report of a task that went well.
pub(crate) fn done(id: &str) -> Value {
    json!({"id": id, "status": "completed", "findings": format!("did {id}"), "files_modified": ["claimed.rs"],
           "tests_passed": true, "acceptance_met": "all", "error": ""})
}

/// The report of a task that did not.
pub(crate) fn failed(id: &str, error: &str) -> Value {
    json!({"id": id, "status": "failed", "findings": "", "tests_passed": false, "acceptance_met": "", "error": error})
}

pub(crate) fn write(root: &Utf8Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
