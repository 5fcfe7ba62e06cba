//! Finding a session by what someone remembers of its id.

use super::folded;

/// How well a query meets an id, best last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Words,
    Part,
    Exact,
}

/// Whether `query` means `id`: it is the id, a part of it, or all of its words occur in it, in any order. Case and Unicode
/// form do not count. A query without letters and digits means nothing.
#[must_use]
pub fn matches(id: &str, query: &str) -> bool {
    fit(id, query).is_some()
}

/// The ids that `query` means: those that are it, else those that contain it, else those that contain all of its words.
///
/// One: found. Several or none: the caller lists them (spec 00).
#[must_use]
pub fn find<'a>(query: &str, ids: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let fits: Vec<(Fit, &str)> = ids.into_iter().filter_map(|id| Some((fit(id, query)?, id))).collect();
    let Some(best) = fits.iter().map(|(fit, _)| *fit).max() else { return Vec::new() };
    // Ids that differ in case alone are told apart by writing them out.
    if let Some((_, same)) = fits.iter().find(|(_, id)| *id == query) {
        return vec![same];
    }
    fits.into_iter().filter(|(fit, _)| *fit == best).map(|(_, id)| id).collect()
}

fn fit(id: &str, query: &str) -> Option<Fit> {
    let (id, query) = (folded(id), folded(query.trim()));
    let mut words = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    words.peek()?;
    if id == query {
        Some(Fit::Exact)
    // A path is no way to say an id.
    } else if query.contains(['/', '\\']) {
        None
    } else if id.contains(&query) {
        Some(Fit::Part)
    } else {
        words.all(|word| id.contains(word)).then_some(Fit::Words)
    }
}

#[cfg(test)]
mod tests {
    use super::{find, matches};

    const IDS: [&str; 5] =
        ["wpp-20260228-auth", "wpp-20260228-auth-2", "wpp-20260301-ログイン機能", "jobs-2026-02-28", "Jobs-2026-02-28"];

    #[test]
    fn ids_beat_parts_and_parts_beat_words() {
        for (query, expected) in [
            ("wpp-20260228-auth", &["wpp-20260228-auth"][..]),
            ("auth-2", &["wpp-20260228-auth-2"]),
            ("auth-20260228", &["wpp-20260228-auth", "wpp-20260228-auth-2"]),
            ("AUTH", &["wpp-20260228-auth", "wpp-20260228-auth-2"]),
            ("ログイン 0301", &["wpp-20260301-ログイン機能"]),
            ("ロク\u{3099}イン", &["wpp-20260301-ログイン機能"]),
            ("jobs-2026-02-28", &["jobs-2026-02-28"]),
            ("JOBS-2026-02-28", &["jobs-2026-02-28", "Jobs-2026-02-28"]),
            ("nothing", &[]),
            ("", &[]),
            (" - ", &[]),
        ] {
            assert_eq!(find(query, IDS), expected, "{query}");
        }
    }

    #[test]
    fn all_words_must_occur() {
        assert!(matches("wpp-20260228-auth", "auth 20260228"));
        assert!(!matches("wpp-20260228-auth", "auth 20260301"));
    }

    #[test]
    fn a_path_means_no_session() {
        for query in ["../auth", "wpp-20260228-auth/../wpp-20260228-auth", "x/auth", "auth\\"] {
            assert!(!matches("wpp-20260228-auth", query), "{query}");
        }
    }
}
