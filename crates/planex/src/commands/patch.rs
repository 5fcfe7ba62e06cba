//! `planex patch`.

use planex_engine::ground::{self, patch};
use planex_engine::session::{self, Found, Session};

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::host::Host;
use crate::setup::Setup;
use crate::ui::Ui;
use crate::ui::table::Table;

/// What tasks made and was not merged
#[derive(Debug, clap::Args)]
pub(crate) struct PatchArgs {
    #[command(subcommand)]
    pub(crate) command: PatchCommand,
}

/// What to do with patches.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum PatchCommand {
    /// List the tasks that have a patch, and why
    List {
        /// Its id, a part of it, or words in it
        session: String,
    },
    /// Print a task's patch, as `git apply` takes it
    Show {
        /// Its id, a part of it, or words in it
        session: String,
        /// Whose
        task: String,
    },
    /// Merge a task's patch into the tree as it is now
    Apply {
        /// Its id, a part of it, or words in it
        session: String,
        /// Whose
        task: String,
    },
    /// Throw a task's patch away
    Drop {
        /// Its id, a part of it, or words in it
        session: String,
        /// Whose
        task: String,
    },
}

/// Runs the command.
pub(crate) fn run(args: &PatchArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    let setup = Setup::read(context)?;
    let find = |query: &str| session::find(&setup.project.root, query, None);
    match &args.command {
        PatchCommand::List { session } => list(&find(session)?, ui),
        PatchCommand::Show { session, task } => {
            let paths = find(session)?.paths();
            let found = patch::find(&paths, task)?;
            ui.raw(&patch::text(&paths, &found)?);
            Ok(Exit::Done)
        }
        PatchCommand::Apply { session, task } => {
            context.refuse_inside_job("patch apply")?;
            let found = find(session)?;
            change(setup, &found, task, context, ui, true)
        }
        PatchCommand::Drop { session, task } => {
            context.refuse_inside_job("patch drop")?;
            let found = find(session)?;
            change(setup, &found, task, context, ui, false)
        }
    }
}

fn list(found: &Found, ui: &mut Ui) -> Result<Exit> {
    let patches = patch::list(&found.paths())?;
    let mut table = Table::new(&["task", "title", "files", "why"]);
    for patch in &patches {
        if ui.is_json() {
            ui.json_line(patch);
        }
        table.row([patch.task.clone(), patch.title.clone(), patch.files.len().to_string(), patch.why.clone()]);
    }
    if !ui.is_json() {
        ui.table(&table);
    }
    if patches.is_empty() {
        ui.status("no task of this session has a patch");
    }
    Ok(Exit::Done)
}

fn change(setup: Setup, found: &Found, task: &str, context: &Context, ui: &mut Ui, apply: bool) -> Result<Exit> {
    let patch = patch::find(&found.paths(), task)?;
    if found.archived && apply {
        let hint = format!("planex patch show {} {task} | git apply --3way", found.id);
        return Err(CliError::usage(format!("{} is in the archive", found.id)).hint(hint));
    }
    let host = Host::new(setup, context, ui, "patch")?;
    let session = Session::open(found, "planex patch", host.engine.clock.now())?;
    let repo = ground::repository(&host.engine)?.map_err(|absent| CliError::usage(absent.to_string()))?;
    if apply {
        let paths = patch::apply(&repo, &session.id, &session.paths, &patch)?;
        ui.status(format_args!("merged the patch of {task} into your tree: {paths} path(s)"));
    } else {
        patch::drop_patch(&repo, &session.id, &session.paths, &patch)?;
        ui.status(format_args!("the patch of {task} is gone"));
    }
    Ok(Exit::Done)
}
