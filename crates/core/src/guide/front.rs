//! Front matter: the small part of YAML that guidelines use.

use super::{Category, Guideline, Priority};

/// What is wrong with a guideline; it is read all the same, as far as it goes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
pub struct GuideFault {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what was expected.
    pub problem: String,
}

/// Reads a guideline. A file without front matter is one that is general and optional.
#[must_use]
pub fn parse(file: &str, text: &str) -> (Guideline, Vec<GuideFault>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let title = file.rsplit('/').next().unwrap_or(file).trim_end_matches(".md").to_owned();
    let mut guide = Guideline { name: file.to_owned(), title, ..Guideline::default() };
    let mut faults = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    let closing = lines.iter().skip(1).position(|line| line.trim_end() == "---").map(|at| at + 1);
    match (lines.first().map(|line| line.trim_end()), closing) {
        (Some("---"), Some(end)) => {
            guide.body = lines.get(end + 1..).unwrap_or_default().join("\n").trim().to_owned();
            let mut at = 1;
            while at < end {
                at = field(&mut guide, &lines, at, end, &mut |line, problem| {
                    faults.push(GuideFault { file: file.to_owned(), line: line + 1, problem });
                });
            }
        }
        (Some("---"), None) => {
            let problem = "front matter is not closed by a line `---`".to_owned();
            faults.push(GuideFault { file: file.to_owned(), line: 1, problem });
            guide.body = lines.get(1..).unwrap_or_default().join("\n").trim().to_owned();
        }
        _ => guide.body = text.trim().to_owned(),
    }
    (guide, faults)
}

/// Reads the field at line `at`; the line behind it is returned.
fn field(guide: &mut Guideline, lines: &[&str], at: usize, end: usize, fault: &mut dyn FnMut(usize, String)) -> usize {
    let line = lines.get(at).copied().unwrap_or_default();
    let next = at + 1;
    if line.trim().is_empty() || line.trim_start().starts_with('#') {
        return next;
    }
    let Some((name, rest)) = line.split_once(':') else {
        fault(at, format!("expected `name: value`, found `{}`", crate::text::one_line(line)));
        return next;
    };
    let (items, next) = values(rest.trim(), lines, next, end);
    let first = items.first().cloned().unwrap_or_default();
    match name.trim() {
        "title" if !first.is_empty() => guide.title = first,
        "category" => match first.parse::<Category>() {
            Ok(category) => guide.category = category,
            Err(error) => fault(at, error.to_string()),
        },
        "keywords" => guide.keywords = items,
        "priority" => match first.to_lowercase().as_str() {
            "critical" => guide.priority = Priority::Critical,
            "high" => guide.priority = Priority::High,
            "medium" | "" => guide.priority = Priority::Medium,
            "low" => guide.priority = Priority::Low,
            other => fault(at, format!("unknown priority `{other}`; there are critical, high, medium, low")),
        },
        "readMode" => match first.as_str() {
            "required" => guide.required = true,
            "optional" | "" => guide.required = false,
            other => fault(at, format!("unknown readMode `{other}`; there are required, optional")),
        },
        "forbid" => guide.forbid = items,
        "require" => guide.require = items,
        // Other programs keep fields of their own in these files.
        _ => {}
    }
    next
}

/// The values of a field: on its line (`a`, `"a"`, `[a, b]`) or as a block of `- a` below it.
fn values(inline: &str, lines: &[&str], mut next: usize, end: usize) -> (Vec<String>, usize) {
    if let Some(list) = inline.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return (split_list(list), next);
    }
    if !inline.is_empty() {
        return (vec![unquote(inline)], next);
    }
    let mut items = Vec::new();
    while next < end {
        let Some(item) = lines.get(next).and_then(|line| line.trim_start().strip_prefix("- ")) else { break };
        items.push(unquote(item.trim()));
        next += 1;
    }
    (items, next)
}

/// Splits at commas outside of quotes.
fn split_list(list: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut item = String::new();
    let mut quote = None;
    for c in list.chars() {
        match (quote, c) {
            (None, ',') => items.push(std::mem::take(&mut item)),
            (None, '"' | '\'') if item.trim().is_empty() => {
                quote = Some(c);
                item.push(c);
            }
            (Some(open), c) if c == open => {
                quote = None;
                item.push(c);
            }
            _ => item.push(c),
        }
    }
    items.push(item);
    items.iter().map(|item| unquote(item.trim())).filter(|item| !item.is_empty()).collect()
}

fn unquote(text: &str) -> String {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            // Patterns have backslashes: only those that YAML's double quotes need are taken away.
            return if quote == '"' {
                inner.replace("\\\"", "\"").replace("\\\\", "\\")
            } else {
                inner.replace("''", "'")
            };
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_in_both_forms() {
        let text = "---\ntitle: \"No panics\"\ncategory: execution\nkeywords: [rust, 'error, handling']\npriority: high\n\
                    readMode: required\nforbid:\n  - \"\\\\bunwrap\\\\(\\\\)\"\n  - todo!\nrequire: [CHANGELOG.md]\nowner: me\n---\n\n# Body\ntext\n";
        let (guide, faults) = parse("specs/no-panics.md", text);
        assert_eq!(faults, []);
        assert_eq!(
            guide,
            Guideline {
                name: "specs/no-panics.md".into(),
                title: "No panics".into(),
                category: Category::Execution,
                keywords: vec!["rust".into(), "error, handling".into()],
                priority: Priority::High,
                required: true,
                forbid: vec!["\\bunwrap\\(\\)".into(), "todo!".into()],
                require: vec!["CHANGELOG.md".into()],
                body: "# Body\ntext".into(),
            }
        );
    }

    #[test]
    fn without_front_matter_it_is_general_and_optional() {
        let (guide, faults) = parse("a/style.md", "Use tabs.\n");
        assert!(faults.is_empty());
        assert_eq!((guide.title.as_str(), guide.category, guide.required), ("style", Category::General, false));
        assert_eq!(guide.body, "Use tabs.");
    }

    #[test]
    fn faults_have_lines_and_lose_nothing() {
        let (guide, faults) =
            parse("g.md", "---\ncategory: plan\npriority: huge\nnonsense\nreadMode: always\n---\nbody");
        let shown: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(shown.len(), 4);
        assert!(shown.first().is_some_and(|fault| fault.starts_with("g.md:2: unknown category `plan`")), "{shown:?}");
        assert_eq!(guide.body, "body");
        let (guide, faults) = parse("g.md", "---\ntitle: x\nbody");
        assert_eq!(faults.len(), 1);
        assert!(guide.body.contains("body"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "(---\n)?[a-z:\\[\\]\"', \n-]{0,80}(---\n)?.{0,10}") {
            let _ = parse("g.md", &text);
        }
    }
}
