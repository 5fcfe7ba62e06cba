//! How far a change reaches. In doubt Medium (spec 30, *Complexity*).

use planex_core::schema::results::Complexity;

use crate::explorer::Explorer;
use crate::plan::split_requirement;
use crate::text::Clues;

use super::words::words_of;

const WIDE: &[&str] = &[
    "rewrite",
    "migrate",
    "migration",
    "architecture",
    "architectural",
    "redesign",
    "overhaul",
    "everywhere",
    "framework",
    "monorepo",
    "microservice",
    "microservices",
    "restructure",
    "multitenant",
    "pluggable",
];
const WIDE_PHRASES: &[&str] = &[
    "across the",
    "entire codebase",
    "whole codebase",
    "all modules",
    "all packages",
    "system-wide",
    "end to end",
    "from scratch",
    "全体",
    "全面",
    "移行",
    "書き直",
    "作り直",
    "設計変更",
    "マイクロサービス",
    "整个",
    "迁移",
    "重写",
    "所有模块",
    "架构",
];
const NARROW: &[&str] = &[
    "typo",
    "rename",
    "wording",
    "comment",
    "comments",
    "bump",
    "readme",
    "docstring",
    "label",
    "tooltip",
    "spelling",
    "constant",
];
const NARROW_PHRASES: &[&str] = &[
    "one line",
    "one-line",
    "single function",
    "this function",
    "error message",
    "タイポ",
    "誤字",
    "改名",
    "コメントを",
    "文言",
    "错别字",
    "拼写",
    "注释",
];

/// Low: one file, one function. High: cross-module, architectural. Else Medium.
pub(super) fn complexity_of(text: &str, explorer: Option<&Explorer>) -> Complexity {
    let words = words_of(text);
    let lower = text.to_lowercase();
    let has = |list: &[&str], phrases: &[&str]| {
        list.iter().any(|l| words.iter().any(|w| w == l)) || phrases.iter().any(|p| lower.contains(p))
    };
    let items = split_requirement(text).len();
    if has(WIDE, WIDE_PHRASES) || items >= 4 {
        return Complexity::High;
    }
    let length = text.chars().count();
    let single = items <= 1 && length <= 240;
    let named = single_place(text, explorer);
    if single && (has(NARROW, NARROW_PHRASES) || named) { Complexity::Low } else { Complexity::Medium }
}

/// The text names exactly one file, or one symbol that is defined once.
fn single_place(text: &str, explorer: Option<&Explorer>) -> bool {
    let clues = Clues::read(text);
    let files: std::collections::HashSet<&str> = clues.mentions.iter().map(|m| m.path.as_str()).collect();
    if files.len() == 1 {
        return true;
    }
    let Some(explorer) = explorer.filter(|_| files.is_empty()) else { return false };
    let defined: Vec<usize> = clues
        .idents
        .iter()
        .filter(|i| i.weight >= 1.0)
        .filter_map(|i| explorer.index.definitions.get(&crate::tokens::joined(&i.name)))
        .map(Vec::len)
        .collect();
    defined == [1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_tell_the_reach() {
        for (text, complexity) in [
            ("Fix typo in the help text", Complexity::Low),
            ("Fix the off-by-one in src/page.rs", Complexity::Low),
            ("Add a --json flag to list", Complexity::Medium),
            ("Migrate storage from SQLite to Postgres", Complexity::High),
            ("1. add a\n2. add b\n3. add c\n4. add d", Complexity::High),
            ("データベースを PostgreSQL へ移行する", Complexity::High),
            ("README の誤字を直す", Complexity::Low),
            ("", Complexity::Medium),
        ] {
            assert_eq!(complexity_of(text, None), complexity, "{text}");
        }
    }
}
