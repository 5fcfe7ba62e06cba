//! `planex sessions`.

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// List, show, archive, delete and prune sessions
#[derive(Debug, clap::Args)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(crate) command: SessionsCommand,
}

/// What to do with sessions.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum SessionsCommand {
    /// List the sessions of this project, newest first
    List,
    /// Show one session: phases, tasks, usage, paths
    Show {
        /// Its id, a part of it, or words in it
        session: String,
    },
    /// Move a session to .workflow/archives
    Archive {
        /// Its id, a part of it, or words in it
        session: String,
    },
    /// Delete a session for good; asks first
    Delete {
        /// Its id, a part of it, or words in it
        session: String,
    },
    /// Delete old finished sessions, and say how much space sessions take
    Prune {
        /// Only sessions that did not change for so long: `30d`, `12h`
        #[arg(long, value_name = "DURATION", default_value = "30d")]
        older_than: String,
        /// Keep at least the newest N
        #[arg(long, value_name = "N", default_value_t = 10)]
        keep: usize,
    },
}

/// Runs the command.
pub(crate) fn run(_args: &SessionsArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
