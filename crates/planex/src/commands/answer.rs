//! `planex answer`.

use planex_core::gate::Answerer;
use planex_engine::{gate, session};
use serde_json::json;

use crate::context::Context;
use crate::error::{Exit, Result};
use crate::folders::Folders;
use crate::setup::{approvals, project};
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

fn pair(given: &str) -> std::result::Result<(String, String), String> {
    let (question, option) = given.split_once('=').ok_or("expected QUESTION=OPTION")?;
    Ok((question.trim().to_owned(), option.trim().to_owned()))
}

/// Runs the command.
pub(crate) fn run(args: &AnswerArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    context.refuse_inside_job("answer")?;
    let found = session::find(&project(context).root, &args.session, None)?;
    let now = planex_sys::clock::now();
    let paths = found.paths();
    let approvals = approvals(&Folders::of(&context.env)).of(&paths);
    let (gate, answer) =
        gate::answer_gate(&paths, &approvals, &args.answers, args.text.as_deref(), Answerer::Command, now)?;
    let next = format!("planex resume {}", found.id);
    if ui.is_json() {
        ui.json_line(&json!({ "session": found.id, "gate": gate.id, "answer": answer, "next": next }));
    }
    ui.status(format_args!("the gate `{}` of {} is answered; go on with:", gate.id, found.id));
    ui.result(next);
    Ok(Exit::Done)
}
