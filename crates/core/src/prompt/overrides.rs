//! A project's own prompts: `.workflow/prompts/{role}.md` (spec 00, *Project root and configuration*).
//!
//! The file is a template. If it uses `{{ prompt }}`, planex's own prompt is put there; if it does not, it is added at
//! the end as the project's instructions. With `<!-- planex: replace -->` in its first line it stands instead of
//! planex's own words, and only the report section, which the engine depends on, is kept. Fields of the row or task are
//! available by their column names (`{{ title }}`).

use minijinja::value::{Serde, Value};
use minijinja::{Environment, UndefinedBehavior, context};

/// A project's prompt that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct OverrideError {
    /// Line in the file, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

const REPLACE: &str = "<!-- planex: replace -->";

/// Puts the project's `template` and planex's own `prompt` together.
///
/// `report` is the part of `prompt` that says how to report; it is kept when the template replaces the rest.
///
/// # Errors
/// When the template can't be parsed or names a field that does not exist.
pub fn apply_override(
    template: &str,
    prompt: &str,
    report: &str,
    item: &serde_json::Map<String, serde_json::Value>,
) -> Result<String, OverrideError> {
    let first = template.lines().next().unwrap_or_default().trim();
    let replaces = first == REPLACE;
    let source = if replaces { template.split_once('\n').map_or("", |(_, rest)| rest) } else { template };
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_template("prompt", source).map_err(|error| fault(&error, replaces))?;
    let parsed = environment.get_template("prompt").map_err(|error| fault(&error, replaces))?;
    let uses_prompt = parsed.undeclared_variables(false).contains("prompt");
    let own = if replaces && !uses_prompt { "" } else { prompt };
    let fields = Value::from(Serde(item));
    let text = parsed.render(context! { prompt => own, ..fields }).map_err(|error| fault(&error, replaces))?;
    Ok(match (replaces, uses_prompt) {
        (_, true) => text,
        (true, false) => format!("{}\n\n{report}", text.trim_end()),
        (false, false) => format!("{}\n\n## Instructions of this project\n\n{}\n", prompt.trim_end(), text.trim_end()),
    })
}

fn fault(error: &minijinja::Error, skipped_line: bool) -> OverrideError {
    let line = error.line().unwrap_or(1) + usize::from(skipped_line);
    OverrideError { line, message: error.detail().map_or_else(|| error.to_string(), str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item() -> serde_json::Map<String, serde_json::Value> {
        let serde_json::Value::Object(map) = serde_json::json!({"title": "Add {{ prompt }}"}) else { unreachable!() };
        map
    }

    #[test]
    fn added_at_the_end() {
        let out = apply_override("Use tabs in {{ title }}.", "Do it.", "Report.", &item()).unwrap();
        assert_eq!(out, "Do it.\n\n## Instructions of this project\n\nUse tabs in Add {{ prompt }}.\n");
    }

    #[test]
    fn wrapped_around() {
        let out = apply_override("Before.\n{{ prompt }}\nAfter.", "Do it.", "Report.", &item()).unwrap();
        assert_eq!(out, "Before.\nDo it.\nAfter.");
    }

    #[test]
    fn replaced_but_for_the_report() {
        let out = apply_override("<!-- planex: replace -->\nMine.\n", "Do it.", "Report.", &item()).unwrap();
        assert_eq!(out, "Mine.\n\nReport.");
    }

    #[test]
    fn unknown_field_names_the_line() {
        let error = apply_override("<!-- planex: replace -->\n\n{{ nope }}", "Do it.", "R", &item()).unwrap_err();
        assert_eq!(error.line, 3);
    }
}
