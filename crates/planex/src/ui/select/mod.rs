//! Questions at the terminal that notice when someone else has answered (spec 80, *Gates*: whoever answers first
//! answers).
//!
//! `state` is pure: keys in, state out. `paint` is pure too: state and width in, lines out. `screen` owns the terminal:
//! raw mode while a question is open, restored on every way out, a panic included.

mod paint;
mod screen;
mod state;

use planex_core::text::one_line;

use super::colour::Colours;
pub(crate) use screen::restore;
use screen::{Outcome, Screen};
use state::{Line, Menu};

/// What ends a question from outside: an answer of someone else, or a signal.
pub(crate) struct Outside<'a, T> {
    /// Looked at about five times a second.
    pub(crate) answer: &'a dyn Fn() -> Option<T>,
    /// Whether planex is asked to end.
    pub(crate) ended: &'a dyn Fn() -> bool,
}

/// How a question ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply<A, T> {
    /// By whoever sits at the terminal.
    Given(A),
    /// By someone else.
    Outside(T),
    /// Esc, Ctrl-C, a signal, or the terminal is gone.
    Left,
}

/// One thing that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// What it is called.
    pub(crate) label: String,
    /// What choosing it does; may be empty.
    pub(crate) detail: String,
}

impl Item {
    /// From foreign text.
    pub(crate) fn new(label: &str, detail: &str) -> Self {
        Self { label: one_line(label), detail: one_line(detail) }
    }
}

/// Lets one of `items` be chosen; gives its place. Never called with none.
pub(crate) fn choose<T>(
    question: &str,
    items: Vec<Item>,
    start: usize,
    colours: Colours,
    outside: &Outside<'_, T>,
) -> Reply<usize, T> {
    let mut menu = Menu::new(items, start);
    let mut screen = Screen::open(question, colours);
    match screen.ask(&mut menu, outside) {
        Outcome::Done(at) => {
            screen.close(&format!("> {}", menu.label(at)));
            Reply::Given(at)
        }
        other => screen.leave(other),
    }
}

/// Lets a line of text be typed.
pub(crate) fn write<T>(question: &str, colours: Colours, outside: &Outside<'_, T>) -> Reply<String, T> {
    let mut line = Line::default();
    let mut screen = Screen::open(question, colours);
    match screen.ask(&mut line, outside) {
        Outcome::Done(text) => {
            screen.close(&format!("> {text}"));
            Reply::Given(text)
        }
        other => screen.leave(other),
    }
}

/// Yes or no; no is the default, and what leaving means is the caller's.
pub(crate) fn confirm(question: &str, help: &str, colours: Colours) -> Option<bool> {
    let nobody = Outside::<()> { answer: &|| None, ended: &|| false };
    match choose(question, vec![Item::new("No", ""), Item::new("Yes", help)], 0, colours, &nobody) {
        Reply::Given(at) => Some(at == 1),
        Reply::Outside(()) | Reply::Left => None,
    }
}
