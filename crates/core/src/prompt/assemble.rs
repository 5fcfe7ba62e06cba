//! Fitting sections into a cap.

use crate::text;

/// One section of a prompt, in up to three forms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    title: String,
    importance: u8,
    /// Longest form first.
    forms: Vec<String>,
}

impl Section {
    /// A section that must be there in whole; only the very cap can cut it.
    #[must_use]
    pub fn fixed(title: &str, body: impl Into<String>) -> Self {
        Self { title: title.to_owned(), importance: u8::MAX, forms: vec![body.into()] }
    }

    /// A section that may shrink. Higher `importance` is granted its longest form first.
    #[must_use]
    pub fn shrinking(title: &str, importance: u8, whole: impl Into<String>) -> Self {
        Self { title: title.to_owned(), importance: importance.min(u8::MAX - 1), forms: vec![whole.into()] }
    }

    /// Adds a shorter form: a digest, or a path to read.
    #[must_use]
    pub fn or(mut self, shorter: impl Into<String>) -> Self {
        self.forms.push(shorter.into());
        self
    }

    fn is_empty(&self) -> bool {
        self.forms.iter().all(|form| form.trim().is_empty())
    }

    fn render(&self, form: usize) -> String {
        let body = self.forms.get(form).map_or("", |body| body.trim_end());
        if self.title.is_empty() { format!("{body}\n") } else { format!("## {}\n\n{body}\n", self.title) }
    }

    fn size(&self, form: usize) -> usize {
        self.render(form).len() + 1
    }
}

/// Joins the sections in their order, within `cap` bytes.
///
/// Every section starts in its shortest form; in order of importance each gets the longest form that still fits. Empty
/// sections are left out. If even the shortest forms don't fit, the least important bodies are cut, head and tail kept.
#[must_use]
pub fn assemble(sections: Vec<Section>, cap: usize) -> String {
    let sections: Vec<Section> = sections.into_iter().filter(|section| !section.is_empty()).collect();
    let mut chosen: Vec<usize> = sections.iter().map(|section| section.forms.len() - 1).collect();
    let mut used: usize = sections.iter().zip(&chosen).map(|(section, form)| section.size(*form)).sum();
    for index in by_importance(&sections) {
        let (Some(section), Some(current)) = (sections.get(index), chosen.get_mut(index)) else { continue };
        let without = used - section.size(*current);
        if let Some(better) = (0..*current).find(|form| without + section.size(*form) <= cap) {
            used = without + section.size(better);
            *current = better;
        }
    }
    let mut parts: Vec<String> = sections.iter().zip(&chosen).map(|(section, form)| section.render(*form)).collect();
    let mut order = by_importance(&sections);
    order.reverse();
    for index in order {
        let total: usize = parts.iter().map(|part| part.len() + 1).sum();
        let Some(part) = parts.get_mut(index) else { continue };
        if total <= cap {
            break;
        }
        let keep = part.len().saturating_sub(total - cap).max(200);
        *part = text::head_tail(part, keep);
    }
    parts.join("\n")
}

fn by_importance(sections: &[Section]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sections.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(sections.get(*index).map_or(0, |section| section.importance)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_texts_when_they_fit() {
        let out = assemble(vec![Section::fixed("A", "one"), Section::shrinking("B", 1, "long text").or("short")], 1000);
        assert_eq!(out, "## A\n\none\n\n## B\n\nlong text\n");
    }

    #[test]
    fn the_important_one_stays_whole() {
        let sections = vec![
            Section::shrinking("Low", 1, "x".repeat(300)).or("read /low"),
            Section::shrinking("High", 9, "y".repeat(300)).or("read /high"),
        ];
        let out = assemble(sections, 400);
        assert!(out.contains("read /low") && out.contains(&"y".repeat(300)), "{out}");
        assert!(out.len() <= 400);
    }

    #[test]
    fn empty_sections_vanish() {
        assert_eq!(assemble(vec![Section::fixed("A", "  "), Section::fixed("", "text")], 100), "text\n");
    }

    #[test]
    fn the_cap_holds_even_for_one_form() {
        let out =
            assemble(vec![Section::fixed("Task", "t".repeat(50)), Section::shrinking("B", 1, "z".repeat(5000))], 600);
        assert!(out.len() <= 620, "{}", out.len());
        assert!(out.contains(&"t".repeat(50)));
    }
}
