//! Questions that a person would ask before beginning. None is better than an idle one.

use planex_core::exploration::Clarification;

use crate::classify::FileClass;
use crate::explorer::Explorer;
use crate::rank::{Query, Ranking, WhyKind};
use crate::text::Clues;

/// The questions of a task, at most three.
pub(super) fn questions(explorer: &Explorer, query: &Query, ranking: &Ranking) -> Vec<Clarification> {
    let clues = Clues::read(&query.text);
    let mut found: Vec<Clarification> = Vec::new();
    found.extend(missing_path(explorer, &clues));
    found.extend(several_definitions(explorer, &clues, ranking));
    found.extend(nowhere(explorer, ranking));
    found.truncate(3);
    found
}

/// The task names a path inside the project that does not exist, while one like it does.
fn missing_path(explorer: &Explorer, clues: &Clues) -> Option<Clarification> {
    let plain = |m: &&crate::text::Mention| {
        !m.frame && m.path.contains('/') && !m.path.starts_with('/') && !m.path.contains("//")
    };
    for mention in clues.mentions.iter().filter(plain).take(20) {
        let path = mention.path.trim_start_matches("./");
        let folder = path.split('/').next().unwrap_or("");
        let here = explorer.index.entries.iter().any(|e| e.path.split('/').next() == Some(folder));
        let known = explorer.index.entries.iter().any(|e| e.path.ends_with(path))
            || planex_sys::fs::exists(&explorer.root().join(path));
        if known || !here {
            continue;
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        let like: Vec<&str> = explorer
            .index
            .entries
            .iter()
            .filter(|e| e.path.rsplit('/').next() == Some(name))
            .map(|e| e.path.as_str())
            .take(3)
            .collect();
        if like.is_empty() {
            // A new file is an ordinary wish: nothing to ask.
            continue;
        }
        let mut options: Vec<String> = like.iter().map(|p| format!("{p} is meant")).collect();
        options.push(format!("{path} is to be created"));
        return Some(Clarification {
            question: format!("The task names {path}, which does not exist. Which file is meant?"),
            context: format!("There is {}.", like.join(", ")),
            options,
            recommended: 0,
        });
    }
    None
}

/// The task names a symbol that two equally likely source files define.
fn several_definitions(explorer: &Explorer, clues: &Clues, ranking: &Ranking) -> Option<Clarification> {
    let close: Vec<_> =
        ranking.files.iter().filter(|f| f.score >= 0.85 && f.class == FileClass::Source).take(4).collect();
    let first = close.first().filter(|_| close.len() >= 2)?;
    if first.why.iter().any(|w| matches!(w.kind, WhyKind::Path | WhyKind::Frame)) {
        return None;
    }
    for ident in clues.idents.iter().filter(|i| i.weight >= 1.0).take(10) {
        let defines = |path: &str| {
            explorer
                .index
                .find(path)
                .and_then(|at| explorer.index.entries.get(at))
                .is_some_and(|e| e.symbols.iter().any(|s| s.name == ident.name))
        };
        let files: Vec<&str> = close.iter().map(|f| f.path.as_str()).filter(|p| defines(p)).collect();
        if files.len() >= 2 && files.first() == Some(&first.path.as_str()) {
            let mut options: Vec<String> = files.iter().take(3).map(|p| format!("The one in {p}")).collect();
            options.push("All of them".to_owned());
            return Some(Clarification {
                question: format!("`{}` is defined in several files. Which one is meant?", ident.name),
                context: format!("Found in {}.", files.join(", ")),
                options,
                recommended: 0,
            });
        }
    }
    None
}

/// Nothing in the code speaks of the task: where should it live?
fn nowhere(explorer: &Explorer, ranking: &Ranking) -> Option<Clarification> {
    let modules: Vec<&str> = explorer.tech().modules.iter().map(|m| m.path.as_str()).filter(|p| *p != ".").collect();
    if !ranking.files.is_empty() || modules.len() < 2 {
        return None;
    }
    let options: Vec<String> =
        modules.iter().take(3).map(|m| format!("In {m}")).chain(["In a new module".to_owned()]).collect();
    Some(Clarification {
        question: "No word of the task occurs in the code. In which module should the work be done?".to_owned(),
        context: format!("The modules are {}.", modules.join(", ")),
        options,
        recommended: 0,
    })
}
