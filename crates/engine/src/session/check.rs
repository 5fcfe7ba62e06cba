//! What of a session's files cannot be read, and how to mend it (`planex doctor`). Reads only.

use camino::{Utf8Path, Utf8PathBuf};
use planex_core::csv::Table;
use planex_core::gate::{Answer, Gate};
use planex_core::job::JobOutcome;
use planex_sys::fs::{self, EntryKind};
use serde::de::DeserializeOwned;

use super::{Found, Meta};
use crate::registry::{self, RunRecord};
use crate::store::{RunPaths, SessionPaths};

/// One file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The file.
    pub path: Utf8PathBuf,
    /// What is wrong with it, with its place.
    pub problem: String,
    /// What the user can do.
    pub mend: String,
}

/// Every file of a session that is there and cannot be read: `meta.json`, gates and answers, runs, tables.
#[must_use]
pub fn broken_files(found: &Found) -> Vec<Broken> {
    let (paths, id) = (found.paths(), found.id.as_str());
    let mut broken = Vec::new();
    if let Err(error) = Meta::load(&paths, found.workflow) {
        let mut mend = error.hints.join("; ");
        mend.push_str(&format!("; what was made is kept in {}", paths.dir()));
        broken.push(Broken { path: paths.meta(), problem: error.to_string(), mend });
    }
    gates(&paths, id, &mut broken);
    runs(&paths, id, &mut broken);
    for path in [paths.explore_csv(), paths.tasks_csv(), paths.results_csv()] {
        let faults = match fs::read_if_exists(&path) {
            Ok(Some(bytes)) => Table::parse(&bytes).err().unwrap_or_default(),
            Ok(None) => continue,
            Err(error) => {
                let mend = format!("mend or remove it, then `planex resume {id}`");
                broken.push(Broken { path, problem: error.to_string(), mend });
                continue;
            }
        };
        if let Some(fault) = faults.first() {
            let mend = format!("mend the table in an editor, then `planex resume {id}`");
            broken.push(Broken { problem: format!("{path}:{fault}"), path, mend });
        }
    }
    broken
}

fn gates(paths: &SessionPaths, id: &str, broken: &mut Vec<Broken>) {
    for path in entries(&paths.gates(), EntryKind::File) {
        let name = path.file_name().unwrap_or_default();
        if name.ends_with(".answer.json") {
            let mend = format!("remove the file, then `planex resume {id}`: the gate is open again");
            json::<Answer>(path, &mend, broken);
        } else if name.ends_with(".json") {
            let mend = format!("remove the file, then `planex resume {id}`: the gate is asked anew");
            json::<Gate>(path, &mend, broken);
        }
    }
}

fn runs(paths: &SessionPaths, id: &str, broken: &mut Vec<Broken>) {
    for dir in entries(&paths.runs(), EntryKind::Dir) {
        let mend =
            format!("remove the file, then `planex resume {id}`: what it told is not known, the job is done again");
        json::<JobOutcome>(RunPaths::new(dir.clone()).result(), &mend, broken);
        let mend = "remove the file; the agent's own session cannot be resumed without it";
        json::<RunRecord>(registry::record_path(&dir), mend, broken);
    }
}

/// What is in a folder; nothing where it cannot be listed, which those who use it say.
fn entries(folder: &Utf8Path, kind: EntryKind) -> Vec<Utf8PathBuf> {
    let listed = if fs::is_dir(folder) { fs::list(folder).unwrap_or_default() } else { Vec::new() };
    listed.into_iter().filter(|entry| entry.kind == kind).map(|entry| entry.path).collect()
}

fn json<T: DeserializeOwned>(path: Utf8PathBuf, mend: &str, broken: &mut Vec<Broken>) {
    let problem = match fs::read_if_exists(&path) {
        Ok(None) => return,
        Ok(Some(bytes)) => match serde_json::from_slice::<T>(&bytes) {
            Ok(_) => return,
            Err(error) => format!("{path}:{}:{}: {error}", error.line(), error.column()),
        },
        Err(error) => error.to_string(),
    };
    broken.push(Broken { path, problem, mend: mend.to_owned() });
}

#[cfg(test)]
mod tests {
    use super::super::{Workflow, find_all};
    use super::*;

    #[test]
    fn each_broken_file_is_named_with_its_place_and_a_remedy() {
        let temp = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temp.path()).unwrap();
        let paths = SessionPaths::new(Workflow::Waves.folder(root).join("wpp-x"));
        let write = |path: Utf8PathBuf, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write_atomic(&path, text.as_bytes()).unwrap();
        };
        Meta::new(Workflow::Waves, "wpp-x", "r", String::new()).save(&paths).unwrap_err();
        fs::create_dir_all(&paths.planex()).unwrap();
        Meta::new(Workflow::Waves, "wpp-x", "r", String::new()).save(&paths).unwrap();
        let found = find_all(root).unwrap().remove(0);
        assert_eq!(broken_files(&found), []);
        let files = [
            (paths.meta(), "{\n  \"format\": "),
            (paths.answer("tasks"), "{}"),
            (paths.gate("tasks"), "{ torn"),
            (RunPaths::new(paths.run("wpp-x-T1")).result(), "7"),
            (paths.run("wpp-x-T1").join("run.json"), ""),
            (paths.tasks_csv(), "id,title\n1\n"),
        ];
        for (path, text) in &files {
            write(path.clone(), text);
        }
        let broken = broken_files(&found);
        assert_eq!(
            broken.iter().map(|file| &file.path).collect::<Vec<_>>(),
            files.iter().map(|(path, _)| path).collect::<Vec<_>>()
        );
        for file in &broken {
            assert!(file.problem.contains(&format!("{}:", file.path)) && !file.mend.is_empty(), "{file:?}");
        }
    }
}
