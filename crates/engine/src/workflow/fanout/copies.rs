//! The session's own copies of what it was given, so that it goes on the same after the originals changed.
//!
//! Each set lies in a numbered folder and `meta.json` says which one counts: a new set replaces the old one whole.

use camino::{Utf8Path, Utf8PathBuf};
use planex_core::job::Mode;
use planex_sys::fs;
use serde_json::Value;

use super::input::{FanoutOptions, Source};
use crate::error::{EngineError, Result};
use crate::session::{Meta, Session};
use crate::store::SessionPaths;

/// Number of a session's first set.
pub(super) const FIRST: u64 = 1;

const INPUT: &str = "jobs.csv";
const INSTRUCTION: &str = "instruction.md";
const SCHEMA: &str = "schema.json";

/// What a session was given.
#[derive(Debug)]
pub(super) struct Copy {
    pub(super) options: FanoutOptions,
    /// The input as it was.
    pub(super) input: Vec<u8>,
}

impl Copy {
    /// Originals that are not what they were, or are gone.
    pub(super) fn changed(&self) -> Vec<Utf8PathBuf> {
        let of = |source: &Source| source.path.clone().map(|path| (path, source.text.clone().into_bytes()));
        let schema = self.options.schema.as_ref().and_then(of);
        let all = [Some((self.options.input.clone(), self.input.clone())), of(&self.options.instruction), schema];
        let differs = |(path, copy): &(Utf8PathBuf, Vec<u8>)| fs::read(path).ok().as_ref() != Some(copy);
        all.into_iter().flatten().filter(differs).map(|(path, _)| path).collect()
    }
}

/// Puts into `meta` what a resume needs; `number` is the set of copies that counts.
pub(super) fn remember(meta: &mut Meta, options: &FanoutOptions, output: &Utf8Path, number: u64) {
    let path = |source: &Source| source.path.as_ref().map(ToString::to_string);
    let mut set = |name: &str, value: Value| drop(meta.options.insert(name.to_owned(), value));
    set("input", options.input.as_str().into());
    set("output", output.as_str().into());
    set("mode", options.mode.as_str().into());
    set("retries", options.retries.into());
    set("id_column", options.id_column.clone().into());
    set("instruction", options.instruction.name.clone().into());
    set("instruction_path", path(&options.instruction).into());
    set("schema", options.schema.as_ref().map(|schema| schema.name.clone()).into());
    set("schema_path", options.schema.as_ref().and_then(path).into());
    set("copies", number.into());
}

/// The number of the set that counts, and of the next one.
pub(super) fn numbers(session: &Session) -> (u64, u64) {
    let number = number(&session.meta);
    (number, number.saturating_add(1))
}

fn number(meta: &Meta) -> u64 {
    meta.options.get("copies").and_then(Value::as_u64).unwrap_or(FIRST)
}

fn folder(paths: &SessionPaths, number: u64) -> Utf8PathBuf {
    paths.inputs().join(number.to_string())
}

/// Writes a set of copies; `input` is the input that was checked.
pub(super) fn save(session: &Session, options: &FanoutOptions, input: &[u8], number: u64) -> Result<()> {
    let folder = folder(&session.paths, number);
    fs::create_dir_all(&folder)?;
    if let Some(schema) = &options.schema {
        fs::write_atomic(&folder.join(SCHEMA), schema.text.as_bytes())?;
    }
    fs::write_atomic(&folder.join(INSTRUCTION), options.instruction.text.as_bytes())?;
    Ok(fs::write_atomic(&folder.join(INPUT), input)?)
}

/// Removes a set that counts no more.
pub(super) fn forget(session: &Session, number: u64) -> Result<()> {
    Ok(fs::remove_dir_all(&folder(&session.paths, number))?)
}

/// The bytes of a session's input, as it was given.
pub(super) fn input(paths: &SessionPaths, meta: &Meta) -> Result<Vec<u8>> {
    Ok(fs::read(&folder(paths, number(meta)).join(INPUT))?)
}

/// Reads what the session was given.
pub(super) fn load(session: &Session) -> Result<Copy> {
    let (meta, folder) = (&session.meta, folder(&session.paths, number(&session.meta)));
    // Killed before the copies were written, nothing had started.
    let lost = |why: String| {
        EngineError::internal(format!("the session {} has no whole copy of its input: {why}", session.id))
            .hint("go on with `planex fanout JOBS.csv --continue` and the options of its start")
    };
    let text = |name: &str| fs::read_to_string(&folder.join(name)).map_err(|error| lost(error.to_string()));
    let original = meta.option_str("input").ok_or_else(|| lost("it does not say what its input is".to_owned()))?;
    let path = |name: &str| meta.option_str(name).map(Utf8PathBuf::from);
    let schema = match meta.option_str("schema") {
        Some(name) => Some(Source { name: name.to_owned(), text: text(SCHEMA)?, path: path("schema_path") }),
        None => None,
    };
    let retries = meta.options.get("retries").and_then(Value::as_u64).unwrap_or(0);
    let options = FanoutOptions {
        input: original.into(),
        instruction: Source {
            name: meta.option_str("instruction").unwrap_or("the instruction").to_owned(),
            text: text(INSTRUCTION)?,
            path: path("instruction_path"),
        },
        id_column: meta.option_str("id_column").map(str::to_owned),
        output: path("output"),
        schema,
        mode: if meta.option_str("mode") == Some("write") { Mode::Write } else { Mode::Analysis },
        retries: u32::try_from(retries).unwrap_or(u32::MAX),
    };
    let input = input(&session.paths, meta).map_err(|error| lost(error.to_string()))?;
    Ok(Copy { options, input })
}
