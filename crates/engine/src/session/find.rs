//! Finding a session by what a person remembers of its id.

use camino::{Utf8Path, Utf8PathBuf};
use planex_sys::fs::{self, EntryKind};

use super::meta::{Meta, Workflow};
use crate::error::{EngineError, Result};
use crate::store::SessionPaths;

/// A session's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its id, the folder's name.
    pub id: String,
    /// What it is a run of, by `meta.json` or else by its place.
    pub workflow: Workflow,
    /// The folder.
    pub dir: Utf8PathBuf,
    /// Whether it lies in the archive.
    pub archived: bool,
    /// When it was made, as seconds; by `meta.json` or else by the folder.
    created: i64,
}

impl Found {
    /// When it was made, in seconds since 1970.
    #[must_use]
    pub fn created(&self) -> i64 {
        self.created
    }

    /// Its files.
    #[must_use]
    pub fn paths(&self) -> SessionPaths {
        SessionPaths::new(self.dir.clone())
    }
}

/// Why a query found no single session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FindError {
    /// No session matches; these exist, newest first.
    None {
        /// What was asked for.
        query: String,
        /// All sessions there are.
        known: Vec<Found>,
    },
    /// Several match, newest first.
    Several {
        /// What was asked for.
        query: String,
        /// Those that match.
        matches: Vec<Found>,
    },
}

/// Most sessions that an error lists.
const LISTED: usize = 20;

impl From<FindError> for EngineError {
    fn from(error: FindError) -> Self {
        let (message, listed) = match error {
            FindError::None { query, known } if query.is_empty() => ("there is no such session".to_owned(), known),
            FindError::None { query, known } => (format!("no session matches `{query}`"), known),
            FindError::Several { query, matches } => (format!("several sessions match `{query}`"), matches),
        };
        let mut error = Self::usage(message);
        error.faults = listed.iter().take(LISTED).map(|s| format!("{} ({})", s.id, s.workflow)).collect();
        let hint = match listed.len() {
            0 => "start one with `planex waves` or `planex fanout`",
            _ => "name one of the sessions listed",
        };
        error.hint(hint)
    }
}

/// Every session below the project's root, newest first; the archive's behind all others.
///
/// # Errors
/// A folder that is there cannot be listed.
pub fn find_all(root: &Utf8Path) -> Result<Vec<Found>> {
    let base = root.join(".workflow");
    let mut all = Vec::new();
    for (folder, workflow, archived) in [
        (".lite-plan", Workflow::Plan, false),
        ("active", Workflow::Flow, false),
        (".fanout", Workflow::Fanout, false),
        ("archives", Workflow::Flow, true),
    ] {
        let dir = base.join(folder);
        if !fs::is_dir(&dir) {
            continue;
        }
        for entry in fs::list(&dir)?.into_iter().filter(|e| e.kind == EntryKind::Dir && !e.name.starts_with('.')) {
            all.push(found(entry.name, entry.path, workflow, archived));
        }
    }
    all.sort_by(|a, b| (a.archived, -a.created, &a.id).cmp(&(b.archived, -b.created, &b.id)));
    Ok(all)
}

/// What is known of one folder. A `meta.json` that cannot be read (newer, broken) does not hide the session.
fn found(id: String, dir: Utf8PathBuf, by_place: Workflow, archived: bool) -> Found {
    let by_place = if by_place == Workflow::Plan && id.starts_with("wpp-") { Workflow::Waves } else { by_place };
    let meta = Meta::load(&SessionPaths::new(dir.clone()), by_place).ok();
    let workflow = meta.as_ref().map_or(by_place, |m| m.workflow);
    let created = meta
        .and_then(|m| m.created.parse::<jiff::Timestamp>().ok())
        .map(jiff::Timestamp::as_second)
        .or_else(|| modified(&dir))
        .unwrap_or(0);
    Found { id, workflow, dir, archived, created }
}

fn modified(dir: &Utf8Path) -> Option<i64> {
    let time = fs::metadata(dir).ok()?.modified().ok()?;
    i64::try_from(time.duration_since(std::time::UNIX_EPOCH).ok()?.as_secs()).ok()
}

/// Finds the one session that `query` means: its id, a part of it, or words that all occur in it, in any case and order.
///
/// `workflow` limits the search. Sessions of the archive count only where no other matches.
///
/// # Errors
/// A [`FindError`] as [`EngineError`] (usage) when none or several match.
pub fn find(root: &Utf8Path, query: &str, workflow: Option<Workflow>) -> Result<Found> {
    let all: Vec<Found> = find_all(root)?.into_iter().filter(|s| workflow.is_none_or(|w| w == s.workflow)).collect();
    pick(all, query).map_err(EngineError::from)
}

fn pick(all: Vec<Found>, query: &str) -> Result<Found, FindError> {
    let query = query.trim();
    let lower = query.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let exact = |s: &Found| s.id == query;
    let part = |s: &Found| !lower.is_empty() && s.id.to_lowercase().contains(&lower);
    let by_words = |s: &Found| {
        let id = s.id.to_lowercase();
        !words.is_empty() && words.iter().all(|word| id.contains(word))
    };
    let tests: [&dyn Fn(&Found) -> bool; 3] = [&exact, &part, &by_words];
    for archived in [false, true] {
        for test in tests {
            let matches: Vec<Found> = all.iter().filter(|s| s.archived == archived && test(s)).cloned().collect();
            match <[Found; 1]>::try_from(matches) {
                Ok([one]) => return Ok(one),
                Err(matches) if matches.is_empty() => {}
                Err(matches) => return Err(FindError::Several { query: query.to_owned(), matches }),
            }
        }
    }
    Err(FindError::None { query: query.to_owned(), known: all })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str) -> Found {
        Found { id: id.into(), workflow: Workflow::Waves, dir: id.into(), archived: false, created: 0 }
    }

    #[test]
    fn a_session_is_found_by_what_is_remembered() {
        let all =
            || vec![session("wpp-20260228-auth"), session("wpp-20260301-auth-login"), session("日本語-2026-02-28")];
        let cases = [
            ("wpp-20260228-auth", Ok("wpp-20260228-auth")),
            ("auth-20260228", Ok("wpp-20260228-auth")),
            ("LOGIN", Ok("wpp-20260301-auth-login")),
            ("login auth", Ok("wpp-20260301-auth-login")),
            ("20260301", Ok("wpp-20260301-auth-login")),
            ("日本語", Ok("日本語-2026-02-28")),
            ("auth", Err(2)),
            ("billing", Err(0)),
            ("", Err(0)),
            ("--", Err(0)),
        ];
        for (query, expected) in cases {
            let got = pick(all(), query);
            match (got, expected) {
                (Ok(found), Ok(id)) => assert_eq!(found.id, id, "{query}"),
                (Err(FindError::Several { matches, .. }), Err(n)) if n > 0 => assert_eq!(matches.len(), n, "{query}"),
                (Err(FindError::None { known, .. }), Err(0)) => assert_eq!(known.len(), 3),
                (got, expected) => panic!("{query}: {got:?} instead of {expected:?}"),
            }
        }
    }

    #[test]
    fn the_exact_id_wins_over_a_longer_one_and_the_archive_stands_back() {
        let mut archived = session("a-1-x");
        archived.archived = true;
        let all = vec![session("a-1"), session("a-12"), archived];
        assert_eq!(pick(all.clone(), "a-1").unwrap().id, "a-1");
        assert_eq!(pick(all, "a-1-x").unwrap().id, "a-1-x");
    }

    #[test]
    fn several_are_listed_for_the_user() {
        let error =
            EngineError::from(FindError::Several { query: "a".into(), matches: vec![session("a1"), session("a2")] });
        assert_eq!(error.exit_code(), 2);
        assert_eq!(error.to_string(), "several sessions match `a`\na1 (waves)\na2 (waves)");
    }
}
