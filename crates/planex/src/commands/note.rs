//! `planex note`.

use planex_engine::{notes, session};

use crate::context::Context;
use crate::error::{Exit, Result};
use crate::input::{from_stdin, text_argument};
use crate::request::require_task;
use crate::setup::project;
use crate::ui::Ui;

/// Leave a note for a pending task; its agent reads it
#[derive(Debug, clap::Args)]
pub(crate) struct NoteArgs {
    /// Its id, a part of it, or words in it
    pub(crate) session: String,
    /// Id of the task
    pub(crate) task: String,
    /// The note; `-` for standard input
    #[arg(value_parser = text_argument, allow_hyphen_values = true)]
    pub(crate) text: String,
}

/// Runs the command.
pub(crate) fn run(args: &NoteArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    context.refuse_inside_job("note")?;
    let found = session::find(&project(context).root, &args.session, None)?;
    require_task(&found, &args.task)?;
    let text = if args.text == "-" { from_stdin()? } else { args.text.clone() };
    notes::add(&found.paths(), &args.task, &text, planex_sys::clock::now())?;
    ui.status(format_args!("{} of {} reads it at its next run", args.task, found.id));
    Ok(Exit::Done)
}
