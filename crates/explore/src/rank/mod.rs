//! Orders the files of a tree by how much they matter for a text.

mod bm25;
mod clues;
mod lines;

use crate::angle::{Angle, Family};
use crate::classify::FileClass;
use crate::explorer::Explorer;
use crate::text::Clues;

pub(crate) use lines::Place;

/// A question to a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Task, issue, error message, stack trace; any language.
    pub text: String,
    /// Point of view, or none.
    pub angle: Option<Angle>,
    /// Most files to return.
    pub limit: usize,
}

impl Query {
    /// A question without a point of view.
    #[must_use]
    pub fn new(text: impl Into<String>, limit: usize) -> Self {
        Self { text: text.into(), angle: None, limit }
    }

    /// The same from a point of view.
    #[must_use]
    pub fn from_angle(mut self, angle: impl AsRef<str>) -> Self {
        self.angle = Some(Angle::new(angle));
        self
    }
}

/// Lines of a file, from 1, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub struct LineRange {
    /// First line.
    pub start: u32,
    /// Last line.
    pub end: u32,
}

/// What a reason is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyKind {
    /// The text names the path.
    Path,
    /// The text has a stack frame there.
    Frame,
    /// It defines a symbol that the text names.
    Symbol,
    /// Words of the text occur in it.
    Terms,
    /// Its name holds words of the text.
    Name,
    /// It imports, or is imported by, a file that matters.
    Import,
    /// It speaks of the point of view.
    Angle,
}

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Why {
    /// What it is.
    pub kind: WhyKind,
    /// The terms, symbols or paths.
    pub detail: String,
}

/// One file of a ranking.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct RankedFile {
    /// Relative to the root, with `/`.
    pub path: String,
    /// 0..1; the best file has 1.
    pub score: f64,
    /// Lines that matter most, best first.
    pub lines: Vec<LineRange>,
    /// Symbols there, in the order of `lines`.
    pub symbols: Vec<String>,
    /// Why it is here, strongest first.
    pub why: Vec<Why>,
    #[serde(skip)]
    pub(crate) class: FileClass,
    #[serde(skip)]
    pub(crate) places: Vec<Place>,
}

impl RankedFile {
    /// What the file is.
    #[must_use]
    pub fn class(&self) -> FileClass {
        self.class
    }
}

/// Figures of a ranking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct RankStats {
    /// Files of the tree.
    pub files: usize,
    /// Files with any reason to be ranked.
    pub matched: usize,
    /// Distinct terms of the text that occur in the tree.
    pub terms: usize,
}

/// Files, best first.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Ranking {
    /// Best first.
    pub files: Vec<RankedFile>,
    /// Figures.
    pub stats: RankStats,
}

/// One file on its way through the scorers.
#[derive(Debug, Clone, Default)]
struct Candidate {
    /// 0..1 by words.
    words: f64,
    /// By what the text names outright; may exceed 1.
    named: f64,
    total: f64,
    why: Vec<(f64, Why)>,
}

impl Candidate {
    fn reason(&mut self, weight: f64, kind: WhyKind, detail: String) {
        if weight > 0.0 {
            self.why.push((weight, Why { kind, detail }));
        }
    }
}

/// See [`Explorer::rank`].
pub(crate) fn rank(explorer: &Explorer, query: &Query) -> Ranking {
    let mut read = Clues::read(&query.text);
    let family = query.angle.as_ref().map_or(Family::Other, Angle::family);
    add_angle(&mut read, family);
    let mut candidates = vec![Candidate::default(); explorer.index.entries.len()];
    let terms = bm25::score(&explorer.index, &read, &mut candidates);
    clues::score(&explorer.index, &read, &mut candidates);
    let about_tests = read.about_tests || family == Family::Testing;
    for (candidate, entry) in candidates.iter_mut().zip(&explorer.index.entries) {
        candidate.total = (candidate.words + candidate.named)
            * class_factor(entry.class, about_tests, read.about_docs, candidate.named);
    }
    spread(explorer, &mut candidates, about_tests, read.about_docs);
    finish(explorer, query, &read, candidates, terms)
}

fn add_angle(clues: &mut Clues, family: Family) {
    clues.own_terms = clues.terms.len();
    for word in family.words() {
        let term = crate::tokens::stem(word).to_owned();
        if !clues.terms.iter().any(|(t, _, _)| *t == term) {
            clues.terms.push((term, 0.12, (*word).to_owned()));
        }
    }
}

/// How much a class of files counts. What the text names outright is demoted less.
fn class_factor(class: FileClass, about_tests: bool, about_docs: bool, named: f64) -> f64 {
    let factor = match class {
        FileClass::Source => 1.0,
        FileClass::Test => {
            if about_tests {
                1.2
            } else {
                0.35
            }
        }
        FileClass::Docs => {
            if about_docs {
                0.9
            } else {
                0.25
            }
        }
        FileClass::Config => 0.35,
        FileClass::Vendored | FileClass::Generated => 0.25,
        FileClass::Data | FileClass::Minified | FileClass::Huge => 0.12,
    };
    if named >= 1.0 && class != FileClass::Test { f64::max(factor, 0.6) } else { factor }
}

/// Files that import, or are imported by, files that matter gain a little.
fn spread(explorer: &Explorer, candidates: &mut [Candidate], about_tests: bool, about_docs: bool) {
    let mut best: Vec<usize> =
        (0..candidates.len()).filter(|at| candidates.get(*at).is_some_and(|c| c.total > 0.0)).collect();
    let total = |candidates: &[Candidate], at: usize| candidates.get(at).map_or(0.0, |c| c.total);
    best.sort_by(|a, b| total(candidates, *b).total_cmp(&total(candidates, *a)).then(a.cmp(b)));
    best.truncate(12);
    let graph = explorer.graph();
    let mut gains: Vec<(usize, f64, String)> = Vec::new();
    for from in &best {
        let Some(entry) = explorer.index.entries.get(*from) else { continue };
        let score = total(candidates, *from);
        for (neighbours, share, verb) in
            [(graph.uses(*from), 0.10, "imported by"), (graph.used_by(*from), 0.05, "imports")]
        {
            // A file that everything imports says nothing about its importers.
            let damp = 1.0 / (1.0 + f64::from(u32::try_from(neighbours.len()).unwrap_or(u32::MAX)) / 8.0);
            let silent = entry.class == FileClass::Test && verb == "imported by";
            let detail = if silent { String::new() } else { format!("{verb} {}", entry.path) };
            gains.extend(neighbours.iter().map(|to| (*to, score * share * damp, detail.clone())));
        }
    }
    let mut top: std::collections::HashMap<usize, (f64, String)> = std::collections::HashMap::new();
    for (to, gain, detail) in gains {
        let slot = top.entry(to).or_insert((0.0, String::new()));
        if gain > slot.0 {
            *slot = (gain, detail);
        }
    }
    for (to, (gain, detail)) in top {
        if let (Some(candidate), Some(entry)) = (candidates.get_mut(to), explorer.index.entries.get(to)) {
            let gain = gain * class_factor(entry.class, about_tests, about_docs, 0.0);
            candidate.total += gain;
            // That a test imports a file is no news to a reader.
            if !detail.is_empty() {
                candidate.reason(gain, WhyKind::Import, detail);
            }
        }
    }
}

fn finish(explorer: &Explorer, query: &Query, clues: &Clues, candidates: Vec<Candidate>, terms: usize) -> Ranking {
    let files = explorer.index.entries.len();
    let mut ranked: Vec<(Candidate, usize)> = candidates.into_iter().zip(0..).filter(|(c, _)| c.total > 0.0).collect();
    let matched = ranked.len();
    let path = |at: usize| explorer.index.entries.get(at).map_or("", |e| e.path.as_str());
    ranked.sort_by(|a, b| b.0.total.total_cmp(&a.0.total).then_with(|| path(a.1).cmp(path(b.1))));
    ranked.truncate(query.limit);
    let top = ranked.first().map_or(1.0, |(c, _)| c.total);
    let files_ranked = ranked.into_iter().filter_map(|(candidate, at)| {
        let entry = explorer.index.entries.get(at)?;
        let places = lines::places(explorer, entry, clues);
        let mut why = candidate.why;
        why.sort_by(|a, b| b.0.total_cmp(&a.0));
        Some(RankedFile {
            path: entry.path.clone(),
            score: (candidate.total / top * 1_000.0).round() / 1_000.0,
            lines: places.iter().map(|p| p.range).collect(),
            symbols: places.iter().filter_map(|p| p.symbol.clone()).collect(),
            why: why.into_iter().map(|(_, why)| why).take(6).collect(),
            class: entry.class,
            places,
        })
    });
    Ranking { files: files_ranked.collect(), stats: RankStats { files, matched, terms } }
}
