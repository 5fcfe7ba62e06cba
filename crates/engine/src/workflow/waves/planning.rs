//! Phase 3: from findings to `tasks.csv` (spec 20).

use planex_core::event::Level;
use planex_core::job::{JobOutcome, JobStatus, Mode, Role};
use planex_core::prompt::waves::{self as prompt, Prompt};
use planex_core::report::synthesis;
use planex_core::rows::{ExploreRow, Fault, RowStatus, Sheet, TaskPlan, TaskRow, plan_of, read_tasks, validate_tasks};
use planex_core::schema::results::{PlanResult, PlannedTask};
use planex_core::settings::GatePolicy;
use planex_sys::fs;
use serde_json::{Map, Value, json};

use super::approve::ReadTasks;
use super::gates;
use super::jobs::Wanted;
use super::{Flow, Leave, Walk};
use crate::error::{EngineError, Result};
use crate::registry;

/// How often an agent is asked for a plan: once, and once more with its faults.
const TRIES: u32 = 2;

impl Flow<'_> {
    /// Plans the tasks and writes `tasks.csv`.
    pub(super) async fn plan(&mut self) -> Walk {
        let explorations = self.explorations()?;
        self.phase("plan", "Planning tasks");
        loop {
            match self.planned(&explorations).await? {
                Ok((sheet, plan)) => {
                    fs::write_atomic(&self.driver.session.paths.tasks_csv(), sheet.to_csv().as_bytes())?;
                    let summary = format!("{} task(s) in {} wave(s)", sheet.rows.len(), plan.last_wave());
                    self.phase_done("plan", summary);
                    return Ok(());
                }
                Err(rejected) => self.refuse(&rejected)?,
            }
        }
    }

    /// Asks for a plan, and once more with the faults; what is left of faults is the second result.
    async fn planned(
        &mut self,
        explorations: &[ExploreRow],
    ) -> Walk<std::result::Result<(Sheet<TaskRow>, TaskPlan), Rejected>> {
        let requirement = self.driver.session.meta.requirement.clone();
        let chain = self.reader(Role::Plan).await?;
        let around = self.surroundings(Role::Plan)?;
        let first = prompt::plan(&requirement, &synthesis(explorations), &around);
        let ids: Vec<String> = explorations.iter().map(|row| row.id.clone()).collect();
        let linked = (self.explores && !ids.is_empty()).then_some(ids.as_slice());
        let mut asked = first.clone();
        let mut rejected = Rejected::default();
        for round in 1..=TRIES {
            let item = if round == 1 { "plan" } else { "plan-mended" };
            let job = self.request(planning(item, &requirement, explorations, asked.clone()), chain.clone())?;
            let outcome = self.run_one(job).await?;
            let tasks = match tasks_of(&outcome) {
                Ok(tasks) => tasks,
                Err(why) => return self.plan_natively(&requirement, explorations, linked, &outcome.agent, &why),
            };
            match plan_of(&tasks, linked, self.engine.settings.overlap, &self.exists()) {
                Ok(planned) => return Ok(Ok(planned)),
                Err(faults) => {
                    let text = serde_json::to_string_pretty(&json!({ "tasks": tasks })).unwrap_or_default();
                    asked = prompt::mend_plan(&first, &text, &faults, around.cap);
                    self.say(Level::Warning, format!("the plan of {} has {} fault(s)", outcome.agent, faults.len()));
                    rejected = Rejected { plan: text, faults };
                }
            }
        }
        Ok(Err(rejected))
    }

    /// An agent that gives no plan at all must not end the session: planex plans by itself, and the gate says so.
    fn plan_natively(
        &mut self,
        requirement: &str,
        explorations: &[ExploreRow],
        linked: Option<&[String]>,
        agent: &str,
        why: &str,
    ) -> Walk<std::result::Result<(Sheet<TaskRow>, TaskPlan), Rejected>> {
        self.say(Level::Warning, format!("{agent} gave no plan ({why}); planex planned by itself"));
        let tasks = self.engine.native.plan_tasks(requirement, &rows_of(explorations));
        Ok(plan_of(&tasks, linked, self.engine.settings.overlap, &self.exists()).map_err(|faults| Rejected {
            plan: serde_json::to_string_pretty(&json!({ "tasks": tasks })).unwrap_or_default(),
            faults,
        }))
    }

    /// A plan that was refused twice: asked about at a terminal, else the end (exit 3), the plan kept.
    fn refuse(&mut self, rejected: &Rejected) -> Walk {
        let file = self.driver.session.paths.tasks_rejected();
        fs::write_atomic(&file, rejected.plan.as_bytes())?;
        let shown = self.shown(&file);
        let faults: Vec<String> = rejected.faults.iter().map(|fault| fault.message.clone()).collect();
        let error = || {
            let lines = faults.iter().map(|fault| format!("{shown}: tasks: {fault}")).collect();
            EngineError::input("the plan can't be used", lines).hint(format!("the rejected plan is kept in {shown}"))
        };
        // Whoever goes on from here wants a new plan, not the same faults again.
        for item in ["plan", "plan-mended"] {
            let base = planex_core::id::run_id(&self.driver.session.id, item);
            registry::supersede(&self.driver.session.paths, &base)?;
        }
        if self.engine.settings.gates != GatePolicy::Ask {
            return Err(error().into());
        }
        let mut gate = gates::plan_faults(&faults, &shown, self.engine.clock.now());
        gate.id = self.driver.gates.id(&gate.id, None)?;
        match self.ask(gate) {
            Ok(option) if option == "retry" => Ok(()),
            Ok(option) if option == "edit" => self.edit_rejected(rejected),
            Ok(_) => Err(Leave::Cancelled),
            // Nobody is there to ask.
            Err(Leave::AtGate(_)) => Err(error().into()),
            Err(other) => Err(other),
        }
    }

    /// The rejected plan as tasks.csv, for the user to mend; it is checked when the session goes on.
    fn edit_rejected(&self, rejected: &Rejected) -> Walk {
        let tasks: PlanResult = serde_json::from_str(&rejected.plan).map_err(EngineError::internal)?;
        let file = self.driver.session.paths.tasks_csv();
        fs::write_atomic(&file, planex_core::rows::task_table(&tasks.tasks).to_csv().as_bytes())?;
        Err(Leave::Modify(file))
    }

    /// Whether a path of a scope is in the project.
    pub(super) fn exists(&self) -> impl Fn(&str) -> bool + use<> {
        let root = self.engine.project.root.clone();
        move |path| fs::exists(&root.join(path))
    }

    /// Reads and checks `tasks.csv`; waves are computed, whatever the file says.
    pub(super) fn read_tasks(&self) -> Result<ReadTasks> {
        let file = self.driver.session.paths.tasks_csv();
        let shown = self.shown(&file);
        let sheet = read_tasks(&fs::read(&file)?).map_err(|faults| super::angles::input_error(&shown, &faults))?;
        let explorations = self.explorations()?;
        let ids: Vec<String> = explorations.iter().map(|row| row.id.clone()).collect();
        let linked = (self.explores && !ids.is_empty()).then_some(ids.as_slice());
        let plan = validate_tasks(&sheet, linked, self.engine.settings.overlap, &self.exists())
            .map_err(|faults| super::angles::input_error(&shown, &faults))?;
        Ok((sheet, plan))
    }
}

/// A plan that can't be used.
#[derive(Debug, Default)]
struct Rejected {
    plan: String,
    faults: Vec<Fault>,
}

fn planning<'a>(item: &'a str, requirement: &str, explorations: &[ExploreRow], prompt: Prompt) -> Wanted<'a> {
    let fields = Map::from_iter([
        ("requirement".to_owned(), Value::String(requirement.to_owned())),
        ("explorations".to_owned(), Value::Array(rows_of(explorations))),
    ]);
    Wanted {
        role: Role::Plan,
        mode: Mode::Analysis,
        item,
        title: "Plan tasks",
        prompt,
        schema: "plan-waves",
        is_row: false,
        fields,
    }
}

/// Completed rows, for the built-in planner.
fn rows_of(explorations: &[ExploreRow]) -> Vec<Value> {
    let done = explorations.iter().filter(|row| row.status == RowStatus::Completed);
    done.map(|row| json!({"id": row.id, "angle": row.angle, "findings": row.findings, "key_files": row.key_files}))
        .collect()
}

fn tasks_of(outcome: &JobOutcome) -> std::result::Result<Vec<PlannedTask>, String> {
    let unknown = || outcome.cause.as_ref().map_or_else(|| "its answer is no plan".to_owned(), ToString::to_string);
    let value = outcome.result.clone().filter(|_| outcome.status == JobStatus::Completed).ok_or_else(unknown)?;
    serde_json::from_value::<PlanResult>(value).map(|plan| plan.tasks).map_err(|error| error.to_string())
}
