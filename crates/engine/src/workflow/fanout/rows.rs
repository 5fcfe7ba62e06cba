//! Rows that run again, and what other processes ask of them.

use planex_core::csv::Table;
use planex_core::event::Level;
use planex_core::id;
use planex_core::rows::RowStatus;
use planex_core::text::one_line;

use super::copies;
use super::input::{self, Prepared};
use super::output::verdict;
use crate::engine::Driver;
use crate::error::{EngineError, Result};
use crate::registry;
use crate::requests::{self, Request};
use crate::session::{Found, Meta, Session};

/// Rows that an error lists.
const LISTED: usize = 20;

/// Ids of a session's rows, in order.
///
/// # Errors
/// Its copy of the input cannot be read.
pub fn row_ids(found: &Found) -> Result<Vec<String>> {
    let paths = found.paths();
    let meta = Meta::load(&paths, found.workflow)?;
    let table = Table::parse(&copies::input(&paths, &meta)?)
        .map_err(|_| EngineError::internal(format!("the session {} has a broken copy of its input", found.id)))?;
    Ok(input::row_ids(&table, meta.option_str("id_column")))
}

/// Refuses rows that are not there.
pub(super) fn require(prepared: &Prepared, rows: &[String]) -> Result<()> {
    let Some(unknown) = rows.iter().find(|row| !is_known(prepared, row)) else { return Ok(()) };
    let mut error = EngineError::usage(format!("there is no row `{}`", one_line(unknown)));
    error.faults = prepared.rows.iter().take(LISTED).map(|row| row.id.clone()).collect();
    Err(error.hint("name one of the rows listed"))
}

fn is_known(prepared: &Prepared, row: &str) -> bool {
    prepared.rows.iter().any(|known| known.id == row)
}

/// Rows that did not complete lose their outcome, so that they run again. An empty list: all of them.
pub(super) fn set_back(session: &Session, prepared: &Prepared, rows: &[String]) -> Result<()> {
    for row in prepared.rows.iter().filter(|row| rows.is_empty() || rows.contains(&row.id)) {
        let base = id::run_id(&session.id, &row.id);
        let attempts = registry::attempts(&session.paths, &base);
        let outcome = match attempts.checked_sub(1) {
            Some(last) => registry::load_outcome(&session.paths.run(&id::retry_of(&base, last)))?,
            None => None,
        };
        let completed = outcome.is_some_and(|outcome| verdict(&outcome).status == RowStatus::Completed);
        if !completed || rows.contains(&row.id) {
            registry::supersede(&session.paths, &base)?;
        }
    }
    Ok(())
}

/// Acts on what the dispatcher leaves: retries, and rows that are not there. Whether rows were set back.
///
/// `open` are the places of rows that are not done yet; what is asked of them waits for the next batch.
pub(super) fn take_requests(driver: &Driver, prepared: &Prepared, open: &[usize]) -> Result<bool> {
    let mut set_back_any = false;
    for placed in requests::waiting(&driver.session.paths)? {
        let tasks = match &placed.request {
            Request::Retry { tasks } | Request::Skip { tasks } => tasks,
            Request::Cancel { tasks } if !tasks.is_empty() => tasks,
            Request::Cancel { .. } | Request::Pause | Request::Unpause => continue,
        };
        let (known, unknown): (Vec<_>, Vec<_>) = tasks.iter().cloned().partition(|task| is_known(prepared, task));
        for task in unknown {
            driver.events.notice(Level::Warning, format!("there is no row {}: a request is dropped", one_line(&task)));
        }
        if matches!(placed.request, Request::Retry { .. }) {
            if tasks.is_empty() || !known.is_empty() {
                set_back(&driver.session, prepared, &known)?;
                set_back_any = true;
            }
        } else if open.iter().filter_map(|index| prepared.rows.get(*index)).any(|row| known.contains(&row.id)) {
            continue;
        }
        placed.done()?;
    }
    Ok(set_back_any)
}
