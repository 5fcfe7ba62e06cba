//! `planex demo`.

use camino::Utf8PathBuf;
use std::sync::Arc;

use planex_agents::InProcess;
use planex_agents::replay::Replay;
use planex_engine::demo::{REQUIREMENT, recording, write_project};
use planex_engine::session;
use planex_engine::workflow::waves::{self, Resume, Start};

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::host::Host;
use crate::setup::Setup;
use crate::summary;
use crate::ui::Ui;
use crate::ui::colour::Tone;

/// Show the whole pipeline on a small sample project, with recorded agents
///
/// No agent, account or network is used: the answers of the agents are recorded, but the files they change, the tests
/// that run and everything planex does are real.
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Where the sample project goes [default: a new temporary folder]
    pub(crate) dir: Option<Utf8PathBuf>,
}

/// Runs the command.
pub(crate) fn run(args: &DemoArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    context.refuse_inside_job("demo")?;
    if context.common.dry_run {
        return Err(CliError::usage("`planex demo` has no --dry-run: its agents are recorded anyway")
            .hint("`planex waves --dry-run \"…\"` shows what a requirement of yours would do"));
    }
    let dir = match &args.dir {
        Some(dir) => context.path(dir),
        None => temporary_folder()?,
    };
    write_project(&dir, &context.env)?;
    let asks = ui.is_interactive() && !context.common.yes;
    let here = context;
    let context = inside(here, &dir, asks)?;
    let title = ui.err_colours().paint(Tone::Title, "This is a demo: the agents' answers are recorded.");
    ui.important(title);
    ui.important("The files they change, the tests that run and everything planex does are real.");
    ui.important(format_args!("Sample project: {dir}\nRequirement:    {REQUIREMENT}\n"));
    if !asks {
        ui.important("Nobody is asked here: the gates are passed by their defaults.\n");
    }
    let setup = Setup::read(&context)?;
    setup.project.exclude_workflow(&context.env)?;
    let replay: Arc<dyn InProcess> = Arc::new(Replay::new(recording()?));
    let host = Host::with(setup, &context, ui, "demo", vec![replay])?;
    let start = Start { requirement: REQUIREMENT.to_owned(), explore: true };
    let end = host.run(|engine| waves::start(engine, start))?;
    let exit = summary::waves(&end, here, ui)?;
    if asks || exit != Exit::TasksFailed {
        return Ok(exit);
    }
    // What a person would choose at the last gate: a recorded failure is there to be retried.
    ui.important(format_args!(
        "\nA task failed, and what depends on it was skipped. `planex resume {} --retry`:\n",
        end.session
    ));
    let found = session::find(&dir, &end.session, None)?;
    let options = Resume { retry: Some(Vec::new()), ..Resume::default() };
    let end = host.run(|engine| waves::resume(engine, &found, options))?;
    summary::waves(&end, here, ui)
}

/// The same context, at home in the sample project and with the recorded agent.
fn inside(context: &Context, dir: &camino::Utf8Path, asks: bool) -> Result<Context> {
    let mut inside = context.clone();
    inside.dir = planex_sys::fs::canonicalize(dir)?;
    inside.common.agent = vec!["replay".to_owned()];
    inside.common.yes = !asks;
    Ok(inside)
}

/// A new folder that stays, so that there is something to look at afterwards.
fn temporary_folder() -> Result<Utf8PathBuf> {
    let base = Utf8PathBuf::from_path_buf(std::env::temp_dir())
        .map_err(|path| CliError::failed(format!("the temporary folder is not UTF-8: {}", path.display())))?;
    for number in 1..1000_u32 {
        let dir = base.join(format!("planex-demo-{}-{number}", std::process::id()));
        if planex_sys::fs::create_dir_new(&dir)? {
            return Ok(dir);
        }
    }
    Err(CliError::failed(format!("no free folder in {base}")).hint("name one: `planex demo DIR`"))
}
