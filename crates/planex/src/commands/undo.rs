//! `planex undo`.

use planex_engine::ground::{self, undo};
use planex_engine::session::{self, Session};

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::host::Host;
use crate::setup::Setup;
use crate::ui::Ui;

/// Put the tree back to how it was before a session's waves
#[derive(Debug, clap::Args)]
pub(crate) struct UndoArgs {
    /// Its id, a part of it, or words in it
    pub(crate) session: String,
    /// Take back this wave and those after it [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) wave: Option<u32>,
}

/// Runs the command.
pub(crate) fn run(args: &UndoArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    context.refuse_inside_job("undo")?;
    let setup = Setup::read(context)?;
    let found = session::find(&setup.project.root, &args.session, None)?;
    if found.archived {
        return Err(CliError::usage(format!(
            "{} is in the archive: what its waves can be taken back by is gone",
            found.id
        )));
    }
    let host = Host::new(setup, context, ui, "undo")?;
    let session = Session::open(&found, "planex undo", host.engine.clock.now())?;
    let repo = ground::repository(&host.engine)?.map_err(|absent| CliError::usage(absent.to_string()))?;
    let undone = undo::undo(&repo, &session, args.wave)?;
    let waves: Vec<String> = undone.waves.iter().map(ToString::to_string).collect();
    ui.status(format_args!("took back wave {}: {} path(s)", waves.join(", "), undone.paths));
    if !undone.tasks.is_empty() {
        ui.status(format_args!(
            "{} count as skipped now; run them again with: planex resume {} --retry",
            undone.tasks.join(", "),
            found.id
        ));
    }
    Ok(Exit::Done)
}
