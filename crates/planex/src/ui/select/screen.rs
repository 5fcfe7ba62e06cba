//! The terminal while a question is open. Standard error, which is one; `/dev/tty` is not opened (spec 80).

use std::io::Write as _;
use std::time::Duration;

use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, poll, read,
};
use crossterm::terminal::{Clear, ClearType, disable_raw_mode, enable_raw_mode};
use crossterm::{cursor, queue};
use planex_core::text::{one_line, wrap};
use planex_sys::terminal::{self, wait_for_input};

use super::super::colour::{Colours, Tone};
use super::paint::{Kind, Row};
use super::state::{Input, Key, Step};
use super::{Outside, Reply};

/// How often what happens outside is looked at.
const POLL: Duration = Duration::from_millis(200);

/// How a question ended.
pub(super) enum Outcome<A, T> {
    Done(A),
    Outside(T),
    Left,
}

/// Gives the terminal back as it was. Does nothing where nothing was taken; safe to call twice, and in a panic.
pub(crate) fn restore() {
    if crossterm::terminal::is_raw_mode_enabled().unwrap_or(false) {
        let _ = queue!(std::io::stderr(), cursor::Show, DisableBracketedPaste);
        let _ = std::io::stderr().flush();
        let _ = disable_raw_mode();
    }
}

/// Columns and rows of the terminal.
fn size() -> (usize, usize) {
    let size = terminal_size::terminal_size_of(std::io::stderr());
    let (columns, rows) = size.map_or((80, 24), |(width, height)| (usize::from(width.0), usize::from(height.0)));
    // A terminal that tells no size is taken for a common one.
    (if columns < 4 { 80 } else { columns }, if rows == 0 { 24 } else { rows })
}

/// One question on the terminal; raw mode from its making to its end.
pub(super) struct Screen {
    colours: Colours,
    /// Lines drawn above the one the cursor stands on, and below the first.
    above: usize,
    drawn: bool,
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

impl Screen {
    /// Asks: the question stands, what can be answered is drawn below it.
    pub(super) fn open(question: &str, colours: Colours) -> Self {
        // Without raw mode the keys come with Enter only, which is still an answer.
        let _ = enable_raw_mode();
        let mut out = String::new();
        for line in wrap(&one_line(question), size().0) {
            out.push_str(&colours.paint(Tone::Title, &line));
            out.push_str("\r\n");
        }
        put(&out);
        let _ = queue!(std::io::stderr(), EnableBracketedPaste);
        Self { colours, above: 0, drawn: false }
    }

    /// Takes keys until there is an answer, from here or from outside.
    pub(super) fn ask<I: Input, T>(&mut self, input: &mut I, outside: &Outside<'_, T>) -> Outcome<I::Answer, T> {
        self.draw(input);
        loop {
            if let Some(answer) = (outside.answer)() {
                return Outcome::Outside(answer);
            }
            if (outside.ended)() {
                return Outcome::Left;
            }
            // A terminal that was closed must not be read: the reader would spin for ever.
            if wait_for_input(POLL) == terminal::Input::Gone {
                return Outcome::Left;
            }
            // Not only keys: a resize comes from here too.
            match poll(Duration::ZERO) {
                Ok(false) => continue,
                Ok(true) => {}
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => return Outcome::Left,
            }
            match read() {
                Ok(Event::Resize(..)) => self.draw(input),
                Ok(event) => {
                    let Some(key) = key(event) else { continue };
                    match input.key(key) {
                        Step::Stay => self.draw(input),
                        Step::Done(answer) => return Outcome::Done(answer),
                        Step::Leave => return Outcome::Left,
                    }
                }
                Err(_) => return Outcome::Left,
            }
        }
    }

    /// Takes the question's lines away and leaves one in their place.
    pub(super) fn close(&mut self, last: &str) {
        let mut bytes = self.wiped();
        for line in wrap(last, size().0) {
            bytes.push_str(&line);
            bytes.push_str("\r\n");
        }
        put(&bytes);
        restore();
    }

    /// The same for what is no answer of someone here.
    pub(super) fn leave<A, B, T>(&mut self, outcome: Outcome<A, T>) -> Reply<B, T> {
        put(&self.wiped());
        restore();
        match outcome {
            Outcome::Outside(answer) => Reply::Outside(answer),
            Outcome::Left | Outcome::Done(_) => Reply::Left,
        }
    }

    /// What takes the drawn lines away.
    fn wiped(&mut self) -> String {
        let mut bytes = Vec::new();
        if self.drawn {
            // After the terminal became narrower this may leave parts of old lines; it never takes away what stood above.
            if let Ok(above @ 1..) = u16::try_from(self.above) {
                let _ = queue!(bytes, cursor::MoveUp(above));
            }
            let _ = queue!(bytes, cursor::MoveToColumn(0), Clear(ClearType::FromCursorDown));
        }
        self.drawn = false;
        self.above = 0;
        String::from_utf8(bytes).unwrap_or_default()
    }

    fn draw(&mut self, input: &impl Input) {
        let (columns, rows) = size();
        // The last column stays free: some terminals break a line that fills it.
        let (lines, caret) = input.lines(columns - 1, rows.saturating_sub(1).max(1));
        let mut out = self.wiped();
        let text: Vec<String> = lines.iter().map(|row| self.paint(row)).collect();
        out.push_str(&text.join("\r\n"));
        let mut bytes = out.into_bytes();
        let last = lines.len().saturating_sub(1);
        self.above = last;
        match caret {
            None => {
                let _ = queue!(bytes, cursor::Hide);
            }
            Some((line, column)) => {
                if let Ok(up @ 1..) = u16::try_from(last - line.min(last)) {
                    let _ = queue!(bytes, cursor::MoveUp(up));
                }
                let column = u16::try_from(column).unwrap_or(u16::MAX);
                let _ = queue!(bytes, cursor::MoveToColumn(column), cursor::Show);
                self.above = line.min(last);
            }
        }
        self.drawn = true;
        put(&String::from_utf8(bytes).unwrap_or_default());
    }

    fn paint(&self, row: &Row) -> String {
        match row.kind {
            Kind::Chosen => self.colours.paint(Tone::Hint, &row.text),
            Kind::Plain => row.text.clone(),
            Kind::Help => self.colours.paint(Tone::Dim, &row.text),
        }
    }
}

/// One write, so that nothing comes in between; a terminal that is gone shows nothing.
fn put(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes());
    let _ = stderr.flush();
}

/// What a key press means here.
fn key(event: Event) -> Option<Key> {
    let KeyEvent { code, modifiers, kind, .. } = match event {
        Event::Key(key) => key,
        Event::Paste(text) => return Some(Key::Paste(text)),
        Event::FocusGained | Event::FocusLost | Event::Mouse(_) | Event::Resize(..) => return None,
    };
    if kind == KeyEventKind::Release {
        return None;
    }
    let control = modifiers.contains(KeyModifiers::CONTROL);
    match code {
        KeyCode::Char('c') if control => Some(Key::Leave),
        KeyCode::Char('d') if control => Some(Key::End),
        KeyCode::Char('u') if control => Some(Key::DeleteLine),
        KeyCode::Char('w') if control => Some(Key::DeleteWord),
        KeyCode::Char('p') if control => Some(Key::Up),
        KeyCode::Char('n') if control => Some(Key::Down),
        KeyCode::Char('j' | 'm') if control => Some(Key::Enter),
        KeyCode::Char(c) if !control && !modifiers.contains(KeyModifiers::ALT) => Some(Key::Char(c)),
        KeyCode::Up | KeyCode::BackTab => Some(Key::Up),
        KeyCode::Down | KeyCode::Tab => Some(Key::Down),
        KeyCode::Home | KeyCode::PageUp => Some(Key::First),
        KeyCode::End | KeyCode::PageDown => Some(Key::Last),
        KeyCode::Backspace => Some(Key::Backspace),
        KeyCode::Enter => Some(Key::Enter),
        KeyCode::Esc => Some(Key::Leave),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_mean_what_they_say() {
        let press = |code, modifiers| key(Event::Key(KeyEvent::new(code, modifiers)));
        for (code, modifiers, expected) in [
            (KeyCode::Char('c'), KeyModifiers::CONTROL, Some(Key::Leave)),
            (KeyCode::Char('c'), KeyModifiers::NONE, Some(Key::Char('c'))),
            (KeyCode::Char('J'), KeyModifiers::SHIFT, Some(Key::Char('J'))),
            (KeyCode::Esc, KeyModifiers::NONE, Some(Key::Leave)),
            (KeyCode::Tab, KeyModifiers::NONE, Some(Key::Down)),
            (KeyCode::Char('x'), KeyModifiers::ALT, None),
            (KeyCode::F(1), KeyModifiers::NONE, None),
        ] {
            assert_eq!(press(code, modifiers), expected, "{code:?}");
        }
        let mut released = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
        released.kind = KeyEventKind::Release;
        assert_eq!(key(Event::Key(released)), None);
        assert_eq!(key(Event::Paste("x".into())), Some(Key::Paste("x".into())));
    }

    #[test]
    fn giving_back_what_was_not_taken_is_nothing() {
        restore();
        restore();
    }
}
