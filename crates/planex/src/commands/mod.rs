//! One file per command: its arguments, whose doc comment is the help, and its run.

pub(crate) mod agent;
pub(crate) mod answer;
pub(crate) mod cancel;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod discoveries;
pub(crate) mod doctor;
pub(crate) mod explore;
pub(crate) mod fanout;
pub(crate) mod init;
pub(crate) mod logs;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod mode;
pub(crate) mod note;
pub(crate) mod patch;
pub(crate) mod pause;
pub(crate) mod resume;
pub(crate) mod schema;
pub(crate) mod sessions;
pub(crate) mod skip;
pub(crate) mod spec;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod usage;
pub(crate) mod waves;

use crate::cli::Command;
use crate::context::Context;
use crate::error::{Exit, Result};
use crate::ui::Ui;

/// Runs what was asked for.
pub(crate) fn run(command: &Command, context: &Context, ui: &mut Ui) -> Result<Exit> {
    match command {
        Command::Waves(args) => waves::run(args, context, ui),
        Command::Fanout(args) => fanout::run(args, context, ui),
        Command::Explore(args) => explore::run(args, context, ui),
        Command::Resume(args) => resume::run(args, context, ui),
        Command::Answer(args) => answer::run(args, context, ui),
        Command::Sessions(args) => sessions::run(args, context, ui),
        Command::Logs(args) => logs::run(args, context, ui),
        Command::Usage(args) => usage::run(args, context, ui),
        Command::Cancel(args) => cancel::run(args, context, ui),
        Command::Undo(args) => undo::run(args, context, ui),
        Command::Patch(args) => patch::run(args, context, ui),
        Command::Skip(args) => skip::run(args, context, ui),
        Command::Pause(args) => pause::run(args, context, ui),
        Command::Note(args) => note::run(args, context, ui),
        Command::Discoveries(args) => discoveries::run(args, context, ui),
        Command::Agent(args) => agent::run(args, context, ui),
        Command::Spec(args) => spec::run(args, context, ui),
        Command::Config(args) => config::run(args, context, ui),
        Command::Trust(args) => trust::run(args, context, ui),
        Command::Schema(args) => schema::run(args, ui),
        Command::Mcp(_) => mcp::run(context),
        Command::Init(args) => init::run(args, context, ui),
        Command::Doctor(args) => doctor::run(args, context, ui),
        Command::Demo(args) => demo::run(args, context, ui),
        Command::Completions(args) => completions::run(args, ui),
        Command::Man(args) => man::run(args, context, ui),
    }
}
