//! `planex waves`.

use planex_engine::session::{self, Workflow};
use planex_engine::workflow::waves::{self, Resume, Start};

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::host::Host;
use crate::input::{text, text_argument};
use crate::preview;
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
    context.refuse_inside_job("waves")?;
    if context.common.dry_run {
        return dry_run(args, context, ui);
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

/// Plans by planex itself, in memory, and shows what would be done.
fn dry_run(args: &WavesArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    if args.go_on.is_some() {
        return Err(CliError::usage("--dry-run shows a new session; it does not go with --continue")
            .hint("`planex sessions show SESSION` shows what is left of one"));
    }
    let requirement = text(args.requirement.as_deref(), "requirement", context, ui)?;
    // Nothing that needs trust is run; without it the settings that wait for trust are not in force.
    let host = Host::new(Setup::read(context)?, context, ui, "waves --dry-run")?;
    let start = Start { requirement, explore: !args.no_explore };
    let preview = host.run(|engine| waves::preview(engine, &start))?;
    preview::waves(&preview, ui);
    Ok(Exit::Done)
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
