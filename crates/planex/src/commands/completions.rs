//! `planex completions`.

use clap::CommandFactory as _;

use crate::cli::Cli;
use crate::error::{Exit, Result};
use crate::ui::Ui;

/// Print the completion script of a shell
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// Which shell
    pub(crate) shell: clap_complete::Shell,
}

/// Runs the command.
pub(crate) fn run(args: &CompletionsArgs, ui: &mut Ui) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "planex", &mut script);
    ui.raw(&script);
    Ok(Exit::Done)
}
