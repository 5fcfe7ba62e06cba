//! `planex resume`.

use planex_engine::session::{self, Found, Workflow};
use planex_engine::workflow::fanout;
use planex_engine::workflow::waves::{self, Resume};

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::host::Host;
use crate::setup::{Setup, project};
use crate::summary;
use crate::ui::Ui;

/// Go on where a session stopped
#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    /// Its id, a part of it, or words in it [default: the newest unfinished one]
    pub(crate) session: Option<String>,
    /// Run failed and skipped tasks again: all, or these
    #[arg(long, value_name = "TASK", num_args = 0..)]
    pub(crate) retry: Option<Vec<String>>,
    /// Take up a cancelled session
    #[arg(long)]
    pub(crate) reopen: bool,
}

/// Runs the command.
pub(crate) fn run(args: &ResumeArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    context.refuse_inside_job("resume")?;
    if context.common.dry_run {
        return Err(CliError::usage("`planex resume` has no --dry-run")
            .hint("`planex sessions show SESSION` shows what is left of a session"));
    }
    let root = project(context).root;
    let found = match &args.session {
        Some(query) => session::find(&root, query, None)?,
        None => newest(&root, args.retry.is_some())?,
    };
    if found.workflow == Workflow::Waves {
        for task in args.retry.iter().flatten() {
            crate::request::require_task(&found, task)?;
        }
    }
    match found.workflow {
        Workflow::Waves => {
            let setup = Setup::trusted(context, ui)?;
            let host = Host::new(setup, context, ui, "resume")?;
            let options = Resume { retry: args.retry.clone(), confirm: false, reopen: args.reopen };
            let end = host.run(|engine| waves::resume(engine, &found, options))?;
            summary::waves(&end, context, ui)
        }
        Workflow::Fanout => {
            let setup = Setup::trusted(context, ui)?;
            let host = Host::new(setup, context, ui, "resume")?;
            let report = host.run(|engine| fanout::resume(engine, &found, args.retry.as_deref(), args.reopen))?;
            summary::fanout(&report, context, ui)
        }
        Workflow::Plan | Workflow::Execute | Workflow::Review | Workflow::Flow => {
            Err(CliError::usage(format!("this planex cannot drive {} sessions", found.workflow)))
        }
    }
}

/// The newest session that has not ended; with a retry also one that ended with failures.
fn newest(root: &camino::Utf8Path, retry: bool) -> Result<Found> {
    let fits = |found: &Found| {
        let status = session::summary_of(found).status;
        !found.archived && (!status.has_ended() || (retry && status == session::SessionStatus::Failed))
    };
    session::find_all(root)?.into_iter().find(fits).ok_or_else(|| {
        CliError::usage("there is no session to go on with").hint("`planex sessions list` shows those there are")
    })
}
