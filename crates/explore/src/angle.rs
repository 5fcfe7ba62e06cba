//! Points of view: what each of them looks for in code.

use std::fmt;

/// A point of view by its name (`security`, `auth-patterns`, …). Any name is allowed; users edit them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Angle(String);

/// What the names come down to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Architecture,
    Dependencies,
    Integration,
    Testing,
    Patterns,
    Security,
    Performance,
    State,
    Errors,
    EdgeCases,
    DataFlow,
    Validation,
    Other,
}

impl Angle {
    /// An angle of that name, trimmed and in lower case.
    #[must_use]
    pub fn new(name: impl AsRef<str>) -> Self {
        Self(name.as_ref().trim().to_lowercase())
    }

    /// Its name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn family(&self) -> Family {
        match self.0.as_str() {
            "architecture" | "modularity" => Family::Architecture,
            "dependencies" => Family::Dependencies,
            "integration-points" => Family::Integration,
            "testing" | "tests" | "test" => Family::Testing,
            "patterns" => Family::Patterns,
            "security" | "auth-patterns" => Family::Security,
            "performance" | "bottlenecks" | "caching" => Family::Performance,
            "state-management" => Family::State,
            "error-handling" => Family::Errors,
            "edge-cases" => Family::EdgeCases,
            "dataflow" | "data-access" => Family::DataFlow,
            "validation" => Family::Validation,
            _ => Family::Other,
        }
    }
}

impl fmt::Display for Angle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Family {
    /// Words of code that speak of this point of view; they weigh little beside the words of the task.
    pub(crate) fn words(self) -> &'static [&'static str] {
        match self {
            Self::Architecture => &["module", "registry", "interface", "trait", "factory", "service", "config"],
            Self::Dependencies => &["import", "require", "dependency", "package", "version", "client"],
            Self::Integration => &["register", "route", "handler", "hook", "command", "plugin", "api", "export"],
            Self::Testing => &["test", "assert", "fixture", "mock", "expect"],
            Self::Patterns => &["base", "abstract", "builder", "helper", "common", "convention"],
            Self::Security => {
                &["auth", "token", "password", "permission", "secret", "sanitize", "escape", "verify", "session"]
            }
            Self::Performance => &["cache", "pool", "batch", "buffer", "lazy", "parallel", "index", "query", "limit"],
            Self::State => &["state", "store", "session", "lock", "mutex", "context", "reset", "lifecycle"],
            Self::Errors => &["error", "exception", "catch", "retry", "fail", "panic", "warn", "timeout"],
            Self::EdgeCases => {
                &["empty", "none", "null", "overflow", "unicode", "limit", "invalid", "default", "bound"]
            }
            Self::DataFlow => {
                &["parse", "serialize", "load", "read", "write", "convert", "request", "response", "query"]
            }
            Self::Validation => &["validate", "check", "schema", "parse", "invalid", "constraint", "assert"],
            Self::Other => &[],
        }
    }

    /// What this point of view asks of a file, to follow "for {angle}: ".
    pub(crate) fn concern(self) -> &'static str {
        match self {
            Self::Architecture => "where the responsibility sits and which modules meet here",
            Self::Dependencies => "what it needs and what needs it",
            Self::Integration => "where a change connects to the rest",
            Self::Testing => "what tests exist and which are missing",
            Self::Patterns => "the convention to follow",
            Self::Security => "who may reach it and what input it trusts",
            Self::Performance => "what it costs and how often it runs",
            Self::State => "which state it holds and who changes it",
            Self::Errors => "how failures arise and travel",
            Self::EdgeCases => "which unusual inputs reach it",
            Self::DataFlow => "how data comes in and where it goes",
            Self::Validation => "what is checked and what is not",
            Self::Other => "what it contributes to the task",
        }
    }
}
