//! The outline of a file by its syntax tree: one pass over all nodes, steered by the language's table.

use std::cell::RefCell;

use tree_sitter::{Node, Parser};

use super::tables::Language;
use super::{Outline, Symbol, SymbolKind};

/// Longest import that is kept. Bytes.
const MAX_IMPORT: usize = 300;

thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

#[derive(Clone, Copy)]
enum Action {
    Nothing,
    Define(SymbolKind),
    Import,
    Comment,
    Call,
}

/// The outline, or nothing where the grammar cannot be used.
pub(super) fn outline(language: &Language, text: &str) -> Option<Outline> {
    let grammar = (language.grammar)();
    let actions = actions(language, &grammar);
    let tree = PARSER.with(|parser| {
        let mut parser = parser.borrow_mut();
        parser.set_language(&grammar).ok()?;
        parser.parse(text, None)
    })?;
    let mut outline = Outline::default();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let action = actions.get(usize::from(node.kind_id())).copied().unwrap_or(Action::Nothing);
        visit(language, action, node, text, &mut outline);
        let descend = !matches!(action, Action::Comment) && cursor.goto_first_child();
        if descend {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(outline);
            }
        }
    }
}

fn actions(language: &Language, grammar: &tree_sitter::Language) -> Vec<Action> {
    let mut actions = vec![Action::Nothing; grammar.node_kind_count()];
    for (id, action) in actions.iter_mut().enumerate() {
        let Some(kind) = u16::try_from(id)
            .ok()
            .filter(|id| grammar.node_kind_is_named(*id))
            .and_then(|id| grammar.node_kind_for_id(id))
        else {
            continue;
        };
        if let Some((_, symbol)) = language.definitions.iter().find(|(k, _)| *k == kind) {
            *action = Action::Define(*symbol);
        } else if language.imports.contains(&kind) {
            *action = Action::Import;
        } else if language.comments.contains(&kind) {
            *action = Action::Comment;
        } else if !language.call.is_empty() && language.call == kind {
            *action = Action::Call;
        }
    }
    actions
}

fn visit(language: &Language, action: Action, node: Node<'_>, text: &str, outline: &mut Outline) {
    match action {
        Action::Nothing => {}
        Action::Comment => outline.comments.push((node.start_byte(), node.end_byte())),
        Action::Import => outline.imports.extend(imports_of(language, slice(node, text))),
        Action::Call => outline.imports.extend(import_call(language, node, text)),
        Action::Define(kind) => {
            if let Some(symbol) = definition(node, kind, text) {
                if language.name == "Rust" && kind == SymbolKind::Module && node.child_by_field_name("body").is_none() {
                    outline.imports.push(format!("self::{}", symbol.name));
                } else {
                    outline.symbols.push(symbol);
                }
            }
        }
    }
}

fn slice<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}

fn definition(node: Node<'_>, kind: SymbolKind, text: &str) -> Option<Symbol> {
    let name = name_of(node, text)?;
    let kind = match node.kind() {
        "variable_declarator" => declared_kind(node)?,
        "struct_specifier" | "union_specifier" | "class_specifier" | "enum_specifier" => {
            node.child_by_field_name("body")?;
            kind
        }
        "type_spec" => match node.child_by_field_name("type").map(|t| t.kind()) {
            Some("interface_type") => SymbolKind::Interface,
            Some("struct_type") => SymbolKind::Class,
            _ => SymbolKind::Type,
        },
        "function_definition" | "function_item" if is_method(node) => SymbolKind::Method,
        _ => kind,
    };
    let line = |row: usize| u32::try_from(row + 1).unwrap_or(u32::MAX);
    Some(Symbol {
        name: name.to_owned(),
        kind,
        start: line(node.start_position().row),
        end: line(node.end_position().row),
    })
}

fn is_method(node: Node<'_>) -> bool {
    let mut up = node.parent();
    for _ in 0..3 {
        match up.map(|n| n.kind()) {
            Some("class_definition" | "impl_item" | "trait_item" | "class_specifier" | "struct_specifier") => {
                return true;
            }
            Some("function_definition" | "function_item") | None => return false,
            Some(_) => up = up.and_then(|n| n.parent()),
        }
    }
    false
}

/// A variable counts when it holds a function, or is a constant at the top of the file.
fn declared_kind(node: Node<'_>) -> Option<SymbolKind> {
    let value = node.child_by_field_name("value");
    if matches!(value.map(|v| v.kind()), Some("arrow_function" | "function_expression" | "generator_function")) {
        return Some(SymbolKind::Function);
    }
    let above = node.parent().and_then(|n| n.parent())?;
    matches!(above.kind(), "program" | "export_statement").then_some(SymbolKind::Constant)
}

fn name_of<'t>(node: Node<'_>, text: &'t str) -> Option<&'t str> {
    if let Some(name) = node.child_by_field_name("name") {
        return Some(slice(name, text)).filter(|n| fits(n));
    }
    let mut at = node.child_by_field_name("declarator")?;
    for _ in 0..8 {
        match at.kind() {
            "identifier" | "field_identifier" | "type_identifier" | "destructor_name" | "operator_name" => {
                return Some(slice(at, text)).filter(|n| fits(n));
            }
            "qualified_identifier" => at = at.child_by_field_name("name")?,
            _ => at = at.child_by_field_name("declarator").or_else(|| at.named_child(0))?,
        }
    }
    None
}

fn fits(name: &str) -> bool {
    !name.is_empty() && name.len() <= 200 && !name.contains('\n') && !name.starts_with(['{', '['])
}

fn import_call(language: &Language, node: Node<'_>, text: &str) -> Option<String> {
    let callee = node.child_by_field_name("function").or_else(|| node.child_by_field_name("method"))?;
    let name = slice(callee, text);
    if !language.import_calls.contains(&name) || node.end_byte() - node.start_byte() > MAX_IMPORT {
        return None;
    }
    let path = quoted(slice(node, text))?;
    Some(if name == "require_relative" { format!("./{path}") } else { path.to_owned() })
}

/// What stands in the first quotes.
fn quoted(text: &str) -> Option<&str> {
    let open = text.find(['"', '\'', '`', '<'])?;
    let quote = text.get(open..)?.chars().next()?;
    let close = if quote == '<' { '>' } else { quote };
    let rest = text.get(open + 1..)?;
    rest.get(..rest.find(close)?).filter(|t| !t.is_empty() && t.len() <= MAX_IMPORT)
}

fn imports_of(language: &Language, statement: &str) -> Vec<String> {
    let Some(statement) = Some(statement).filter(|s| s.len() <= 4_000) else { return Vec::new() };
    match language.name {
        "Python" => python_imports(statement),
        "Rust" => rust_imports(statement),
        "JavaScript" | "TypeScript" => {
            let reexport = statement.starts_with("import")
                || statement.rsplit_once(" from ").is_some_and(|(_, tail)| tail.len() <= MAX_IMPORT);
            let tail = statement.rsplit_once("from").map_or(statement, |(_, tail)| tail);
            quoted(tail).filter(|_| reexport).map(str::to_owned).into_iter().collect()
        }
        "Go" | "C" | "C++" => quoted(statement).map(str::to_owned).into_iter().collect(),
        _ => vec![plain_import(statement)].into_iter().filter(|i| !i.is_empty()).collect(),
    }
}

/// `import static a.b.C;`, `using X = A.B;`, `use App\Foo as F`.
fn plain_import(statement: &str) -> String {
    if let Some(path) = quoted(statement) {
        return path.to_owned();
    }
    let words = statement
        .split_whitespace()
        .filter(|w| !["import", "static", "using", "global", "use", "function", "const"].contains(w));
    let first: Vec<&str> = words.take_while(|w| *w != "as").collect();
    first.last().map(|w| w.trim_end_matches(';').trim_end_matches(".*").to_owned()).unwrap_or_default()
}

fn python_imports(statement: &str) -> Vec<String> {
    let flat = statement.replace(['(', ')', '\\', '\n', '\r'], " ");
    let bare = |item: &str| item.split_whitespace().next().unwrap_or_default().to_owned();
    if let Some((module, names)) = flat.trim().strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) {
        let module = module.trim();
        let joint = if module.ends_with('.') { "" } else { "." };
        let mut found = vec![module.to_owned()];
        found.extend(
            names.split(',').map(bare).filter(|n| !n.is_empty() && n != "*").map(|n| format!("{module}{joint}{n}")),
        );
        return found;
    }
    flat.trim()
        .strip_prefix("import ")
        .map(|rest| rest.split(',').map(bare).filter(|n| !n.is_empty()).collect())
        .unwrap_or_default()
}

/// `use a::{b::C, d}` gives `a::b::C` and `a::d`.
fn rust_imports(statement: &str) -> Vec<String> {
    let start = statement.find("use ").map_or(0, |i| i + 4);
    let body: String = statement.get(start..).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let mut found = Vec::new();
    let mut stack: Vec<String> = Vec::new();
    let mut current = String::new();
    let flush = |current: &mut String, stack: &[String], found: &mut Vec<String>| {
        let item = current.split(" as ").next().unwrap_or_default().trim().to_owned();
        current.clear();
        if !item.is_empty() {
            found.push(format!("{}{item}", stack.last().map_or("", String::as_str)));
        }
    };
    for c in body.chars().take(4_000) {
        match c {
            '{' => {
                let prefix = format!("{}{}", stack.last().map_or("", String::as_str), current.trim());
                current.clear();
                stack.push(prefix);
            }
            '}' => {
                flush(&mut current, &stack, &mut found);
                stack.pop();
            }
            ',' | ';' => flush(&mut current, &stack, &mut found),
            _ => current.push(c),
        }
        if stack.len() > 8 || found.len() > 200 {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::{SymbolKind, language_of, outline};

    fn names(path: &str, text: &str) -> Vec<(String, SymbolKind, u32, u32)> {
        outline(language_of(path).1, text).symbols.into_iter().map(|s| (s.name, s.kind, s.start, s.end)).collect()
    }

    fn imports(path: &str, text: &str) -> Vec<String> {
        outline(language_of(path).1, text).imports
    }

    fn has(path: &str, text: &str, name: &str, kind: SymbolKind) {
        let found = names(path, text);
        assert!(found.iter().any(|(n, k, _, _)| n == name && *k == kind), "{path}: {name} not in {found:?}");
    }

    #[test]
    fn definitions_of_each_language() {
        has("a.rs", "impl A { fn run(&self) {} }\nstruct A;", "run", SymbolKind::Method);
        has("a.rs", "macro_rules! m { () => {} }", "m", SymbolKind::Function);
        has("a.py", "class A:\n    @x\n    def run(self):\n        pass\n", "run", SymbolKind::Method);
        has("a.py", "async def go():\n    pass\n", "go", SymbolKind::Function);
        has(
            "a.go",
            "package a\ntype S struct{}\nfunc (s *S) Run() {}\ntype I interface{ Do() }",
            "Run",
            SymbolKind::Method,
        );
        has("a.go", "package a\ntype I interface{ Do() }", "I", SymbolKind::Interface);
        has("A.java", "class A { void run() {} }", "run", SymbolKind::Method);
        has("a.c", "static int *run(int a) { return 0; }", "run", SymbolKind::Function);
        has("a.c", "typedef struct { int x; } foo_t;", "foo_t", SymbolKind::Type);
        has("a.cpp", "namespace n { class A { public: void run() {} }; void A::go() {} }", "go", SymbolKind::Function);
        has("a.cs", "namespace N { class A { public int Run() { return 1; } } }", "Run", SymbolKind::Method);
        has("a.rb", "class A\n  def run\n  end\nend\n", "run", SymbolKind::Method);
        has("a.php", "<?php class A { function run() {} }", "run", SymbolKind::Method);
        has("a.ts", "export const run = async () => 1; interface I {}", "run", SymbolKind::Function);
        has("a.tsx", "export function View() { return <a>b</a>; }", "View", SymbolKind::Function);
        has("a.js", "module.exports = { x }; function run() {}", "run", SymbolKind::Function);
    }

    #[test]
    fn lines_count_from_one() {
        assert_eq!(names("a.rs", "\nfn a() {\n}\n"), [("a".to_owned(), SymbolKind::Function, 2, 3)]);
    }

    #[test]
    fn imports_of_each_language() {
        assert_eq!(imports("a.py", "from .b import (c,\n d as e)\nimport x.y as z\n"), [".b", ".b.c", ".b.d", "x.y"]);
        assert_eq!(
            imports("a.rs", "pub(crate) use crate::a::{b::C, d as e};\nmod f;"),
            ["crate::a::b::C", "crate::a::d", "self::f"]
        );
        assert_eq!(imports("a.go", "package a\nimport (\n x \"a/b\"\n)"), ["a/b"]);
        assert_eq!(imports("A.java", "import static a.b.C;\nimport a.b.*;"), ["a.b.C", "a.b"]);
        assert_eq!(imports("a.c", "#include <a/b.h>\n#include \"c.h\"\n"), ["a/b.h", "c.h"]);
        assert_eq!(imports("a.rb", "require_relative 'x/y'\nrequire 'z'\n"), ["./x/y", "z"]);
        assert_eq!(
            imports("a.ts", "import { a } from './b';\nexport * from \"./c\";\nconst d = require('./d');"),
            ["./b", "./c", "./d"]
        );
        assert_eq!(imports("a.php", "<?php use App\\Foo as F;"), ["App\\Foo"]);
        assert_eq!(imports("a.cs", "using System.Text;"), ["System.Text"]);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]
        #[test]
        fn any_text_is_read(text in "\\PC{0,200}", which in 0usize..12) {
            let path = ["a.rs", "a.py", "a.go", "A.java", "a.c", "a.cpp", "a.cs", "a.rb", "a.php", "a.ts", "a.tsx", "a.kt"][which];
            let found = outline(language_of(path).1, &text);
            for (from, to) in found.comments {
                assert!(from <= to && to <= text.len());
            }
        }
    }
}
