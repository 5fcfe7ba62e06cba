//! Secrets out of everything planex writes and shows (spec 10, *Running*): logs, events, reports, pages.
//!
//! What is masked: values of 8 characters or more of variables whose names look secret, and text that has the shape of a
//! well-known token, whoever said it. What is not: a secret shorter than that, or one that an agent spells in its own
//! way (reversed, in base 64). Masking too much is a nuisance, too little is a leak, so doubt masks.

mod names;
mod search;
mod shapes;
mod stream;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, LazyLock};

pub use names::looks_secret;
use search::Search;
pub use stream::StreamMasker;

/// What stands for a secret.
pub const MASK: &str = "***";
/// Shorter values are masked nowhere: they would tear holes into ordinary words.
pub const SHORTEST_SECRET: usize = 8;

/// Replaces secrets by `***`. Cheap to clone. Its `Debug` shows no value.
#[derive(Clone)]
pub struct Masker {
    pattern: Arc<Pattern>,
}

struct Pattern {
    /// Finds values; `None` without any, and where they are too many to be searched for at once.
    search: Option<Search>,
    /// Values, longest first.
    values: Vec<String>,
    longest: usize,
    multiline: bool,
}

impl fmt::Debug for Masker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Masker({} values)", self.pattern.values.len())
    }
}

impl Default for Masker {
    fn default() -> Self {
        Self::new(std::iter::empty::<(&str, &str)>())
    }
}

/// A secret in a text, as byte positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found {
    /// Where what is replaced starts.
    start: usize,
    /// Where it ends.
    end: usize,
    /// Where the pattern starts, of which the secret is a part (`Bearer …`).
    from: usize,
    /// Where the pattern ends.
    to: usize,
}

impl Found {
    fn whole(start: usize, end: usize) -> Self {
        Self { start, end, from: start, to: end }
    }

    /// Takes over `next`, which begins later, if both share bytes.
    fn swallows(&mut self, next: &Self) -> bool {
        let shared = next.start < self.end;
        if shared {
            self.end = self.end.max(next.end);
            self.from = self.from.min(next.from);
            self.to = self.to.max(next.to);
        }
        shared
    }
}

impl Masker {
    /// A masker for the secrets of an environment, given as names and values.
    #[must_use]
    pub fn new<N: AsRef<str>, V: AsRef<str>>(env: impl IntoIterator<Item = (N, V)>) -> Self {
        let secret = env.into_iter().filter(|(name, _)| looks_secret(name.as_ref()));
        Self::of_values(secret.map(|(_, value)| value.as_ref().to_owned()))
    }

    /// A masker for secrets that are known by other ways than a variable's name.
    #[must_use]
    pub fn of_values(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut values: Vec<String> = secrets.into_iter().flat_map(|secret| spellings(&secret)).collect();
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        let search = Search::new(&values);
        let longest = values.first().map_or(0, String::len);
        let multiline = values.iter().any(|value| value.contains('\n'));
        Self { pattern: Arc::new(Pattern { search, values, longest, multiline }) }
    }

    /// `text` without secrets; borrowed where there are none.
    #[must_use]
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.mask_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8(bytes).unwrap_or_else(|_| MASK.to_owned())),
        }
    }

    /// As [`Masker::mask`], for output that may be no UTF-8.
    #[must_use]
    pub fn mask_bytes<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let found = self.find(text, 0);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(replaced(text, 0, &found))
    }

    /// Whether [`Masker::mask_record`] would change no line that lies whole in `text`, lines ending with a line feed.
    #[must_use]
    pub fn is_clean(&self, text: &[u8]) -> bool {
        self.find(text, 0).is_empty() && !hides(text)
    }

    /// Masks every string in a JSON value, names of fields left alone.
    pub fn mask_json(&self, value: &mut serde_json::Value) {
        use serde_json::Value;
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = self.mask(text) {
                    *text = masked;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_json(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.mask_json(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// As [`Masker::mask`], for a line of output or a document that may be JSON and is read as such afterwards.
    ///
    /// JSON stays JSON, and a secret that JSON spells with escapes (`\u002d`, `\/`) is seen too: where there is something
    /// to mask, strings are masked in the value and the value is written anew.
    #[must_use]
    pub fn mask_record<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let masked = self.mask(text);
        let starts = |open: char| text.trim_start().starts_with(open);
        if (matches!(masked, Cow::Owned(_)) || hides(text.as_bytes()))
            && (starts('{') || starts('['))
            && let Ok(value) = serde_json::from_str::<serde_json::Value>(text)
        {
            let mut clean = value.clone();
            self.mask_json(&mut clean);
            return if clean == value { Cow::Borrowed(text) } else { Cow::Owned(clean.to_string()) };
        }
        masked
    }

    /// A masker for output that comes in pieces.
    #[must_use]
    pub fn stream(&self) -> StreamMasker {
        StreamMasker::new(self.clone())
    }

    /// Secrets from byte `at` on, in order, not overlapping: values and tokens that share bytes are one.
    fn find(&self, text: &[u8], at: usize) -> Vec<Found> {
        let mut found = Vec::new();
        match &self.pattern.search {
            Some(search) => {
                let mut next = at;
                while let Some(hit) = search.find(text, next) {
                    found.push(Found::whole(hit.start, hit.end));
                    next = hit.end;
                }
            }
            None if self.pattern.values.is_empty() => {}
            None => self.find_values(text, at, &mut found),
        }
        let values = found.len();
        shapes::find(text, at, &mut found);
        if values > 0 && found.len() > values {
            found.sort_by_key(|secret| (secret.start, secret.end));
            found.dedup_by(|next, last| last.swallows(next));
        }
        found
    }

    /// The slow way, only for values that cannot be searched for at once (many megabytes).
    fn find_values(&self, text: &[u8], at: usize, found: &mut Vec<Found>) {
        let mut next = at;
        while next < text.len() {
            let rest = text.get(next..).unwrap_or_default();
            let value = self.pattern.values.iter().find(|value| rest.starts_with(value.as_bytes()));
            let length = value.map_or(1, String::len);
            if value.is_some() {
                found.push(Found::whole(next, next + length));
            }
            next += length;
        }
    }
}

/// Whether JSON in it may spell a character that a secret is known by in another way.
fn hides(text: &[u8]) -> bool {
    static ESCAPES: LazyLock<Option<Search>> = LazyLock::new(|| Search::new(&[r"\u", r"\/"]));
    ESCAPES.as_ref().is_none_or(|escapes| escapes.find(text, 0).is_some())
}

/// `text` from byte `from` on with everything in `found` replaced.
fn replaced(text: &[u8], from: usize, found: &[Found]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut done = from;
    for secret in found {
        out.extend_from_slice(text.get(done..secret.start).unwrap_or_default());
        out.extend_from_slice(MASK.as_bytes());
        done = secret.end;
    }
    out.extend_from_slice(text.get(done..).unwrap_or_default());
    out
}

/// The ways in which a secret may appear: itself, as in a JSON string, and the longer lines of one with several.
fn spellings(secret: &str) -> Vec<String> {
    let secret = secret.trim();
    let mut out = vec![secret.to_owned()];
    if let Ok(json) = serde_json::to_string(secret) {
        out.push(json.trim_matches('"').to_owned());
    }
    if secret.contains('\n') {
        out.extend(
            secret
                .lines()
                .map(str::trim)
                .filter(|line| line.len() >= 20 && !line.starts_with("-----"))
                .map(str::to_owned),
        );
    }
    out.retain(|value| value.chars().count() >= SHORTEST_SECRET);
    out
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::Masker;

    fn plain() -> Masker {
        Masker::default()
    }

    #[test]
    fn the_patterns_compile() {
        assert!(super::shapes::are_built());
        assert!(Masker::new([("MY_KEY", "hunter2hunter2")]).pattern.search.is_some());
    }

    #[test]
    fn values_of_secret_variables_are_masked() {
        let masker = Masker::new([
            ("API_KEY", "hunter2hunter2"),
            ("LONG_KEY", "hunter2hunter2-and-more"),
            ("PASSWORD", "short"),
            ("PATH", "/usr/bin:/usr/local/bin"),
            ("ODD_TOKEN", "quo\"te\\and$(x)*"),
            ("JP_SECRET", "秘密の合言葉です"),
        ]);
        for (text, expected) in [
            ("key=hunter2hunter2;", "key=***;"),
            ("hunter2hunter2-and-more", "***"),
            ("xhunter2hunter2x", "x***x"),
            ("short /usr/bin:/usr/local/bin", "short /usr/bin:/usr/local/bin"),
            ("quo\"te\\and$(x)* {\"a\":\"quo\\\"te\\\\and$(x)*\"}", "*** {\"a\":\"***\"}"),
            ("言う秘密の合言葉です。", "言う***。"),
        ] {
            assert_eq!(masker.mask(text), expected);
        }
        assert!(!format!("{masker:?}").contains("hunter2"));
    }

    #[test]
    fn known_shapes_are_masked() {
        for token in [
            "sk-ant-api03-0123456789abcdefghij-KLMNOP",
            "sk-proj-abcdefghijklmnop_QRSTUVWXYZ0123",
            "sk_live_0123456789abcdefghij",
            "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
            "github_pat_0123456789abcdefghij_klmnop",
            "AKIAIOSFODNN7EXAMPLE",
            "xoxb-123456789012-abcdefghij",
            "AIzaSyA0123456789abcdefghijklmnopqrstuv",
            "glpat-0123456789abcdefghij",
            "npm_0123456789abcdefghijklmnopqrstuvwxyz",
            "hf_0123456789abcdefghijklmnopqrstuvwx",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def_ghi",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz+/aC1r\nZXk==\n-----END OPENSSH PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\\nMIIE\\nabc=\\n-----END PRIVATE KEY-----",
        ] {
            assert_eq!(plain().mask(&format!("(\"{token}\")")), "(\"***\")", "{token}");
        }
        assert_eq!(plain().mask("Authorization: Bearer abcdefghijklmnop1234"), "Authorization: Bearer ***");
        assert_eq!(plain().mask("postgres://user:pa55word@host/db"), "postgres://user:***@host/db");
    }

    #[test]
    fn tokens_behind_escapes_and_colours_are_masked() {
        for (text, expected) in [
            (r#"{"s":"key:\nghp_0123456789abcdefghijklmnop"}"#, r#"{"s":"key:\n***"}"#),
            (r"a\tsk-ant-api03-0123456789abcdefghij", r"a\t***"),
            ("\u{1b}[1;31mghp_0123456789abcdefghijklmnop\u{1b}[0m", "\u{1b}[1;31m***\u{1b}[0m"),
            (r"\u001b[31mAKIAIOSFODNN7EXAMPLE\u001b[0m", r"\u001b[31m***\u001b[0m"),
            (r"-----BEGIN PRIVATE KEY-----\\nMIIEabc\\n-----END PRIVATE KEY-----.", "***."),
            (
                "BeArEr abcdefghijklmnop1234 AUTHORIZATION:  Basic YWxhZGRpbjpvcGVu",
                "BeArEr *** AUTHORIZATION:  Basic ***",
            ),
            ("xghp_0123456789abcdefghijklmnop warmghp_0123456789abcdefghijklmnop", ""),
        ] {
            assert_eq!(plain().mask(text), if expected.is_empty() { text } else { expected });
        }
    }

    #[test]
    fn secrets_that_share_bytes_are_masked_whole() {
        let masker =
            Masker::new([("A_KEY", "pass@host-secret"), ("B_KEY", "secretpostgres"), ("C_KEY", "0123456789-tail")]);
        for (text, expected) in [
            ("postgres://me:pass@host-secret/db", "postgres://me:***/db"),
            ("secretpostgres://me:pa55word@h", "***://me:***@h"),
            ("sk-abcdefghijklmnop0123456789-tail.", "***."),
            ("x0123456789-tail ghp_0123456789abcdefghijklmnop", "x*** ***"),
        ] {
            assert_eq!(masker.mask(text), expected);
        }
    }

    #[test]
    fn ordinary_text_is_borrowed() {
        for text in [
            "task-1 is a risk-free disk-based desk-reservation-system-for-everyone",
            "sk-circle-fade-dot-something-else",
            "bearer of bad news",
            "https://example.com:8080/a@b http://localhost:3000",
            "eyJ is how JSON starts",
            "the sk- prefix; ghp_short",
        ] {
            assert!(matches!(plain().mask(text), Cow::Borrowed(_)), "{text} -> {}", plain().mask(text));
        }
    }

    #[test]
    fn output_that_is_no_text_is_masked_and_kept() {
        let masked = plain().mask_bytes(b"\xff ghp_0123456789abcdefghijklmnop \xfe\0").into_owned();
        assert_eq!(masked, b"\xff *** \xfe\0");
    }

    #[test]
    fn json_is_masked_in_its_strings() {
        let mut value = serde_json::json!({"a": ["ghp_0123456789abcdefghijklmnop", 1], "b": {"c": "ok"}});
        plain().mask_json(&mut value);
        assert_eq!(value, serde_json::json!({"a": ["***", 1], "b": {"c": "ok"}}));
    }

    #[test]
    fn records_stay_json_and_hide_no_secret_behind_escapes() {
        let masker = Masker::new([("PIN_TOKEN", "12345678")]);
        for (text, expected) in [
            (r#"{"n":12345678,"s":"pin 12345678"}"#, r#"{"n":12345678,"s":"pin ***"}"#),
            (r#"{"s":"\u0067hp_0123456789abcdefghijklmnop"}"#, r#"{"s":"***"}"#),
            (r#"["postgres:\/\/user:pa55word@host"]"#, r#"["postgres://user:***@host"]"#),
            (r#"{"s":"caf\u00e9 12345"}"#, r#"{"s":"caf\u00e9 12345"}"#),
            ("{ 12345678", "{ ***"),
            ("plain 12345678", "plain ***"),
        ] {
            assert_eq!(masker.mask_record(text), expected);
        }
    }

    #[test]
    fn long_lines_of_half_tokens_take_linear_time() {
        let masker = Masker::new((0..50).map(|n| (format!("KEY_{n}"), format!("value-number-{n:08}"))));
        for unit in [
            "eyJ",
            "eyJ-",
            "eyJabcdefgh.x-",
            "sk-",
            "authorization:",
            "authorization: basic ",
            "a://b:",
            "-----BEGIN ",
            "value-number-0000000",
            "-----BEGIN PRIVATE KEY-----",
            "bearer ",
            "x",
        ] {
            let _ = masker.mask(&unit.repeat((1 << 18) / unit.len()));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn a_value_never_comes_through(secret in "[a-z0-9$.*\\\\/+ß日]{8,20}", before in "\\PC{0,20}", after in "\\PC{0,20}") {
            let masker = Masker::new([("MY_SECRET", &secret)]);
            let masked = masker.mask(&format!("{before} {secret} {after}")).into_owned();
            prop_assert!(!masked.contains(&secret), "{masked}");
        }

        #[test]
        fn any_text_is_masked(text in any::<String>()) {
            static PLAIN: LazyLock<Masker> = LazyLock::new(Masker::default);
            let _ = PLAIN.mask(&text);
        }
    }
}
