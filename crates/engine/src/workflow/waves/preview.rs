//! What `planex waves` would do (spec 00, `--dry-run`): planex itself assesses, explores and plans, in memory. No agent
//! starts, no session is made, no file of the project changes.

use std::collections::BTreeMap;
use std::time::Duration;

use planex_agents::AgentRef;
use planex_core::job::{Mode, Role};
use planex_core::prompt::waves::{self as prompt, Prompt};
use planex_core::report::{prev_context, synthesis};
use planex_core::rows::{
    EXPLORE_FINDINGS, ExploreRow, RowStatus, Sheet, TaskPlan, TaskRow, explore_table, plan_of, read_explore,
};
use planex_core::schema::results::{Complexity, WorkKind};
use planex_core::text::truncate_chars;
use planex_sys::fs;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::Start;
use super::jobs::{surroundings, with_override};
use crate::engine::{Engine, NATIVE};
use crate::error::{EngineError, Result};

/// Bytes of a prompt that are taken for one token.
const BYTES_A_TOKEN: usize = 4;

/// What a session would do, as far as it can be known without an agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Preview {
    /// The requirement.
    pub requirement: String,
    /// Kind of work.
    #[serde(rename = "type")]
    pub kind: WorkKind,
    /// How far it reaches.
    pub complexity: Complexity,
    /// Angles to explore from; none with `--no-explore`.
    pub angles: Vec<PreviewAngle>,
    /// Tasks in the order of the list.
    pub tasks: Vec<PreviewTask>,
    /// Number of waves of tasks.
    pub waves: u32,
    /// Agent jobs in the order in which they would start.
    pub jobs: Vec<PreviewJob>,
    /// What it comes to.
    pub estimate: Estimate,
    /// What should be known beside that: moved tasks, warnings, missing agents.
    pub notes: Vec<String>,
}

/// One angle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreviewAngle {
    /// `E1`, …
    pub id: String,
    /// The point of view.
    pub angle: String,
    /// Where to look.
    pub focus: String,
    /// Files that planex itself finds from it.
    pub key_files: Vec<String>,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreviewTask {
    /// `T1`, …
    pub id: String,
    /// Its title.
    pub title: String,
    /// When it would run.
    pub wave: u32,
    /// Where it might write; empty: anywhere.
    pub scope: String,
    /// What must be done before.
    pub deps: Vec<String>,
    /// Whose findings it gets.
    pub context_from: Vec<String>,
    /// Commands and constraints of its verification.
    pub commands: Vec<String>,
}

/// One job of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreviewJob {
    /// What for.
    pub role: Role,
    /// What it might do.
    pub mode: Mode,
    /// Row or task, or the phase's name.
    pub item: String,
    /// Agents that would run it, the first and its fall-backs; empty: none is usable.
    pub agents: Vec<String>,
    /// Jobs of the same phase and number run beside each other.
    pub batch: u32,
    /// Its time limit in seconds.
    pub limit_s: u64,
    /// Bytes of its prompt.
    pub prompt_bytes: usize,
    /// The prompt; what earlier jobs would report is filled in by planex's own findings.
    pub prompt: String,
}

impl PreviewJob {
    /// Whether planex itself would do it: no tokens, no agent.
    #[must_use]
    pub fn is_native(&self) -> bool {
        self.agents.first().is_some_and(|agent| agent == NATIVE)
    }
}

/// What a session would come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Estimate {
    /// Jobs that an agent would run, without retries and second plans.
    pub agent_jobs: usize,
    /// Jobs that planex itself would do.
    pub native_jobs: usize,
    /// Tokens of the prompts alone, by their bytes. What agents read and write by themselves comes on top and cannot be
    /// known before; it is most of it.
    pub prompt_tokens: usize,
    /// Seconds after which every job has ended by its time limit, waits for rate limits left out.
    pub longest_s: u64,
}

/// What [`super::start`] would do.
///
/// # Errors
/// The requirement is empty, the project cannot be read, or no plan comes out.
pub async fn preview(engine: &Engine, start: &Start) -> Result<Preview> {
    let requirement = start.requirement.trim();
    if requirement.is_empty() {
        return Err(EngineError::usage("the requirement is empty").hint("say what is to be done, in quotes"));
    }
    let explorer = engine.native.explorer().ok();
    let assessed = planex_explore::assess(requirement, explorer.as_deref());
    let mut jobs = Jobs::new(engine, requirement);
    let fields = Map::from_iter([("requirement".to_owned(), Value::String(requirement.to_owned()))]);
    let mut rows = Vec::new();
    if start.explore {
        let evidence = engine.native.evidence(requirement, None);
        let around = jobs.around(Role::Assess)?;
        jobs.add(Role::Assess, "assess", 1, &prompt::assess(requirement, &evidence, &around), &fields).await?;
        let sheet = read_explore(explore_table(&assessed).to_csv().as_bytes()).map_err(|faults| internal(&faults))?;
        rows = sheet.rows;
        for row in &mut rows {
            jobs.explore(row).await?;
        }
    }
    let around = jobs.around(Role::Plan)?;
    jobs.add(Role::Plan, "plan", 1, &prompt::plan(requirement, &synthesis(&rows), &around), &fields).await?;
    let (sheet, plan) = plan_natively(engine, requirement, &rows)?;
    jobs.execute(&sheet, &plan, &rows).await?;
    let mut notes: Vec<String> = plan.waves.moved.iter().map(|moved| format!("moved: {moved}")).collect();
    notes.extend(plan.warnings.iter().cloned());
    notes.extend(jobs.missing.values().cloned());
    Ok(Preview {
        requirement: requirement.to_owned(),
        kind: assessed.kind,
        complexity: assessed.complexity,
        angles: rows.iter().map(angle).collect(),
        tasks: sheet.rows.iter().zip(&plan.waves.wave).map(|(row, wave)| task(row, *wave)).collect(),
        waves: plan.last_wave(),
        estimate: estimate(&jobs.list, engine.settings.concurrency.0),
        jobs: jobs.list,
        notes,
    })
}

fn internal(faults: &[planex_core::rows::Fault]) -> EngineError {
    let lines = faults.iter().map(ToString::to_string).collect();
    EngineError::input("planex's own plan can't be used", lines)
}

fn plan_natively(engine: &Engine, requirement: &str, rows: &[ExploreRow]) -> Result<(Sheet<TaskRow>, TaskPlan)> {
    let explored: Vec<Value> = rows
        .iter()
        .map(|row| json!({"id": row.id, "angle": row.angle, "findings": row.findings, "key_files": row.key_files}))
        .collect();
    let tasks = engine.native.plan_tasks(requirement, &explored);
    let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
    let linked = (!ids.is_empty()).then_some(ids.as_slice());
    let root = engine.project.root.clone();
    plan_of(&tasks, linked, engine.settings.overlap, &move |path| fs::exists(&root.join(path)))
        .map_err(|faults| internal(&faults))
}

fn angle(row: &ExploreRow) -> PreviewAngle {
    PreviewAngle {
        id: row.id.clone(),
        angle: row.angle.clone(),
        focus: row.focus.clone(),
        key_files: row.key_files.clone(),
    }
}

fn task(row: &TaskRow, wave: u32) -> PreviewTask {
    let commands = row.execution_directives.lines().map(str::trim).filter(|line| !line.is_empty());
    PreviewTask {
        id: row.id.clone(),
        title: row.title.clone(),
        wave,
        scope: row.scope.clone(),
        deps: row.deps.clone(),
        context_from: row.context_from.clone(),
        commands: commands.map(str::to_owned).collect(),
    }
}

/// Jobs as they are put together.
struct Jobs<'e> {
    engine: &'e Engine,
    requirement: &'e str,
    list: Vec<PreviewJob>,
    chains: BTreeMap<Role, Vec<AgentRef>>,
    /// Roles that nobody can fill, with why.
    missing: BTreeMap<Role, String>,
}

impl<'e> Jobs<'e> {
    fn new(engine: &'e Engine, requirement: &'e str) -> Self {
        Self { engine, requirement, list: Vec::new(), chains: BTreeMap::new(), missing: BTreeMap::new() }
    }

    fn around(&self, role: Role) -> Result<prompt::Surroundings> {
        surroundings(self.engine, self.requirement, String::new(), role)
    }

    /// Who would run jobs of a role. That nobody can is said, and is no fault here.
    async fn chain(&mut self, role: Role, mode: Mode) -> Vec<AgentRef> {
        if let Some(chain) = self.chains.get(&role) {
            return chain.clone();
        }
        let chain = match self.engine.chain(role, mode, None).await {
            Ok(chain) => chain,
            Err(error) => {
                self.missing.insert(role, error.message.clone());
                Vec::new()
            }
        };
        self.chains.insert(role, chain.clone());
        chain
    }

    async fn add(
        &mut self,
        role: Role,
        item: &str,
        batch: u32,
        prompt: &Prompt,
        fields: &Map<String, Value>,
    ) -> Result<()> {
        let mode = if role == Role::Execute { Mode::Write } else { Mode::Analysis };
        let agents = self.chain(role, mode).await;
        let prompt = with_override(self.engine, role, prompt, fields)?;
        self.list.push(PreviewJob {
            role,
            mode,
            item: item.to_owned(),
            agents: agents.iter().map(ToString::to_string).collect(),
            batch,
            limit_s: self.engine.settings.limit_of(role).as_secs(),
            prompt_bytes: prompt.len(),
            prompt,
        });
        Ok(())
    }

    /// One angle: its job, and what planex itself finds instead.
    async fn explore(&mut self, row: &mut ExploreRow) -> Result<()> {
        let evidence = self.engine.native.evidence(&format!("{}\n{}", self.requirement, row.focus), Some(&row.angle));
        let angle = prompt::Angle { id: &row.id, angle: &row.angle, description: &row.description, focus: &row.focus };
        let text = prompt::explore(self.requirement, angle, &evidence, &self.around(Role::Explore)?);
        let fields = [("id", &row.id), ("angle", &row.angle), ("description", &row.description), ("focus", &row.focus)];
        let mut fields: Map<String, Value> =
            fields.into_iter().map(|(name, value)| (name.to_owned(), Value::String(value.clone()))).collect();
        fields.insert("requirement".to_owned(), Value::String(self.requirement.to_owned()));
        self.add(Role::Explore, &row.id, 1, &text, &fields).await?;
        match self.engine.native.explore_angle(&row.id, self.requirement, &row.angle, &row.focus) {
            Ok(report) => {
                row.status = RowStatus::Completed;
                let findings = report.get("findings").and_then(Value::as_str).unwrap_or_default();
                row.findings = truncate_chars(findings, EXPLORE_FINDINGS);
                let files = report.get("key_files").and_then(Value::as_array).into_iter().flatten();
                row.key_files = files.filter_map(Value::as_str).map(str::to_owned).collect();
            }
            Err(cause) => {
                row.status = RowStatus::Failed;
                row.error = cause.to_string();
            }
        }
        Ok(())
    }

    /// The tasks, wave by wave. What tasks before them would report is not known.
    async fn execute(&mut self, sheet: &Sheet<TaskRow>, plan: &TaskPlan, explored: &[ExploreRow]) -> Result<()> {
        let around = self.around(Role::Execute)?;
        for wave in 1..=plan.last_wave() {
            for (index, row) in sheet.rows.iter().enumerate() {
                if plan.waves.wave.get(index) != Some(&wave) {
                    continue;
                }
                let context = prev_context(&row.context_from, explored, &sheet.rows);
                let assignment =
                    prompt::Assignment { row, context: &context, earlier_error: None, note: None, isolated: false };
                let mut fields = sheet.item(index);
                for column in planex_core::rows::STATE_COLUMNS {
                    fields.remove(column);
                }
                fields.insert("prev_context".to_owned(), Value::String(context.clone()));
                self.add(Role::Execute, &row.id, wave, &prompt::execute(assignment, &around), &fields).await?;
            }
        }
        Ok(())
    }
}

/// Counts, and the time by the limits: phase after phase, batch after batch, each as many rounds as slots make of it.
fn estimate(jobs: &[PreviewJob], slots: usize) -> Estimate {
    let agents: Vec<&PreviewJob> = jobs.iter().filter(|job| !job.is_native()).collect();
    let mut batches: BTreeMap<(Role, u32), (u64, u64)> = BTreeMap::new();
    for job in &agents {
        let batch = batches.entry((job.role, job.batch)).or_default();
        *batch = (batch.0 + 1, batch.1.max(job.limit_s));
    }
    let slots = u64::try_from(slots.max(1)).unwrap_or(u64::MAX);
    let longest = batches
        .values()
        .fold(0_u64, |sum, (count, limit)| sum.saturating_add(count.div_ceil(slots).saturating_mul(*limit)));
    Estimate {
        agent_jobs: agents.len(),
        native_jobs: jobs.len() - agents.len(),
        prompt_tokens: agents.iter().map(|job| job.prompt_bytes.div_ceil(BYTES_A_TOKEN)).sum(),
        longest_s: longest,
    }
}

impl Estimate {
    /// [`Estimate::longest_s`] as a duration.
    #[must_use]
    pub fn longest(&self) -> Duration {
        Duration::from_secs(self.longest_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(role: Role, batch: u32, agent: &str, limit_s: u64) -> PreviewJob {
        PreviewJob {
            role,
            mode: Mode::Analysis,
            item: String::new(),
            agents: vec![agent.to_owned()],
            batch,
            limit_s,
            prompt_bytes: 10,
            prompt: String::new(),
        }
    }

    #[test]
    fn time_is_that_of_rounds_and_native_costs_nothing() {
        let jobs = [
            job(Role::Assess, 1, NATIVE, 300),
            job(Role::Plan, 1, "codex", 300),
            job(Role::Execute, 1, "codex", 600),
            job(Role::Execute, 1, "codex", 600),
            job(Role::Execute, 1, "codex", 600),
            job(Role::Execute, 2, "codex", 600),
        ];
        let expected = |longest_s| Estimate { agent_jobs: 5, native_jobs: 1, prompt_tokens: 15, longest_s };
        assert_eq!(estimate(&jobs, 4), expected(300 + 600 + 600));
        assert_eq!(estimate(&jobs, 2), expected(300 + 1200 + 600));
        assert_eq!(estimate(&jobs, 0), expected(300 + 2400));
        assert_eq!(estimate(&[], 4), Estimate { agent_jobs: 0, native_jobs: 0, prompt_tokens: 0, longest_s: 0 });
    }
}
