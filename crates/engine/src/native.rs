//! The agent `native`: planex's own explorer and planner behind the interface of an agent (spec 15).
//!
//! It reads its input from the job's row (`item`), never from the prompt, and only ever answers analysis jobs of the
//! roles assess, explore and plan.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use camino::Utf8PathBuf;
use planex_agents::{Control, InProcess, InProcessAnswer};
use planex_core::exploration::Exploration;
use planex_core::job::{Cause, CauseKind, JobSpec, Role};
use planex_core::schema::results::PlannedTask;
use planex_core::tech::ProjectTech;
use planex_explore::{Angle, ExploreOptions, ExploredRow, Explorer, Query};
use serde_json::{Map, Value, json};

/// Files of a ranking that exploring looks at.
const LIMIT: usize = 12;

/// planex's own explorer and planner as an agent.
#[derive(Debug)]
pub struct Native {
    root: Utf8PathBuf,
    cache: Option<Utf8PathBuf>,
    /// Made at first use, then shared: indexing is the costly part.
    explorer: Mutex<Option<Arc<Explorer>>>,
    /// Explorations of this process by row, for the planner: the CSV holds only their digests.
    explored: Mutex<Vec<(String, Exploration)>>,
    stamp: String,
}

impl Native {
    /// The agent for the project at `root`. `stamp` is the time that explorations carry.
    #[must_use]
    pub fn new(root: Utf8PathBuf, cache: Option<Utf8PathBuf>, stamp: String) -> Self {
        Self { root, cache, explorer: Mutex::new(None), explored: Mutex::new(Vec::new()), stamp }
    }

    /// The explorer, opened once.
    ///
    /// # Errors
    /// The tree cannot be read.
    pub fn explorer(&self) -> Result<Arc<Explorer>, Cause> {
        let mut slot = self.explorer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(explorer) = slot.as_ref() {
            return Ok(Arc::clone(explorer));
        }
        let options = ExploreOptions { cache_dir: self.cache.clone(), ..ExploreOptions::default() };
        let opened =
            Explorer::open(&self.root, &options).map_err(|error| Cause::new(CauseKind::Failed, error.to_string()))?;
        let explorer = Arc::new(opened);
        *slot = Some(Arc::clone(&explorer));
        Ok(explorer)
    }

    /// Files that matter for `text`, one a line with why, for the prompts of other agents.
    #[must_use]
    pub fn evidence(&self, text: &str, angle: Option<&str>) -> String {
        let Ok(explorer) = self.explorer() else { return String::new() };
        let ranking = explorer.rank(&query(text, angle));
        let lines: Vec<String> = ranking
            .files
            .iter()
            .map(|file| {
                let why: Vec<String> = file.why.iter().take(3).map(|why| why.detail.clone()).collect();
                format!("- {} ({})", file.path, why.join("; "))
            })
            .collect();
        lines.join("\n")
    }

    fn assess(&self, spec: &JobSpec) -> Result<Value, Cause> {
        let explorer = self.explorer().ok();
        let assessed = planex_explore::assess(&text(spec, "requirement"), explorer.as_deref());
        serde_json::to_value(assessed).map_err(|error| Cause::new(CauseKind::Failed, error.to_string()))
    }

    fn explore(&self, spec: &JobSpec) -> Result<Value, Cause> {
        self.explore_angle(&text(spec, "id"), &text(spec, "requirement"), &text(spec, "angle"), &text(spec, "focus"))
    }

    /// Explores from one angle; the report of a row of `explore.csv`.
    ///
    /// # Errors
    /// The tree cannot be read.
    pub fn explore_angle(&self, id: &str, requirement: &str, angle: &str, focus: &str) -> Result<Value, Cause> {
        let started = Instant::now();
        let explorer = self.explorer()?;
        let query = query(&format!("{requirement}\n{focus}"), Some(angle));
        let exploration = explorer.exploration(&query, 1, 1, &self.stamp, started.elapsed().as_secs_f64());
        let (findings, key_files) = planex_explore::findings(&exploration);
        let discoveries: Vec<Value> = planex_explore::discoveries(&exploration, id, &self.stamp)
            .iter()
            .map(|found| json!({"type": found.kind, "data": found.data}))
            .collect();
        self.explored.lock().unwrap_or_else(PoisonError::into_inner).push((id.to_owned(), exploration));
        Ok(json!({
            "id": id, "status": "completed", "findings": findings, "key_files": key_files, "error": "",
            "discoveries": discoveries,
        }))
    }

    fn plan(&self, spec: &JobSpec) -> Result<Value, Cause> {
        let rows = spec.item.as_ref().and_then(|item| item.get("explorations")).and_then(Value::as_array);
        let rows = rows.map(Vec::as_slice).unwrap_or_default();
        Ok(json!({ "tasks": self.plan_tasks(&text(spec, "requirement"), rows) }))
    }

    /// Tasks for a requirement; `rows` are explorations as objects of id, angle, findings and key_files.
    #[must_use]
    pub fn plan_tasks(&self, requirement: &str, rows: &[Value]) -> Vec<PlannedTask> {
        let kept = self.explored.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let rows: Vec<(String, String, String, Vec<String>)> = rows.iter().map(row).collect();
        let explored: Vec<ExploredRow<'_>> = rows
            .iter()
            .map(|(id, angle, findings, key_files)| ExploredRow {
                id,
                angle,
                findings,
                key_files,
                exploration: kept.iter().find(|(known, _)| known == id).map(|(_, exploration)| exploration),
            })
            .collect();
        let explorer = self.explorer().ok();
        let tech = self.tech();
        planex_explore::plan_tasks(requirement, &explored, &tech, explorer.as_deref())
    }

    /// What the project is made of, as far as the tree tells.
    #[must_use]
    pub fn tech(&self) -> ProjectTech {
        let explorer = self.explorer().ok();
        planex_explore::project_tech(&self.root, explorer.as_deref(), &self.stamp)
    }
}

impl InProcess for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn run(&self, spec: &JobSpec, _control: &Control) -> Result<InProcessAnswer, Cause> {
        let result = match spec.role {
            Role::Assess => self.assess(spec),
            Role::Explore => self.explore(spec),
            Role::Plan => self.plan(spec),
            other => Err(Cause::new(
                CauseKind::AgentNotUsable,
                format!("the built-in agent `native` explores and plans; it cannot {other}"),
            )),
        }?;
        Ok(InProcessAnswer { text: String::new(), result, notes: Vec::new() })
    }
}

fn query(text: &str, angle: Option<&str>) -> Query {
    Query { text: text.to_owned(), angle: angle.map(Angle::new), limit: LIMIT }
}

fn text(spec: &JobSpec, field: &str) -> String {
    let found = spec.item.as_ref().and_then(|item| item.get(field)).and_then(Value::as_str);
    found.unwrap_or_default().to_owned()
}

fn row(value: &Value) -> (String, String, String, Vec<String>) {
    let empty = Map::new();
    let map = value.as_object().unwrap_or(&empty);
    let field = |name: &str| map.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let files = map.get("key_files").and_then(Value::as_array).into_iter().flatten();
    (field("id"), field("angle"), field("findings"), files.filter_map(Value::as_str).map(str::to_owned).collect())
}
