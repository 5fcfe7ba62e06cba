//! Masking of output that comes in pieces.

use super::shapes::CONTEXT;
use super::{Found, MASK, Masker, replaced};

/// At least this much of an unfinished line is held back: the beginning of a token whose rest may still come.
const HELD: usize = 1024;
/// A secret longer than this is masked before its end was seen.
const LONGEST: usize = 64 * 1024;
/// With more than this held back, tiny pieces are gathered before the next scan, or a long secret that comes byte by byte
/// would be scanned from its beginning at each.
const MANY: usize = 4096;

/// Masks secrets in a stream, also those that two or more pieces share.
///
/// Whole lines come out at once; of an unfinished line the last bytes are held back (1 KiB, or as much as the longest
/// known value), of a private key all that came so far, up to 64 KiB. [`StreamMasker::finish`] gives the rest.
#[derive(Debug, Clone)]
pub struct StreamMasker {
    masker: Masker,
    /// The last bytes that went out (so that beginnings of words are seen), if any, then what is held back.
    buffer: Vec<u8>,
    /// How many bytes of `buffer` went out already: at most [`CONTEXT`].
    sent: usize,
    /// A secret that was masked before its end goes on: what may belong to it is dropped.
    inside: bool,
    /// No scan before the buffer is this long.
    next_scan: usize,
}

impl StreamMasker {
    pub(super) fn new(masker: Masker) -> Self {
        Self { masker, buffer: Vec::new(), sent: 0, inside: false, next_scan: 0 }
    }

    /// Takes a piece and gives what can be said by now.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let piece = self.without_rest_of_secret(piece);
        self.buffer.extend_from_slice(piece);
        let mut cut = self.safe_end();
        if cut <= self.sent || self.buffer.len() < self.next_scan {
            return Vec::new();
        }
        self.next_scan = 0;
        let found = self.masker.find(&self.buffer, self.sent);
        if let Some(open) = found.iter().find(|secret| secret.to >= self.buffer.len() || secret.to > cut) {
            if self.buffer.len() - open.from > LONGEST && open.to >= self.buffer.len() {
                let mut out = self.emit(&found, open.start);
                out.extend_from_slice(MASK.as_bytes());
                self.buffer.clear();
                self.sent = 0;
                self.inside = true;
                return out;
            }
            cut = cut_before(&found, cut.min(open.from));
            if self.buffer.len() - cut > MANY {
                self.next_scan = self.buffer.len() + self.buffer.len() / 16;
            }
        }
        let out = self.emit(&found, cut);
        self.keep_from(cut);
        out
    }

    /// The rest, when nothing more comes.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        let found = self.masker.find(&self.buffer, self.sent);
        let end = self.buffer.len();
        self.emit(&found, end)
    }

    /// Drops what goes on with a secret that was masked before its end.
    fn without_rest_of_secret<'p>(&mut self, piece: &'p [u8]) -> &'p [u8] {
        if !self.inside {
            return piece;
        }
        let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=_-.~\\ \r\n:,".contains(byte);
        let end = piece.iter().position(|byte| !goes_on(byte)).unwrap_or(piece.len());
        self.inside = end == piece.len();
        piece.get(end..).unwrap_or_default()
    }

    /// Up to where no secret can begin that is not seen whole.
    fn safe_end(&self) -> usize {
        let pattern = &self.masker.pattern;
        let held = HELD.max(pattern.longest);
        let by_length = self.buffer.len().saturating_sub(held);
        let by_line = self.buffer.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let cut = if pattern.multiline { by_length } else { by_length.max(by_line) };
        cut.max(self.sent)
    }

    /// What is not yet sent of the first `cut` bytes, masked.
    fn emit(&self, found: &[Found], cut: usize) -> Vec<u8> {
        let whole: Vec<Found> = found.iter().copied().filter(|secret| secret.end <= cut).collect();
        replaced(self.buffer.get(..cut).unwrap_or_default(), self.sent, &whole)
    }

    fn keep_from(&mut self, cut: usize) {
        let context = cut.saturating_sub(CONTEXT);
        self.buffer.drain(..context);
        self.sent = cut - context;
        self.next_scan = self.next_scan.saturating_sub(context);
    }
}

/// The nearest place at or before `cut` that no secret lies across.
fn cut_before(found: &[Found], mut cut: usize) -> usize {
    for secret in found.iter().rev() {
        if secret.from < cut && secret.to > cut {
            cut = secret.from;
        }
    }
    cut
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use crate::mask::Masker;

    fn masker() -> &'static Masker {
        static MASKER: LazyLock<Masker> = LazyLock::new(|| {
            Masker::new([
                ("MY_TOKEN", "correct horse"),
                ("OTHER_KEY", "passwort-überall"),
                ("PEM_SECRET", "line one is here\nline two"),
            ])
        });
        &MASKER
    }

    fn streamed(masker: &Masker, text: &[u8], size: usize) -> String {
        let mut stream = masker.stream();
        let mut out = Vec::new();
        for piece in text.chunks(size.max(1)) {
            out.extend(stream.push(piece));
        }
        out.extend(stream.finish());
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn secrets_over_two_pieces_are_masked() {
        let text = "a correct horse, ghp_0123456789abcdefghijABCDEF and Bearer abcdefghijklmnop0123456789 end\n\
                    -----BEGIN RSA PRIVATE KEY-----\nMIIEow+/\nab==\n-----END RSA PRIVATE KEY-----\nline one is here\nline two.";
        let whole = masker().mask(text).into_owned();
        assert_eq!(whole, "a ***, *** and Bearer *** end\n***\n***.");
        let shapes = Masker::default();
        for size in 1..text.len() {
            assert_eq!(streamed(masker(), text.as_bytes(), size), whole, "pieces of {size}");
            assert_eq!(streamed(&shapes, text.as_bytes(), size), shapes.mask(text), "pieces of {size}");
        }
    }

    #[test]
    fn whole_lines_are_not_held_back() {
        let mut stream = Masker::default().stream();
        assert_eq!(stream.push(b"one\ntw"), b"one\n");
        assert_eq!(stream.push(b"o\n"), b"two\n");
        assert_eq!(stream.finish(), b"");
    }

    #[test]
    fn words_are_not_torn_where_output_is_held_back() {
        let text = format!("{}disk-0123456789ABCDEFGHIJ{}", "y ".repeat(700), " z".repeat(700));
        let masker = Masker::default();
        assert_eq!(masker.mask(&text), text);
        assert_eq!(streamed(&masker, text.as_bytes(), 1), text);
    }

    #[test]
    fn an_endless_secret_is_masked_in_bounded_memory() {
        let mut stream = Masker::default().stream();
        let mut out = stream.push(b"x sk-");
        for _ in 0..100 {
            out.extend(stream.push(&[b'A'; 10_000]));
            assert!(stream.buffer.len() <= super::LONGEST + 11_000);
        }
        out.extend(stream.push(b"\"after\n"));
        out.extend(stream.finish());
        assert_eq!(String::from_utf8_lossy(&out), "x ***\"after\n");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn pieces_make_no_difference(
            words in prop::collection::vec(prop_oneof![
                "[a-zé \n._:/@-]{0,12}", Just("correct horse".to_owned()), Just("passwort-überall".to_owned()),
                Just("sk-ant-0123456789abcdefgh".to_owned()), Just("eyJhbGciOiJ.eyJzdWIiOi.abc".to_owned()),
                Just("bearer ".to_owned()),
                Just("-----BEGIN PRIVATE KEY-----\n".to_owned()), Just("-----END PRIVATE KEY-----\n".to_owned()), Just("xoxb-1234567890-abc".to_owned()),
            ], 0..30),
            size in 1_usize..50,
        ) {
            let text = words.concat();
            let whole = masker().mask(&text).into_owned();
            prop_assert_eq!(streamed(masker(), text.as_bytes(), size), whole);
            static SHAPES: LazyLock<Masker> = LazyLock::new(Masker::default);
            prop_assert_eq!(streamed(&SHAPES, text.as_bytes(), size), SHAPES.mask(&text).into_owned());
        }
    }
}
