//! `planex usage`.

use planex_engine::usage::{Sum, report};
use planex_engine::{session, store::SessionPaths};

use crate::context::Context;
use crate::error::{Exit, Result};
use crate::setup::project;
use crate::ui::Ui;
use crate::ui::lines::{cost, seconds, thousands};
use crate::ui::table::Table;

/// Sum tokens and cost per agent, model, role and session
#[derive(Debug, clap::Args)]
pub(crate) struct UsageArgs {
    /// Only this session
    pub(crate) session: Option<String>,
}

/// Runs the command.
pub(crate) fn run(args: &UsageArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    let root = project(context).root;
    let sessions = match &args.session {
        Some(query) => vec![session::find(&root, query, None)?],
        None => session::find_all(&root)?,
    };
    let paths: Vec<(String, SessionPaths)> = sessions.iter().map(|found| (found.id.clone(), found.paths())).collect();
    let report = report(paths.iter().map(|(id, paths)| (id.as_str(), paths)))?;
    if ui.is_json() {
        ui.json_line(&report);
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["", "runs", "input", "cached", "output", "cost", "time"]);
    for (group, sums) in [
        ("agent", &report.by_agent),
        ("model", &report.by_model),
        ("role", &report.by_role),
        ("session", &report.by_session),
    ] {
        for (name, sum) in sums {
            table.row(cells(format!("{group} {name}"), sum));
        }
    }
    table.row(cells("total".to_owned(), &report.total));
    ui.table(&table);
    if report.total.without_cost > 0 {
        ui.status(format_args!("{} of {} runs told no cost", report.total.without_cost, report.total.runs));
    }
    Ok(Exit::Done)
}

fn cells(name: String, sum: &Sum) -> [String; 7] {
    [
        name,
        sum.runs.to_string(),
        thousands(sum.usage.input_tokens),
        thousands(sum.usage.cached_input_tokens),
        thousands(sum.usage.output_tokens),
        cost(&sum.usage, ""),
        planex_core::time::human_duration(seconds(sum.seconds)),
    ]
}
