//! The quote-aware scan in front of the `csv` crate: where every cell stands, and what is wrong with the quotes.
//!
//! It cuts records and cells exactly as the crate does (LF, CRLF or a lone CR ends a record, empty lines are no record,
//! a quote inside an unquoted cell is a character), which a property test holds. One pass, linear.

use std::iter::Peekable;
use std::str::Chars;

use super::{CsvFault, Place};

/// What a text is made of.
#[derive(Debug)]
pub(super) struct Scan {
    /// The records in order, the header first. Empty lines are not among them.
    pub(super) records: Vec<Record>,
    /// Quotes that are wrong.
    pub(super) faults: Vec<CsvFault>,
    /// Whether the first record ends with CRLF.
    pub(super) crlf: bool,
}

/// One record.
#[derive(Debug)]
pub(super) struct Record {
    /// Where each cell starts.
    pub(super) cells: Vec<Place>,
    /// Nothing but separators and white space, and no quote.
    pub(super) blank: bool,
    /// Its quotes are wrong, so the number of its cells says nothing.
    pub(super) faulty: bool,
}

/// The separator, and the part of the text behind an Excel `sep=` line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dialect<'t> {
    /// `,`, `;` or a tab.
    pub(super) separator: u8,
    /// The text to read.
    pub(super) text: &'t str,
    /// Line of the file on which `text` starts.
    pub(super) line: u64,
}

/// Finds the separator: from a first line `sep=;` (Excel), else the one that the header holds most often outside quotes.
pub(super) fn dialect(text: &str) -> Dialect<'_> {
    let end = text.find(['\n', '\r']).unwrap_or(text.len());
    let (first, rest) = text.split_at(end);
    if let Some(separator) = sep_line(first) {
        let rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix(['\n', '\r'])).unwrap_or_default();
        return Dialect { separator, text: rest, line: 2 };
    }
    Dialect { separator: separator_of_header(text), text, line: 1 }
}

fn sep_line(line: &str) -> Option<u8> {
    let (head, tail) = line.split_at_checked(4)?;
    match (head.eq_ignore_ascii_case("sep="), tail) {
        (true, ",") => Some(b','),
        (true, ";") => Some(b';'),
        (true, "\t") => Some(b'\t'),
        _ => None,
    }
}

fn separator_of_header(text: &str) -> u8 {
    let (mut comma, mut semicolon, mut tab) = (0_u32, 0_u32, 0_u32);
    let mut quoted = false;
    for c in text.trim_start_matches(['\n', '\r']).chars() {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            ',' => comma += 1,
            ';' => semicolon += 1,
            '\t' => tab += 1,
            '\n' | '\r' => break,
            _ => {}
        }
    }
    if comma >= semicolon && comma >= tab {
        b','
    } else if semicolon >= tab {
        b';'
    } else {
        b'\t'
    }
}

/// Scans the text of a [`Dialect`].
pub(super) fn scan(dialect: &Dialect<'_>) -> Scan {
    let cursor = Cursor {
        rest: dialect.text.chars().peekable(),
        place: Place { line: dialect.line, column: 1 },
        separator: char::from(dialect.separator),
    };
    let scan = Scan { records: Vec::new(), faults: Vec::new(), crlf: false };
    Scanner { cursor, scan }.run()
}

struct Cursor<'t> {
    rest: Peekable<Chars<'t>>,
    place: Place,
    separator: char,
}

impl Cursor<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest.peek().copied()
    }

    /// Takes one character; CRLF counts as one, and so as one line.
    fn take(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        match c {
            '\r' if self.rest.peek() == Some(&'\n') => self.place.column += 1,
            '\r' | '\n' => self.place = Place { line: self.place.line + 1, column: 1 },
            _ => self.place.column += 1,
        }
        Some(c)
    }
}

/// How a cell ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Separator,
    Record,
}

struct Scanner<'t> {
    cursor: Cursor<'t>,
    scan: Scan,
}

impl Scanner<'_> {
    fn run(mut self) -> Scan {
        while let Some(c) = self.cursor.peek() {
            if matches!(c, '\n' | '\r') {
                self.cursor.take();
            } else {
                self.record();
            }
        }
        self.scan
    }

    fn record(&mut self) {
        let mut record = Record { cells: Vec::new(), blank: true, faulty: false };
        loop {
            record.cells.push(self.cursor.place);
            let end = if self.cursor.peek() == Some('"') { self.quoted(&mut record) } else { self.bare(&mut record) };
            if end == End::Record {
                break;
            }
        }
        self.scan.records.push(record);
    }

    /// Reads an unquoted cell, or what stands behind a closing quote, up to its end.
    fn bare(&mut self, record: &mut Record) -> End {
        let mut only_space = true;
        loop {
            let place = self.cursor.place;
            match self.cursor.take() {
                None => return End::Record,
                Some(c @ ('\n' | '\r')) => {
                    self.end_record(c);
                    return End::Record;
                }
                Some(c) if c == self.cursor.separator => return End::Separator,
                Some('"') if only_space => {
                    // The crate takes this quote as a character and cuts the cell at the next separator: hardly meant.
                    let message = "a space stands before the opening quote";
                    self.fault(
                        record,
                        place,
                        message.to_owned(),
                        "remove the space, or write quotes in a cell as \"\"",
                    );
                    only_space = false;
                }
                Some(c) => {
                    only_space &= c == ' ' || c == '\t';
                    record.blank &= c.is_whitespace();
                }
            }
        }
    }

    fn quoted(&mut self, record: &mut Record) -> End {
        let opened = self.cursor.place;
        record.blank = false;
        self.cursor.take();
        let mut backslash = false;
        loop {
            match self.cursor.take() {
                None => {
                    let message = "the quote that opens here is never closed";
                    self.fault(record, opened, message.to_owned(), "close it, or write a quote inside a cell as \"\"");
                    return End::Record;
                }
                Some('"') if self.cursor.peek() == Some('"') => {
                    self.cursor.take();
                    backslash = false;
                }
                Some('"') => return self.behind_quote(record, opened, backslash),
                Some(c) => backslash = c == '\\',
            }
        }
    }

    fn behind_quote(&mut self, record: &mut Record, opened: Place, backslash: bool) -> End {
        let place = self.cursor.place;
        match self.cursor.peek() {
            None => End::Record,
            Some(c) if c == self.cursor.separator => {
                self.cursor.take();
                End::Separator
            }
            Some(c @ ('\n' | '\r')) => {
                self.cursor.take();
                self.end_record(c);
                End::Record
            }
            Some(_) => {
                let Place { line, column } = opened;
                let message = format!("text follows the closing quote of the cell that opens at {line}:{column}");
                // Agents that write CSV by hand do this; guessing would break cells that end with a backslash.
                let hint = if backslash {
                    "write a quote inside a cell as \"\", not as \\\""
                } else {
                    "write a quote inside a cell as \"\", and close each cell once"
                };
                self.fault(record, place, message, hint);
                self.rest_of_cell(record)
            }
        }
    }

    fn rest_of_cell(&mut self, record: &mut Record) -> End {
        loop {
            match self.cursor.take() {
                None => return End::Record,
                Some(c @ ('\n' | '\r')) => {
                    self.end_record(c);
                    return End::Record;
                }
                Some(c) if c == self.cursor.separator => return End::Separator,
                Some(c) => record.blank &= c.is_whitespace(),
            }
        }
    }

    fn end_record(&mut self, ended_by: char) {
        if ended_by == '\r' && self.cursor.peek() == Some('\n') {
            self.cursor.take();
            self.scan.crlf |= self.scan.records.is_empty();
        }
    }

    /// Notes one fault a record: what follows in it is mostly the echo of the first.
    fn fault(&mut self, record: &mut Record, place: Place, message: String, hint: &str) {
        if !record.faulty {
            record.faulty = true;
            self.scan.faults.push(CsvFault::new(place, message, hint));
        }
    }
}
