//! `planex explore`.

use camino::Utf8PathBuf;
use planex_core::text::one_line;
use planex_explore::{Angle, ExploreOptions, Explorer, Query, RankedFile};
use serde_json::json;

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::input::{self, text_argument};
use crate::setup::Setup;
use crate::ui::Ui;
use crate::ui::colour::Tone;

/// Find the files that matter for a text, without a model
#[derive(Debug, clap::Args)]
pub(crate) struct ExploreArgs {
    /// A task, issue, error message or stack trace; `-` for standard input
    #[arg(value_parser = text_argument, allow_hyphen_values = true, conflicts_with = "file")]
    pub(crate) text: Option<String>,
    /// Read the text from a file
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<Utf8PathBuf>,
    /// Point of view: architecture, security, testing, …
    #[arg(long)]
    pub(crate) angle: Option<String>,
    /// Print only paths, one a line, best first
    #[arg(long)]
    pub(crate) paths: bool,
    /// How many files [default: 20]
    #[arg(short = 'n', value_name = "K")]
    pub(crate) count: Option<usize>,
}

/// Files of a list without `-n`.
const COUNT: usize = 20;

/// Runs the command.
pub(crate) fn run(args: &ExploreArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    let text = match &args.file {
        Some(file) if file == "-" => input::from_stdin()?,
        Some(file) => input::from_file(&context.path(file))?,
        None => input::text(args.text.as_deref(), "text to explore for", context, ui)?,
    };
    let angle = args.angle.as_deref().map(Angle::new);
    let setup = Setup::read(context)?;
    let query = Query { text, angle, limit: args.count.unwrap_or(COUNT) };
    let options = ExploreOptions { cache_dir: setup.folders.cache.clone(), ..ExploreOptions::default() };
    // The folder that was asked about, not the project around it: `-C sub` explores sub.
    let explorer = Explorer::open(&context.dir, &options).map_err(CliError::input)?;
    let ranking = explorer.rank(&query);
    if ui.is_json() {
        let files: Vec<serde_json::Value> = ranking
            .files
            .iter()
            .map(|file| json!({ "path": file.path, "score": file.score, "lines": file.lines, "why": file.why }))
            .collect();
        ui.json_line(&json!({ "files": files }));
        return Ok(Exit::Done);
    }
    if args.paths {
        for file in &ranking.files {
            ui.result(&file.path);
        }
        return Ok(Exit::Done);
    }
    for file in &ranking.files {
        show(file, ui);
    }
    if ranking.files.is_empty() {
        ui.status("no file fits; say more, or name a file, symbol or message");
    }
    Ok(Exit::Done)
}

fn show(file: &RankedFile, ui: &mut Ui) {
    let lines: Vec<String> = file.lines.iter().take(3).map(|range| format!("{}-{}", range.start, range.end)).collect();
    let place = if lines.is_empty() { String::new() } else { format!(":{}", lines.join(",")) };
    let path = ui.colours().paint(Tone::Title, &one_line(&format!("{}{place}", file.path)));
    ui.result(format_args!("{:.2}  {path}", file.score));
    for why in file.why.iter().take(3) {
        let reason = one_line(&format!("{}: {}", kind_name(why), why.detail));
        ui.result(format_args!("      {}", ui.colours().paint(Tone::Dim, &reason)));
    }
}

/// The word of the interface for a reason.
fn kind_name(why: &planex_explore::Why) -> String {
    serde_json::to_value(why.kind).ok().and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default()
}
