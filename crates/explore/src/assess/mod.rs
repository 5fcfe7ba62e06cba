//! What a requirement asks for: kind of work, how far it reaches, and from which angles to look (spec 20, *Phase 1*).

mod complexity;
mod words;

use planex_core::schema::results::{Assess, AssessedAngle, Complexity, WorkKind};
use planex_core::text::{one_line, truncate_chars};

use crate::explorer::Explorer;
use crate::rank::Query;
use crate::text::Clues;
pub(crate) use words::{Preset, preset_of};

/// Assesses a requirement, in English, Japanese or Chinese, without a model.
#[must_use]
pub fn assess(text: &str, explorer: Option<&Explorer>) -> Assess {
    let preset = preset_of(text);
    let complexity = complexity::complexity_of(text, explorer);
    let clues = Clues::read(text);
    let count = angle_count(complexity);
    let angles = wave_angles(preset).into_iter().take(count).enumerate();
    let angles = angles.map(|(n, angle)| assessed(n + 1, angle, text, &clues, explorer)).collect();
    Assess { kind: kind_of(preset), complexity, angles }
}

/// The angles of `planex plan` (spec 30, *Angles*): the preset's first 4, 3 or 1 by complexity.
#[must_use]
pub fn plan_angles(text: &str, complexity: Complexity) -> Vec<&'static str> {
    let angles = match preset_of(text) {
        Preset::Architecture => ["architecture", "dependencies", "modularity", "integration-points"],
        Preset::Security => ["security", "auth-patterns", "dataflow", "validation"],
        Preset::Performance => ["performance", "bottlenecks", "caching", "data-access"],
        Preset::Bugfix => ["error-handling", "dataflow", "state-management", "edge-cases"],
        Preset::Feature => ["patterns", "integration-points", "testing", "dependencies"],
    };
    angles.into_iter().take(angle_count(complexity)).collect()
}

fn angle_count(complexity: Complexity) -> usize {
    match complexity {
        Complexity::Low => 1,
        Complexity::Medium => 3,
        Complexity::High => 4,
    }
}

fn kind_of(preset: Preset) -> WorkKind {
    match preset {
        Preset::Architecture => WorkKind::Refactor,
        Preset::Security => WorkKind::Security,
        Preset::Performance => WorkKind::Performance,
        Preset::Bugfix => WorkKind::Bugfix,
        Preset::Feature => WorkKind::Feature,
    }
}

/// The presets in the ten angles of spec 20.
fn wave_angles(preset: Preset) -> [&'static str; 4] {
    match preset {
        Preset::Architecture => ["architecture", "dependencies", "integration-points", "testing"],
        Preset::Security => ["security", "integration-points", "edge-cases", "testing"],
        Preset::Performance => ["performance", "dependencies", "state-management", "testing"],
        Preset::Bugfix => ["error-handling", "edge-cases", "state-management", "testing"],
        Preset::Feature => ["patterns", "integration-points", "testing", "dependencies"],
    }
}

fn assessed(number: usize, angle: &str, text: &str, clues: &Clues, explorer: Option<&Explorer>) -> AssessedAngle {
    let subject = subject(text);
    let question = question(angle);
    let files = explorer.map(|e| best_files(e, text, angle)).unwrap_or_default();
    let start = if files.is_empty() { String::new() } else { format!(" Start at {}.", files.join(", ")) };
    AssessedAngle {
        id: format!("E{number}"),
        angle: angle.to_owned(),
        description: format!("{question} For: {subject}.{start}"),
        focus: focus(angle, clues, &files),
    }
}

/// The first line of a requirement, short, without its closing full stop.
pub(crate) fn subject(text: &str) -> String {
    let line = text
        .lines()
        .map(|l| l.trim().trim_start_matches(['#', '-', '*', '•']).trim())
        .map(without_number)
        .find(|l| !l.is_empty())
        .unwrap_or("the requirement");
    truncate_chars(one_line(line).trim_end_matches(['.', '。', ':', '：']), 100)
}

/// A line without the `1.` or `2)` of a list in front of it.
fn without_number(line: &str) -> &str {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let marked = rest.len() < line.len() && rest.starts_with(['.', ')']);
    if marked { rest.get(1..).filter(|r| r.starts_with(' ')).map_or(line, str::trim) } else { line }
}

fn best_files(explorer: &Explorer, text: &str, angle: &str) -> Vec<String> {
    let query = Query::new(text, 3).from_angle(angle);
    explorer.rank(&query).files.into_iter().filter(|f| f.score >= 0.3).map(|f| f.path).collect()
}

fn question(angle: &str) -> &'static str {
    match angle {
        "architecture" => "Which modules carry the responsibility, where are their borders, and what must move?",
        "dependencies" => "What do the affected files need, and what depends on them and could break?",
        "integration-points" => {
            "Where does the change connect: callers, registrations, public interfaces, configuration?"
        }
        "testing" => "Which tests cover this code, how are they run, and which cases are missing?",
        "patterns" => "How does the code already do similar things, and which conventions must be followed?",
        "security" => "Which inputs are trusted, who may reach this code, and what is checked where?",
        "performance" => "What runs how often here, and where do time and memory go?",
        "state-management" => "Which state is involved, who changes it, and when is it stale or shared?",
        "error-handling" => "Where does the failure arise, how does it travel, and what is reported?",
        "edge-cases" => "Which unusual inputs reach this code: empty, huge, malformed, concurrent?",
        _ => "What matters for the task from this point of view?",
    }
}

fn focus(angle: &str, clues: &Clues, files: &[String]) -> String {
    let mut words: Vec<&str> = Vec::new();
    let named = clues.idents.iter().map(|i| i.name.as_str());
    // Bigrams of Chinese and Japanese text are no words for people; translated words are.
    let bigram = |term: &str, raw: &str| term == raw && raw.chars().all(crate::tokens::is_cjk);
    let told = clues.terms.iter().filter(|(term, _, raw)| !bigram(term, raw)).map(|(_, _, raw)| raw.as_str());
    for word in named.chain(told) {
        // The parts of a word that stands there already say nothing new.
        let known = words.iter().any(|w| w.to_lowercase().contains(&word.to_lowercase()));
        if words.len() < 5 && !known {
            words.push(word);
        }
    }
    let mut folders: Vec<&str> = files.iter().filter_map(|f| f.rsplit_once('/').map(|(folder, _)| folder)).collect();
    folders.sort_unstable();
    folders.dedup();
    let parts = [words.join(", "), folders.join(", ")];
    let told: Vec<&str> = parts.iter().map(String::as_str).filter(|p| !p.is_empty()).collect();
    if told.is_empty() { angle.replace('-', " ") } else { told.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_lose_marks_but_no_numbers() {
        for (text, wanted) in [
            ("# Add retries\n\nmore", "Add retries"),
            ("1. Add retries.\n2. x", "Add retries"),
            ("- Add retries", "Add retries"),
            ("3 retries on failure", "3 retries on failure"),
            ("2.5 seconds are too long", "2.5 seconds are too long"),
            ("", "the requirement"),
        ] {
            assert_eq!(subject(text), wanted, "{text}");
        }
    }

    #[test]
    fn assessments_without_a_tree() {
        let found = assess("リファクタリング: 認証モジュール全体を再構成する", None);
        assert_eq!((found.kind, found.complexity), (WorkKind::Refactor, Complexity::High));
        assert_eq!(found.angles.len(), 4);
        assert!(found.angles.iter().all(|a| !a.focus.is_empty() && !a.description.is_empty()));
        assert_eq!(plan_angles("fix the crash", Complexity::Low), ["error-handling"]);
        assert_eq!(
            plan_angles("make startup less slow", Complexity::Medium),
            ["performance", "bottlenecks", "caching"]
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_assessed(text in "\\PC*") {
            let found = assess(&text, None);
            assert!((1..=4).contains(&found.angles.len()));
        }
    }
}
