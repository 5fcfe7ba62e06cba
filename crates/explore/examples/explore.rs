//! Prints ranked paths: `explore --paths -n K -C DIR --file TEXT [--angle A] [--cache DIR]`,
//! or with `--why`, `--full` (exploration), `--plan` (angles, findings, tasks), `--tech`.

#![expect(clippy::print_stdout, reason = "an example prints")]

use camino::{Utf8Path, Utf8PathBuf};
use planex_explore::{ExploreOptions, ExploredRow, Explorer, Query, assess, findings, plan_tasks, project_tech};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value = |flag: &str| args.iter().position(|a| a == flag).and_then(|at| args.get(at + 1)).cloned();
    let root = value("-C").unwrap_or_else(|| ".".to_owned());
    let text = match value("--file") {
        Some(file) => planex_sys::fs::read_to_string(Utf8Path::new(&file))?,
        None => value("--text").ok_or("give --file or --text")?,
    };
    let limit = value("-n").and_then(|n| n.parse().ok()).unwrap_or(20);
    let options = ExploreOptions { cache_dir: value("--cache").map(Utf8PathBuf::from), ..ExploreOptions::default() };
    let explorer = Explorer::open(Utf8Path::new(&root), &options)?;
    let mut query = Query::new(text, limit);
    if let Some(angle) = value("--angle") {
        query = query.from_angle(angle);
    }
    if args.iter().any(|a| a == "--full") {
        let found = explorer.exploration(&query, 1, 1, "2026-01-01T00:00:00+00:00", 0.0);
        println!("{}", serde_json::to_string_pretty(&found)?);
        return Ok(());
    }
    if args.iter().any(|a| a == "--tech") {
        println!("{}", serde_json::to_string_pretty(&project_tech(explorer.root(), Some(&explorer), ""))?);
        return Ok(());
    }
    if args.iter().any(|a| a == "--plan") {
        return plan(&explorer, &query.text);
    }
    for file in explorer.rank(&query).files {
        if args.iter().any(|a| a == "--why") {
            let why: Vec<String> = file.why.iter().map(|w| format!("{:?}: {}", w.kind, w.detail)).collect();
            println!("{:.3} {} {:?} | {}", file.score, file.path, file.symbols, why.join(" | "));
        } else {
            println!("{}", file.path);
        }
    }
    Ok(())
}

/// Assesses, explores from each angle, and plans.
fn plan(explorer: &Explorer, text: &str) -> Result<(), Box<dyn std::error::Error>> {
    let assessed = assess(text, Some(explorer));
    println!("{}", serde_json::to_string_pretty(&assessed)?);
    let total = u32::try_from(assessed.angles.len())?;
    let explored: Vec<_> = assessed
        .angles
        .iter()
        .zip(1..)
        .map(|(a, n)| explorer.exploration(&Query::new(text, 10).from_angle(&a.angle), n, total, "", 0.0))
        .collect();
    let found: Vec<_> = explored.iter().map(findings).collect();
    for (text, files) in &found {
        println!("FINDINGS {text}\n   KEY {}", files.join(";"));
    }
    let rows: Vec<ExploredRow<'_>> = assessed
        .angles
        .iter()
        .zip(&found)
        .zip(&explored)
        .map(|((a, (text, files)), e)| ExploredRow {
            id: &a.id,
            angle: &a.angle,
            findings: text,
            key_files: files,
            exploration: Some(e),
        })
        .collect();
    let tech = project_tech(explorer.root(), Some(explorer), "");
    println!("{}", serde_json::to_string_pretty(&plan_tasks(text, &rows, &tech, Some(explorer)))?);
    Ok(())
}
