//! A line as the words that a shell would see, as far as telling a command from a sentence needs it.

/// One word, its quotes removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Whether any part of it is quoted or escaped.
    pub(super) quoted: bool,
    /// Bytes of `text` before its first quote.
    bare: usize,
}

impl Word {
    /// `NAME=value`, the name unquoted.
    pub(super) fn is_assignment(&self) -> bool {
        let bare = if self.quoted { self.text.get(..self.bare).unwrap_or_default() } else { &self.text };
        bare.split_once('=').is_some_and(|(name, _)| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    }
}

/// The words of a line up to its comment; operators (`&&`, `|`, `;`, `>`, parentheses) only part them.
#[derive(Debug, Default)]
pub(super) struct Words {
    done: Vec<Word>,
    open: Option<Word>,
}

impl Words {
    /// `None`: no shell reads this as intended (a quote without an end, a document `<<END` of which it is only the first
    /// line, a call like `Read(x)`), or it is Markdown (a backtick) or English (an apostrophe: `doesn't`).
    pub(super) fn read(line: &str) -> Option<Vec<Word>> {
        let mut words = Self::default();
        let mut rest = line.chars();
        while let Some(c) = rest.next() {
            match c {
                '`' => return None,
                '\'' if words.is_apostrophe(rest.as_str()) => return None,
                '\'' => {
                    let (inside, behind) = rest.as_str().split_once('\'')?;
                    words.quote(inside);
                    rest = behind.chars();
                }
                '"' => words.double_quoted(&mut rest)?,
                '\\' => words.quote(rest.next().unwrap_or('\\').encode_utf8(&mut [0; 4])),
                '#' if words.open.is_none() => break,
                '(' if words.open.as_ref().is_some_and(|word| word.text.ends_with(char::is_alphanumeric)) => {
                    return None;
                }
                '<' if rest.as_str().starts_with('<') => return None,
                ';' | '&' | '|' | '<' | '>' | '(' | ')' => words.end(),
                _ if c.is_whitespace() => words.end(),
                _ => words.open.get_or_insert_default().text.push(c),
            }
        }
        words.end();
        Some(words.done)
    }

    /// An apostrophe of English and no quote: only letters before it, and one of its endings behind.
    fn is_apostrophe(&self, behind: &str) -> bool {
        let before = self.open.as_ref().filter(|word| !word.quoted).map_or("", |word| word.text.as_str());
        let end = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let ending = behind.get(..end).unwrap_or_default();
        !before.is_empty()
            && before.chars().all(|c| c.is_ascii_alphabetic())
            && ["t", "s", "re", "ve", "ll", "d", "m"].contains(&ending)
            && !behind.get(end..).unwrap_or_default().starts_with('\'')
    }

    fn quote(&mut self, text: &str) {
        let word = self.open.get_or_insert_default();
        if !std::mem::replace(&mut word.quoted, true) {
            word.bare = word.text.len();
        }
        word.text.push_str(text);
    }

    /// Up to the closing quote, which is not escaped.
    fn double_quoted(&mut self, rest: &mut std::str::Chars<'_>) -> Option<()> {
        let mut text = String::new();
        loop {
            match rest.next()? {
                '"' => break,
                '\\' => text.push(rest.next()?),
                c => text.push(c),
            }
        }
        self.quote(&text);
        Some(())
    }

    fn end(&mut self) {
        self.done.extend(self.open.take());
    }
}
