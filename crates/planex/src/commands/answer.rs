//! `planex answer`.

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Answer the open gate of a session
///
/// Records the answer and prints the command to go on. Options are named by id, label or a unique prefix.
#[derive(Debug, clap::Args)]
pub(crate) struct AnswerArgs {
    /// Id of the session, a part of it, or words in it
    pub(crate) session: String,
    /// QUESTION=OPTION for every question
    #[arg(value_name = "QUESTION=OPTION", value_parser = pair)]
    pub(crate) answers: Vec<(String, String)>,
    /// Own words, where the gate takes them
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) text: Option<String>,
}

fn pair(given: &str) -> Result<(String, String), String> {
    let (question, option) = given.split_once('=').ok_or("expected QUESTION=OPTION")?;
    Ok((question.trim().to_owned(), option.trim().to_owned()))
}

/// Runs the command.
pub(crate) fn run(_args: &AnswerArgs, _context: &Context, _ui: &mut Ui) -> Result<Exit> {
    Err(CliError::failed("the engine is not built in yet"))
}
