//! `planex discoveries`.

use planex_core::discovery::Discovery;
use planex_engine::board;
use planex_engine::engine::masker;
use planex_engine::session::{self};
use planex_engine::store::SessionPaths;
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::setup::Setup;
use crate::ui::Ui;
use crate::ui::table::Table;

/// Read and write the shared board of a session
#[derive(Debug, clap::Args)]
pub(crate) struct DiscoveriesArgs {
    #[command(subcommand)]
    pub(crate) command: DiscoveriesCommand,
}

/// What to do with the board.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum DiscoveriesCommand {
    /// List the entries of the board
    List {
        /// Its id, a part of it, or words in it [default: the session of the job, or the newest]
        session: Option<String>,
        /// Only this type
        #[arg(long = "type", value_name = "TYPE")]
        kind: Option<String>,
    },
    /// Add an entry to the board
    Add {
        /// code_pattern, integration_point, convention, blocker, tech_stack or test_command
        #[arg(value_name = "TYPE")]
        kind: String,
        /// Fields of the type, as NAME=VALUE
        #[arg(value_name = "NAME=VALUE", value_parser = pair)]
        fields: Vec<(String, String)>,
        /// The fields as one JSON object
        #[arg(long, value_name = "JSON", conflicts_with = "fields")]
        data: Option<String>,
        /// Session to add to [default: the session of the job, or the newest]
        #[arg(long)]
        session: Option<String>,
        /// Who found it [default: the job's task, else `user`]
        #[arg(long, value_name = "ID")]
        worker: Option<String>,
    },
}

fn pair(given: &str) -> std::result::Result<(String, String), String> {
    let (name, value) = given.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

/// Runs the command.
pub(crate) fn run(args: &DiscoveriesArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    let setup = Setup::read(context)?;
    match &args.command {
        DiscoveriesCommand::List { session, kind } => {
            list(&paths_of(session.as_deref(), context, &setup)?, kind.as_deref(), ui)
        }
        DiscoveriesCommand::Add { kind, fields, data, session, worker } => {
            let mut data = read_data(fields, data.as_deref())?;
            masker(&context.env, &setup.loaded.settings).mask_json(&mut data);
            let (kind, data) = board::check(kind, &data)?;
            let stamp = setup.zone().stamp(planex_sys::clock::now());
            let worker = worker.clone().unwrap_or_else(|| worker_of(context));
            let paths = paths_of(session.as_deref(), context, &setup)?;
            let added = board::add(&paths, &Discovery { ts: stamp, worker, kind, data })?;
            ui.status(match added {
                board::Added::New => "added",
                board::Added::Known => "it is on the board already",
            });
            Ok(Exit::Done)
        }
    }
}

/// The session: as named, else the one of the job, else the newest.
fn paths_of(session: Option<&str>, context: &Context, setup: &Setup) -> Result<SessionPaths> {
    if let Some(query) = session {
        return Ok(session::find(&setup.project.root, query, None)?.paths());
    }
    if let Some(dir) = context.env.non_empty("PLANEX_SESSION_DIR") {
        return Ok(SessionPaths::new(dir));
    }
    let newest = session::find_all(&setup.project.root)?.into_iter().next();
    newest
        .map(|found| found.paths())
        .ok_or_else(|| CliError::usage("there is no session yet").hint("start one with `planex waves \"…\"`"))
}

/// Id of the job's row, which is what the board names; outside of jobs the user.
fn worker_of(context: &Context) -> String {
    let id = context.env.non_empty("PLANEX_FIELD_ID").or_else(|| context.env.non_empty("PLANEX_JOB_ID"));
    id.unwrap_or("user").to_owned()
}

fn read_data(fields: &[(String, String)], data: Option<&str>) -> Result<Value> {
    match data {
        Some(text) => serde_json::from_str(text).map_err(|error| {
            CliError::input("--data is no JSON").faults([format!(
                "--data:{}:{}: {error}",
                error.line(),
                error.column()
            )])
        }),
        None => {
            let map: Map<String, Value> = fields
                .iter()
                .map(|(name, value)| {
                    // `exports` is the one field that is a list.
                    let items = || value.split([',', ';']).map(|item| json!(item.trim())).collect();
                    (name.clone(), if name == "exports" { Value::Array(items()) } else { json!(value) })
                })
                .collect();
            Ok(Value::Object(map))
        }
    }
}

fn list(paths: &SessionPaths, kind: Option<&str>, ui: &mut Ui) -> Result<Exit> {
    let board = board::load(paths)?;
    let mut table = Table::new(&["time", "worker", "type", "data"]);
    for entry in board.entries.iter().filter(|entry| kind.is_none_or(|kind| board::name(entry.kind) == kind)) {
        if ui.is_json() {
            ui.json_line(entry);
        }
        let data: Vec<String> = entry
            .data
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
            .collect();
        table.row([entry.ts.clone(), entry.worker.clone(), board::name(entry.kind).to_owned(), data.join("; ")]);
    }
    if !ui.is_json() {
        ui.table(&table);
    }
    if board.malformed > 0 {
        ui.warning(format_args!("{} malformed lines are left out", board.malformed));
    }
    Ok(Exit::Done)
}
