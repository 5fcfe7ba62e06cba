//! Words that make a line prose.

/// Words of ordinary English that no one hands to a program without quotes. Not among them: what is also a common
/// argument or a word of the shell (`in`, `on`, `for`, `if`, `then`, `do`, `not`, `new`, `tests`, `check`, `verify`).
const ORDINARY: &str = "
    a about after all also an and any are as be because been before being but can contains correctly could did does
    each ensure ensures every existing exists fails had has have is it its may might must of only or our passes
    passing remain remains shall should so still succeed succeeds successfully sure than that the their them these
    they this those to unless uses was we were what when which will with without works would you your";

/// Whether an unquoted word is ordinary prose: one of the words above, Japanese or Chinese text, or the end of a sentence
/// (a final `.` or `:`).
pub(super) fn is_prose(word: &str) -> bool {
    word.chars().any(is_cjk) || ends_sentence(word) || is_ordinary(word)
}

fn is_ordinary(word: &str) -> bool {
    let bare = word.trim_matches(['(', ')', '[', ']', ',', ';', '!', '?', '…', '“', '”']);
    let is = |known: &str| known.eq_ignore_ascii_case(bare);
    !bare.is_empty() && ORDINARY.split_ascii_whitespace().any(is)
}

/// A final `.` or `:`, unless it belongs to a path (`.`, `..`, `./...`, `src/.`) or a module (`parser::`).
fn ends_sentence(word: &str) -> bool {
    if let Some(before) = word.strip_suffix(':') {
        return !before.is_empty() && !before.ends_with([':', '/']);
    }
    let before = word.trim_end_matches('.');
    before.len() < word.len() && !before.is_empty() && !before.ends_with('/')
}

/// Hiragana, katakana, Chinese characters, and the punctuation and full-width forms that go with them.
fn is_cjk(c: char) -> bool {
    matches!(u32::from(c), 0x3000..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0xFF00..=0xFFEF
        | 0x20000..=0x3FFFF)
}
