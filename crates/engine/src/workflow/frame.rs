//! What every workflow does alike around its own steps: taking up a session and closing it.

use planex_core::id;

use crate::engine::Engine;
use crate::error::{EngineError, ErrorKind, Result};
use crate::registry;
use crate::requests::{self, Request};
use crate::session::{Ending, Found, Session};

/// Takes up a session that is there; `command` says in the lock what this process does. Nothing is written about it yet:
/// the caller saves it when it goes on.
///
/// # Errors
/// Another process drives it, or it was cancelled and `reopen` is not given (exit 4).
pub(super) fn take_up(engine: &Engine, found: &Found, command: &str, reopen: bool) -> Result<Session> {
    let mut session = Session::open(found, command, engine.now())?;
    if session.meta.ended == Some(Ending::Cancelled) {
        if !reopen {
            let message = format!("the session {} was cancelled", session.id);
            return Err(EngineError::new(ErrorKind::Stopped, message)
                .hint(format!("take it up again with `planex resume {} --reopen`", session.id)));
        }
        // It was heeded; a planex that was killed just then left it.
        requests::forget_cancels(&session.paths)?;
    }
    session.meta.ended = None;
    forget_heeded(&session)?;
    Ok(session)
}

/// Removes requests to skip whose effect is on disk: left there, they would undo a retry.
fn forget_heeded(session: &Session) -> Result<()> {
    for placed in requests::waiting(&session.paths)? {
        let (Request::Skip { tasks } | Request::Cancel { tasks }) = &placed.request else { continue };
        let mut heeded = !tasks.is_empty();
        for task in tasks {
            heeded &= registry::skipped(&session.paths, &id::run_id(&session.id, task))?.is_some();
        }
        if heeded {
            placed.done()?;
        }
    }
    Ok(())
}

/// Writes how a session ended.
///
/// # Errors
/// It cannot be written.
pub(super) fn close(session: &mut Session, ending: Ending) -> Result<()> {
    session.meta.ended = Some(ending);
    session.save()?;
    // A session that has ended is cancelled no more.
    requests::forget_cancels(&session.paths)
}
