//! `planex man`.

use camino::Utf8PathBuf;

use clap::CommandFactory as _;

use crate::cli::Cli;
use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Print the man page, or write one per command
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Write planex.1, planex-waves.1, … into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<Utf8PathBuf>,
}

/// Runs the command.
pub(crate) fn run(args: &ManArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    let mut root = Cli::command();
    // So that the common options are on every page.
    root.build();
    let Some(folder) = &args.out else {
        ui.raw(&render(&root)?);
        return Ok(Exit::Done);
    };
    let folder = context.path(folder);
    planex_sys::fs::create_dir_all(&folder)?;
    let mut pages = vec![("planex".to_owned(), root.clone())];
    collect("planex", &root, &mut pages);
    for (name, command) in &pages {
        planex_sys::fs::write_atomic(&folder.join(format!("{name}.1")), &render(command)?)?;
    }
    ui.result(format_args!("{} man pages in {folder}", pages.len()));
    Ok(Exit::Done)
}

fn render(command: &clap::Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone())
        .render(&mut page)
        .map_err(|error| CliError::failed(format!("failed to write the man page: {error}")))?;
    Ok(page)
}

/// Every command below `command`, under its full name (`planex-agent-run`).
fn collect(name: &str, command: &clap::Command, pages: &mut Vec<(String, clap::Command)>) {
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        let full = format!("{name}-{}", inner.get_name());
        pages.push((full.clone(), inner.clone().name(full.clone())));
        collect(&full, inner, pages);
    }
}
