//! Colours by meaning, and when there are any.

use owo_colors::{OwoColorize as _, Style};
use planex_sys::env::Environment;

use crate::cli::ColorWhen;

/// What a piece of text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Went well.
    Good,
    /// Not as wished.
    Warning,
    /// Went wrong.
    Error,
    /// What to do.
    Hint,
    /// A heading.
    Title,
    /// Less important.
    Dim,
}

/// Whether a stream shows colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Colours(bool);

impl Colours {
    /// No colours.
    #[cfg(test)]
    pub(crate) const NONE: Self = Self(false);

    /// `--color` first, then `NO_COLOR`, `CI`, `TERM=dumb` and the missing terminal.
    pub(crate) fn decide(when: ColorWhen, terminal: bool, env: &Environment) -> Self {
        Self(match when {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => {
                terminal
                    && env.non_empty("NO_COLOR").is_none()
                    && env.non_empty("CI").is_none()
                    && env.get("TERM") != Some("dumb")
            }
        })
    }

    /// `text` in the colour of `tone`, or as it is.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        if !self.0 {
            return text.to_owned();
        }
        let style = match tone {
            Tone::Good => Style::new().green(),
            Tone::Warning => Style::new().yellow().bold(),
            Tone::Error => Style::new().red().bold(),
            Tone::Hint => Style::new().cyan(),
            Tone::Title => Style::new().bold(),
            Tone::Dim => Style::new().dimmed(),
        };
        text.style(style).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Environment {
        pairs.iter().copied().collect()
    }

    #[test]
    fn a_flag_beats_the_environment_and_the_terminal() {
        type Case<'a> = (ColorWhen, bool, &'a [(&'a str, &'a str)], bool);
        let table: [Case<'_>; 9] = [
            (ColorWhen::Auto, true, &[], true),
            (ColorWhen::Auto, false, &[], false),
            (ColorWhen::Auto, true, &[("NO_COLOR", "1")], false),
            (ColorWhen::Auto, true, &[("NO_COLOR", "")], true),
            (ColorWhen::Auto, true, &[("CI", "true")], false),
            (ColorWhen::Auto, true, &[("TERM", "dumb")], false),
            (ColorWhen::Always, false, &[("NO_COLOR", "1")], true),
            (ColorWhen::Never, true, &[], false),
            (ColorWhen::Always, true, &[("CI", "1")], true),
        ];
        for (when, terminal, vars, expected) in table {
            assert_eq!(Colours::decide(when, terminal, &env(vars)), Colours(expected), "{when:?} {terminal} {vars:?}");
        }
    }

    #[test]
    fn without_colours_text_stays_as_it_is() {
        assert_eq!(Colours::NONE.paint(Tone::Error, "x"), "x");
        assert_eq!(Colours(true).paint(Tone::Good, "x"), "\u{1b}[32mx\u{1b}[0m");
    }
}
