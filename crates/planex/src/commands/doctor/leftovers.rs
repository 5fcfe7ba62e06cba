//! Trees of tasks and hidden refs that nobody needs any more.

use planex_engine::ground::{Leftover, Upkeep};

use super::Finding;
use crate::context::Context;
use crate::error::Result;
use crate::setup::{Setup, upkeep};
use crate::ui::size::bytes;

/// Lists them; with `fix` takes them away.
pub(super) fn look(fix: bool, setup: &Setup, context: &Context) -> Vec<Finding> {
    let failed = |error: crate::error::CliError| {
        vec![Finding::bad("leftovers", error.message(), "mend that, then run planex doctor again")]
    };
    let all = || -> Result<Vec<Finding>> {
        let upkeep = upkeep(setup, context)?;
        let found = upkeep.leftovers()?;
        Ok(found.iter().map(|left| if fix { remove(&upkeep, left) } else { listed(left) }).collect())
    };
    all().unwrap_or_else(failed)
}

fn listed(left: &Leftover) -> Finding {
    Finding::note("leftovers", said(left), "planex doctor --fix removes it")
}

fn remove(upkeep: &Upkeep, left: &Leftover) -> Finding {
    // Said before it is gone, with its size.
    let what = said(left);
    match upkeep.remove(left, planex_sys::clock::now()) {
        Ok(true) => Finding::good("leftovers", format!("removed: {what}")),
        Ok(false) => Finding::note("leftovers", format!("{what}: in use now"), "nothing to do"),
        Err(error) => Finding::bad("leftovers", format!("{what}: {error}"), "remove it by hand"),
    }
}

fn said(left: &Leftover) -> String {
    match left {
        Leftover::Refs(owner) => match &owner.project {
            Some(project) => format!("refs/planex of the session {} in {project}, which is gone", owner.session),
            None => format!("refs/planex of the session {}, whose working tree is gone", owner.session),
        },
        Leftover::Trees { session, root } => {
            let gone = if planex_sys::fs::is_dir(session) { "" } else { ", which is gone" };
            format!("trees of tasks in {root} ({}), of {session}{gone}", bytes(planex_sys::fs::dir_size(root)))
        }
    }
}
