//! BM25F over path, symbols, comments and body.

use std::collections::HashMap;

use super::{Candidate, WhyKind};
use crate::index::Index;
use crate::text::Clues;
use crate::tokens::each_term;

const K1: f64 = 1.2;
const PATH_WEIGHT: f64 = 4.0;
const SYMBOL_WEIGHT: f64 = 2.0;
const BODY_WEIGHT: f64 = 1.0;
const COMMENT_WEIGHT: f64 = 0.8;
/// How much long files are held back, per field.
const B: f64 = 0.72;

/// Scores by words, 0..1; gives how many terms of the text occur in the tree.
pub(super) fn score(index: &Index, clues: &Clues, candidates: &mut [Candidate]) -> usize {
    let paths: Vec<HashMap<String, u32>> = index.entries.iter().map(|e| path_terms(&e.path)).collect();
    let mut path_frequency: HashMap<&str, u32> = HashMap::new();
    for terms in &paths {
        terms.keys().for_each(|t| *path_frequency.entry(t).or_default() += 1);
    }
    let lengths: Vec<f64> = index
        .entries
        .iter()
        .map(|e| e.terms.iter().map(|(_, c)| weighted(c.body, c.symbol, c.comment)).sum())
        .collect();
    let read = lengths.iter().filter(|l| **l > 0.0).count().max(1);
    let average = lengths.iter().sum::<f64>() / real(read);
    let count = real(index.entries.len());
    let mut used = 0;
    let mut reasons: Vec<Vec<(f64, usize, bool)>> = vec![Vec::new(); candidates.len()];
    for (n, (term, weight, _)) in clues.terms.iter().enumerate() {
        let id = index.vocabulary.find(term);
        let in_paths = path_frequency.get(term.as_str()).copied().unwrap_or(0);
        let frequency = f64::from(id.map_or(0, |id| index.frequency_of(id)).max(in_paths));
        if frequency == 0.0 {
            continue;
        }
        used += 1;
        let rarity = (1.0 + (count - frequency + 0.5) / (frequency + 0.5)).ln();
        for (at, entry) in index.entries.iter().enumerate() {
            let counts = id.and_then(|id| entry.counts(id)).unwrap_or_default();
            let in_path = paths.get(at).and_then(|p| p.get(term)).copied().unwrap_or(0);
            let text = weighted(counts.body, counts.symbol, counts.comment);
            if text == 0.0 && in_path == 0 {
                continue;
            }
            let length = lengths.get(at).copied().unwrap_or(0.0);
            let tf = text / (1.0 - B + B * length / average) + PATH_WEIGHT * f64::from(in_path) * 0.6;
            let gain = weight * rarity * tf * (K1 + 1.0) / (tf + K1);
            if let (Some(candidate), Some(reasons)) = (candidates.get_mut(at), reasons.get_mut(at)) {
                candidate.words += gain;
                reasons.push((gain, n, in_path > 0));
            }
        }
    }
    normalise(candidates);
    explain(clues, candidates, reasons);
    used
}

fn normalise(candidates: &mut [Candidate]) {
    let top = candidates.iter().map(|c| c.words).fold(0.0, f64::max);
    if top > 0.0 {
        candidates.iter_mut().for_each(|c| c.words /= top);
    }
}

fn explain(clues: &Clues, candidates: &mut [Candidate], reasons: Vec<Vec<(f64, usize, bool)>>) {
    for (candidate, mut reasons) in candidates.iter_mut().zip(reasons) {
        if candidate.words < 0.02 {
            continue;
        }
        reasons.sort_by(|a, b| b.0.total_cmp(&a.0));
        let names = |in_path: bool, own: bool| {
            let mut seen: Vec<&str> = Vec::new();
            for (_, n, _) in reasons.iter().filter(|r| (!in_path || r.2) && (r.1 < clues.own_terms) == own) {
                if let Some((_, _, raw)) = clues.terms.get(*n)
                    && !seen.contains(&raw.as_str())
                {
                    seen.push(raw);
                }
            }
            seen.truncate(6);
            seen.join(", ")
        };
        let words = candidate.words;
        for (weight, kind, detail) in [
            (0.6, WhyKind::Terms, names(false, true)),
            (0.5, WhyKind::Name, names(true, true)),
            (0.1, WhyKind::Angle, names(false, false)),
        ] {
            if !detail.is_empty() {
                candidate.reason(words * weight, kind, detail);
            }
        }
    }
}

fn weighted(body: u16, symbol: u16, comment: u16) -> f64 {
    BODY_WEIGHT * f64::from(body) + SYMBOL_WEIGHT * f64::from(symbol) + COMMENT_WEIGHT * f64::from(comment)
}

/// Terms of a path; those of the file's own name count double.
fn path_terms(path: &str) -> HashMap<String, u32> {
    let mut terms = HashMap::new();
    let name = path.rsplit('/').next().unwrap_or(path);
    for text in [path, name] {
        each_term(text, &mut |_, term, _| *terms.entry(term.to_owned()).or_default() += 1);
    }
    terms
}

fn real(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}
