//! The table of messages: what gates, progress and errors say, in English, Japanese and Chinese (spec 80, *Terminal*).
//!
//! **To add a message**, add one line to the table in `lang/table.rs`:
//!
//! ```text
//! WaveStarted: "wave {wave} of {of}: {count} tasks";
//! ```
//!
//! and say it with `tr(lang, Msg::WaveStarted, &[("wave", "1"), ("of", "3"), ("count", "4")])`. The name is that of a
//! variant of [`Msg`], its English text its documentation. Parameters stand in braces; a value is put in once and never
//! looked into. Translations follow the English text (`ja "…"`, `zh "…"`, in this order, each optional); until they are
//! there English is said. Tests hold that the placeholders of all languages agree and that no name is there twice.
//!
//! What does not belong here: words of the interface (statuses, ids of options, field names), which are the same in every
//! language, and what goes into files for machines or into prompts, which is English.

mod table;

pub use crate::settings::Language;
pub use table::Msg;

/// The texts of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Texts {
    /// English; always there.
    pub en: &'static str,
    /// Japanese.
    pub ja: Option<&'static str>,
    /// Chinese.
    pub zh: Option<&'static str>,
}

impl Texts {
    /// The text in `language`, else in English.
    #[must_use]
    pub fn text(&self, language: Language) -> &'static str {
        match language {
            Language::En => None,
            Language::Ja => self.ja,
            Language::Zh => self.zh,
        }
        .unwrap_or(self.en)
    }
}

/// Says `message` in `language`, each `{name}` replaced by its parameter. A name without a parameter stays visible.
#[must_use]
pub fn tr(language: Language, message: Msg, parameters: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for part in parts(message.texts().text(language)) {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Name(name, written) => {
                let value = parameters.iter().find(|(given, _)| *given == name).map(|(_, value)| *value);
                debug_assert!(value.is_some(), "{message:?} needs the parameter {name}");
                out.push_str(value.unwrap_or(written));
            }
        }
    }
    out
}

/// The language of a locale as `LC_ALL`, `LC_MESSAGES` or `LANG` name it (`ja_JP.UTF-8`), or of the setting `lang`.
/// `None`: none that planex speaks.
#[must_use]
pub fn parse_language(locale: &str) -> Option<Language> {
    let word = locale.trim().split(['_', '.', '-', '@']).next().unwrap_or_default().to_ascii_lowercase();
    match word.as_str() {
        "en" | "c" | "posix" => Some(Language::En),
        "ja" => Some(Language::Ja),
        "zh" => Some(Language::Zh),
        _ => None,
    }
}

enum Part<'t> {
    Text(&'t str),
    /// A parameter's name, and the same with its braces.
    Name(&'t str, &'t str),
}

/// Cuts a text at its placeholders: `{`, small letters, digits and `_`, `}`. Other braces are text.
fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((name, behind)) = placeholder(rest) {
            let written = rest.get(..rest.len() - behind.len()).unwrap_or_default();
            rest = behind;
            return Some(Part::Name(name, written));
        }
        let from = usize::from(rest.starts_with('{'));
        let end = rest.get(from..).and_then(|tail| tail.find('{')).map_or(rest.len(), |at| at + from);
        let (head, tail) = rest.split_at(end);
        rest = tail;
        Some(Part::Text(head))
    })
}

fn placeholder(text: &str) -> Option<(&str, &str)> {
    let (name, behind) = text.strip_prefix('{')?.split_once('}')?;
    let good = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    good.then_some((name, behind))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{Language, Msg, Part, parse_language, parts, tr};

    fn names(text: &str) -> BTreeSet<&str> {
        parts(text).filter_map(|part| if let Part::Name(name, _) = part { Some(name) } else { None }).collect()
    }

    #[test]
    fn every_message_has_english_and_its_translations_agree() {
        let mut seen = BTreeSet::new();
        for message in Msg::ALL {
            let texts = message.texts();
            assert!(!texts.en.trim().is_empty(), "{message:?}");
            assert!(seen.insert(format!("{message:?}")), "{message:?} is there twice");
            for other in [texts.ja, texts.zh].into_iter().flatten() {
                assert!(!other.trim().is_empty(), "{message:?}");
                assert_eq!(names(texts.en), names(other), "{message:?}");
            }
        }
    }

    #[test]
    fn parameters_are_put_in_once() {
        let params = [("gate", "{command}"), ("command", "planex answer s q=x")];
        let said = tr(Language::En, Msg::StoppedAtGate, &params);
        assert_eq!(said, "stopped at the gate `{command}`; answer it with: planex answer s q=x");
        assert_eq!(tr(Language::Zh, Msg::OptionApprove, &[]), tr(Language::Zh, Msg::OptionApprove, &[("unused", "x")]));
    }

    #[test]
    fn braces_that_are_no_placeholder_are_text() {
        let written = |text| {
            parts(text)
                .map(|part| match part {
                    Part::Text(t) | Part::Name(_, t) => t,
                })
                .collect::<String>()
        };
        for text in ["{", "}", "{}", "{A}", "a{b", "{a}{b_1}c{", "{{a}}"] {
            assert_eq!(written(text), text);
        }
        assert_eq!(names("{{a}} {b_1} {C} { d }"), BTreeSet::from(["a", "b_1"]));
    }

    #[test]
    fn locales_are_read() {
        for (locale, expected) in [
            ("ja_JP.UTF-8", Some(Language::Ja)),
            ("zh-TW", Some(Language::Zh)),
            ("en", Some(Language::En)),
            ("C.UTF-8", Some(Language::En)),
            ("de_DE", None),
            ("", None),
        ] {
            assert_eq!(parse_language(locale), expected, "{locale}");
        }
    }

    proptest! {
        #[test]
        fn cutting_loses_nothing(text in "[{}a-z_A é]{0,40}") {
            let joined: String = parts(&text).map(|part| match part { Part::Text(t) | Part::Name(_, t) => t }).collect();
            prop_assert_eq!(joined, text);
        }
    }
}
