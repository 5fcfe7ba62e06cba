//! The environment as a value: read once, by the binary, and handed down.

use std::collections::BTreeMap;
use std::ffi::OsString;

/// What planex sets for a run, besides `PLANEX_FIELD_…`.
const OF_A_RUN: [&str; 9] = [
    "PLANEX_JOB_ID",
    "PLANEX_ROLE",
    "PLANEX_MODE",
    "PLANEX_SESSION_DIR",
    "PLANEX_PROMPT_FILE",
    "PLANEX_SCHEMA_FILE",
    "PLANEX_RESULT_FILE",
    "PLANEX_ROW_FILE",
    "PLANEX_CHECK_LOG",
];

/// Environment variables as a value.
///
/// Names that are not UTF-8 are left out; values that are not UTF-8 are kept with U+FFFD in place of the bytes that
/// fit nothing. [`Environment::lossy`] names both, so that the binary can say it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    vars: BTreeMap<String, String>,
    lossy: Vec<String>,
}

impl Environment {
    /// The variables of this process. Only the binary calls this, once.
    #[must_use]
    pub fn capture() -> Self {
        Self::from_os(std::env::vars_os())
    }

    /// From pairs as the system gives them.
    pub fn from_os(pairs: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut env = Self::default();
        for (name, value) in pairs {
            match (name.into_string(), value.into_string()) {
                (Ok(name), Ok(value)) => {
                    env.vars.insert(name, value);
                }
                (Ok(name), Err(value)) => {
                    env.lossy.push(name.clone());
                    env.vars.insert(name, value.to_string_lossy().into_owned());
                }
                (Err(name), _) => env.lossy.push(name.to_string_lossy().into_owned()),
            }
        }
        env
    }

    /// The value of `name`, an empty one too.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str)
    }

    /// The value of `name` unless it is empty.
    #[must_use]
    pub fn non_empty(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// Sets `name`.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.vars.insert(name.into(), value.into());
    }

    /// Removes `name`.
    pub fn remove(&mut self, name: &str) {
        self.vars.remove(name);
    }

    /// All variables, by name.
    #[must_use]
    pub fn vars(&self) -> &BTreeMap<String, String> {
        &self.vars
    }

    /// All variables, by name, as an owned map.
    #[must_use]
    pub fn into_vars(self) -> BTreeMap<String, String> {
        self.vars
    }

    /// The same without the variables of a run that planex itself may be part of (`PLANEX_JOB_ID`, …): what is started
    /// is none of that run.
    #[must_use]
    pub fn outside_a_run(&self) -> Self {
        let foreign = |name: &str| OF_A_RUN.contains(&name) || name.starts_with("PLANEX_FIELD_");
        let vars = self.vars.iter().filter(|(name, _)| !foreign(name));
        Self { vars: vars.map(|(name, value)| (name.clone(), value.clone())).collect(), lossy: self.lossy.clone() }
    }

    /// Names of variables that could not be taken over as they are (see the type).
    #[must_use]
    pub fn lossy(&self) -> &[String] {
        &self.lossy
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Environment {
    fn from_iter<T: IntoIterator<Item = (N, V)>>(pairs: T) -> Self {
        let vars = pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { vars, lossy: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_values() {
        let mut env: Environment = [("A", "1"), ("B", "")].into_iter().collect();
        assert_eq!(env.get("A"), Some("1"));
        assert_eq!(env.get("B"), Some(""));
        assert_eq!(env.non_empty("B"), None);
        env.set("C", "3");
        env.remove("A");
        assert_eq!(env.vars().keys().map(String::as_str).collect::<Vec<_>>(), ["B", "C"]);
    }

    #[test]
    fn a_run_is_left_outside() {
        let vars = [("PATH", "/bin"), ("PLANEX_HOME", "h"), ("PLANEX_JOB_ID", "j"), ("PLANEX_FIELD_ID", "T1")];
        let env: Environment = vars.into_iter().collect();
        assert_eq!(env.outside_a_run().vars().keys().collect::<Vec<_>>(), ["PATH", "PLANEX_HOME"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_not_utf8_is_named() {
        use std::os::unix::ffi::OsStringExt as _;
        let odd = || OsString::from_vec(b"x\xff".to_vec());
        let env = Environment::from_os([("P".into(), odd()), (odd(), "v".into()), ("Q".into(), "ok".into())]);
        assert_eq!(env.get("P"), Some("x\u{fffd}"));
        assert_eq!(env.vars().len(), 2);
        assert_eq!(env.lossy(), ["P".to_owned(), "x\u{fffd}".to_owned()]);
    }

    #[test]
    fn the_capture_sees_this_process() {
        assert!(Environment::capture().vars().len() >= std::env::vars_os().count().min(1));
    }
}
