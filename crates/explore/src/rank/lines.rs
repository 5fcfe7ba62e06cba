//! Where in a file the words of a text gather.

use std::collections::{HashMap, HashSet};

use super::LineRange;
use crate::explorer::Explorer;
use crate::index::Entry;
use crate::symbols::{Symbol, SymbolKind};
use crate::text::Clues;
use crate::tokens::each_term;

/// Most places per file.
const MAX_PLACES: usize = 4;
/// A symbol longer than this is shown by its best part. Lines.
const MAX_LINES: u32 = 120;

/// One place that matters.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Place {
    pub(crate) range: LineRange,
    pub(crate) symbol: Option<String>,
    pub(crate) kind: Option<SymbolKind>,
    /// Words of the text found there, strongest first.
    pub(crate) terms: Vec<String>,
    score: f64,
}

/// The places of a file, best first.
pub(crate) fn places(explorer: &Explorer, entry: &Entry, clues: &Clues) -> Vec<Place> {
    if entry.terms.is_empty() {
        return Vec::new();
    }
    let Some(text) = explorer.read(&entry.path) else { return Vec::new() };
    let weights = weights(explorer, clues);
    let lines = scored_lines(&text, &weights);
    let named: HashSet<&str> = clues.idents.iter().map(|i| i.name.as_str()).collect();
    let mut places = symbol_places(entry, &lines, &named);
    places.extend(mentioned(entry, clues));
    if places.is_empty() {
        places = windows(entry, &lines);
    }
    places.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.range.start.cmp(&b.range.start)));
    let best = places.first().map_or(0.0, |p| p.score);
    places.retain(|p| p.score >= best * 0.3);
    let mut kept: Vec<Place> = Vec::new();
    for place in places {
        let overlaps = kept.iter().any(|k| k.range.start <= place.range.end && place.range.start <= k.range.end);
        if !overlaps && kept.len() < MAX_PLACES {
            kept.push(place);
        }
    }
    kept
}

/// Weight of each term of the text that is not everywhere, with the word it came from.
fn weights<'c>(explorer: &Explorer, clues: &'c Clues) -> HashMap<&'c str, (f64, &'c str)> {
    let count = f64::from(u32::try_from(explorer.index.entries.len()).unwrap_or(u32::MAX));
    let rated = clues.terms.iter().filter_map(|(term, weight, raw)| {
        let frequency = f64::from(explorer.index.frequency_of(explorer.index.vocabulary.find(term)?));
        let rarity = (1.0 + (count - frequency + 0.5) / (frequency + 0.5)).ln();
        Some((term.as_str(), (weight * rarity, raw.as_str())))
    });
    rated.collect()
}

/// Number of the line and the terms on it.
type ScoredLine<'c> = (u32, Vec<(&'c str, f64, &'c str)>);

fn scored_lines<'c>(text: &str, weights: &HashMap<&'c str, (f64, &'c str)>) -> Vec<ScoredLine<'c>> {
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mut found: Vec<(&str, f64, &str)> = Vec::new();
        each_term(line, &mut |_, term, _| {
            if let Some((known, (weight, raw))) = weights.get_key_value(term)
                && !found.iter().any(|(t, _, _)| t == known)
            {
                found.push((known, *weight, raw));
            }
        });
        if !found.is_empty() {
            lines.push((number, found));
        }
    }
    lines
}

fn gather<'c>(lines: &[ScoredLine<'c>], start: u32, end: u32) -> (f64, Vec<String>) {
    let from = lines.partition_point(|(n, _)| *n < start);
    let mut terms: HashMap<&'c str, (f64, u32, &'c str)> = HashMap::new();
    for (_, found) in lines.iter().skip(from).take_while(|(n, _)| *n <= end) {
        for (term, weight, raw) in found {
            let slot = terms.entry(term).or_insert((*weight, 0, raw));
            slot.1 += 1;
        }
    }
    let score: f64 =
        terms.values().map(|(weight, count, _)| weight * (1.0 + 0.2 * f64::from((*count).min(5) - 1))).sum();
    let mut names: Vec<(f64, &str)> = terms.into_values().map(|(weight, _, raw)| (weight, raw)).collect();
    names.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let mut distinct: Vec<String> = Vec::new();
    for (_, raw) in names {
        if distinct.len() < 5 && !distinct.iter().any(|d| d.eq_ignore_ascii_case(raw)) {
            distinct.push(raw.to_owned());
        }
    }
    (score, distinct)
}

fn symbol_places(entry: &Entry, lines: &[ScoredLine<'_>], named: &HashSet<&str>) -> Vec<Place> {
    let wanted = |s: &&Symbol| {
        s.kind != SymbolKind::Module && (s.kind != SymbolKind::Constant || named.contains(s.name.as_str()))
    };
    let rated = entry.symbols.iter().filter(wanted).filter_map(|symbol| {
        let long = symbol.end - symbol.start > MAX_LINES;
        let end = if long { symbol.start + 30 } else { symbol.end };
        let (mut score, terms) = gather(lines, symbol.start, end);
        if named.contains(symbol.name.as_str()) {
            score = score * 1.5 + 6.0;
        }
        // What is tested matters more than the test beside it.
        let score =
            if symbol.name.starts_with("test") && !named.contains(symbol.name.as_str()) { score * 0.5 } else { score };
        // Long bodies gather words by their mere length.
        let score = score / (1.0 + f64::from(end - symbol.start) / 60.0).sqrt();
        let range = LineRange { start: symbol.start, end };
        (score > 0.0).then(|| Place { range, symbol: Some(symbol.name.clone()), kind: Some(symbol.kind), terms, score })
    });
    rated.collect()
}

fn mentioned(entry: &Entry, clues: &Clues) -> Vec<Place> {
    let name = entry.path.rsplit('/').next().unwrap_or(&entry.path);
    let here = clues.mentions.iter().filter(|m| m.path.rsplit('/').next() == Some(name));
    let lines = here.filter_map(|m| m.line).filter(|l| *l >= 1 && *l <= entry.lines);
    let place = lines.take(3).map(|line| {
        let around = entry.symbol_at(line).filter(|s| s.end - s.start <= MAX_LINES);
        let range = around
            .map_or(LineRange { start: line.saturating_sub(3).max(1), end: (line + 3).min(entry.lines) }, |s| {
                LineRange { start: s.start, end: s.end }
            });
        let terms = vec![format!("line {line}")];
        Place { range, symbol: around.map(|s| s.name.clone()), kind: around.map(|s| s.kind), terms, score: 50.0 }
    });
    place.collect()
}

/// Files without symbols: the neighbourhoods of the best lines.
fn windows(entry: &Entry, lines: &[ScoredLine<'_>]) -> Vec<Place> {
    let mut rated: Vec<(u32, f64)> =
        lines.iter().map(|(n, found)| (*n, found.iter().map(|(_, w, _)| w).sum())).collect();
    rated.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let window = rated.into_iter().take(MAX_PLACES).map(|(line, _)| {
        let range = LineRange { start: line.saturating_sub(2).max(1), end: (line + 4).min(entry.lines.max(line)) };
        let (score, terms) = gather(lines, range.start, range.end);
        Place { range, symbol: None, kind: None, terms, score }
    });
    window.collect()
}
