//! Bytes into lines, in bounded memory.

use std::borrow::Cow;

use planex_core::mask::Masker;

/// Longest line that is looked at; the rest of a longer one is skipped. It bounds what parsing a line can take.
pub(crate) const MAX_LINE: usize = 2 * 1024 * 1024;

/// Splits a stream into lines without secrets: whoever reads them cuts and joins what it keeps, and half a secret is
/// masked by nobody.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    masker: Masker,
    buffer: Vec<u8>,
    skipping: bool,
    /// Lines that were too long.
    pub(crate) skipped: u64,
}

impl Lines {
    pub(crate) fn new(masker: &Masker) -> Self {
        Self { masker: masker.clone(), ..Self::default() }
    }

    /// Takes bytes and calls `each` for every line that they complete, bytes that are no UTF-8 replaced.
    pub(crate) fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(&str)) {
        // One look at all is quicker than one at each line, and mostly enough.
        let clean = self.masker.is_clean(bytes);
        while let Some(at) = bytes.iter().position(|&byte| byte == b'\n') {
            let (head, rest) = bytes.split_at(at);
            bytes = rest.get(1..).unwrap_or_default();
            if self.buffer.is_empty() && !self.skipping && head.len() <= MAX_LINE {
                let line = String::from_utf8_lossy(head);
                each(&if clean { Cow::Borrowed(trim(&line)) } else { self.masker.mask_record(trim(&line)) });
                continue;
            }
            self.add(head);
            self.end(&mut each);
        }
        self.add(bytes);
    }

    /// The last line, when it has no end.
    pub(crate) fn finish(&mut self, mut each: impl FnMut(&str)) {
        if !self.buffer.is_empty() || self.skipping {
            self.end(&mut each);
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        if self.skipping {
            return;
        }
        if self.buffer.len() + bytes.len() > MAX_LINE {
            self.skipping = true;
            self.skipped += 1;
            self.buffer = Vec::new();
        } else {
            self.buffer.extend_from_slice(bytes);
        }
    }

    fn end(&mut self, each: &mut impl FnMut(&str)) {
        if !std::mem::take(&mut self.skipping) {
            each(&self.masker.mask_record(trim(&String::from_utf8_lossy(&self.buffer))));
        }
        self.buffer.clear();
        if self.buffer.capacity() > 256 * 1024 {
            self.buffer = Vec::new();
        }
    }
}

fn trim(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&[u8]]) -> (Vec<String>, u64) {
        let mut lines = Lines::default();
        let mut out = Vec::new();
        for piece in pieces {
            lines.push(piece, |line| out.push(line.to_owned()));
        }
        lines.finish(|line| out.push(line.to_owned()));
        (out, lines.skipped)
    }

    #[test]
    fn lines_come_whole_however_they_are_cut() {
        assert_eq!(split(&[b"a\nb", b"c\r\n", b"\nlast"]).0, ["a", "bc", "", "last"]);
        assert_eq!(split(&[b"\xff\xfe ok\n"]).0, ["\u{fffd}\u{fffd} ok"]);
        assert!(split(&[]).0.is_empty());
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_counted() {
        let long = vec![b'x'; MAX_LINE];
        let (lines, skipped) = split(&[b"a\n", &long, b"y", &long, b"\nb\n", &long, b"z"]);
        assert_eq!((lines, skipped), (vec!["a".to_owned(), "b".to_owned()], 2));
    }

    #[test]
    fn secrets_are_masked_in_whole_lines_however_they_are_cut() {
        let masker = Masker::of_values(["hunter2hunter2".to_owned()]);
        let text = b"plain\nkey hunter2hunter2\n{\"s\":\"hunter2\\u0068unter2\"}\nhunter2hunter2";
        for size in 1..text.len() {
            let mut lines = Lines::new(&masker);
            let mut out = Vec::new();
            for piece in text.chunks(size) {
                lines.push(piece, |line| out.push(line.to_owned()));
            }
            lines.finish(|line| out.push(line.to_owned()));
            assert_eq!(out, ["plain", "key ***", r#"{"s":"***"}"#, "***"], "pieces of {size}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_cut_gives_the_same_lines(text in "[ab\n]{0,60}", cuts in proptest::collection::vec(1_usize..7, 0..20)) {
            let mut pieces: Vec<&[u8]> = Vec::new();
            let mut rest = text.as_bytes();
            for cut in cuts {
                let (head, tail) = rest.split_at(cut.min(rest.len()));
                pieces.push(head);
                rest = tail;
            }
            pieces.push(rest);
            let wanted: Vec<String> = text.lines().map(str::to_owned).collect();
            proptest::prop_assert_eq!(split(&pieces).0, wanted);
        }
    }
}
