//! `planex cancel`.

use planex_engine::requests::Request;

use crate::context::Context;
use crate::error::{Exit, Result};
use crate::request::ask;
use crate::ui::Ui;

/// Cancel a session, or some of its tasks
#[derive(Debug, clap::Args)]
pub(crate) struct CancelArgs {
    /// Its id, a part of it, or words in it
    pub(crate) session: String,
    /// Only these tasks
    #[arg(value_name = "TASK")]
    pub(crate) tasks: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(args: &CancelArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    ask(&args.session, &Request::Cancel { tasks: args.tasks.clone() }, context, ui)
}
