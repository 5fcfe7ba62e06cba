//! Taking waves back: the tree as it was before them (spec 70, *planex undo*).

use camino::Utf8PathBuf;
use planex_core::rows::{RowStatus, read_tasks};
use planex_isolation::{Repo, Written};
use planex_sys::fs;
use planex_sys::swap::{Recovered, Swap};

use super::book::{Phase, WaveBook};
use super::forget;
use super::observed::some;
use crate::error::{EngineError, ErrorKind, Result};
use crate::session::Session;
use crate::store::SessionPaths;

/// What was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Undone {
    /// The waves, last first.
    pub waves: Vec<u32>,
    /// Changed paths, in all.
    pub paths: usize,
    /// The tasks whose changes are gone.
    pub tasks: Vec<String>,
}

/// Takes back the waves from the last one down to the first run of number `wave` (all of them, without one), one after
/// another. A path that is not as the wave left it is later work: then nothing of that wave is written.
///
/// # Errors
/// Nothing to take back (usage); later work would be lost (exit 5, the paths are named; waves after it stay taken back);
/// git or the disk fails.
pub fn undo(repo: &Repo, session: &Session, wave: Option<u32>) -> Result<Undone> {
    let paths = &session.paths;
    finish_begun(repo, paths)?;
    let books = WaveBook::load_all(paths)?;
    let written: Vec<WaveBook> =
        books.into_iter().filter(|book| book.into_tree && matches!(book.phase, Phase::Written | Phase::Done)).collect();
    let first = match wave {
        None => 0,
        Some(number) => written.iter().position(|book| book.wave >= number).unwrap_or(written.len()),
    };
    let wanted = written.get(first..).unwrap_or_default();
    if wanted.is_empty() {
        return Err(nothing(wave, &written));
    }
    let mut undone = Undone::default();
    for book in wanted.iter().rev() {
        let mut book = book.clone();
        let merged: Vec<String> = book.tasks.iter().filter(|(_, task)| task.merged).map(|(id, _)| id.clone()).collect();
        session.check_lock()?;
        // Written before the tree is: a planex that is killed in between goes on from here.
        book.phase = Phase::Undoing;
        book.save(paths)?;
        match take_back(repo, paths, &book) {
            Ok(changed) => undone.paths += changed,
            Err(error) => {
                book.phase = Phase::Done;
                book.save(paths)?;
                return Err(error);
            }
        }
        undone.waves.push(book.wave);
        set_skipped(paths, &merged)?;
        undone.tasks.extend(merged);
        undone_now(paths, book)?;
    }
    Ok(undone)
}

/// Finishes what a killed planex had begun to take back.
///
/// # Errors
/// Git or the disk fails.
pub fn finish_begun(repo: &Repo, paths: &SessionPaths) -> Result<()> {
    let Some(mut book) = WaveBook::load_all(paths)?.into_iter().find(|book| book.phase == Phase::Undoing) else {
        return Ok(());
    };
    match Swap::recover(repo.top(), &paths.swap()).map_err(planex_isolation::IsolationError::from)? {
        Recovered::Finished(_) => {
            let merged: Vec<String> =
                book.tasks.iter().filter(|(_, task)| task.merged).map(|(id, _)| id.clone()).collect();
            set_skipped(paths, &merged)?;
            undone_now(paths, book)
        }
        Recovered::Nothing | Recovered::RolledBack { .. } => {
            book.phase = Phase::Done;
            book.save(paths)
        }
    }
}

fn undone_now(paths: &SessionPaths, mut book: WaveBook) -> Result<()> {
    book.phase = Phase::Undone;
    book.save(paths)?;
    forget(&paths.swap())
}

/// The tasks whose changes are gone count as skipped, so that a retry runs them again.
fn set_skipped(paths: &SessionPaths, tasks: &[String]) -> Result<()> {
    let file = paths.tasks_csv();
    let mut sheet = read_tasks(&fs::read(&file)?).map_err(|faults| {
        EngineError::input(format!("{file} cannot be used"), faults.iter().map(ToString::to_string).collect())
    })?;
    for index in 0..sheet.rows.len() {
        let Some(row) = sheet.rows.get_mut(index).filter(|row| tasks.contains(&row.id)) else { continue };
        row.status = RowStatus::Skipped;
        row.remark("taken back by planex undo");
        let state: Vec<_> = row.state(0).into_iter().filter(|(column, _)| *column != "wave").collect();
        sheet.write(index, &state);
    }
    fs::write_atomic(&file, sheet.to_csv().as_bytes())?;
    if fs::exists(&paths.results_csv()) {
        fs::write_atomic(&paths.results_csv(), sheet.to_csv().as_bytes())?;
    }
    Ok(())
}

fn take_back(repo: &Repo, paths: &SessionPaths, book: &WaveBook) -> Result<usize> {
    let scratch = paths.scratch();
    let written = repo.write(&book.integration, &book.base.commit, &scratch, &paths.swap());
    fs::remove_dir_all(&scratch)?;
    match written? {
        Written::Done { paths, .. } => Ok(paths),
        Written::Conflict(list) => {
            let files: Vec<Utf8PathBuf> = list.iter().map(|path| path.in_project(repo.prefix())).collect();
            let message = format!("wave {} cannot be taken back: changed since: {}", book.wave, some(&files));
            Err(EngineError::new(ErrorKind::TasksFailed, message)
                .hint("nothing of that wave was written; put these files back, or take the wave back by hand"))
        }
    }
}

fn nothing(wave: Option<u32>, written: &[WaveBook]) -> EngineError {
    let known: Vec<String> = written.iter().map(|book| book.wave.to_string()).collect();
    match wave {
        Some(number) if !known.is_empty() => {
            EngineError::usage(format!("no wave from {number} on is in your tree; there are {}", some(&known)))
        }
        _ => EngineError::usage("no wave of this session is in your tree: there is nothing to take back"),
    }
}
