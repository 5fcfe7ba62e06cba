//! The only place of planex that writes to the terminal.
//!
//! Standard output carries what was asked for (with `--json` only JSON Lines); everything said along the way goes to
//! standard error. Foreign text passes [`planex_core::text::safe`] before it is shown.

pub(crate) mod colour;
pub(crate) mod lines;
mod progress;
pub(crate) mod select;
pub(crate) mod size;
pub(crate) mod table;
pub(crate) mod terminal;

use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use planex_core::text::safe;
use planex_sys::env::Environment;
use serde::Serialize;

use crate::cli::Common;
use crate::error::Exit;
use colour::{Colours, Tone};

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// `-q`.
    Quiet,
    /// Without options.
    Normal,
    /// `-v`.
    Verbose,
}

/// Where everything that people and scripts read goes.
#[derive(Debug, Clone)]
pub(crate) struct Ui {
    json: bool,
    verbosity: Verbosity,
    out: Colours,
    err: Colours,
    interactive: bool,
    progress: bool,
    /// Standard output is no terminal: lines are as long as they are.
    wide: bool,
    broken: Arc<AtomicBool>,
    /// Why standard output could not be written, the first time; a reader that has gone is no reason.
    lost: Arc<OnceLock<String>>,
}

impl Ui {
    /// From the options and the environment.
    pub(crate) fn new(common: &Common, env: &Environment) -> Self {
        let (stdin, stdout, stderr) =
            (std::io::stdin().is_terminal(), std::io::stdout().is_terminal(), std::io::stderr().is_terminal());
        let when = common.color.unwrap_or_default();
        let ci = env.non_empty("CI").is_some_and(|value| value != "false" && value != "0");
        let verbosity = match (common.quiet, common.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, 0) => Verbosity::Normal,
            (false, _) => Verbosity::Verbose,
        };
        let dumb = env.get("TERM") == Some("dumb");
        Self {
            json: common.json,
            verbosity,
            out: Colours::decide(when, stdout, env),
            err: Colours::decide(when, stderr, env),
            interactive: stdin && stderr,
            progress: stderr && !common.no_progress && !ci && !dumb && verbosity > Verbosity::Quiet,
            wide: !stdout,
            broken: Arc::default(),
            lost: Arc::default(),
        }
    }

    /// Whether someone can be asked: standard input and standard error are terminals (spec 80, *Gates*).
    pub(crate) fn is_interactive(&self) -> bool {
        self.interactive
    }

    /// Whether a moving display fits.
    pub(crate) fn shows_progress(&self) -> bool {
        self.progress
    }

    /// Whether standard output is for machines.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// How much is said.
    pub(crate) fn verbosity(&self) -> Verbosity {
        self.verbosity
    }

    /// Whether the reader of standard output or error has gone.
    pub(crate) fn pipe_is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Whether nothing that is written arrives any more: the reader has gone, or the disk is full.
    pub(crate) fn is_in_vain(&self) -> bool {
        self.pipe_is_broken() || self.lost.get().is_some()
    }

    /// The exit code of a command that came to `exit`: what was asked for and could not be written is a failure, said on
    /// standard error (a full disk). A reader that had enough is none.
    pub(crate) fn settle(&mut self, exit: Exit) -> Exit {
        let Some(why) = self.lost.get().cloned() else { return exit };
        let hint = "what is missing there was not written; mend that (a full disk?) and run it again".to_owned();
        self.error(&format!("failed to write to standard output: {why}"), &[], &[hint]);
        if exit == Exit::Done { Exit::Failed } else { exit }
    }

    /// Colours of standard output.
    pub(crate) fn colours(&self) -> Colours {
        if self.json { self.err } else { self.out }
    }

    /// Colours of standard error.
    pub(crate) fn err_colours(&self) -> Colours {
        self.err
    }

    /// What was asked for, for people: standard output, or standard error beside `--json`.
    pub(crate) fn result(&mut self, text: impl Display) {
        if self.json { self.write_err(&text) } else { self.write_out(&text) }
    }

    /// A table: what was asked for, for people. At a terminal lines are cut to its width.
    pub(crate) fn table(&mut self, table: &table::Table) {
        let columns = if self.wide { usize::MAX } else { terminal_width() };
        for line in table.lines(columns) {
            self.result(line);
        }
    }

    /// What was asked for, for machines: one line of JSON on standard output.
    pub(crate) fn json_line(&mut self, value: &impl Serialize) {
        match serde_json::to_string(value) {
            Ok(line) => self.write_out(&line),
            // Only maps with keys that are no strings fail, and none is shown; say it rather than lose it.
            Err(error) => self.write_err(&format!("planex: failed to write JSON: {error}")),
        }
    }

    /// Text that is the whole point of the command (a script, a schema): standard output as it is, also with `--json`.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
        self.note_lost(written);
    }

    /// Said along the way, also with `-q`.
    pub(crate) fn important(&mut self, text: impl Display) {
        self.write_err(&text);
    }

    /// Said along the way; silent with `-q`.
    pub(crate) fn status(&mut self, text: impl Display) {
        if self.verbosity > Verbosity::Quiet {
            self.write_err(&text);
        }
    }

    /// Said along the way with `-v`.
    pub(crate) fn detail(&mut self, text: impl Display) {
        if self.verbosity >= Verbosity::Verbose {
            self.write_err(&text);
        }
    }

    /// Something is not as wished.
    pub(crate) fn warning(&mut self, text: impl Display) {
        let head = self.err.paint(Tone::Warning, "warning:");
        self.write_err(&format!("{head} {text}"));
    }

    /// What the user can do.
    pub(crate) fn hint(&mut self, text: impl Display) {
        let head = self.err.paint(Tone::Hint, "hint:");
        self.write_err(&format!("{head} {text}"));
    }

    /// What went wrong, its faults, then what to do. Faults with places (`FILE:LINE:COLUMN: …`) stand at the start of
    /// their lines, for editors to find.
    pub(crate) fn error(&mut self, message: &str, faults: &[String], hints: &[String]) {
        let head = self.err.paint(Tone::Error, "error:");
        self.write_err(&format!("{head} {}", safe(message)));
        for fault in faults {
            self.write_err(&safe(fault));
        }
        for hint in hints {
            self.hint(safe(hint));
        }
    }

    fn write_out(&mut self, text: &impl Display) {
        let mut stdout = std::io::stdout().lock();
        let written = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
        self.note_lost(written);
    }

    fn write_err(&mut self, text: &impl Display) {
        // One write per message, so that lines of several threads do not mix.
        let written = std::io::stderr().lock().write_all(format!("{text}\n").as_bytes());
        self.note_broken(written);
    }

    fn note_lost(&mut self, written: std::io::Result<()>) {
        match written {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => drop(self.lost.set(error.to_string())),
            other => self.note_broken(other),
        }
    }

    fn note_broken(&mut self, written: std::io::Result<()>) {
        if written.is_err_and(|error| error.kind() == ErrorKind::BrokenPipe) {
            self.broken.store(true, Ordering::Relaxed);
        }
    }
}

/// Columns of the terminal that standard output is; 80 where it does not tell.
fn terminal_width() -> usize {
    let columns = terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
    columns.filter(|columns| *columns >= 20).unwrap_or(80)
}
