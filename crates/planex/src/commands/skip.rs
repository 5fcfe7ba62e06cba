//! `planex skip`.

use planex_engine::requests::Request;

use crate::context::Context;
use crate::error::{Exit, Result};
use crate::request::ask;
use crate::ui::Ui;

/// Skip tasks of a session that did not start yet
#[derive(Debug, clap::Args)]
pub(crate) struct SkipArgs {
    /// Its id, a part of it, or words in it
    pub(crate) session: String,
    /// Tasks to skip
    #[arg(value_name = "TASK", required = true)]
    pub(crate) tasks: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(args: &SkipArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    ask(&args.session, &Request::Skip { tasks: args.tasks.clone() }, context, ui)
}
