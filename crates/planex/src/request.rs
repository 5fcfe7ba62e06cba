//! Leaving a request for whoever drives a session.

use planex_core::suggest;
use planex_core::text::one_line;
use planex_engine::requests::{self, Request};
use planex_engine::session::{self, Found, SessionStatus, Workflow};
use planex_engine::workflow::fanout;

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::setup::project;
use crate::ui::Ui;

/// Finds the session, checks the tasks, leaves the request.
pub(crate) fn ask(query: &str, request: &Request, context: &Context, ui: &mut Ui) -> Result<Exit> {
    context.refuse_inside_job("cancel, skip and pause")?;
    let found = session::find(&project(context).root, query, None)?;
    let tasks = match request {
        Request::Cancel { tasks } | Request::Skip { tasks } | Request::Retry { tasks } => tasks.as_slice(),
        Request::Pause | Request::Unpause => &[],
    };
    for task in tasks {
        require_task(&found, task)?;
    }
    requests::place(&found.paths(), request, planex_sys::clock::now())?;
    match session::summary_of(&found).status {
        SessionStatus::Running(_) => ui.status(format_args!("{} is asked", found.id)),
        SessionStatus::Waiting(_)
        | SessionStatus::Stopped
        | SessionStatus::Completed
        | SessionStatus::Failed
        | SessionStatus::Cancelled => {
            ui.status(format_args!("nobody drives {} now; it takes effect with:", found.id));
            ui.result(format_args!("planex resume {}", found.id));
        }
    }
    Ok(Exit::Done)
}

/// Refuses a task that the session does not have, and lists those it has.
///
/// # Errors
/// Exit 2.
pub(crate) fn require_task(found: &Found, task: &str) -> Result<()> {
    let known = tasks_of(found);
    if known.iter().any(|id| id == task) {
        return Ok(());
    }
    let near = suggest::nearest(task, known.iter().map(String::as_str));
    let error = CliError::usage(format!("{} has no task `{}`", found.id, one_line(task)));
    Err(match near {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None if known.is_empty() => error.hint("it has no tasks yet"),
        None => error.hint(format!("it has {}", known.join(", "))),
    })
}

/// Ids of the rows in the session's tables.
fn tasks_of(found: &Found) -> Vec<String> {
    if found.workflow == Workflow::Fanout {
        return fanout::row_ids(found).unwrap_or_default();
    }
    let paths = found.paths();
    [paths.tasks_csv(), paths.explore_csv()]
        .iter()
        .filter_map(|path| planex_sys::fs::read(path).ok())
        .filter_map(|bytes| planex_core::csv::Table::parse(&bytes).ok())
        .flat_map(|table| {
            (0..table.rows.len()).filter_map(|row| table.cell(row, "id").map(str::to_owned)).collect::<Vec<_>>()
        })
        .collect()
}
