//! Taking waves back: the tree as it was before them (spec 70, *planex undo*).

use camino::Utf8PathBuf;
use planex_core::rows::{RowStatus, Sheet, TaskRow, read_tasks};
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
    if books.iter().any(|book| book.phase == Phase::Writing) {
        return Err(EngineError::usage(format!("a wave of {} is not written to its end yet", session.id))
            .hint(format!("go on with `planex resume {}` first", session.id)));
    }
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
        session.check_lock()?;
        undone.paths += take_back(repo, paths, &mut book, true)?;
        undone.waves.push(book.wave);
        undone.tasks.extend(merged_of(&book));
    }
    Ok(undone)
}

/// Tasks whose changes are part of a wave's integration.
fn merged_of(book: &WaveBook) -> Vec<String> {
    book.tasks.iter().filter(|(_, task)| task.merged).map(|(id, _)| id.clone()).collect()
}

/// Takes one wave back; its book says so afterwards, and with `skip` its rows do. Gives the number of changed paths.
///
/// # Errors
/// Later work would be lost (exit 5, nothing is written); git or the disk fails.
pub(crate) fn take_back(repo: &Repo, paths: &SessionPaths, book: &mut WaveBook, skip: bool) -> Result<usize> {
    let before = book.phase;
    // What an earlier write left must be gone before the book says that this one may have begun.
    forget(&paths.swap())?;
    // Written before the tree is: a planex that is killed in between goes on from here.
    book.phase = Phase::Undoing;
    book.save(paths)?;
    let scratch = paths.scratch();
    let written = repo.write(&book.integration, &book.base.commit, &scratch, &paths.swap());
    fs::remove_dir_all(&scratch)?;
    let why = match written {
        Ok(Written::Done { paths: changed, .. }) => {
            if skip {
                set_skipped(paths, &merged_of(book))?;
            }
            book.phase = Phase::Undone;
            book.save(paths)?;
            forget(&paths.swap())?;
            return Ok(changed);
        }
        Ok(Written::Conflict(list)) => {
            let files: Vec<Utf8PathBuf> = list.iter().map(|path| path.in_project(repo.prefix())).collect();
            let message = format!("wave {} cannot be taken back: changed since: {}", book.wave, some(&files));
            EngineError::new(ErrorKind::TasksFailed, message)
                .hint("nothing of that wave was written; put these files back, or take the wave back by hand")
        }
        // The write may be half done: the book stays as it is, so that the next call goes on from there.
        Err(error) => return Err(error.into()),
    };
    book.phase = before;
    book.save(paths)?;
    Err(why)
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
            set_skipped(paths, &merged_of(&book))?;
            book.phase = Phase::Undone;
        }
        // Where its rows are not written yet, that is still to be done.
        Recovered::Nothing | Recovered::RolledBack { .. } => {
            book.phase = if has_pending(paths, &book)? { Phase::Written } else { Phase::Done };
        }
    }
    book.save(paths)?;
    forget(&paths.swap())
}

fn tasks_of(paths: &SessionPaths) -> Result<Sheet<TaskRow>> {
    let file = paths.tasks_csv();
    read_tasks(&fs::read(&file)?).map_err(|faults| {
        EngineError::input(format!("{file} cannot be used"), faults.iter().map(ToString::to_string).collect())
    })
}

fn has_pending(paths: &SessionPaths, book: &WaveBook) -> Result<bool> {
    let sheet = tasks_of(paths)?;
    Ok(sheet.rows.iter().any(|row| row.status == RowStatus::Pending && book.tasks.contains_key(&row.id)))
}

/// The tasks whose changes are gone count as skipped, so that a retry runs them again.
fn set_skipped(paths: &SessionPaths, tasks: &[String]) -> Result<()> {
    let mut sheet = tasks_of(paths)?;
    for index in 0..sheet.rows.len() {
        let Some(row) = sheet.rows.get_mut(index).filter(|row| tasks.contains(&row.id)) else { continue };
        row.status = RowStatus::Skipped;
        row.remark("taken back by planex undo");
        let state: Vec<_> = row.state(0).into_iter().filter(|(column, _)| *column != "wave").collect();
        sheet.write(index, &state);
    }
    fs::write_atomic(&paths.tasks_csv(), sheet.to_csv().as_bytes())?;
    if fs::exists(&paths.results_csv()) {
        fs::write_atomic(&paths.results_csv(), sheet.to_csv().as_bytes())?;
    }
    Ok(())
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
