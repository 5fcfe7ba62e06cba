//! `planex waves`.

use planex_engine::session::{self, Workflow};
use planex_engine::workflow::waves::{self, Resume, Start};

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::host::Host;
use crate::input::{text, text_argument};
use crate::setup::{Setup, project};
use crate::summary;
use crate::ui::Ui;

/// Explore, plan, approve and run a requirement in waves of tasks
///
/// Five phases: angles, exploring, planning, executing, report, with a gate before exploring and one before executing.
/// The state is in `explore.csv` and `tasks.csv` of the session's folder; edit them at a gate and go on with
/// `--continue`.
#[derive(Debug, clap::Args)]
pub(crate) struct WavesArgs {
    /// What is to be done: a text, a .md or .txt file, or `-` for standard input
    #[arg(value_parser = text_argument, allow_hyphen_values = true)]
    pub(crate) requirement: Option<String>,
    /// Plan from the requirement alone
    #[arg(long)]
    pub(crate) no_explore: bool,
    /// Go on with a session: words of its id, or the newest unfinished one
    #[arg(long = "continue", value_name = "SESSION", num_args = 0..=1, conflicts_with_all = ["requirement", "no_explore"])]
    pub(crate) go_on: Option<Option<String>>,
}

/// Runs the command.
pub(crate) fn run(args: &WavesArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    if context.common.dry_run {
        // Better no answer than jobs that were not wanted.
        return Err(CliError::usage("`planex waves` has no --dry-run yet")
            .hint("`--gates defer` explores and plans, and stops before anything is changed"));
    }
    if let Some(query) = &args.go_on {
        let root = project(context).root;
        let found = match query {
            Some(query) => session::find(&root, query, Some(Workflow::Waves))?,
            None => newest_unfinished(&root)?,
        };
        let setup = Setup::trusted(context, ui)?;
        let host = Host::new(setup, context, ui, "waves --continue")?;
        let options = Resume { confirm: true, ..Resume::default() };
        let end = host.run(|engine| waves::resume(engine, &found, options))?;
        return summary::waves(&end, context, ui);
    }
    let requirement = text(args.requirement.as_deref(), "requirement", context, ui)?;
    let setup = Setup::trusted(context, ui)?;
    setup.project.exclude_workflow(&context.env)?;
    let host = Host::new(setup, context, ui, "waves")?;
    let end = host.run(|engine| waves::start(engine, Start { requirement, explore: !args.no_explore }))?;
    summary::waves(&end, context, ui)
}

/// The newest waves session that has not ended.
fn newest_unfinished(root: &camino::Utf8Path) -> Result<session::Found> {
    let unfinished = |found: &session::Found| {
        found.workflow == Workflow::Waves && !found.archived && !session::summary_of(found).status.has_ended()
    };
    session::find_all(root)?.into_iter().find(unfinished).ok_or_else(|| {
        CliError::usage("there is no unfinished waves session").hint("start one with `planex waves \"…\"`")
    })
}
