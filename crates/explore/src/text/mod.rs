//! What a task says: weighted words, identifiers, paths, places in stack traces.

mod foreign;
mod stop;

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::tokens::{TermKind, each_term, split_identifier};

pub(crate) use foreign::translate;
pub(crate) use stop::is_stop_word;

/// Longest text that is read; issues with logs of megabytes say what they say at the beginning. Bytes.
const MAX_TEXT: usize = 60_000;

/// A path named in the text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mention {
    pub(crate) path: String,
    pub(crate) line: Option<u32>,
    /// It stands in a stack trace.
    pub(crate) frame: bool,
}

/// An identifier named in the text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ident {
    pub(crate) name: String,
    /// What stands before the last dot or `::`.
    pub(crate) owner: Option<String>,
    pub(crate) weight: f64,
}

/// All that was read from a text.
#[derive(Debug, Default)]
pub(crate) struct Clues {
    /// Term, weight, and the word it came from; strongest first.
    pub(crate) terms: Vec<(String, f64, String)>,
    pub(crate) idents: Vec<Ident>,
    pub(crate) mentions: Vec<Mention>,
    /// `a.b.c` that may be a module.
    pub(crate) dotted: Vec<String>,
    pub(crate) about_tests: bool,
    pub(crate) about_docs: bool,
    /// From here on `terms` come from the point of view, not from the text.
    pub(crate) own_terms: usize,
}

macro_rules! pattern {
    ($name:ident, $text:expr) => {
        static $name: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new($text).ok());
    };
}

pattern!(
    PATH,
    r#"((?:[A-Za-z]:)?[\w@~.+\-/\\]*[\w\-]\.(?:rs|pyx?|pyi|go|java|kts?|scala|tsx?|mts|cts|jsx?|mjs|cjs|vue|svelte|cc?|h|cpp|cxx|hpp|hh|hxx|cs|rb|php|swift|mm?|sh|lua|pl|exs?|dart|zig|proto|sql|toml|ya?ml|json|cfg|ini|md|rst|txt|css|html|jq|l|y)\b)(?:"?,? line (\d+)|[:(](\d+)|#L(\d+))?"#
);
pattern!(CODEISH, r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|#)[A-Za-z_$][\w$]*)*(?:\(\))?");
pattern!(TICKED, r"`([^`\n]{2,120})`");
pattern!(FRAME_NAME, r"(?:, in |\bat |in function |\bin method )([A-Za-z_$][\w$.:<>]*)");
pattern!(COMMENT, r"(?s)<!--.*?-->");
pattern!(URL, r"https?://[^\s)>\]]+");

fn regex(pattern: &LazyLock<Option<Regex>>) -> Option<&Regex> {
    LazyLock::force(pattern).as_ref()
}

/// How much a line weighs, by where it stands.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Title,
    Prose,
    Block,
}

impl Clues {
    /// Reads a text.
    pub(crate) fn read(text: &str) -> Self {
        let cut = planex_core::text::truncate_bytes(text, MAX_TEXT);
        let text = regex(&COMMENT).map_or_else(|| cut.clone(), |r| r.replace_all(&cut, "\n").into_owned());
        let mut reader = Reader::default();
        let mut fenced = false;
        let mut titled = false;
        for line in text.lines() {
            let trimmed = line.trim();
            if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
                fenced = !fenced;
                continue;
            }
            if trimmed.is_empty() {
                continue;
            }
            let block = fenced || looks_like_code(line);
            let place = if !titled && !block {
                Place::Title
            } else if block {
                Place::Block
            } else {
                Place::Prose
            };
            titled = true;
            reader.line(line, place);
        }
        reader.finish(&text)
    }
}

fn looks_like_code(line: &str) -> bool {
    let trimmed = line.trim_start();
    trimmed.starts_with(">>>")
        || trimmed.starts_with("File \"")
        || trimmed.starts_with("at ")
        || (line.starts_with("    ") && !trimmed.starts_with(['-', '*']))
}

#[derive(Default)]
struct Reader {
    weights: HashMap<String, (f64, String, usize)>,
    idents: HashMap<String, (Ident, usize)>,
    mentions: Vec<Mention>,
    dotted: Vec<String>,
}

impl Reader {
    fn line(&mut self, line: &str, place: Place) {
        let weight = match place {
            Place::Title => 2.0,
            Place::Prose => 1.0,
            Place::Block => 0.5,
        };
        self.paths(line);
        let bare = regex(&URL).map_or_else(|| line.to_owned(), |r| r.replace_all(line, " ").into_owned());
        self.words(&bare, weight);
        self.dashed(&bare, weight);
        self.ticked(&bare, weight);
        self.codeish(&bare, place, weight);
        for word in translate(&bare) {
            self.add(&word.english, weight, word.foreign);
        }
    }

    fn words(&mut self, line: &str, weight: f64) {
        let mut found: Vec<(String, f64, String)> = Vec::new();
        each_term(line, &mut |kind, term, raw| {
            let factor = match kind {
                TermKind::Part if is_stop_word(term) || is_stop_word(&raw.to_ascii_lowercase()) => return,
                TermKind::Part if raw.len() == term.len() || raw.contains(|c: char| !c.is_ascii()) => 1.0,
                TermKind::Part => 0.8,
                TermKind::Compound => 1.6,
                TermKind::Bigram => 0.5,
            };
            found.push((term.to_owned(), factor * weight, raw.to_owned()));
        });
        for (term, weight, raw) in found {
            self.add(&term, weight, &raw);
        }
    }

    /// `--max-filesize` in a text is `max_filesize` or `MaxFilesize` in code: whole, and each pair of neighbours.
    fn dashed(&mut self, line: &str, weight: f64) {
        let dashed = |c: char| c.is_ascii_alphanumeric() || c == '-';
        for word in line.split(|c| !dashed(c)).filter(|w| w.len() <= 60) {
            let parts: Vec<&str> = word.split('-').filter(|p| !p.is_empty()).collect();
            if parts.len() < 2 || !parts.iter().all(|p| p.starts_with(|c: char| c.is_ascii_alphabetic())) {
                continue;
            }
            let shown = word.trim_matches('-');
            self.add(&crate::tokens::joined(shown), 1.6 * weight, shown);
            if parts.len() > 2 {
                for pair in parts.windows(2) {
                    self.add(&pair.concat().to_ascii_lowercase(), 0.8 * weight, &pair.join("-"));
                }
            }
        }
    }

    fn add(&mut self, term: &str, weight: f64, raw: &str) {
        let order = self.weights.len();
        let slot = self.weights.entry(term.to_owned()).or_insert_with(|| (0.0, raw.to_owned(), order));
        slot.0 += weight;
    }

    fn paths(&mut self, line: &str) {
        let Some(regex) = regex(&PATH) else { return };
        let trimmed = line.trim_start();
        for found in regex.captures_iter(line) {
            let Some(path) = found.get(1).map(|m| m.as_str().replace('\\', "/")) else { continue };
            let number = (2..=4).find_map(|n| found.get(n));
            let line_number = number.and_then(|n| n.as_str().parse().ok());
            let frame = line_number.is_some()
                && (trimmed.starts_with("File \"") || trimmed.starts_with("at ") || trimmed.starts_with("from "));
            if self.mentions.len() < 200 {
                self.mentions.push(Mention { path, line: line_number, frame });
            }
        }
        if let Some(frame) = regex_frame(line) {
            self.ident(&frame, None, 0.4);
        }
    }

    fn ticked(&mut self, line: &str, weight: f64) {
        let Some(regex) = regex(&TICKED) else { return };
        for found in regex.captures_iter(line).filter_map(|c| c.get(1)) {
            for part in self::regex(&CODEISH)
                .map(|r| r.find_iter(found.as_str()).take(6).map(|m| m.as_str().to_owned()).collect::<Vec<_>>())
                .unwrap_or_default()
            {
                self.qualified(&part, weight * 1.2);
            }
        }
    }

    /// Words that are identifiers by their form, outside back-ticks too.
    fn codeish(&mut self, line: &str, place: Place, weight: f64) {
        let Some(regex) = regex(&CODEISH) else { return };
        for found in regex.find_iter(line).map(|m| m.as_str()).take(60) {
            let bare = found.trim_end_matches("()");
            let shaped = found.ends_with("()")
                || bare.contains("::")
                || bare.trim_matches('_').contains('_')
                || split_identifier(bare).count() > 1 && bare.chars().any(char::is_lowercase);
            if shaped || place == Place::Block || bare.contains('.') {
                self.qualified(found, if shaped { weight } else { weight * 0.4 });
            }
        }
    }

    fn qualified(&mut self, text: &str, weight: f64) {
        let bare = text.trim_end_matches("()");
        let parts: Vec<&str> =
            bare.split(['.', ':', '#', '>']).map(|p| p.trim_end_matches('-')).filter(|p| !p.is_empty()).collect();
        if let Some((last, owners)) = parts.split_last() {
            self.ident(last, owners.last().map(|o| (*o).to_owned()), weight);
            for owner in owners {
                self.ident(owner, None, weight * 0.6);
            }
        }
        if parts.len() >= 2 && bare.contains('.') && self.dotted.len() < 100 {
            self.dotted.push(parts.join("."));
        }
    }

    fn ident(&mut self, name: &str, owner: Option<String>, weight: f64) {
        if name.len() < 3 || name.len() > 80 || is_stop_word(&name.to_ascii_lowercase()) {
            return;
        }
        let order = self.idents.len();
        let slot = self
            .idents
            .entry(name.to_owned())
            .or_insert_with(|| (Ident { name: name.to_owned(), owner: None, weight: 0.0 }, order));
        slot.0.weight = (slot.0.weight + weight).min(4.0);
        if owner.is_some() {
            slot.0.owner = owner;
        }
    }

    fn finish(self, text: &str) -> Clues {
        let mut terms: Vec<_> = self.weights.into_iter().collect();
        terms.sort_by(|a, b| b.1.0.total_cmp(&a.1.0).then(a.1.2.cmp(&b.1.2)));
        let mut idents: Vec<_> = self.idents.into_values().collect();
        idents.sort_by(|a, b| b.0.weight.total_cmp(&a.0.weight).then(a.1.cmp(&b.1)));
        let own_terms = terms.len().min(400);
        Clues {
            own_terms,
            terms: terms
                .into_iter()
                .take(400)
                .map(|(term, (weight, raw, _))| (term, (1.0 + weight).ln(), raw))
                .collect(),
            idents: idents.into_iter().take(200).map(|(ident, _)| ident).collect(),
            mentions: self.mentions,
            dotted: self.dotted,
            about_tests: about(text, ABOUT_TESTS),
            about_docs: about(text, ABOUT_DOCS),
        }
    }
}

fn regex_frame(line: &str) -> Option<String> {
    let name = regex(&FRAME_NAME)?.captures(line)?.get(1)?.as_str();
    let last = name.rsplit(['.', ':']).next().unwrap_or(name);
    Some(last.to_owned()).filter(|l| !l.is_empty())
}

const ABOUT_TESTS: &[&str] = &[
    "add test",
    "add unit test",
    "write test",
    "write unit test",
    "more tests",
    "missing test",
    "test coverage",
    "flaky",
    "fix test",
    "fix the test",
    "failing test",
    "update test",
    "tests for",
    "テストを追加",
    "テストを書",
    "テストの追加",
    "テストカバレッジ",
    "添加测试",
    "编写测试",
    "增加测试",
    "测试覆盖",
];
const ABOUT_DOCS: &[&str] = &[
    "readme",
    "documentation",
    "docstring",
    "update docs",
    "docs:",
    "typo in doc",
    "changelog",
    "ドキュメント",
    "文書",
    "文档",
    "説明書",
];

/// Whether the first lines of the text, where the wish stands, hold one of the phrases.
fn about(text: &str, phrases: &[&str]) -> bool {
    let head = planex_core::text::truncate_bytes(text.trim_start(), 200).to_lowercase();
    let first = head.lines().next().unwrap_or_default();
    phrases.iter().any(|p| first.contains(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stack_traces_name_files_lines_and_functions() {
        let clues = Clues::read(
            "Crash on start\n\n```\nTraceback\n  File \"/home/u/app/src/core/run.py\", line 42, in start_all\n    at go (/srv/x/lib/b.js:10:5)\n```",
        );
        assert_eq!(
            clues.mentions[0],
            Mention { path: "/home/u/app/src/core/run.py".into(), line: Some(42), frame: true }
        );
        assert_eq!(clues.mentions[1], Mention { path: "/srv/x/lib/b.js".into(), line: Some(10), frame: true });
        assert!(clues.idents.iter().any(|i| i.name == "start_all"));
    }

    #[test]
    fn ticked_and_shaped_names_are_identifiers() {
        let clues = Clues::read("Make `Cache.evict` faster than getUserName and plain words");
        let names: Vec<&str> = clues.idents.iter().map(|i| i.name.as_str()).collect();
        assert!(names.contains(&"evict") && names.contains(&"Cache") && names.contains(&"getUserName"));
        assert!(!names.contains(&"plain"));
        assert_eq!(clues.idents.iter().find(|i| i.name == "evict").and_then(|i| i.owner.clone()), Some("Cache".into()));
    }

    #[test]
    fn japanese_gives_english_terms() {
        let clues = Clues::read("ユーザー認証のキャッシュを修正する");
        let terms: Vec<&str> = clues.terms.iter().map(|(t, _, _)| t.as_str()).collect();
        for wanted in ["auth", "user", "cach"] {
            assert!(terms.contains(&wanted), "{wanted} in {terms:?}");
        }
    }

    #[test]
    fn templates_in_comments_do_not_count() {
        let clues = Clues::read("Title here\n<!-- please describe the zebra -->\nbody");
        assert!(!clues.terms.iter().any(|(t, _, _)| t == "zebra"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC{0,300}") {
            let _ = Clues::read(&text);
        }
    }
}
