//! `planex fanout`.

use camino::Utf8PathBuf;
use planex_engine::workflow::fanout::{self, FanoutOptions, Source};

use crate::commands::mode::ModeArg;
use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::host::Host;
use crate::input;
use crate::setup::{Setup, shown};
use crate::summary;
use crate::ui::Ui;

/// Run one agent job for each row of a CSV file
///
/// `{column}` in the instruction is replaced by the row's value. The results are in `{stem}.results.csv`, in the order
/// of the input, whole at any moment.
#[derive(Debug, clap::Args)]
pub(crate) struct FanoutArgs {
    /// The rows
    #[arg(value_name = "JOBS.csv")]
    pub(crate) jobs: Utf8PathBuf,
    /// What each job is asked: a template with `{column}`, `{{` and `}}` for braces
    #[arg(long, value_name = "TEMPLATE.md")]
    pub(crate) instruction: Utf8PathBuf,
    /// Column with the ids of the rows [default: row-1, row-2, …]
    #[arg(long, value_name = "COL")]
    pub(crate) id_column: Option<String>,
    /// Where the results go [default: {stem}.results.csv beside the input]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<Utf8PathBuf>,
    /// JSON Schema that every result must satisfy
    #[arg(long, value_name = "schema.json")]
    pub(crate) output_schema: Option<Utf8PathBuf>,
    /// The same as --timeout
    #[arg(long, value_name = "SECONDS")]
    pub(crate) max_runtime: Option<String>,
    /// What jobs may do to files
    #[arg(long, value_name = "MODE", default_value = "analysis")]
    pub(crate) mode: ModeArg,
    /// How often a failed row is tried again
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = count)]
    pub(crate) retries: u32,
    /// Run only the rows that are not completed
    #[arg(long = "continue")]
    pub(crate) go_on: bool,
}

fn count(given: &str) -> std::result::Result<u32, String> {
    given.parse().map_err(|_| format!("expected a whole number from 0 to {}", u32::MAX))
}

/// Runs the command.
pub(crate) fn run(args: &FanoutArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    context.refuse_inside_job("fanout")?;
    let options = options(args, context)?;
    let mut limited = context.clone();
    if args.max_runtime.is_some() && context.common.timeout.is_some() {
        return Err(CliError::usage("--max-runtime and --timeout are the same; give one of them"));
    }
    if args.max_runtime.is_some() {
        limited.common.timeout.clone_from(&args.max_runtime);
    }
    let setup = Setup::trusted(&limited, ui)?;
    setup.project.exclude_workflow(&context.env)?;
    let host = Host::new(setup, context, ui, "fanout")?;
    if context.common.dry_run {
        return preview(&host, &options, context, ui);
    }
    let report = match args.go_on {
        true => host.run(|engine| fanout::go_on(engine, &options))?,
        false => host.run(|engine| fanout::run(engine, &options))?,
    };
    summary::fanout(&report, context, ui)
}

fn options(args: &FanoutArgs, context: &Context) -> Result<FanoutOptions> {
    let source = |path: &Utf8PathBuf| -> Result<Source> {
        let file = (path != "-").then(|| context.path(path));
        let text = file.as_ref().map_or_else(input::from_stdin, |file| input::from_file(file))?;
        Ok(Source { name: path.to_string(), text, path: file })
    };
    Ok(FanoutOptions {
        input: context.path(&args.jobs),
        instruction: source(&args.instruction)?,
        id_column: args.id_column.clone(),
        output: args.output.as_ref().map(|path| context.path(path)),
        schema: args.output_schema.as_ref().map(source).transpose()?,
        mode: args.mode.into(),
        retries: args.retries,
    })
}

fn preview(host: &Host, options: &FanoutOptions, context: &Context, ui: &mut Ui) -> Result<Exit> {
    let preview = fanout::preview(&host.engine, options)?;
    for (id, prompt) in &preview.prompts {
        if ui.is_json() {
            ui.json_line(&serde_json::json!({ "id": id, "prompt": prompt }));
        } else {
            ui.result(format_args!("=== {}\n{}", planex_core::text::one_line(id), planex_core::text::safe(prompt)));
        }
    }
    ui.status(format_args!(
        "{} jobs; results would go to {}",
        preview.prompts.len(),
        shown(&preview.output, &context.dir)
    ));
    Ok(Exit::Done)
}
