//! What keys do, as pure functions.

use super::Item;

/// A key, as far as it means something here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    Up,
    Down,
    First,
    Last,
    Char(char),
    Paste(String),
    Backspace,
    /// Ctrl-U.
    DeleteLine,
    /// Ctrl-W.
    DeleteWord,
    Enter,
    /// Esc, Ctrl-C.
    Leave,
    /// Ctrl-D: leaves where nothing is typed.
    End,
}

/// What a key led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step<A> {
    Stay,
    Done(A),
    Leave,
}

/// Something that takes keys and comes to an answer.
pub(super) trait Input {
    /// What it comes to.
    type Answer;

    /// Takes one key.
    fn key(&mut self, key: Key) -> Step<Self::Answer>;

    /// Its lines, and the place of the text cursor if it has one: line, column.
    fn lines(&self, columns: usize, rows: usize) -> (Vec<super::paint::Row>, Option<(usize, usize)>);
}

/// A list to choose from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Menu {
    pub(super) items: Vec<Item>,
    pub(super) at: usize,
    /// Letters typed so far, lower-case; they are the beginning of the label at the cursor.
    typed: String,
}

impl Menu {
    pub(super) fn new(items: Vec<Item>, start: usize) -> Self {
        let at = start.min(items.len().saturating_sub(1));
        Self { items, at, typed: String::new() }
    }

    pub(super) fn label(&self, at: usize) -> &str {
        self.items.get(at).map_or("", |item| item.label.as_str())
    }

    fn go(&mut self, at: usize) {
        self.at = at;
        self.typed.clear();
    }

    fn last(&self) -> usize {
        self.items.len().saturating_sub(1)
    }

    /// A letter: the next label that goes on like this, else one that begins with it; `j` and `k` move where no label
    /// begins with them. A digit: that place.
    fn char(&mut self, c: char) {
        let more = format!("{}{}", self.typed, c.to_lowercase());
        let alone: String = c.to_lowercase().collect();
        for wanted in [more, alone] {
            if let Some(at) = self.starting(&wanted) {
                self.at = at;
                self.typed = wanted;
                return;
            }
        }
        match (c, c.to_digit(10)) {
            ('j', _) => self.go(if self.at == self.last() { 0 } else { self.at + 1 }),
            ('k', _) => self.go(self.at.checked_sub(1).unwrap_or_else(|| self.last())),
            (_, Some(digit @ 1..)) if (digit as usize) <= self.items.len() => self.go(digit as usize - 1),
            _ => self.typed.clear(),
        }
    }

    /// The first item at or below the cursor, then from the top, whose label begins with `wanted`.
    fn starting(&self, wanted: &str) -> Option<usize> {
        let count = self.items.len();
        let begins = |at: &usize| self.label(*at).to_lowercase().starts_with(wanted);
        (0..count).map(|step| (self.at + step) % count.max(1)).find(begins)
    }
}

impl Input for Menu {
    type Answer = usize;

    fn key(&mut self, key: Key) -> Step<usize> {
        match key {
            Key::Up => self.go(self.at.checked_sub(1).unwrap_or_else(|| self.last())),
            Key::Down => self.go(if self.at >= self.last() { 0 } else { self.at + 1 }),
            Key::First => self.go(0),
            Key::Last => self.go(self.last()),
            Key::Char(c) => self.char(c),
            Key::Backspace | Key::DeleteLine | Key::DeleteWord => self.typed.clear(),
            // Pasted text is no choice.
            Key::Paste(_) => {}
            Key::Enter => return Step::Done(self.at),
            Key::Leave | Key::End => return Step::Leave,
        }
        Step::Stay
    }

    fn lines(&self, columns: usize, rows: usize) -> (Vec<super::paint::Row>, Option<(usize, usize)>) {
        (super::paint::menu(self, columns, rows), None)
    }
}

/// Most bytes of a typed answer.
const MOST: usize = 16 * 1024;

/// A line of text being typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) text: String,
}

impl Line {
    fn push(&mut self, text: &str) {
        let clean = planex_core::text::strip_controls(&text.replace(['\n', '\r', '\t'], " "));
        let room = MOST.saturating_sub(self.text.len());
        self.text.push_str(clean.get(..clean.floor_char_boundary(room)).unwrap_or_default());
    }
}

impl Input for Line {
    type Answer = String;

    fn key(&mut self, key: Key) -> Step<String> {
        match key {
            Key::Char(c) => self.push(c.encode_utf8(&mut [0; 4])),
            Key::Paste(text) => self.push(&text),
            Key::Backspace => drop(self.text.pop()),
            Key::DeleteLine => self.text.clear(),
            Key::DeleteWord => {
                let end = self.text.trim_end().rfind(' ').map_or(0, |at| at + 1);
                self.text.truncate(end);
            }
            // An empty answer is none; the question stays.
            Key::Enter if self.text.trim().is_empty() => {}
            Key::Enter => return Step::Done(self.text.trim().to_owned()),
            Key::End if !self.text.is_empty() => {}
            Key::Leave | Key::End => return Step::Leave,
            Key::Up | Key::Down | Key::First | Key::Last => {}
        }
        Step::Stay
    }

    fn lines(&self, columns: usize, rows: usize) -> (Vec<super::paint::Row>, Option<(usize, usize)>) {
        let (lines, cursor) = super::paint::line(self, columns, rows);
        (lines, Some(cursor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn menu(labels: &[&str]) -> Menu {
        Menu::new(labels.iter().map(|label| Item::new(label, "")).collect(), 0)
    }

    fn after(labels: &[&str], keys: &[Key]) -> usize {
        let mut menu = menu(labels);
        for key in keys {
            assert_eq!(menu.key(key.clone()), Step::Stay, "{key:?}");
        }
        menu.at
    }

    const GATE: [&str; 3] = ["Approve", "Modify", "Cancel"];

    #[test]
    fn arrows_and_letters_move_and_wrap_around() {
        use Key::{Char, Down, First, Last, Up};
        for (keys, at) in [
            (&[Down][..], 1),
            (&[Down, Down, Down], 0),
            (&[Up], 2),
            (&[Last], 2),
            (&[Last, First], 0),
            (&[Char('j'), Char('j')], 2),
            (&[Char('k')], 2),
            (&[Char('j'), Char('j'), Char('j')], 0),
            (&[Char('3')], 2),
            (&[Char('4')], 0),
            (&[Char('0')], 0),
            (&[Char('C')], 2),
            (&[Char('m'), Char('o'), Char('d')], 1),
            (&[Char('m'), Char('c')], 2),
            (&[Char('x')], 0),
            (&[Key::Paste("cancel".into())], 0),
        ] {
            assert_eq!(after(&GATE, keys), at, "{keys:?}");
        }
    }

    #[test]
    fn typing_ahead_tells_labels_with_one_beginning_apart() {
        use Key::Char;
        let labels = ["Retry all", "Retry failed", "Keep", "Stop"];
        for (typed, at) in [("r", 0), ("retry f", 1), ("k", 2), ("retry a", 0), ("j", 1), ("rs", 3)] {
            let keys: Vec<Key> = typed.chars().map(Char).collect();
            assert_eq!(after(&labels, &keys), at, "{typed}");
        }
        // Japanese labels are reached as they are written.
        assert_eq!(after(&["承認", "修正", "中止"], &[Char('中')]), 2);
    }

    #[test]
    fn enter_takes_and_escape_leaves() {
        let mut menu = menu(&GATE);
        menu.key(Key::Down);
        assert_eq!(menu.key(Key::Enter), Step::Done(1));
        assert_eq!(menu.key(Key::Leave), Step::Leave);
        assert_eq!(menu.key(Key::End), Step::Leave);
        let mut empty = Menu::new(Vec::new(), 5);
        for key in [Key::Up, Key::Down, Key::Last, Key::Char('j'), Key::Char('k'), Key::Char('1')] {
            assert_eq!(empty.key(key), Step::Stay);
        }
    }

    #[test]
    fn a_line_is_edited_and_an_empty_one_is_no_answer() {
        let mut line = Line::default();
        assert_eq!(line.key(Key::Enter), Step::Stay);
        for c in "use 日本".chars() {
            line.key(Key::Char(c));
        }
        line.key(Key::Backspace);
        line.key(Key::Paste("x\ny\u{1b}[31m".into()));
        assert_eq!(line.text, "use 日x y");
        assert_eq!(line.key(Key::End), Step::Stay);
        line.key(Key::DeleteWord);
        assert_eq!(line.key(Key::Enter), Step::Done("use 日x".into()));
        line.key(Key::DeleteLine);
        assert_eq!(line.key(Key::End), Step::Leave);
    }

    #[test]
    fn what_is_pasted_is_bounded() {
        let mut line = Line::default();
        line.key(Key::Paste("語".repeat(MOST)));
        line.key(Key::Char('語'));
        assert!(line.text.len() <= MOST && line.text.len() > MOST - 3);
    }
}
