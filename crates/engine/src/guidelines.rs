//! The user's rules: `.workflow/specs/*.md` and those of the reference system (spec 15, *Project knowledge*).
//!
//! Reading and selecting is [`planex_core::guide`]'s; this room knows where they lie.

use camino::{Utf8Path, Utf8PathBuf};
use planex_core::guide::{self, Category, GuideFault, Guideline, LIMIT};
use planex_core::id;
use planex_sys::fs::{self, EntryKind};

use crate::error::{EngineError, Result};

/// Folders that are read, in this order; the first is where planex writes.
const FOLDERS: [&str; 3] = [".workflow/specs", ".ccw/personal", ".ccw/specs"];

/// All guidelines of a project and what is wrong with them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Guidelines {
    /// Those that could be read.
    pub all: Vec<Guideline>,
    /// What is wrong, one line each.
    pub faults: Vec<GuideFault>,
}

impl Guidelines {
    /// Those that apply, as Markdown of at most 8,000 characters; empty if none does.
    #[must_use]
    pub fn render(&self, categories: &[Category], keywords: &[String]) -> String {
        let applying = guide::applying(&self.all, categories, keywords);
        if applying.is_empty() { String::new() } else { guide::render(&applying, LIMIT) }
    }
}

/// Reads the guidelines of the project at `root`.
///
/// # Errors
/// A folder or file that is there cannot be read. A file that is not UTF-8 is a fault like others.
pub fn load(root: &Utf8Path) -> Result<Guidelines> {
    let mut found = Guidelines::default();
    for folder in FOLDERS {
        let dir = root.join(folder);
        if !fs::is_dir(&dir) {
            continue;
        }
        let files = fs::list(&dir)?.into_iter().filter(|e| e.kind == EntryKind::File && e.name.ends_with(".md"));
        for file in files {
            let name = format!("{folder}/{}", file.name);
            let bytes = fs::read(&file.path)?;
            let (guideline, faults) = guide::parse(&name, &String::from_utf8_lossy(&bytes));
            found.all.push(guideline);
            found.faults.extend(faults);
        }
    }
    Ok(found)
}

/// Writes a new guideline; the name is made of its title, one that is taken gets `-2`, ….
///
/// # Errors
/// The text is empty, or the file cannot be written.
pub fn add(
    root: &Utf8Path,
    category: Category,
    title: &str,
    keywords: &[String],
    required: bool,
    body: &str,
) -> Result<Utf8PathBuf> {
    if body.trim().is_empty() {
        return Err(EngineError::usage("a guideline needs a text"));
    }
    let dir = root.join(FOLDERS[0]);
    fs::create_dir_all(&dir)?;
    let slug = id::slug(title, id::SLUG_CHARS);
    let name = id::first_free(&slug, |name| fs::exists(&dir.join(format!("{name}.md"))));
    let path = dir.join(format!("{name}.md"));
    let words: Vec<String> = keywords.iter().map(|word| quote(word)).collect();
    let mode = if required { "required" } else { "optional" };
    let text = format!(
        "---\ntitle: {}\ncategory: {category}\nreadMode: {mode}\npriority: medium\nkeywords: [{}]\n---\n\n{}\n",
        quote(title),
        words.join(", "),
        body.trim()
    );
    fs::write_atomic(&path, text.as_bytes())?;
    Ok(path)
}

/// A value of front matter that needs no further thought.
fn quote(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() || c == '"' { ' ' } else { c }).collect();
    format!("\"{}\"", line.trim())
}

/// Makes the folder with one file that shows the form, unless there is a guideline already. Gives the file it wrote.
///
/// # Errors
/// It cannot be written.
pub fn init(root: &Utf8Path) -> Result<Option<Utf8PathBuf>> {
    let path = root.join(FOLDERS[0]).join("general.md");
    if !load(root)?.all.is_empty() {
        return Ok(None);
    }
    fs::create_dir_all(&root.join(FOLDERS[0]))?;
    let text = "---\ntitle: General rules\ncategory: general\nreadMode: required\npriority: medium\nkeywords: []\n---\n\n\
        Rules that every task must keep. Replace this line by your own.\n";
    fs::write_atomic(&path, text.as_bytes())?;
    Ok(Some(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> (tempfile::TempDir, Utf8PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temp.path()).unwrap().to_owned();
        (temp, root)
    }

    #[test]
    fn rules_of_a_category_are_loaded_by_read_mode_and_keyword() {
        let (_temp, root) = project();
        add(&root, Category::Planning, "Small \"tasks\"", &[], true, "Keep tasks small.").unwrap();
        add(&root, Category::Planning, "SQL", &["sql".into(), "db: x".into()], false, "No raw SQL.").unwrap();
        add(&root, Category::Review, "Reviews", &[], true, "Be kind.").unwrap();
        let rules = load(&root).unwrap();
        assert_eq!(rules.faults, []);
        let plain = rules.render(&[Category::Planning], &[]);
        assert!(plain.contains("Keep tasks small.") && !plain.contains("No raw SQL.") && !plain.contains("Be kind."));
        assert!(rules.render(&[Category::Planning], &["SQL".into()]).contains("No raw SQL."));
        assert!(rules.render(&[Category::Planning], &["db: x".into()]).contains("No raw SQL."));
        assert_eq!(rules.render(&[Category::Debug], &[]), "");
    }

    #[test]
    fn names_do_not_collide_and_the_reference_systems_files_are_read() {
        let (_temp, root) = project();
        assert!(init(&root).unwrap().is_some());
        assert_eq!(init(&root).unwrap(), None);
        let a = add(&root, Category::General, "規則", &[], true, "x").unwrap();
        let b = add(&root, Category::General, "規則", &[], true, "y").unwrap();
        assert_ne!(a, b);
        std::fs::create_dir_all(root.join(".ccw/specs")).unwrap();
        std::fs::write(root.join(".ccw/specs/old.md"), b"---\nreadMode: required\n---\nold \xff rule").unwrap();
        assert!(load(&root).unwrap().render(&[], &[]).contains("old \u{fffd} rule"));
        assert!(add(&root, Category::General, "t", &[], true, " \n").is_err());
    }
}
