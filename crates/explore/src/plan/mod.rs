//! The built-in planner: a requirement and what was explored become tasks (spec 20, *Phase 3*), without a model.
//!
//! Items of a list become one task each; anything else becomes an implementation task, with tests and documentation
//! apart only where they are work of their own. Scopes name real paths; tasks whose scopes meet depend on each other.

mod place;
mod split;
mod write;

#[cfg(test)]
mod tests;

use planex_core::exploration::Exploration;
use planex_core::glob::{Scope, overlap};
use planex_core::schema::results::{Complexity, PlannedTask};
use planex_core::tech::ProjectTech;

use crate::assess::{Preset, assess, preset_of, subject};
use crate::explorer::Explorer;
use crate::text::Clues;
use place::Place;
use split::Item;
pub(crate) use split::split_requirement;

/// One completed row of explore.csv.
#[derive(Debug, Clone, Copy)]
pub struct ExploredRow<'a> {
    /// `E1`, …
    pub id: &'a str,
    /// The angle.
    pub angle: &'a str,
    /// What was found.
    pub findings: &'a str,
    /// Files that matter.
    pub key_files: &'a [String],
    /// The whole exploration, where there is one.
    pub exploration: Option<&'a Exploration>,
}

/// What all tasks of a plan share.
struct Frame<'a> {
    requirement: &'a str,
    rows: &'a [ExploredRow<'a>],
    tech: &'a ProjectTech,
    explorer: Option<&'a Explorer>,
    preset: Preset,
}

/// What a task is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Code and its tests.
    Whole,
    /// Code; tests come in a task of their own.
    Code,
    Tests,
    Docs,
}

/// One task before it is written.
struct Draft<'a> {
    part: Part,
    item: &'a str,
    place: Place,
    deps: Vec<String>,
    /// Name of the module, where the work is split by modules.
    module: Option<String>,
}

/// Plans tasks for a requirement; at least one, `T1`, `T2`, … in the order in which a person would do them.
///
/// Works without explorations, without an explorer, and for an empty folder; the more is known, the narrower the scopes.
#[must_use]
pub fn plan_tasks(
    requirement: &str,
    rows: &[ExploredRow<'_>],
    tech: &ProjectTech,
    explorer: Option<&Explorer>,
) -> Vec<PlannedTask> {
    let frame = Frame { requirement, rows, tech, explorer, preset: preset_of(requirement) };
    let items = split_requirement(requirement);
    let drafts = match items.as_slice() {
        [] => vec![draft(Part::Whole, requirement, Place::of(&frame, requirement))],
        [only] => of_one(&frame, &only.text),
        several => of_list(&frame, several),
    };
    let drafts = separate(drafts);
    drafts.iter().enumerate().map(|(n, d)| write::task(&frame, n + 1, d)).collect()
}

fn draft(part: Part, item: &str, place: Place) -> Draft<'_> {
    Draft { part, item, place, deps: Vec::new(), module: None }
}

fn of_list<'a>(frame: &Frame<'_>, items: &'a [Item]) -> Vec<Draft<'a>> {
    let mut drafts: Vec<Draft<'a>> = Vec::new();
    for (n, item) in items.iter().enumerate() {
        let clues = Clues::read(&item.text);
        let part = if write::only_tests(&item.text, &clues) {
            Part::Tests
        } else if write::only_docs(&item.text, &clues) {
            Part::Docs
        } else {
            Part::Whole
        };
        let mut new = draft(part, &item.text, Place::of(frame, &item.text));
        if part == Part::Docs {
            new.place = Place::docs(frame);
        }
        if part == Part::Tests {
            new.place = new.place.tests_only(frame);
        }
        // Tests and words about what the other items make come after them.
        let after = item.follows || (matches!(part, Part::Tests | Part::Docs) && n + 1 == items.len());
        if after {
            new.deps = if item.follows { vec![format!("T{n}")] } else { (1..=n).map(|i| format!("T{i}")).collect() };
        }
        drafts.push(new);
    }
    drafts
}

fn of_one<'a>(frame: &Frame<'_>, item: &'a str) -> Vec<Draft<'a>> {
    let clues = Clues::read(item);
    if write::only_docs(item, &clues) {
        return vec![draft(Part::Docs, item, Place::docs(frame))];
    }
    let mut place = Place::of(frame, item);
    if write::only_tests(item, &clues) {
        return vec![draft(Part::Tests, item, place.tests_only(frame))];
    }
    let complexity = assess(item, frame.explorer).complexity;
    if complexity == Complexity::Low || place.files.is_empty() {
        return vec![draft(Part::Whole, item, place)];
    }
    if frame.preset == Preset::Feature {
        place = place.with_room();
    }
    let by_module = if complexity == Complexity::High { place.by_module(frame.tech) } else { Vec::new() };
    let mut drafts: Vec<Draft<'a>> = Vec::new();
    if by_module.len() >= 2 {
        for (module, deps, place) in by_module {
            drafts.push(Draft { deps, module: Some(module), ..draft(Part::Whole, item, place) });
        }
    } else if place.tests.is_empty() || frame.preset == Preset::Architecture {
        // A refactoring is proved by the tests that are there.
        drafts.push(draft(Part::Whole, item, place));
    } else {
        let tests = place.tests_only(frame);
        drafts.push(draft(Part::Code, item, place.without_tests()));
        drafts.push(Draft { deps: vec!["T1".to_owned()], ..draft(Part::Tests, item, tests) });
    }
    if write::users_see(item, frame.preset) {
        let docs = Place::docs_about(frame, item);
        if !docs.files.is_empty() {
            let deps = drafts
                .iter()
                .zip(1..)
                .filter(|(d, _)| d.part != Part::Tests)
                .map(|(_, n): (_, usize)| format!("T{n}"))
                .collect();
            drafts.push(Draft { deps, ..draft(Part::Docs, item, docs) });
        }
    }
    drafts
}

/// Tasks whose scopes meet must not run at once: the later one depends on the earlier.
fn separate(mut drafts: Vec<Draft<'_>>) -> Vec<Draft<'_>> {
    let scopes: Vec<Scope> = drafts.iter().map(|d| Scope::parse(&d.place.scope(), |_| true).0).collect();
    for later in 1..drafts.len() {
        let mut meets: Vec<String> = Vec::new();
        for earlier in 0..later {
            if let (Some(a), Some(b)) = (scopes.get(earlier), scopes.get(later))
                && overlap(a, b).is_some()
            {
                meets.push(format!("T{}", earlier + 1));
            }
        }
        // The nearest one is enough: it depends on those before it in turn.
        if let (Some(draft), Some(last)) = (drafts.get_mut(later), meets.pop())
            && !draft.deps.contains(&last)
        {
            draft.deps.push(last);
        }
    }
    drafts
}

/// The first line of a text as a title of at most 80 characters.
fn title(text: &str) -> String {
    planex_core::text::truncate_chars(&subject(text), 80)
}
