//! Words that tell the kind of work, by the table of spec 30, *Angles*.

use crate::tokens::split_identifier;

/// The presets, in the order in which they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preset {
    Architecture,
    Security,
    Performance,
    Bugfix,
    Feature,
}

/// A word of the table: whole, or any ending.
#[derive(Clone, Copy)]
enum Word {
    Whole(&'static str),
    Start(&'static str),
}

use Word::{Start, Whole};

struct Row {
    preset: Preset,
    words: &'static [Word],
    /// Words of scripts without spaces: they count wherever they stand.
    foreign: &'static [&'static str],
}

const TABLE: [Row; 4] = [
    Row {
        preset: Preset::Architecture,
        words: &[Start("refactor"), Start("architect"), Start("restructur"), Start("modular")],
        foreign: &["リファクタ", "アーキテクチャ", "再構成", "モジュール化", "重构", "架构", "模块化"],
    },
    Row {
        preset: Preset::Security,
        words: &[
            Start("secur"),
            Whole("auth"),
            Whole("authn"),
            Whole("authz"),
            Whole("oauth"),
            Start("authenticat"),
            Start("authoriz"),
            Start("authoris"),
            Whole("unauthorized"),
            Whole("unauthorised"),
            Start("permission"),
            Whole("access"),
            Whole("accesses"),
        ],
        foreign: &["セキュリティ", "認証", "認可", "権限", "安全", "认证", "授权", "权限"],
    },
    Row {
        preset: Preset::Performance,
        words: &[Start("performan"), Start("slow"), Start("optimi"), Start("cach")],
        foreign: &["性能", "パフォーマンス", "遅い", "高速化", "最適化", "キャッシュ", "慢", "优化", "缓存"],
    },
    Row {
        preset: Preset::Bugfix,
        words: &[
            Whole("fix"),
            Whole("fixes"),
            Whole("fixed"),
            Whole("fixing"),
            Whole("bugfix"),
            Whole("hotfix"),
            Whole("bug"),
            Whole("bugs"),
            Whole("error"),
            Whole("errors"),
            Whole("issue"),
            Whole("issues"),
            Whole("broken"),
            Start("crash"),
        ],
        foreign: &["修正", "バグ", "不具合", "エラー", "壊れ", "修复", "错误", "缺陷"],
    },
];

/// Words in lower case: identifiers split at case, digits and `_`, and the joined form of what was split (`OAuth`).
pub(crate) fn words_of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|w| !w.is_empty()) {
        for letters in word.split(|c: char| c == '_' || c.is_ascii_digit()).filter(|w| !w.is_empty()) {
            words.extend(split_identifier(letters).map(str::to_ascii_lowercase));
            words.push(letters.to_ascii_lowercase());
        }
    }
    words
}

/// The first preset whose words occur, else feature.
pub(crate) fn preset_of(text: &str) -> Preset {
    let words = words_of(text);
    let occurs = |row: &Row| {
        let known = |word: &Word| match word {
            Whole(whole) => words.iter().any(|w| w == whole),
            Start(start) => words.iter().any(|w| w.starts_with(start)),
        };
        row.words.iter().any(known) || row.foreign.iter().any(|f| text.contains(f))
    };
    TABLE.iter().find(|row| occurs(row)).map_or(Preset::Feature, |row| row.preset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_start_at_boundaries_and_identifiers_are_split() {
        for (text, preset) in [
            ("Refactor the loader", Preset::Architecture),
            ("support OAuth2 login", Preset::Security),
            ("userAuth fails", Preset::Security),
            ("request is unauthorized", Preset::Security),
            ("the author field", Preset::Feature),
            ("make it accessible", Preset::Feature),
            ("add a prefix option", Preset::Feature),
            ("suffix handling", Preset::Feature),
            ("startup is slow", Preset::Performance),
            ("fix the parser", Preset::Bugfix),
            ("it crashes on empty input", Preset::Bugfix),
            ("parse_error is wrong", Preset::Bugfix),
            ("debugger for templates", Preset::Feature),
            ("検索を高速化する", Preset::Performance),
            ("認証を追加する", Preset::Security),
            ("不具合の修正", Preset::Bugfix),
            ("重构登录模块", Preset::Architecture),
            ("新しい画面", Preset::Feature),
        ] {
            assert_eq!(preset_of(text), preset, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_a_preset(text in "\\PC*") {
            let _ = preset_of(&text);
        }
    }
}
