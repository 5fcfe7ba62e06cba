//! `planex spec`.

use planex_core::guide::Category;
use planex_core::text::one_line;
use planex_engine::guidelines;
use serde_json::json;

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::input;
use crate::setup::{project, shown};
use crate::ui::Ui;
use crate::ui::table::Table;

/// Load, list and add the project's guidelines
#[derive(Debug, clap::Args)]
pub(crate) struct SpecArgs {
    #[command(subcommand)]
    pub(crate) command: SpecCommand,
}

/// What to do with guidelines.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum SpecCommand {
    /// Print the guidelines that apply
    Load {
        /// general, exploration, planning, execution, debug, test, review or validation
        #[arg(long, default_value = "general")]
        category: String,
        /// Words that make optional guidelines apply
        #[arg(long, value_name = "WORD", num_args = 1.., value_delimiter = ',')]
        keywords: Vec<String>,
    },
    /// List all guidelines
    List,
    /// Write a new guideline
    Add {
        /// Its title
        title: String,
        /// Its text [default: standard input]
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        text: Option<String>,
        /// general, exploration, planning, execution, debug, test, review or validation
        #[arg(long, default_value = "general")]
        category: String,
        /// Words that make it apply, where it is optional
        #[arg(long, value_name = "WORD", value_delimiter = ',')]
        keywords: Vec<String>,
        /// Always in the prompts of its category
        #[arg(long)]
        required: bool,
    },
    /// Make .workflow/specs with a first guideline to edit
    Init,
}

/// Runs the command.
pub(crate) fn run(args: &SpecArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    let root = project(context).root;
    match &args.command {
        SpecCommand::Load { category, keywords } => {
            let found = guidelines::load(&root)?;
            for fault in &found.faults {
                ui.warning(fault);
            }
            let text = found.render(&[read_category(category)?], keywords);
            if ui.is_json() {
                ui.json_line(&json!({ "category": category, "text": text }));
            } else if text.is_empty() {
                ui.status("no guideline applies");
            } else {
                ui.result(text);
            }
        }
        SpecCommand::List => list(&root, ui)?,
        SpecCommand::Add { title, text, category, keywords, required } => {
            let body = match text {
                Some(text) => text.clone(),
                None => input::from_stdin()?,
            };
            let category = read_category(category)?;
            let path = guidelines::add(&root, category, title, keywords, *required, &body)?;
            ui.result(format_args!("wrote {}", shown(&path, &context.dir)));
        }
        SpecCommand::Init => match guidelines::init(&root)? {
            Some(path) => ui.result(format_args!("wrote {}; edit it", shown(&path, &context.dir))),
            None => ui.result("there are guidelines already; `planex spec list` shows them"),
        },
    }
    Ok(Exit::Done)
}

fn read_category(word: &str) -> Result<Category> {
    word.parse().map_err(CliError::usage)
}

fn list(root: &camino::Utf8Path, ui: &mut Ui) -> Result<()> {
    let found = guidelines::load(root)?;
    let mut table = Table::new(&["category", "priority", "read", "title", "file"]);
    for guide in &found.all {
        let read = if guide.required { "required" } else { "optional" };
        let priority = format!("{:?}", guide.priority).to_lowercase();
        if ui.is_json() {
            ui.json_line(&json!({
                "file": guide.name, "title": guide.title, "category": guide.category.as_str(),
                "priority": priority, "readMode": read, "keywords": guide.keywords,
            }));
        }
        table.row([guide.category.to_string(), priority, read.to_owned(), one_line(&guide.title), guide.name.clone()]);
    }
    if found.all.is_empty() {
        ui.status("no guidelines yet; `planex spec init` makes a first one");
    } else if !ui.is_json() {
        ui.table(&table);
    }
    for fault in &found.faults {
        ui.warning(fault);
    }
    Ok(())
}
