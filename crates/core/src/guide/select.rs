//! Which guidelines a phase reads, and how much of them.

use super::{Category, Guideline};

/// Most characters of the guidelines in a prompt.
pub const LIMIT: usize = 8_000;

/// The guidelines that apply to `categories` (the general ones always do), heaviest first: required ones, and optional
/// ones that share a keyword with `words`.
#[must_use]
pub fn applying<'a>(guides: &'a [Guideline], categories: &[Category], words: &[String]) -> Vec<&'a Guideline> {
    let words: Vec<String> = words.iter().map(|word| word.trim().to_lowercase()).collect();
    let mut picked: Vec<&Guideline> = guides
        .iter()
        .filter(|guide| guide.category == Category::General || categories.contains(&guide.category))
        .filter(|guide| guide.required || guide.keywords.iter().any(|word| words.contains(&word.trim().to_lowercase())))
        .collect();
    picked.sort_by(|a, b| (a.priority, !a.required, &a.name).cmp(&(b.priority, !b.required, &b.name)));
    picked
}

/// The guidelines as Markdown, at most `limit` characters; what does not fit is left out between sections, and said.
#[must_use]
pub fn render(guides: &[&Guideline], limit: usize) -> String {
    let mut out = String::new();
    let mut left_out = 0;
    for guide in guides {
        for (at, section) in sections(&guide.body).into_iter().enumerate() {
            let text = if at == 0 { format!("## {}\n\n{section}", guide.title) } else { section };
            let text = format!("{}\n\n", text.trim());
            // The last line below has to fit as well.
            if out.chars().count() + text.chars().count() + 60 <= limit {
                out.push_str(&text);
            } else {
                left_out += 1;
            }
        }
    }
    if left_out > 0 {
        out.push_str(&format!("({left_out} sections left out for length)\n"));
    }
    out.trim_end().to_owned()
}

/// Splits Markdown in front of its headings; headings in code blocks are none.
fn sections(body: &str) -> Vec<String> {
    let mut sections: Vec<String> = Vec::new();
    let mut section = String::new();
    let mut fenced = false;
    for line in body.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if !fenced && line.starts_with('#') && !section.trim().is_empty() {
            sections.push(std::mem::take(&mut section));
        }
        section.push_str(line);
        section.push('\n');
    }
    sections.push(section);
    sections
}

#[cfg(test)]
mod tests {
    use super::super::Priority;
    use super::*;

    fn guide(name: &str, category: Category, required: bool, keywords: &[&str], priority: Priority) -> Guideline {
        Guideline {
            name: name.into(),
            title: name.into(),
            category,
            required,
            priority,
            keywords: keywords.iter().map(|&word| word.to_owned()).collect(),
            body: "text".into(),
            ..Guideline::default()
        }
    }

    #[test]
    fn required_and_matching_ones_apply_by_priority() {
        let guides = [
            guide("low", Category::Planning, true, &[], Priority::Low),
            guide("general", Category::General, true, &[], Priority::Medium),
            guide("word", Category::Planning, false, &["Auth"], Priority::Critical),
            guide("no-word", Category::Planning, false, &["billing"], Priority::Critical),
            guide("other", Category::Test, true, &[], Priority::Critical),
        ];
        let names = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            let picked = applying(&guides, &[Category::Planning], &words);
            picked.iter().map(|guide| guide.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&["auth"]), ["word", "general", "low"]);
        assert_eq!(names(&[]), ["general", "low"]);
    }

    #[test]
    fn the_cut_is_between_sections() {
        let mut long = guide("long", Category::General, true, &[], Priority::High);
        long.body =
            format!("intro\n\n# One\n{}\n# Two\n```\n# not a heading\n```\n{}\n", "a".repeat(200), "b".repeat(500));
        let text = render(&[&long], 400);
        assert!(text.chars().count() <= 400);
        assert!(text.starts_with("## long\n\nintro") && text.contains("# One") && !text.contains("# Two"), "{text}");
        assert!(text.ends_with("(1 sections left out for length)"));
        assert!(render(&[&long], LIMIT).contains("# not a heading"));
        assert_eq!(render(&[], LIMIT), "");
    }
}
