//! A text from the command line: given, read from a file or standard input, or written in an editor.

use std::io::{IsTerminal as _, Read as _};

use camino::Utf8Path;
use planex_core::suggest;

use crate::context::Context;
use crate::editor;
use crate::error::{CliError, Result};
use crate::ui::Ui;

/// Most bytes of a requirement; the rest of a longer file would not reach an agent anyway (spec 10, *A job*).
const MOST: u64 = 4 * 1024 * 1024;

/// Takes a positional text. One that starts with `-` is a text only if it has a space in it: `-y is broken` is a
/// requirement, `--yess` is a typing error.
pub(crate) fn text_argument(given: &str) -> Result<String, String> {
    let option_like = given.len() > 1 && given.starts_with('-') && !given.contains(char::is_whitespace);
    // Behind `--` everything is text; clap does not tell a value's parser that it was there.
    if !option_like || std::env::args_os().any(|argument| argument == "--") {
        return Ok(given.to_owned());
    }
    let near = suggest::nearest(given.trim_start_matches('-'), LONG_OPTIONS.iter().copied());
    Err(match near {
        Some(option) => format!("unknown option; did you mean `--{option}`? (a text that starts with - goes after --)"),
        None => "unknown option (a text that starts with - goes after --)".to_owned(),
    })
}

/// Long options that may follow a text, for suggestions; a test holds it against the parser.
pub(crate) const LONG_OPTIONS: &[&str] = &[
    "yes",
    "concurrency",
    "gates",
    "agent",
    "timeout",
    "max-time",
    "max-cost",
    "max-tokens",
    "overlap",
    "isolation",
    "scope",
    "into",
    "no-verify",
    "no-baseline",
    "dry-run",
    "json",
    "cd",
    "trust",
    "verbose",
    "quiet",
    "color",
    "no-progress",
    "help",
    "no-explore",
    "continue",
    "file",
    "angle",
    "paths",
];

/// Reads a text argument: `-` is standard input, an existing `.md` or `.txt` file is read, anything else is the text.
/// Without one an editor opens at a terminal.
///
/// # Errors
/// Exit 2 without a text, exit 3 for an empty or unreadable one.
pub(crate) fn text(given: Option<&str>, what: &str, context: &Context, ui: &mut Ui) -> Result<String> {
    let text = match given {
        Some("-") => from_stdin()?,
        Some(given) if is_text_file(given) => from_file(&context.path(Utf8Path::new(given)))?,
        Some(given) => given.to_owned(),
        None if ui.is_interactive() => editor::write(what, context, ui)?,
        None => {
            return Err(CliError::usage(format!("no {what} given"))
                .hint(format!("give the {what} as an argument, as a .md or .txt file, or `-` for standard input")));
        }
    };
    if text.trim().is_empty() {
        return Err(CliError::input(format!("the {what} is empty")).hint("say in a sentence what is to be done"));
    }
    Ok(text)
}

/// Whether the argument names a file rather than being a text: one word with the ending `.md` or `.txt`.
fn is_text_file(given: &str) -> bool {
    let ending = Utf8Path::new(given).extension().map(str::to_ascii_lowercase);
    matches!(ending.as_deref(), Some("md" | "txt" | "markdown")) && !given.contains('\n')
}

/// All of standard input, as text.
pub(crate) fn from_stdin() -> Result<String> {
    if std::io::stdin().is_terminal() {
        // Not an error: people do type here. Ctrl-D ends it.
        tracing::info!("reading standard input");
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(MOST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| CliError::failed(format!("failed to read standard input: {error}")))?;
    if bytes.len() as u64 > MOST {
        return Err(CliError::input(format!("standard input is longer than {MOST} bytes")));
    }
    decode(bytes).map_err(|fault| CliError::input(format!("standard input: {fault}")))
}

/// A text file given by the user; one that is not there is wrong input (exit 3).
pub(crate) fn from_file(path: &Utf8Path) -> Result<String> {
    let bytes = planex_sys::fs::read_head(path, MOST + 1).map_err(|error| {
        CliError::input(format!("{path}: {}", error.source))
            .hint("give a text, the path of an existing file, or `-` for standard input")
    })?;
    if bytes.len() as u64 > MOST {
        return Err(CliError::input(format!("{path}: longer than {MOST} bytes")));
    }
    decode(bytes).map_err(|fault| CliError::input(format!("{path}: {fault}")))
}

fn decode(bytes: Vec<u8>) -> Result<String, String> {
    let text = String::from_utf8(bytes).map_err(|error| {
        format!("not UTF-8 (first wrong byte at {}); save it as UTF-8", error.utf8_error().valid_up_to())
    })?;
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_a_dash_is_a_text_and_a_typo_is_not() {
        for (given, ok) in [
            ("add a login page", true),
            ("-y is ignored by the parser", true),
            ("--json \"prints\" nothing", true),
            ("-", true),
            ("--yess", false),
            ("-z", false),
        ] {
            assert_eq!(text_argument(given).is_ok(), ok, "{given}");
        }
        assert!(text_argument("--concurency").unwrap_err().contains("--concurrency"));
    }

    #[test]
    fn only_one_word_with_an_ending_is_a_file() {
        for (given, is) in [("todo.md", true), ("docs/a plan.TXT", true), ("fix main.rs", false), ("x\ny.md", false)] {
            assert_eq!(is_text_file(given), is, "{given}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_text() {
        assert_eq!(decode(b"\xef\xbb\xbfx".to_vec()).unwrap(), "x");
        assert!(decode(b"ab\xff".to_vec()).unwrap_err().contains("at 2"));
    }
}
