//! A text written in the user's editor.

use camino::Utf8Path;

use crate::context::Context;
use crate::error::{CliError, Result};
use crate::ui::Ui;

/// Most bytes of a text.
const MOST: u64 = 4 * 1024 * 1024;

/// Opens `$VISUAL`, else `$EDITOR`, else what the system has, on an empty file, and takes what was saved.
///
/// # Errors
/// The editor cannot be started or says that it failed (usage), or the file cannot be read.
pub(crate) fn write(what: &str, context: &Context, ui: &mut Ui) -> Result<String> {
    let editor = command(context)
        .ok_or_else(|| CliError::usage(format!("no {what} given, and there is no editor")).hint("set EDITOR"))?;
    let file = tempfile::Builder::new()
        .prefix("planex-")
        .suffix(".md")
        .tempfile()
        .map_err(|error| CliError::failed(format!("no file for the editor: {error}")))?;
    let path = Utf8Path::from_path(file.path())
        .ok_or_else(|| CliError::failed(format!("{} is not UTF-8", file.path().display())))?;
    ui.status(format_args!("write the {what} in the editor ({editor}), save, and leave it"));
    run(&editor, path).map_err(|fault| {
        CliError::usage(format!("no {what} given: {fault}"))
            .hint(format!("give the {what} as an argument, or set EDITOR"))
    })?;
    let bytes = planex_sys::fs::read_head(path, MOST)?;
    String::from_utf8(bytes).map_err(|_| CliError::input(format!("the {what} is not UTF-8")).hint("save it as UTF-8"))
}

/// The editor as the user would type it, arguments included.
fn command(context: &Context) -> Option<String> {
    let named = ["VISUAL", "EDITOR"].iter().find_map(|name| context.env.non_empty(name));
    if let Some(named) = named {
        return Some(named.to_owned());
    }
    let there = |name: &&str| planex_sys::program::find(name, context.env.get("PATH"), &context.dir).is_some();
    ["nano", "vi", "notepad"].iter().find(|name| there(name)).map(|name| (*name).to_owned())
}

/// Runs it on the terminal. Like git, through the shell: `EDITOR` may hold arguments and quotes.
#[expect(clippy::disallowed_methods, reason = "an editor is no job: it takes over the terminal until it is left")]
fn run(editor: &str, path: &Utf8Path) -> std::result::Result<(), String> {
    let mut command = if cfg!(windows) {
        let mut words = editor.split_whitespace();
        let mut command = std::process::Command::new(words.next().unwrap_or("notepad"));
        command.args(words).arg(path);
        command
    } else {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &format!("{editor} \"$@\""), editor, path.as_str()]);
        command
    };
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{editor}` ended with {status}")),
        Err(error) => Err(format!("`{editor}` cannot be started: {error}")),
    }
}
