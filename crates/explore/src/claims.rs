//! Whether what an agent cites exists (spec 15: every path against the tree, every `file:line` against the file).

use camino::Utf8Path;

/// A citation and whether it holds.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Claim {
    /// As cited.
    pub cited: String,
    /// Whether it exists.
    pub ok: bool,
    /// Why it does not hold; empty when it does.
    pub reason: String,
}

/// Checks citations: `path`, `path:line`, `path:line:column`, `path:start-end`, `path#L12-L34`.
#[must_use]
pub fn check_claims(root: &Utf8Path, cited: &[String]) -> Vec<Claim> {
    cited.iter().map(|text| check(root, text)).collect()
}

fn check(root: &Utf8Path, text: &str) -> Claim {
    let (path, lines) = split(text.trim().trim_matches('`'));
    let reason = reason(root, path, &lines);
    Claim { cited: text.to_owned(), ok: reason.is_empty(), reason }
}

fn reason(root: &Utf8Path, path: &str, lines: &[u64]) -> String {
    if path.is_empty() {
        return "names no file".to_owned();
    }
    let path = Utf8Path::new(path);
    let inside = path.strip_prefix(root).unwrap_or(path);
    let Ok(place) = planex_sys::fs::safe_join(root, inside) else {
        return "lies outside the project".to_owned();
    };
    if !planex_sys::fs::exists(&place) {
        return "does not exist".to_owned();
    }
    let Some(last) = lines.iter().copied().max() else { return String::new() };
    if planex_sys::fs::is_dir(&place) {
        return "is a folder, which has no lines".to_owned();
    }
    if lines.contains(&0) {
        return "lines count from 1".to_owned();
    }
    match planex_sys::fs::read(&place) {
        Ok(bytes) => {
            let count = line_count(&bytes);
            if last > count { format!("has only {count} lines") } else { String::new() }
        }
        Err(error) => error.to_string(),
    }
}

fn line_count(bytes: &[u8]) -> u64 {
    let breaks = bytes.iter().filter(|b| **b == b'\n').count() as u64;
    breaks + u64::from(!bytes.is_empty() && !bytes.ends_with(b"\n"))
}

/// Path and the line numbers behind it.
fn split(text: &str) -> (&str, Vec<u64>) {
    let number = |part: &str| part.trim().trim_start_matches(['L', 'l']).parse::<u64>().ok();
    let range = |part: &str| -> Option<Vec<u64>> { part.split('-').map(number).collect() };
    if let Some((path, lines)) = text.split_once('#').and_then(|(path, part)| Some((path, range(part)?))) {
        return (path, lines);
    }
    if let Some((path, lines)) = text.rsplit_once(':').and_then(|(path, part)| Some((path, range(part)?))) {
        // `path:line:column`: the number before is the line.
        return match path.rsplit_once(':').and_then(|(path, part)| Some((path, range(part)?))) {
            Some((path, lines)) => (path, lines),
            None => (path, lines),
        };
    }
    (text, Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_split() {
        assert_eq!(split("a/b.rs:12"), ("a/b.rs", vec![12]));
        assert_eq!(split("a/b.rs:12:5"), ("a/b.rs", vec![12]));
        assert_eq!(split("a/b.rs:12-20"), ("a/b.rs", vec![12, 20]));
        assert_eq!(split("a/b.rs#L12-L20"), ("a/b.rs", vec![12, 20]));
        assert_eq!(split("a/b.rs:L7"), ("a/b.rs", vec![7]));
        assert_eq!(split("a/b.rs"), ("a/b.rs", vec![]));
        assert_eq!(split("a:b.rs"), ("a:b.rs", vec![]));
    }

    #[test]
    fn what_does_not_exist_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap();
        planex_sys::fs::write_atomic(&root.join("a.txt"), b"1\n2\n3").unwrap();
        let cited: Vec<String> =
            ["a.txt", "a.txt:3", "a.txt:4", "b.txt", "../x", "", "a.txt:0", "/etc/passwd"].map(str::to_owned).to_vec();
        let claims = check_claims(root, &cited);
        let ok: Vec<bool> = claims.iter().map(|c| c.ok).collect();
        assert_eq!(ok, [true, true, false, false, false, false, false, false]);
        assert_eq!(claims[2].reason, "has only 3 lines");
        assert!(claims.iter().all(|c| c.ok == c.reason.is_empty()));
    }

    proptest::proptest! {
        #[test]
        fn any_citation_is_answered(text in "\\PC*") {
            let dir = tempfile::tempdir().unwrap();
            let _ = check_claims(Utf8Path::from_path(dir.path()).unwrap(), &[text]);
        }
    }
}
