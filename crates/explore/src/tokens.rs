//! Code and prose as terms: parts of identifiers in lower case with endings taken off, whole compound identifiers without
//! their separators, and bigrams of Chinese and Japanese text.
//!
//! The same function reads files and queries, so both always agree.

/// Longest run that still counts as a word; longer ones are data (base64, hashes).
const MAX_WORD: usize = 64;

/// What a term is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TermKind {
    /// A word or part of an identifier.
    Part,
    /// A whole identifier of several parts, joined: `getUserName` and `get_user_name` give `getusername`.
    Compound,
    /// Two neighbouring characters of Chinese or Japanese text.
    Bigram,
}

/// Calls `emit` for each term of `text`, in order, with the raw word it comes from.
pub(crate) fn each_term<'a>(text: &'a str, emit: &mut dyn FnMut(TermKind, &str, &'a str)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes.get(at).copied().unwrap_or(0);
        if byte.is_ascii_alphabetic() || byte == b'_' {
            let end = end_of(bytes, at, |b| b.is_ascii_alphanumeric() || b == b'_');
            if let Some(word) = text.get(at..end) {
                word_terms(word, emit);
            }
            at = end;
        } else if byte.is_ascii_digit() {
            let end = end_of(bytes, at, |b| b.is_ascii_alphanumeric());
            if let Some(word) = text.get(at..end).filter(|w| (2..=8).contains(&w.len())) {
                emit(TermKind::Part, &word.to_ascii_lowercase(), word);
            }
            at = end;
        } else if byte < 0x80 {
            at += 1;
        } else {
            at = foreign_run(text, at, emit);
        }
    }
}

fn end_of(bytes: &[u8], from: usize, keep: impl Fn(u8) -> bool) -> usize {
    bytes.iter().skip(from).position(|b| !keep(*b)).map_or(bytes.len(), |n| from + n)
}

/// Terms of a run of non-ASCII characters that starts at `from`; gives where it ends.
fn foreign_run<'a>(text: &'a str, from: usize, emit: &mut dyn FnMut(TermKind, &str, &'a str)) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let len = rest.char_indices().find(|(_, c)| c.is_ascii()).map_or(rest.len(), |(i, _)| i);
    let run = rest.get(..len).unwrap_or_default();
    for word in run.split(|c: char| !c.is_alphanumeric() && c != 'ー').filter(|w| !w.is_empty()) {
        if word.chars().any(is_cjk) {
            let starts: Vec<usize> = word.char_indices().map(|(i, _)| i).chain([word.len()]).collect();
            for window in starts.windows(3) {
                if let [a, _, b] = window
                    && let Some(pair) = word.get(*a..*b)
                {
                    emit(TermKind::Bigram, pair, pair);
                }
            }
        } else if word.len() <= MAX_WORD {
            emit(TermKind::Part, &word.to_lowercase(), word);
        }
    }
    from + len.max(1)
}

/// Chinese characters, Hiragana, Katakana and Hangul.
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF)
}

fn word_terms<'a>(word: &'a str, emit: &mut dyn FnMut(TermKind, &str, &'a str)) {
    let word = word.trim_matches('_');
    if word.len() < 2 || word.len() > MAX_WORD {
        return;
    }
    let mut parts = 0;
    for part in split_identifier(word) {
        parts += 1;
        if part.len() > 1 {
            let lower = part.to_ascii_lowercase();
            emit(TermKind::Part, stem(&lower), word);
        }
    }
    if parts > 1 {
        emit(TermKind::Compound, &joined(word), word);
    }
}

/// An identifier in lower case without separators.
pub(crate) fn joined(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Splits `HTTPServer2_name` into `HTTP`, `Server`, `2`, `name`. Only ASCII words reach this.
pub(crate) fn split_identifier(word: &str) -> impl Iterator<Item = &str> {
    word.split('_').flat_map(CaseSplit)
}

struct CaseSplit<'a>(&'a str);

impl<'a> Iterator for CaseSplit<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let word = self.0;
        if word.is_empty() {
            return None;
        }
        let (head, tail) = word.split_at_checked(case_end(word.as_bytes())).unwrap_or((word, ""));
        self.0 = tail;
        Some(head)
    }
}

fn case_end(bytes: &[u8]) -> usize {
    let kind = |i: usize| bytes.get(i).map(|b| (b.is_ascii_uppercase(), b.is_ascii_digit()));
    let Some(first) = kind(0) else { return 0 };
    let mut end = 1;
    while let Some(next) = kind(end) {
        let same = next == first;
        let capitalised = first.0 && end == 1 && next == (false, false);
        if capitalised {
            let run = bytes.iter().skip(1).position(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
            return run.map_or(bytes.len(), |n| n + 1);
        }
        if !same {
            // `HTTPServer`: the last capital belongs to the next word, unless only an `s` follows (`URLs`).
            let word_follows = first.0 && next == (false, false) && bytes.get(end..) != Some(b"s");
            return if word_follows {
                end - 1
            } else if first.0 && next == (false, false) {
                bytes.len()
            } else {
                end
            };
        }
        end += 1;
    }
    end
}

/// Takes the commonest English endings off a lower-case word, so that `parsing`, `parsed`, `parses` and `parse` meet.
pub(crate) fn stem(word: &str) -> &str {
    let len = word.len();
    if len < 4 || !word.is_ascii() {
        return word;
    }
    let cut = |ending: &str, keep: usize| word.strip_suffix(ending).filter(|rest| rest.len() >= keep);
    if let Some(rest) = cut("ings", 3).or_else(|| cut("ing", 3)) {
        return undouble(rest);
    }
    if let Some(rest) = cut("ies", 3).or_else(|| cut("ied", 3)) {
        return rest;
    }
    if let Some(rest) = cut("sses", 2) {
        return word.get(..rest.len() + 2).unwrap_or(word);
    }
    if let Some(rest) = cut("ed", 3) {
        return undouble(rest);
    }
    if let Some(rest) = cut("es", 3) {
        return rest;
    }
    if let Some(rest) = cut("s", 3).filter(|rest| !rest.ends_with(['s', 'u', 'i'])) {
        return rest.strip_suffix('e').filter(|r| r.len() >= 3).unwrap_or(rest);
    }
    if let Some(rest) = cut("e", 3).or_else(|| cut("y", 4)) {
        return rest;
    }
    word
}

fn undouble(rest: &str) -> &str {
    let bytes = rest.as_bytes();
    match bytes {
        [.., a, b] if a == b && !matches!(b, b'l' | b's' | b'e') && rest.len() > 3 => {
            rest.get(..rest.len() - 1).unwrap_or(rest)
        }
        _ => rest.strip_suffix('e').filter(|r| r.len() >= 3).unwrap_or(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(word: &str) -> Vec<&str> {
        split_identifier(word).collect()
    }

    #[test]
    fn identifiers_split_at_case_digits_and_underscores() {
        assert_eq!(parts("getUserName"), ["get", "User", "Name"]);
        assert_eq!(parts("HTTPServer"), ["HTTP", "Server"]);
        assert_eq!(parts("get_user__name"), ["get", "user", "name"]);
        assert_eq!(parts("OAuth2Client"), ["O", "Auth", "2", "Client"]);
        assert_eq!(parts("parseURLs"), ["parse", "URLs"]);
        assert_eq!(parts("utf8"), ["utf", "8"]);
        assert_eq!(parts("MAX_LEN"), ["MAX", "LEN"]);
    }

    #[test]
    fn endings_meet() {
        for (a, b) in [
            ("parsing", "parse"),
            ("parsed", "parser".trim_end_matches('r')),
            ("files", "file"),
            ("caches", "cache"),
            ("running", "run"),
            ("queries", "query"),
        ] {
            assert_eq!(stem(a), stem(b), "{a} and {b}");
        }
        for word in ["class", "status", "its", "bus", "axis"] {
            assert_eq!(stem(word), word);
        }
    }

    #[test]
    fn terms_of_mixed_text() {
        let mut seen = Vec::new();
        each_term("fix getUserName の検索機能 x", &mut |kind, term, _| seen.push((kind, term.to_owned())));
        assert!(seen.contains(&(TermKind::Compound, "getusername".to_owned())));
        assert!(seen.contains(&(TermKind::Bigram, "検索".to_owned())));
        assert!(seen.contains(&(TermKind::Part, "fix".to_owned())));
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "\\PC*") {
            each_term(&text, &mut |_, term, _| assert!(!term.is_empty()));
        }

        #[test]
        fn splitting_loses_nothing(word in "[A-Za-z0-9_]{1,40}") {
            let back: String = split_identifier(&word).collect();
            assert_eq!(back, word.replace('_', ""));
        }
    }
}
