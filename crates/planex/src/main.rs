//! The `planex` command: arguments to settings, one file per command, terminal UI, exit codes. No logic lives here.

mod cli;
mod commands;
mod context;
mod editor;
mod error;
mod folders;
mod host;
mod input;
mod panic;
mod preview;
mod request;
mod setup;
mod summary;
mod ui;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    // First of all: this very program is also the guardian of its jobs.
    planex_sys::process::main_if_guardian();
    panic::install();
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return error::report_usage(&error),
    };
    let env = planex_sys::env::Environment::capture();
    if cli.common.verbose >= 2 {
        // planex's own diagnosis, beside what it says to its user.
        let log = tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::DEBUG);
        log.with_ansi(false).init();
    }
    let mut ui = ui::Ui::new(&cli.common, &env);
    let outcome =
        context::Context::new(cli.common, env).and_then(|context| commands::run(&cli.command, &context, &mut ui));
    let exit = outcome.unwrap_or_else(|error| error.report(&mut ui));
    ui.settle(exit).into()
}
