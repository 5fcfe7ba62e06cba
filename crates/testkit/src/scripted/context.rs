//! What a run of the agent knows about itself.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{self, Read as _};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::format::AgentScript;

/// One run, as it was recorded in the state folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub struct RecordedRun {
    pub role: String,
    pub id: String,
    pub attempt: u32,
    pub mode: String,
    /// Of `--resume`.
    pub session: Option<String>,
    pub cwd: Utf8PathBuf,
    pub prompt: String,
    /// All arguments but the program's own name.
    pub args: Vec<String>,
    /// The variables whose name begins with `PLANEX_`.
    pub env: BTreeMap<String, String>,
    /// The names of all others; their values may be anybody's secrets.
    pub other_env: Vec<String>,
}

/// What actions work with.
pub(super) struct Context {
    pub(super) role: String,
    pub(super) id: String,
    pub(super) attempt: u32,
    pub(super) mode: String,
    pub(super) session: Option<String>,
    pub(super) prompt: String,
    pub(super) cwd: Utf8PathBuf,
    pub(super) result_file: Option<Utf8PathBuf>,
    session_dir: String,
}

#[derive(Default)]
struct Args {
    script: Option<String>,
    state: Option<Utf8PathBuf>,
    session: Option<String>,
    prompt: Option<Utf8PathBuf>,
}

impl Context {
    /// Reads arguments, environment, prompt and script; counts and records the run.
    pub(super) fn load(all: Vec<String>) -> Result<(AgentScript, Self), String> {
        let args = parse(&all)?;
        let script = args.script.or_else(|| variable("PLANEX_TEST_SCRIPT")).ok_or("no --script")?;
        let (text, path) = if script.trim_start().starts_with('{') {
            (script, None)
        } else {
            (fs::read_to_string(&script).map_err(|error| format!("{script}: {error}"))?, Some(script))
        };
        let script: AgentScript = serde_json::from_str(&text).map_err(|error| format!("the script: {error}"))?;
        let prompt = match &args.prompt {
            Some(file) => fs::read(file).map_err(|error| format!("{file}: {error}"))?,
            None => {
                let mut bytes = Vec::new();
                io::stdin().lock().read_to_end(&mut bytes).map_err(|error| format!("standard input: {error}"))?;
                bytes
            }
        };
        let role = variable("PLANEX_ROLE").unwrap_or_default();
        let id = row_id()?.or_else(|| variable("PLANEX_JOB_ID")).unwrap_or_default();
        let state = args.state.or_else(|| path.map(|path| format!("{path}.state").into()));
        let attempt = state.as_deref().map_or(Ok(1), |state| count(state, &role, &id))?;
        let cwd = env::current_dir().map_err(|error| error.to_string())?;
        let context = Self {
            role,
            id,
            attempt,
            mode: variable("PLANEX_MODE").unwrap_or_default(),
            session: args.session,
            prompt: String::from_utf8_lossy(&prompt).into_owned(),
            cwd: Utf8PathBuf::try_from(cwd).map_err(|error| error.to_string())?,
            result_file: variable("PLANEX_RESULT_FILE").map(Utf8PathBuf::from),
            session_dir: variable("PLANEX_SESSION_DIR").unwrap_or_default(),
        };
        if let Some(state) = state {
            context.record(&state, all)?;
        }
        Ok((script, context))
    }

    /// A string of the script with its placeholders filled.
    pub(super) fn fill(&self, text: &str) -> String {
        let run_dir = self.result_file.as_deref().and_then(Utf8Path::parent).map(Utf8Path::as_str);
        text.replace("{id}", &self.id)
            .replace("{role}", &self.role)
            .replace("{attempt}", &self.attempt.to_string())
            .replace("{session}", self.session.as_deref().unwrap_or_default())
            .replace("{cwd}", self.cwd.as_str())
            .replace("{run_dir}", run_dir.unwrap_or_default())
            .replace("{session_dir}", &self.session_dir)
    }

    /// All strings of a value filled.
    pub(super) fn fill_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => items.iter().map(|item| self.fill_value(item)).collect(),
            Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), self.fill_value(value))).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// A path of the script, absolute.
    pub(super) fn path(&self, text: &str) -> Utf8PathBuf {
        self.cwd.join(self.fill(text))
    }

    fn record(&self, state: &Utf8Path, args: Vec<String>) -> Result<(), String> {
        let vars = || env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        let run = RecordedRun {
            role: self.role.clone(),
            id: self.id.clone(),
            attempt: self.attempt,
            mode: self.mode.clone(),
            session: self.session.clone(),
            cwd: self.cwd.clone(),
            prompt: self.prompt.clone(),
            args,
            env: vars()
                .filter(|(name, _)| name.starts_with("PLANEX_"))
                .filter_map(|(name, value)| Some((name, value.into_string().ok()?)))
                .collect(),
            other_env: vars().map(|(name, _)| name).filter(|name| !name.starts_with("PLANEX_")).collect(),
        };
        let json = serde_json::to_string_pretty(&run).map_err(|error| error.to_string())?;
        let name = format!("{}-{}-{}.json", plain(&self.role), plain(&self.id), self.attempt);
        let (file, fresh) = (state.join(&name), state.join(format!(".{name}")));
        // Whole at any moment: a test may look while this is written.
        fs::write(&fresh, json).and_then(|()| fs::rename(&fresh, &file)).map_err(|error| format!("{file}: {error}"))
    }
}

fn parse(all: &[String]) -> Result<Args, String> {
    let mut args = Args::default();
    let mut words = all.iter();
    while let Some(word) = words.next() {
        let mut next = || words.next().cloned().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--script" => args.script = Some(next()?),
            "--state" => args.state = Some(next()?.into()),
            "--resume" => args.session = Some(next()?),
            "--prompt" => args.prompt = Some(next()?.into()),
            _ => {}
        }
    }
    Ok(args)
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The row's id; a row that cannot be read is planex's fault, and must not look like a job without one.
fn row_id() -> Result<Option<String>, String> {
    let Some(file) = variable("PLANEX_ROW_FILE") else { return Ok(None) };
    let text = fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    let row: Value = serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
    Ok(row["id"].as_str().map(str::to_owned))
}

/// The number of this run among those of the same role and id; two runs at once get two numbers.
fn count(state: &Utf8Path, role: &str, id: &str) -> Result<u32, String> {
    fs::create_dir_all(state).map_err(|error| format!("{state}: {error}"))?;
    let mut number = 1;
    loop {
        let file = state.join(format!("{}-{}-{number}.started", plain(role), plain(id)));
        match fs::File::create_new(&file) {
            Ok(_) => return Ok(number),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(format!("{file}: {error}")),
        }
    }
}

/// Fit for a file's name.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_alphanumeric() || "._".contains(c) { c } else { '_' }).take(80).collect()
}
