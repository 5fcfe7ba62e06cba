//! The files and variables of one run.

use std::collections::BTreeMap;

use planex_core::job::JobSpec;
use planex_sys::env::Environment;
use planex_sys::fs::{self, PathError};
use serde_json::Value;

use crate::adapter::RunFiles;

/// Bytes of one `PLANEX_FIELD_…`; longer ones are in the row's file only, since a system takes 128 KiB at most.
const MAX_FIELD: usize = 32 * 1024;

/// Bytes of all `PLANEX_FIELD_…` together.
const MAX_FIELDS: usize = 256 * 1024;

/// Makes the run's folder, writes what the agent may read, and removes results that an earlier start left.
pub(crate) fn prepare(spec: &JobSpec, files: &RunFiles) -> Result<(), PathError> {
    fs::create_dir_all(&files.dir)?;
    fs::create_dir_all(&files.tmp)?;
    fs::remove_file(&files.result)?;
    fs::remove_file(&files.reports)?;
    fs::write_atomic_nosync(&files.prompt, spec.prompt.as_bytes())?;
    if let (Some(path), Some(schema)) = (&files.schema, &spec.schema) {
        fs::write_atomic_nosync(path, format!("{schema:#}\n").as_bytes())?;
    }
    if let (Some(path), Some(item)) = (&files.item, &spec.item) {
        let item = Value::Object(item.clone());
        fs::write_atomic_nosync(path, format!("{item:#}\n").as_bytes())?;
    }
    Ok(())
}

/// What an agent inherits: planex's environment without the variables of a run that planex itself may be part of, with
/// those of the agent's and the role's configuration.
pub(crate) fn inherited(spec: &JobSpec, environment: &Environment, of_agent: &BTreeMap<String, String>) -> Environment {
    let outside = environment.outside_a_run();
    outside
        .vars()
        .iter()
        .chain(of_agent)
        .chain(&spec.env)
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect()
}

/// The variables that every job sees (spec 10, *A custom agent*).
pub(crate) fn run_variables(spec: &JobSpec, files: &RunFiles) -> BTreeMap<String, String> {
    let mut vars: BTreeMap<String, String> = spec.item.as_ref().map(fields).unwrap_or_default();
    let mut set = |name: &str, value: &str| vars.insert(name.to_owned(), value.replace('\0', ""));
    set("PLANEX_JOB_ID", &spec.run_id);
    set("PLANEX_ROLE", spec.role.as_str());
    set("PLANEX_MODE", spec.mode.as_str());
    set("PLANEX_SESSION_DIR", spec.session_dir.as_str());
    set("PLANEX_PROMPT_FILE", files.prompt.as_str());
    set("PLANEX_RESULT_FILE", files.result.as_str());
    if let Some(path) = &files.schema {
        set("PLANEX_SCHEMA_FILE", path.as_str());
    }
    if let Some(path) = &files.item {
        set("PLANEX_ROW_FILE", path.as_str());
    }
    for name in ["TMPDIR", "TMP", "TEMP"] {
        set(name, files.tmp.as_str());
    }
    vars
}

/// `PLANEX_FIELD_<COLUMN>`: upper case, other characters than letters and digits `_`.
fn fields(item: &serde_json::Map<String, Value>) -> BTreeMap<String, String> {
    let mut vars = BTreeMap::new();
    let mut room = MAX_FIELDS;
    for (column, value) in item {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        let name: String = column.chars().map(plain).collect();
        let value = match value {
            Value::String(text) => text.replace('\0', ""),
            Value::Null => String::new(),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
        };
        if value.len() > MAX_FIELD || value.len() > room {
            continue;
        }
        room -= value.len();
        vars.insert(format!("PLANEX_FIELD_{name}"), value);
    }
    vars
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::adapters::testing::spec;

    #[test]
    fn columns_become_variables() {
        let item =
            json!({ "id": "T1", "Über-name": "a\0b", "n": 3, "list": ["x"], "none": null, "big": "x".repeat(40_000) });
        let vars = fields(item.as_object().unwrap());
        let wanted = [
            ("PLANEX_FIELD_ID", "T1"),
            ("PLANEX_FIELD_LIST", "[\"x\"]"),
            ("PLANEX_FIELD_N", "3"),
            ("PLANEX_FIELD_NONE", ""),
            ("PLANEX_FIELD__BER_NAME", "ab"),
        ];
        assert_eq!(vars.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn a_run_inside_a_run_does_not_inherit_its_variables() {
        let environment: Environment =
            [("PATH", "/bin"), ("PLANEX_FIELD_X", "1"), ("PLANEX_ROW_FILE", "/x"), ("PLANEX_HOME", "/h")]
                .into_iter()
                .collect();
        let mut job = spec();
        job.env.insert("PATH".into(), "/role".into());
        let of_agent = BTreeMap::from([("PATH".to_owned(), "/agent".to_owned()), ("K".to_owned(), "v".to_owned())]);
        let env = inherited(&job, &environment, &of_agent);
        let wanted = [("K", "v"), ("PATH", "/role"), ("PLANEX_HOME", "/h")];
        assert_eq!(env.vars().iter().map(|(k, v)| (k.as_str(), v.as_str())).collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn every_job_sees_its_variables() {
        let mut job = spec();
        job.item = json!({ "id": "T1" }).as_object().cloned();
        let vars = run_variables(&job, &RunFiles::new(&job));
        let names: Vec<&str> = vars.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "PLANEX_FIELD_ID",
                "PLANEX_JOB_ID",
                "PLANEX_MODE",
                "PLANEX_PROMPT_FILE",
                "PLANEX_RESULT_FILE",
                "PLANEX_ROLE",
                "PLANEX_ROW_FILE",
                "PLANEX_SCHEMA_FILE",
                "PLANEX_SESSION_DIR",
                "TEMP",
                "TMP",
                "TMPDIR"
            ]
        );
    }
}
