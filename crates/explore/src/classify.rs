//! What a file is to a reader: source, test, documentation, configuration, data, or something nobody edits by hand.

/// What a file is. Tests and non-source files are ranked below source unless the text asks for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileClass {
    /// Code that people write.
    Source,
    /// Tests, fixtures, benchmarks, examples.
    Test,
    /// Prose.
    Docs,
    /// Manifests, build and tool configuration.
    Config,
    /// Data, snapshots, lock files.
    Data,
    /// Made by a program; edits are lost.
    Generated,
    /// Other people's code.
    Vendored,
    /// Code without line breaks.
    Minified,
    /// Too large to be read; known by its path.
    Huge,
}

const CLASSES: [FileClass; 9] = [
    FileClass::Source,
    FileClass::Test,
    FileClass::Docs,
    FileClass::Config,
    FileClass::Data,
    FileClass::Generated,
    FileClass::Vendored,
    FileClass::Minified,
    FileClass::Huge,
];

impl FileClass {
    /// As a number, for the cache.
    pub(crate) fn code(self) -> u8 {
        CLASSES.iter().position(|c| *c == self).and_then(|n| u8::try_from(n).ok()).unwrap_or(0)
    }

    /// From the cache.
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        CLASSES.get(usize::from(code)).copied()
    }

    /// Whether a task could want to change it as code.
    #[must_use]
    pub fn is_code(self) -> bool {
        matches!(self, Self::Source | Self::Test)
    }
}

const TEST_FOLDERS: [&str; 21] = [
    "test",
    "tests",
    "testing",
    "__tests__",
    "spec",
    "specs",
    "testdata",
    "test_data",
    "fixture",
    "fixtures",
    "benches",
    "bench",
    "benchmark",
    "benchmarks",
    "example",
    "examples",
    "e2e",
    "__mocks__",
    "mocks",
    "__snapshots__",
    "snapshots",
];
const VENDOR_FOLDERS: [&str; 10] = [
    "vendor",
    "vendored",
    "third_party",
    "third-party",
    "thirdparty",
    "3rdparty",
    "external",
    "externals",
    "extern",
    "pods",
];
const DOC_FOLDERS: [&str; 5] = ["doc", "docs", "documentation", "changelog", "changelogs"];
const CODE: [&str; 66] = [
    "rs", "py", "pyi", "pyx", "go", "java", "kt", "kts", "scala", "groovy", "ts", "tsx", "mts", "cts", "js", "jsx",
    "mjs", "cjs", "vue", "svelte", "astro", "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "hxx", "inl", "ipp", "cs", "fs",
    "vb", "rb", "rake", "erb", "php", "swift", "m", "mm", "sh", "bash", "zsh", "fish", "ps1", "lua", "pl", "pm", "r",
    "jl", "ex", "exs", "erl", "hs", "ml", "clj", "dart", "zig", "nim", "y", "l", "jq", "proto", "sql", "scm",
];
const DOCS: [&str; 9] = ["md", "mdx", "rst", "txt", "adoc", "org", "tex", "ipynb", "html"];
const CONFIG: [&str; 18] = [
    "toml",
    "yaml",
    "yml",
    "json",
    "json5",
    "jsonc",
    "ini",
    "cfg",
    "conf",
    "properties",
    "gradle",
    "xml",
    "cmake",
    "mk",
    "nix",
    "tf",
    "env",
    "csproj",
];
const CONFIG_NAMES: [&str; 12] = [
    "makefile",
    "dockerfile",
    "justfile",
    "gemfile",
    "rakefile",
    "cmakelists.txt",
    "go.mod",
    "build",
    "build.bazel",
    "workspace",
    "procfile",
    "requirements.txt",
];
const LOCKS: [&str; 12] = [
    "package-lock.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "cargo.lock",
    "poetry.lock",
    "uv.lock",
    "go.sum",
    "composer.lock",
    "gemfile.lock",
    "packages.lock.json",
    "flake.lock",
];

/// Class by path alone.
pub(crate) fn by_path(path: &str) -> FileClass {
    let lower = path.to_ascii_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let extension = name.rsplit_once('.').map_or("", |(_, e)| e);
    if LOCKS.contains(&name) {
        return FileClass::Data;
    }
    if folders.split('/').any(|f| VENDOR_FOLDERS.contains(&f)) {
        return FileClass::Vendored;
    }
    if name.contains(".min.") || name.ends_with(".map") {
        return FileClass::Minified;
    }
    let code = CODE.contains(&extension);
    if code
        && (folders.split('/').any(|f| TEST_FOLDERS.contains(&f))
            || is_test_name(path.rsplit('/').next().unwrap_or(path), name))
    {
        return FileClass::Test;
    }
    if name.ends_with(".pb.go")
        || name.ends_with("_pb2.py")
        || name.ends_with(".g.cs")
        || name.ends_with(".generated.ts")
    {
        return FileClass::Generated;
    }
    if code {
        // Scripts and code inside the documentation folder belong to the documentation.
        return if folders.split('/').next().is_some_and(|f| DOC_FOLDERS.contains(&f)) {
            FileClass::Docs
        } else {
            FileClass::Source
        };
    }
    if CONFIG_NAMES.contains(&name) {
        return FileClass::Config;
    }
    if DOCS.contains(&extension) || ["readme", "license", "changelog", "contributing"].contains(&name) {
        return FileClass::Docs;
    }
    if CONFIG.contains(&extension) && !folders.split('/').any(|f| TEST_FOLDERS.contains(&f)) {
        return FileClass::Config;
    }
    FileClass::Data
}

fn is_test_name(name: &str, lower: &str) -> bool {
    let stem = lower.split('.').next().unwrap_or(lower);
    let cased_stem = name.split('.').next().unwrap_or(name);
    stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || stem.ends_with("_spec")
        || ["test", "tests", "conftest"].contains(&stem)
        || cased_stem.ends_with("Test")
        || cased_stem.ends_with("Tests")
        || cased_stem.ends_with("Spec")
        || lower.contains(".test.")
        || lower.contains(".spec.")
        || lower.contains(".e2e.")
}

/// Class by path and content; `by_path` where the content says nothing else.
pub(crate) fn by_content(path: &str, text: &str) -> FileClass {
    let class = by_path(path);
    if !matches!(class, FileClass::Source | FileClass::Test) {
        return class;
    }
    let head: String = text.lines().take(12).collect::<Vec<_>>().join("\n");
    let cut = planex_core::text::truncate_bytes(&head, 2_000).to_ascii_lowercase();
    let marked = [
        "@generated",
        "do not edit",
        "code generated by",
        "autogenerated by",
        "auto-generated by",
        "automatically generated",
    ]
    .iter()
    .any(|mark| cut.contains(mark));
    if marked {
        return FileClass::Generated;
    }
    let lines = text.lines().count().max(1);
    if text.len() > 5_000 && text.len() / lines > 300 {
        return FileClass::Minified;
    }
    class
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_tell_the_class() {
        for (path, class) in [
            ("src/lib.rs", FileClass::Source),
            ("tests/cli.rs", FileClass::Test),
            ("pkg/server_test.go", FileClass::Test),
            ("src/FooTest.java", FileClass::Test),
            ("src/Latest.java", FileClass::Source),
            ("src/contest.py", FileClass::Source),
            ("web/app.spec.ts", FileClass::Test),
            ("README.md", FileClass::Docs),
            ("docs/conf.py", FileClass::Docs),
            ("Cargo.toml", FileClass::Config),
            ("Cargo.lock", FileClass::Data),
            ("vendor/a/b.go", FileClass::Vendored),
            ("static/jquery.min.js", FileClass::Minified),
            ("api/v1.pb.go", FileClass::Generated),
            ("data/a.csv", FileClass::Data),
            ("Makefile", FileClass::Config),
        ] {
            assert_eq!(by_path(path), class, "{path}");
        }
    }

    #[test]
    fn contents_tell_generated_and_minified() {
        assert_eq!(by_content("a.go", "// Code generated by x. DO NOT EDIT.\npackage a"), FileClass::Generated);
        assert_eq!(by_content("a.js", &"var a=1;".repeat(2_000)), FileClass::Minified);
        assert_eq!(by_content("a.go", "package a\n"), FileClass::Source);
    }

    #[test]
    fn codes_go_there_and_back() {
        for class in CLASSES {
            assert_eq!(FileClass::from_code(class.code()), Some(class));
        }
    }
}
