//! Shapes of well-known tokens.
//!
//! One fast search finds where a token may begin ([`STARTS`]); only there a regular expression looks whether one does.
//! What a failed look has read is not read again by the next, so finding all takes linear time.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::Found;
use super::search::Search;

/// What a text in [`STARTS`] may be the beginning of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A token with a prefix of its own.
    Token,
    /// A JSON web token.
    Jwt,
    /// `bearer`, in any case.
    Bearer,
    /// The end of `authorization:`, in any case.
    Authorization,
    /// `://` of an address that may hold a password.
    Address,
    /// The first line of a private key.
    Key,
}

/// Every token holds one of these, and begins there but for [`Shape::Authorization`] and [`Shape::Address`].
const STARTS: [(&str, Shape); 46] = [
    // OpenAI, Anthropic, OpenRouter, DeepSeek, …; Stripe.
    ("sk-", Shape::Token),
    ("sk_", Shape::Token),
    ("rk-", Shape::Token),
    ("rk_", Shape::Token),
    ("pk-", Shape::Token),
    ("pk_", Shape::Token),
    // GitHub.
    ("ghp_", Shape::Token),
    ("gho_", Shape::Token),
    ("ghu_", Shape::Token),
    ("ghs_", Shape::Token),
    ("ghr_", Shape::Token),
    ("github_pat_", Shape::Token),
    // AWS.
    ("AKIA", Shape::Token),
    ("ASIA", Shape::Token),
    ("ABIA", Shape::Token),
    ("ACCA", Shape::Token),
    // Slack, Google, GitLab, npm, Hugging Face, PyPI, xAI, Groq, DigitalOcean.
    ("xox", Shape::Token),
    ("xapp-", Shape::Token),
    ("AIza", Shape::Token),
    ("ya29.", Shape::Token),
    ("glpat-", Shape::Token),
    ("npm_", Shape::Token),
    ("hf_", Shape::Token),
    ("pypi-", Shape::Token),
    ("xai-", Shape::Token),
    ("gsk_", Shape::Token),
    ("dop_v1_", Shape::Token),
    ("eyJ", Shape::Jwt),
    ("://", Shape::Address),
    ("-----BEGIN ", Shape::Key),
    // All spellings of three letters: a search without case is several times slower.
    ("bea", Shape::Bearer),
    ("beA", Shape::Bearer),
    ("bEa", Shape::Bearer),
    ("bEA", Shape::Bearer),
    ("Bea", Shape::Bearer),
    ("BeA", Shape::Bearer),
    ("BEa", Shape::Bearer),
    ("BEA", Shape::Bearer),
    ("ion:", Shape::Authorization),
    ("ioN:", Shape::Authorization),
    ("iOn:", Shape::Authorization),
    ("iON:", Shape::Authorization),
    ("Ion:", Shape::Authorization),
    ("IoN:", Shape::Authorization),
    ("IOn:", Shape::Authorization),
    ("ION:", Shape::Authorization),
];

const TOKEN: &str = concat!(
    r"\A(?:(?:sk|rk|pk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9_-]{16,}",
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}",
    r"|(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b",
    r"|xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}",
    r"|AIza[0-9A-Za-z_-]{30,}|ya29\.[0-9A-Za-z_-]{20,}",
    r"|glpat-[0-9A-Za-z_-]{16,}|npm_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,}",
    r"|xai-[A-Za-z0-9]{20,}|gsk_[A-Za-z0-9]{20,}|dop_v1_[a-f0-9]{40,})",
);
const JWT: &str = r"\AeyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?";
/// The group is the secret, the rest stays (`Bearer ***`).
const HEADER: &str = r"\A(?i:bearer|authorization:\s*basic)[ \t]+([A-Za-z0-9._~+/=-]{16,})";
const ADDRESS: &str = r"\A://[^\s/:@\x22]{0,100}:([^\s/@\x22]{3,200})@";
/// Whole or cut off anywhere (a stream is masked before its end is seen), newlines escaped or not, once or more often.
const KEY: &str = concat!(
    r"\A-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s:,]|\\+[nrt]|-[A-Za-z0-9])*",
    r"(?:-{1,5}(?:E(?:N(?:D[A-Z0-9 ]{0,60}-{0,5})?)?)?)?",
);

/// Longest front of an address, in bytes: `postgres+srv`.
const LONGEST_SCHEME: usize = 21;

/// What precedes the letters that [`Shape::Authorization`] is found by.
const AUTHORIZAT: &[u8] = b"authorizat";

/// As far back as a look may go from where a token begins.
pub(super) const CONTEXT: usize = 24;

struct Searches {
    starts: Option<Search>,
    token: Option<Regex>,
    jwt: Option<Regex>,
    header: Option<Regex>,
    address: Option<Regex>,
    key: Option<Regex>,
}

static SEARCHES: LazyLock<Searches> = LazyLock::new(|| {
    // Without Unicode, classes and word boundaries need no slow engine on Japanese text.
    let regex = |text: &str| RegexBuilder::new(text).unicode(false).build().ok();
    Searches {
        starts: Search::new(&STARTS.map(|(text, _)| text)),
        token: regex(TOKEN),
        jwt: regex(JWT),
        header: regex(HEADER),
        address: regex(ADDRESS),
        key: regex(KEY),
    }
});

/// Whether every search could be built; they are constants, so a test says it once for all.
#[cfg(test)]
pub(super) fn are_built() -> bool {
    let searches = &*SEARCHES;
    let regexes = [&searches.token, &searches.jwt, &searches.header, &searches.address, &searches.key];
    searches.starts.is_some() && regexes.iter().all(|regex| regex.is_some())
}

/// Tokens from byte `at` on, in order, not overlapping.
pub(super) fn find(text: &[u8], at: usize, found: &mut Vec<Found>) {
    let Some(starts) = &SEARCHES.starts else { return };
    let mut next = at;
    // Up to here there is no web token: the look that found none has read so far.
    let mut no_jwt = at;
    while let Some(hit) = starts.find(text, next) {
        let p = hit.start;
        next = p + 1;
        let Some((_, shape)) = STARTS.get(hit.which) else { continue };
        if *shape == Shape::Jwt && p < no_jwt {
            continue;
        }
        match look(text, at, p, *shape) {
            Some(secret) => {
                next = secret.to.max(next);
                if is_secret(text.get(secret.start..secret.end).unwrap_or_default()) {
                    found.push(secret);
                }
            }
            None if *shape == Shape::Jwt => {
                let rest = text.get(p..).unwrap_or_default();
                let of_jwt = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
                no_jwt = p + rest.iter().position(|byte| !of_jwt(byte)).unwrap_or(rest.len());
            }
            None => {}
        }
    }
}

/// The token of this shape whose start was found at `p`.
fn look(text: &[u8], at: usize, p: usize, shape: Shape) -> Option<Found> {
    let searches = &*SEARCHES;
    let (regex, from) = match shape {
        Shape::Token => (&searches.token, p),
        Shape::Jwt => (&searches.jwt, p),
        Shape::Bearer => (&searches.header, p),
        Shape::Authorization => {
            let from = p.checked_sub(AUTHORIZAT.len()).filter(|from| *from >= at)?;
            text.get(from..p)?.eq_ignore_ascii_case(AUTHORIZAT).then_some((&searches.header, from))?
        }
        Shape::Address => (&searches.address, p),
        Shape::Key => (&searches.key, p),
    };
    let from_scheme = if shape == Shape::Address { scheme(text, at, p)? } else { from };
    if shape != Shape::Key && !begins_word(text, from_scheme) {
        return None;
    }
    let captures = regex.as_ref()?.captures(text.get(from..)?)?;
    let whole = captures.get(0)?;
    let secret = captures.get(1).unwrap_or(whole);
    Some(Found { start: from + secret.start(), end: from + secret.end(), from: from_scheme, to: from + whole.end() })
}

/// Where the scheme before `://` begins: a letter at the beginning of a word, then at least one more character.
fn scheme(text: &[u8], at: usize, p: usize) -> Option<usize> {
    let of_scheme = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'+' | b'.' | b'-');
    let first = p.saturating_sub(LONGEST_SCHEME).max(at);
    let run = text.get(first..p)?.iter().rposition(|byte| !of_scheme(*byte)).map_or(first, |before| first + before + 1);
    (run..p.saturating_sub(1))
        .find(|from| text.get(*from).is_some_and(u8::is_ascii_lowercase) && begins_word(text, *from))
}

/// Whether a word may begin at `at`: nothing of a word stands before it, or what looks like one is a JSON escape
/// (`\nghp_…`) or the end of a colour (`ESC[31mghp_…`).
fn begins_word(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    match before {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] => true,
        [sequence @ .., b'm'] => {
            let codes = sequence.iter().rev().take(CONTEXT).take_while(|byte| byte.is_ascii_digit() || **byte == b';');
            let front = sequence.get(..sequence.len() - codes.count()).unwrap_or_default();
            front.ends_with(b"\x1b[") || front.ends_with(b"001b[") || front.ends_with(b"001B[")
        }
        [.., last] => !(last.is_ascii_alphanumeric() || *last == b'_'),
        [] => true,
    }
}

/// Rules out what has the shape by accident: `sk-circle-fade-dot-something` of a style sheet has no digit and no capital.
fn is_secret(found: &[u8]) -> bool {
    let prefixed = [b"sk-", b"rk-", b"pk-", b"sk_", b"rk_", b"pk_"].iter().any(|prefix| found.starts_with(*prefix));
    !prefixed || found.iter().skip(3).any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}
