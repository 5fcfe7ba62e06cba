//! `planex mcp`.

use planex_engine::engine::masker;
use planex_engine::store::SessionPaths;
use planex_serve::{JobBinding, JobTools, serve_stdio};

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::host::runtime;
use crate::setup::Setup;

/// Serve the tools of a job over MCP on standard input and output
///
/// Started by agents inside a job; bound to that job by `PLANEX_JOB_ID` and `PLANEX_SESSION_DIR`.
#[derive(Debug, clap::Args)]
pub(crate) struct McpArgs {}

/// Runs the command.
pub(crate) fn run(context: &Context) -> Result<Exit> {
    let (Some(run_id), Some(session_dir)) =
        (context.env.non_empty("PLANEX_JOB_ID"), context.env.non_empty("PLANEX_SESSION_DIR"))
    else {
        return Err(CliError::usage("`planex mcp` serves the job it runs in, and there is none")
            .hint("agents start it by themselves inside a job, where PLANEX_JOB_ID and PLANEX_SESSION_DIR are set"));
    };
    planex_core::id::check_run_id(run_id).map_err(|error| CliError::usage(format!("PLANEX_JOB_ID: {error}")))?;
    let paths = SessionPaths::new(session_dir);
    let binding = JobBinding { run_id: run_id.to_owned(), session_dir: session_dir.into(), run_dir: paths.run(run_id) };
    let setup = Setup::read(context)?;
    let masker = masker(&context.env, &setup.loaded.settings);
    runtime()?
        .block_on(serve_stdio(JobTools::new(binding, setup.zone(), masker), env!("CARGO_PKG_VERSION")))
        .map_err(CliError::failed)?;
    Ok(Exit::Done)
}
