//! The outline of a file whose language has no grammar here: definitions by the word in front of them, comments by how
//! lines begin.

use std::sync::LazyLock;

use regex::Regex;

use super::{Outline, Symbol, SymbolKind};

static DEFINITION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^\s*(?:(?:export|default|public|private|protected|internal|open|final|abstract|static|async|override|sealed|data|suspend|inline|local|pub|extern|unsafe|const|mutating|fileprivate|operator)\s+)*(fn|func|fun|function|def|defp|defmodule|sub|proc|class|struct|record|object|actor|extension|interface|trait|protocol|enum|type|typealias|module|namespace|message|service|rpc)\s+(?:[A-Za-z_][\w<>]*[.:])?([A-Za-z_][\w?!]*)",
    )
    .ok()
});
static SHELL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\s*([A-Za-z_][\w-]*)\s*\(\)\s*\{?").ok());
static IMPORT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"^\s*(?:import|source|using|require|include|#include|from|alias|use)\s+\(?["'<]?([\w./:\\@-]+)"#).ok()
});

/// The outline by lines.
pub(super) fn outline(text: &str) -> Outline {
    let mut outline = Outline::default();
    let mut offset = 0;
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut last = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        last = number;
        let trimmed = line.trim_start();
        if is_comment(trimmed) {
            outline.comments.push((offset, offset + line.len()));
        } else if line.len() < 500 {
            define(line, number, &mut outline, &mut open);
            if let Some(found) = captured(&IMPORT, line, 1) {
                outline.imports.push(found.to_owned());
            }
        }
        offset += line.len();
    }
    for (index, _) in open {
        if let Some(symbol) = outline.symbols.get_mut(index) {
            symbol.end = last.max(symbol.start);
        }
    }
    outline
}

fn define(line: &str, number: u32, outline: &mut Outline, open: &mut Vec<(usize, usize)>) {
    let indent = line.len() - line.trim_start().len();
    let (name, kind) = if let Some(name) = captured(&DEFINITION, line, 2) {
        (name, kind_of(captured(&DEFINITION, line, 1).unwrap_or_default()))
    } else if let Some(name) = captured(&SHELL, line, 1) {
        (name, SymbolKind::Function)
    } else {
        return;
    };
    // A definition ends where the next one of the same or a smaller indent begins.
    while let Some((index, _)) = open.pop_if(|(_, depth)| *depth >= indent) {
        if let Some(symbol) = outline.symbols.get_mut(index) {
            symbol.end = number.saturating_sub(1).max(symbol.start);
        }
    }
    open.push((outline.symbols.len(), indent));
    outline.symbols.push(Symbol { name: name.to_owned(), kind, start: number, end: number });
}

fn captured<'t>(regex: &LazyLock<Option<Regex>>, line: &'t str, group: usize) -> Option<&'t str> {
    LazyLock::force(regex).as_ref()?.captures(line)?.get(group).map(|m| m.as_str())
}

fn is_comment(line: &str) -> bool {
    ["//", "/*", "* ", "*/", "--", "<!--", "\"\"\""].iter().any(|mark| line.starts_with(mark))
        || (line.starts_with('#') && !line.starts_with("#include") && !line.starts_with("#define"))
}

fn kind_of(word: &str) -> SymbolKind {
    match word {
        "class" | "struct" | "record" | "object" | "actor" | "extension" | "message" => SymbolKind::Class,
        "interface" | "trait" | "protocol" | "service" => SymbolKind::Interface,
        "enum" => SymbolKind::Enum,
        "type" | "typealias" => SymbolKind::Type,
        "module" | "namespace" | "defmodule" => SymbolKind::Module,
        _ => SymbolKind::Function,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kotlin_swift_shell() {
        let names =
            |text: &str| outline(text).symbols.into_iter().map(|s| (s.name, s.start, s.end)).collect::<Vec<_>>();
        assert_eq!(
            names("data class User(val a: Int)\nclass B {\n  suspend fun run() {\n  }\n  fun go() {}\n}\n"),
            [("User".into(), 1, 1), ("B".into(), 2, 6), ("run".into(), 3, 4), ("go".into(), 5, 6)]
        );
        assert_eq!(names("main() {\n  echo\n}\n"), [("main".into(), 1, 3)]);
        assert_eq!(names("public func x() -> Int {\n}"), [("x".into(), 1, 2)]);
    }

    #[test]
    fn comments_and_imports() {
        let found = outline("# hello\nsource lib/a.sh\n");
        assert_eq!((found.comments, found.imports), (vec![(0, 8)], vec!["lib/a.sh".to_owned()]));
    }
}
