//! A requirement that is a list, as its items.

use std::sync::LazyLock;

use regex::Regex;

static MARK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(\s*)(?:[-*+•・●]\s+(?:\[[ xX]\]\s*)?|\(?\d{1,2}[.)、．]\s*|[①-⑳]\s*|（\d{1,2}）\s*)(\S.*)$").ok()
});
static INLINE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:^|[\s:：;；,，、。])(?:\(?\d{1,2}[.)、．]|[①-⑳])\s*").ok());
static THEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:[,;.]\s*|\s+)(?:and then|then also|and finally|after that)\s+|[,;]\s*then\s+|(?:、|。)?(?:その後|そのあと|それから|さらに)、?|[，。；]?(?:然后|接着|并且然后)，?").ok()
});

/// Most items that become tasks of their own.
const MAX_ITEMS: usize = 20;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// What to do, its further lines included.
    pub(crate) text: String,
    /// It builds on the item before it ("and then").
    pub(crate) follows: bool,
}

/// The items of a requirement; one item when it is no list.
pub(crate) fn split_requirement(text: &str) -> Vec<Item> {
    let listed = by_lines(text);
    if listed.len() >= 2 {
        return listed.into_iter().take(MAX_ITEMS).map(|text| Item { text, follows: false }).collect();
    }
    let flat = text.trim();
    // Only short texts are sentences that list; in an issue, numbers and "then" belong to the story.
    if flat.chars().count() <= 600 && flat.lines().count() <= 3 {
        let inline = by_numbers(flat);
        if inline.len() >= 2 {
            return inline.into_iter().take(MAX_ITEMS).map(|text| Item { text, follows: false }).collect();
        }
        let steps: Vec<&str> = pieces(&THEN, flat).into_iter().filter(|p| p.chars().count() >= 4).collect();
        if steps.len() >= 2 {
            return steps
                .into_iter()
                .enumerate()
                .map(|(n, text)| Item { text: text.to_owned(), follows: n > 0 })
                .collect();
        }
    }
    if flat.is_empty() { Vec::new() } else { vec![Item { text: flat.to_owned(), follows: false }] }
}

fn pieces<'t>(regex: &LazyLock<Option<Regex>>, text: &'t str) -> Vec<&'t str> {
    let Some(regex) = LazyLock::force(regex).as_ref() else { return vec![text] };
    regex.split(text).map(str::trim).filter(|p| !p.is_empty()).collect()
}

/// Items of a Markdown list at its outermost level; deeper and plain lines belong to the item before.
fn by_lines(text: &str) -> Vec<String> {
    let Some(regex) = LazyLock::force(&MARK).as_ref() else { return Vec::new() };
    let mut items: Vec<String> = Vec::new();
    let mut outer: Option<usize> = None;
    let mut fenced = false;
    let mut plain = 0;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let mark = regex.captures(line).filter(|_| !fenced);
        let depth = mark.as_ref().and_then(|c| c.get(1)).map_or(0, |m| m.as_str().chars().count());
        let body = mark.as_ref().and_then(|c| c.get(2)).map(|m| m.as_str().trim());
        match body {
            Some(body) if outer.is_none_or(|o| depth <= o) => {
                outer = Some(depth);
                items.push(body.to_owned());
            }
            _ if line.trim().is_empty() => {}
            _ if outer.is_some() && (depth > 0 || line.starts_with([' ', '\t']) || fenced) => {
                if let Some(last) = items.last_mut() {
                    last.push('\n');
                    last.push_str(line.trim());
                }
            }
            _ => plain += 1,
        }
    }
    // A long text with a list in it ("steps to reproduce") is not a list of wishes.
    if plain > 2 && plain >= items.len() { Vec::new() } else { items }
}

/// `1. a 2. b` and `① a ② b` on one line; the numbers must count up from 1.
fn by_numbers(text: &str) -> Vec<String> {
    let Some(regex) = LazyLock::force(&INLINE).as_ref() else { return Vec::new() };
    let marks: Vec<_> = regex.find_iter(text).collect();
    let value = |mark: &str| -> u32 {
        let digits: String = mark.chars().filter(char::is_ascii_digit).collect();
        let circled = mark.chars().find_map(|c| u32::from(c).checked_sub(0x245F).filter(|n| (1..=20).contains(n)));
        digits.parse().ok().or(circled).unwrap_or(0)
    };
    let counts_up = marks.iter().zip(1..).all(|(m, n)| value(m.as_str()) == n);
    if marks.len() < 2 || !counts_up {
        return Vec::new();
    }
    let ends = marks.iter().skip(1).map(regex::Match::start).chain([text.len()]);
    let item = |(mark, end): (&regex::Match<'_>, usize)| {
        text.get(mark.end()..end).unwrap_or_default().trim().trim_end_matches([',', ';', '、', '；', '，']).to_owned()
    };
    marks.iter().zip(ends).map(item).filter(|i| !i.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        split_requirement(text).into_iter().map(|i| i.text).collect()
    }

    #[test]
    fn lists_become_items() {
        assert_eq!(texts("Do:\n- add a\n- add b\n  - with detail\n"), ["add a", "add b\n- with detail"]);
        assert_eq!(texts("1. add a\n2) add b"), ["add a", "add b"]);
        assert_eq!(texts("1. add json output 2. add tests"), ["add json output", "add tests"]);
        assert_eq!(texts("①検索を追加 ②設定を保存"), ["検索を追加", "設定を保存"]);
        assert_eq!(texts("１つだけ"), ["１つだけ"]);
        assert_eq!(texts("- [ ] one thing\n- [x] other thing"), ["one thing", "other thing"]);
    }

    #[test]
    fn steps_follow_each_other() {
        let items = split_requirement("Add a config file, and then read it at start");
        assert_eq!(
            items,
            [
                Item { text: "Add a config file".into(), follows: false },
                Item { text: "read it at start".into(), follows: true }
            ]
        );
        assert_eq!(split_requirement("設定を追加し、その後テストを書く").len(), 2);
    }

    #[test]
    fn stories_stay_whole() {
        assert_eq!(texts("Upgrade to version 2. It is needed").len(), 1);
        let issue = "It crashes.\nI opened the app.\nSteps:\n1. open\n2. click\nIt then dies.\nPlease help.";
        assert_eq!(texts(issue).len(), 1);
        assert!(texts("  ").is_empty());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_split(text in "\\PC*") {
            assert!(split_requirement(&text).iter().all(|i| !i.text.is_empty()));
        }
    }
}
