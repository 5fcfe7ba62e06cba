//! `planex schema`.

use planex_core::schema::{names, schema};
use planex_core::suggest;

use crate::error::{CliError, Exit, Result};
use crate::ui::Ui;

/// Print the JSON Schema of a result or file
#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// Its name; without one the names are listed
    pub(crate) name: Option<String>,
}

/// Runs the command.
pub(crate) fn run(args: &SchemaArgs, ui: &mut Ui) -> Result<Exit> {
    let Some(name) = &args.name else {
        for name in names() {
            ui.result(name);
        }
        return Ok(Exit::Done);
    };
    let Some(found) = schema(name) else {
        let error = CliError::usage(format!("unknown schema `{}`", planex_core::text::one_line(name)));
        return Err(match suggest::nearest(name, names().iter().copied()) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint(format!("there are {}", names().join(", "))),
        });
    };
    let text = serde_json::to_string_pretty(found.as_ref())
        .map_err(|error| CliError::failed(format!("failed to write the schema: {error}")))?;
    ui.raw(format!("{text}\n").as_bytes());
    Ok(Exit::Done)
}
