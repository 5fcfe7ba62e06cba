//! `planex pause`.

use planex_engine::requests::Request;

use crate::context::Context;
use crate::error::{Exit, Result};
use crate::request::ask;
use crate::ui::Ui;

/// Stop a session after the jobs that run now
#[derive(Debug, clap::Args)]
pub(crate) struct PauseArgs {
    /// Its id, a part of it, or words in it
    pub(crate) session: String,
}

/// Runs the command.
pub(crate) fn run(args: &PauseArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    ask(&args.session, &Request::Pause, context, ui)
}
