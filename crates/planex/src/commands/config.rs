//! `planex config`.

use planex_core::settings::edit::{SetError, set};
use planex_core::settings::load::{Resolved, require_key};
use serde_json::json;

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::setup::{Setup, shown, user_file, with_source};
use crate::ui::Ui;
use crate::ui::colour::Tone;

/// Show and change the configuration
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

/// What to do with the configuration.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every value and where it comes from
    Show,
    /// Print one value
    Get {
        /// `limits.execute`, `roles.plan.agent`, …
        key: String,
    },
    /// Write one value, keeping comments and order of the file
    Set {
        /// `limits.execute`, `roles.plan.agent`, …
        key: String,
        /// The value, as TOML or as a bare word
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// Into planex.toml of the project instead of your own configuration
        #[arg(long)]
        project: bool,
    },
}

/// Runs the command.
pub(crate) fn run(args: &ConfigArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    match &args.command {
        ConfigCommand::Show => show(context, ui),
        ConfigCommand::Get { key } => get(key, context, ui),
        ConfigCommand::Set { key, value, project } => write(key, value, *project, context, ui),
    }
}

fn show(context: &Context, ui: &mut Ui) -> Result<Exit> {
    let setup = Setup::read(context)?;
    let mut table = String::new();
    for value in &setup.loaded.resolved {
        if ui.is_json() {
            ui.json_line(&as_json(value));
        }
        let text = value.value.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
        let origin = ui.colours().paint(Tone::Dim, &format!("# {}", value.origin));
        let pair = format!("{} = {text}", value.name);
        table.push_str(&format!("{}  {origin}\n", planex_core::text::pad(&planex_core::text::one_line(&pair), 44)));
    }
    if !ui.is_json() {
        ui.result(table.trim_end());
    }
    for held in &setup.loaded.withheld {
        ui.warning(planex_core::text::one_line(&held.to_string()));
    }
    Ok(Exit::Done)
}

fn as_json(value: &Resolved) -> serde_json::Value {
    json!({
        "key": value.name,
        "value": value.value.as_ref().map(ToString::to_string),
        "origin": value.origin.to_string(),
    })
}

fn get(key: &str, context: &Context, ui: &mut Ui) -> Result<Exit> {
    require_key(key).map_err(CliError::usage)?;
    let setup = Setup::read(context)?;
    let Some(value) = setup.loaded.resolved.iter().find(|value| value.name == key) else {
        return Err(
            CliError::usage(format!("`{key}` is not set")).hint(format!("set it with `planex config set {key} VALUE`"))
        );
    };
    match (&value.value, ui.is_json()) {
        (_, true) => ui.json_line(&as_json(value)),
        (Some(text), false) => ui.result(text),
        (None, false) => {
            return Err(CliError::usage(format!("`{key}` is not set"))
                .hint(format!("set it with `planex config set {key} VALUE`")));
        }
    }
    ui.detail(format_args!("from {}", value.origin));
    Ok(Exit::Done)
}

fn write(key: &str, value: &str, project: bool, context: &Context, ui: &mut Ui) -> Result<Exit> {
    context.refuse_inside_job("config set")?;
    let folders = crate::folders::Folders::of(&context.env);
    let file = if project {
        planex_engine::project::Project::find(&context.dir, folders.home.as_deref()).root.join("planex.toml")
    } else {
        user_file(&folders)
            .ok_or_else(|| CliError::failed("there is no configuration folder").hint("set HOME, or use --project"))?
    };
    let old = match planex_sys::fs::read_if_exists(&file)? {
        Some(bytes) => String::from_utf8(bytes).map_err(|_| CliError::input(format!("{file} is not UTF-8")))?,
        None => String::new(),
    };
    let new = set(&shown(&file, &context.dir), &old, key, value).map_err(|error| match error {
        SetError::UnknownKey(message) => CliError::usage(message),
        SetError::BadValue { .. } => CliError::usage(error),
        SetError::BadFile(fault) => CliError::input(format!("{file} cannot be edited")).faults([with_source(&fault)]),
    })?;
    if let Some(folder) = file.parent() {
        planex_sys::fs::create_dir_all(folder)?;
    }
    planex_sys::fs::write_atomic(&file, new.as_bytes())?;
    ui.status(format_args!("{key} is set in {file}"));
    Ok(Exit::Done)
}
