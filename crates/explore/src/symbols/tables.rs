//! One table per language: which nodes define what. A language is added here and nowhere else.

use tree_sitter::Language as Grammar;

use super::SymbolKind::{self, Class, Constant, Enum, Function, Interface, Method, Module, Type};

/// How a language spells its definitions.
pub(crate) struct Language {
    /// Name for people.
    pub(crate) name: &'static str,
    /// Its grammar; made anew at each call, which is cheap.
    pub(crate) grammar: fn() -> Grammar,
    /// Nodes that define something with a field `name` (or a declarator).
    pub(crate) definitions: &'static [(&'static str, SymbolKind)],
    /// Nodes that import.
    pub(crate) imports: &'static [&'static str],
    /// Nodes that are comments.
    pub(crate) comments: &'static [&'static str],
    /// A call with one of these names imports too (`require`).
    pub(crate) import_calls: &'static [&'static str],
    /// Node of a call.
    pub(crate) call: &'static str,
}

static RUST: Language = Language {
    name: "Rust",
    grammar: || tree_sitter_rust::LANGUAGE.into(),
    definitions: &[
        ("function_item", Function),
        ("function_signature_item", Method),
        ("struct_item", Class),
        ("union_item", Class),
        ("enum_item", Enum),
        ("trait_item", Interface),
        ("type_item", Type),
        ("mod_item", Module),
        ("const_item", Constant),
        ("static_item", Constant),
        ("macro_definition", Function),
    ],
    imports: &["use_declaration"],
    comments: &["line_comment", "block_comment"],
    import_calls: &[],
    call: "",
};

static PYTHON: Language = Language {
    name: "Python",
    grammar: || tree_sitter_python::LANGUAGE.into(),
    definitions: &[("function_definition", Function), ("class_definition", Class)],
    imports: &["import_statement", "import_from_statement"],
    comments: &["comment"],
    import_calls: &[],
    call: "",
};

static GO: Language = Language {
    name: "Go",
    grammar: || tree_sitter_go::LANGUAGE.into(),
    definitions: &[
        ("function_declaration", Function),
        ("method_declaration", Method),
        ("type_spec", Class),
        ("type_alias", Type),
        ("const_spec", Constant),
        ("method_elem", Method),
    ],
    imports: &["import_spec"],
    comments: &["comment"],
    import_calls: &[],
    call: "",
};

static JAVA: Language = Language {
    name: "Java",
    grammar: || tree_sitter_java::LANGUAGE.into(),
    definitions: &[
        ("class_declaration", Class),
        ("record_declaration", Class),
        ("interface_declaration", Interface),
        ("annotation_type_declaration", Interface),
        ("enum_declaration", Enum),
        ("method_declaration", Method),
        ("constructor_declaration", Method),
    ],
    imports: &["import_declaration"],
    comments: &["line_comment", "block_comment"],
    import_calls: &[],
    call: "",
};

static C: Language = Language {
    name: "C",
    grammar: || tree_sitter_c::LANGUAGE.into(),
    definitions: C_DEFINITIONS,
    imports: &["preproc_include"],
    comments: &["comment"],
    import_calls: &[],
    call: "",
};

const C_DEFINITIONS: &[(&str, SymbolKind)] = &[
    ("function_definition", Function),
    ("struct_specifier", Class),
    ("union_specifier", Class),
    ("class_specifier", Class),
    ("enum_specifier", Enum),
    ("type_definition", Type),
    ("alias_declaration", Type),
    ("namespace_definition", Module),
    ("preproc_def", Constant),
    ("preproc_function_def", Function),
];

static CPP: Language = Language {
    name: "C++",
    grammar: || tree_sitter_cpp::LANGUAGE.into(),
    definitions: C_DEFINITIONS,
    imports: &["preproc_include"],
    comments: &["comment"],
    import_calls: &[],
    call: "",
};

static CSHARP: Language = Language {
    name: "C#",
    grammar: || tree_sitter_c_sharp::LANGUAGE.into(),
    definitions: &[
        ("class_declaration", Class),
        ("struct_declaration", Class),
        ("record_declaration", Class),
        ("interface_declaration", Interface),
        ("enum_declaration", Enum),
        ("delegate_declaration", Type),
        ("method_declaration", Method),
        ("constructor_declaration", Method),
        ("property_declaration", Method),
        ("namespace_declaration", Module),
        ("local_function_statement", Function),
    ],
    imports: &["using_directive"],
    comments: &["comment"],
    import_calls: &[],
    call: "",
};

static RUBY: Language = Language {
    name: "Ruby",
    grammar: || tree_sitter_ruby::LANGUAGE.into(),
    definitions: &[("method", Method), ("singleton_method", Method), ("class", Class), ("module", Module)],
    imports: &[],
    comments: &["comment"],
    import_calls: &["require", "require_relative", "load", "autoload"],
    call: "call",
};

static PHP: Language = Language {
    name: "PHP",
    grammar: || tree_sitter_php::LANGUAGE_PHP.into(),
    definitions: &[
        ("function_definition", Function),
        ("method_declaration", Method),
        ("class_declaration", Class),
        ("interface_declaration", Interface),
        ("trait_declaration", Interface),
        ("enum_declaration", Enum),
    ],
    imports: &[
        "namespace_use_clause",
        "require_expression",
        "require_once_expression",
        "include_expression",
        "include_once_expression",
    ],
    comments: &["comment"],
    import_calls: &[],
    call: "",
};

const JS_DEFINITIONS: &[(&str, SymbolKind)] = &[
    ("function_declaration", Function),
    ("generator_function_declaration", Function),
    ("method_definition", Method),
    ("class_declaration", Class),
    ("abstract_class_declaration", Class),
    ("interface_declaration", Interface),
    ("enum_declaration", Enum),
    ("type_alias_declaration", Type),
    ("internal_module", Module),
    ("function_signature", Function),
    ("abstract_method_signature", Method),
    ("variable_declarator", Constant),
];
const JS_IMPORTS: &[&str] = &["import_statement", "export_statement"];
const JS_CALLS: &[&str] = &["require", "import"];

static JAVASCRIPT: Language = Language {
    name: "JavaScript",
    grammar: || tree_sitter_javascript::LANGUAGE.into(),
    definitions: JS_DEFINITIONS,
    imports: JS_IMPORTS,
    comments: &["comment"],
    import_calls: JS_CALLS,
    call: "call_expression",
};

static TYPESCRIPT: Language = Language {
    name: "TypeScript",
    grammar: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    definitions: JS_DEFINITIONS,
    imports: JS_IMPORTS,
    comments: &["comment"],
    import_calls: JS_CALLS,
    call: "call_expression",
};

static TSX: Language = Language {
    name: "TypeScript",
    grammar: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    definitions: JS_DEFINITIONS,
    imports: JS_IMPORTS,
    comments: &["comment"],
    import_calls: JS_CALLS,
    call: "call_expression",
};

/// The name of a file's language for people, and its table where there is one.
pub(crate) fn language_of(path: &str) -> (Option<&'static str>, Option<&'static Language>) {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, e)| e).to_ascii_lowercase();
    let table: Option<&'static Language> = match extension.as_str() {
        "rs" => Some(&RUST),
        "py" | "pyi" => Some(&PYTHON),
        "go" => Some(&GO),
        "java" => Some(&JAVA),
        "c" => Some(&C),
        "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" | "inl" | "ipp" => Some(&CPP),
        "cs" => Some(&CSHARP),
        "rb" | "rake" => Some(&RUBY),
        "php" => Some(&PHP),
        "js" | "jsx" | "mjs" | "cjs" => Some(&JAVASCRIPT),
        "ts" | "mts" | "cts" => Some(&TYPESCRIPT),
        "tsx" => Some(&TSX),
        _ => None,
    };
    (table.map(|t| t.name).or_else(|| lexical_name(&extension)), table)
}

fn lexical_name(extension: &str) -> Option<&'static str> {
    Some(match extension {
        "pyx" => "Python",
        "kt" | "kts" => "Kotlin",
        "scala" => "Scala",
        "groovy" => "Groovy",
        "vue" => "Vue",
        "svelte" => "Svelte",
        "fs" => "F#",
        "swift" => "Swift",
        "m" | "mm" => "Objective-C",
        "sh" | "bash" | "zsh" | "fish" => "Shell",
        "ps1" => "PowerShell",
        "lua" => "Lua",
        "pl" | "pm" => "Perl",
        "r" => "R",
        "jl" => "Julia",
        "ex" | "exs" => "Elixir",
        "erl" => "Erlang",
        "hs" => "Haskell",
        "ml" => "OCaml",
        "clj" => "Clojure",
        "dart" => "Dart",
        "zig" => "Zig",
        "nim" => "Nim",
        "sql" => "SQL",
        "proto" => "Protocol Buffers",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_names_nodes_that_its_grammar_has() {
        for table in [&RUST, &PYTHON, &GO, &JAVA, &CSHARP, &RUBY, &PHP, &CPP, &TYPESCRIPT, &TSX] {
            let grammar = (table.grammar)();
            let kinds = table
                .definitions
                .iter()
                .map(|(k, _)| *k)
                .chain(table.imports.iter().copied())
                .chain(table.comments.iter().copied());
            for kind in kinds {
                assert_ne!(grammar.id_for_node_kind(kind, true), 0, "{} has no node {kind}", table.name);
            }
        }
    }
}
