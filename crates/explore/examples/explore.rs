//! Prints ranked paths: `explore --paths -n K -C DIR --file TEXT [--angle A] [--cache DIR] [--why]`.

#![expect(clippy::print_stdout, reason = "an example prints")]

use camino::{Utf8Path, Utf8PathBuf};
use planex_explore::{ExploreOptions, Explorer, Query};

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
