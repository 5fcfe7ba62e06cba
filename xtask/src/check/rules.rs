//! The rules as tables: this is the one place where they are changed.

/// Which room may use which: every arrow that `Cargo.toml` files may draw, besides those to the rooms for tests.
/// planex -> serve -> engine -> {agents, explore, isolation} -> sys -> core.
pub(super) const ARROWS: &[(&str, &[&str])] = &[
    ("planex-core", &[]),
    ("planex-sys", &["planex-core"]),
    ("planex-agents", &["planex-core", "planex-sys"]),
    ("planex-explore", &["planex-core", "planex-sys"]),
    ("planex-isolation", &["planex-core", "planex-sys"]),
    ("planex-engine", &["planex-core", "planex-sys", "planex-agents", "planex-explore", "planex-isolation"]),
    ("planex-serve", &["planex-core", "planex-sys", "planex-engine"]),
    ("planex", &["planex-core", "planex-sys", "planex-agents", "planex-explore", "planex-engine", "planex-serve"]),
    // Tests and chores depend on no room, so that a fault in a room cannot hide itself in its own tests.
    ("planex-testkit", &[]),
    ("xtask", &[]),
];

/// What every room may use in its tests, and never else.
pub(super) const FOR_TESTS: &str = "planex-testkit";

/// Packages in `Cargo.lock` at most. Raise it only together with the reason for the new dependency.
pub(super) const LOCK_CAP: usize = 450;

/// Dependencies that must not come in, each with the reason.
pub(super) const BANNED: &[(&str, &str)] = &[
    ("openssl-sys", "planex speaks no TLS; agents do that themselves"),
    ("native-tls", "planex speaks no TLS; agents do that themselves"),
    ("git2", "git is asked through its own program, as the user's configuration and hooks expect"),
    ("async-std", "one runtime: tokio"),
    ("serde_yaml", "abandoned"),
];

/// Licences that a dependency may have.
pub(super) const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Longest Rust file, in lines.
pub(super) const LONGEST: usize = 600;

/// Files that may be longer, each with the reason.
pub(super) const LONG_FILES: &[(&str, &str)] = &[];

/// Words that must not be in committed text. Written in two halves, so that this file does not hold them itself.
pub(super) const WORDS: &[Word] = &[
    Word { halves: ("to", "do!("), only: ".rs", reason: "unfinished" },
    Word { halves: ("unimpl", "emented!("), only: ".rs", reason: "unfinished" },
    Word { halves: ("db", "g!("), only: ".rs", reason: "left from debugging" },
    Word { halves: ("#[ig", "nore"), only: ".rs", reason: "a test that does not run proves nothing" },
    Word { halves: ("/wo", "rk/"), only: "", reason: "a path of one machine" },
    Word { halves: ("/ro", "ot/"), only: "", reason: "a path of one machine" },
];

/// One forbidden word.
pub(super) struct Word {
    pub(super) halves: (&'static str, &'static str),
    /// Ending of the files it is looked for in; empty: all.
    pub(super) only: &'static str,
    pub(super) reason: &'static str,
}

/// Files in which a word may stand all the same: path, second half of the word, reason.
pub(super) const WORD_EXCEPTIONS: &[(&str, &str, &str)] = &[];

/// Files that the binary writes: path, and the arguments of `planex` whose standard output it must be.
/// `cargo xtask generate` writes them, `cargo xtask check` compares.
pub(super) const GENERATED: &[(&str, &[&str])] = &[
    ("docs/planex.1", &["man"]),
    ("docs/schemas/assess.json", &["schema", "assess"]),
    ("docs/schemas/explore-waves.json", &["schema", "explore-waves"]),
    ("docs/schemas/exploration.json", &["schema", "exploration"]),
    ("docs/schemas/plan-waves.json", &["schema", "plan-waves"]),
    ("docs/schemas/execute.json", &["schema", "execute"]),
    ("docs/schemas/review.json", &["schema", "review"]),
    ("docs/schemas/converge.json", &["schema", "converge"]),
    ("docs/schemas/fix.json", &["schema", "fix"]),
    ("docs/schemas/discovery.json", &["schema", "discovery"]),
    ("docs/schemas/project-tech.json", &["schema", "project-tech"]),
    ("docs/schemas/plan.json", &["schema", "plan"]),
    ("docs/schemas/task.json", &["schema", "task"]),
];
