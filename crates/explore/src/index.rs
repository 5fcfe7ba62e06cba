//! All that is known of a tree: one entry per file, terms as numbers.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use camino::Utf8Path;
use sha2::{Digest, Sha256};

use crate::classify::FileClass;
use crate::document::{Counts, Document};
use crate::symbols::{Symbol, language_of};
use crate::tokens::joined;
use crate::walk::{Found, WalkStats, place};

/// One file, its terms as numbers of the [`Vocabulary`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: String,
    pub(crate) size: u64,
    /// 0 where it must not be trusted.
    pub(crate) mtime: u64,
    pub(crate) hash: [u8; 16],
    pub(crate) class: FileClass,
    pub(crate) lines: u32,
    /// Sorted by term.
    pub(crate) terms: Vec<(u32, Counts)>,
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) imports: Vec<String>,
}

impl Entry {
    /// Name of the language for people.
    pub(crate) fn language(&self) -> Option<&'static str> {
        language_of(&self.path).0
    }

    /// Counts of a term.
    pub(crate) fn counts(&self, term: u32) -> Option<Counts> {
        let at = self.terms.binary_search_by_key(&term, |(t, _)| *t).ok()?;
        self.terms.get(at).map(|(_, counts)| *counts)
    }

    /// The innermost symbol around a line.
    pub(crate) fn symbol_at(&self, line: u32) -> Option<&Symbol> {
        self.symbols.iter().filter(|s| s.start <= line && line <= s.end).min_by_key(|s| s.end - s.start)
    }
}

/// Terms as numbers.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    ids: HashMap<Box<str>, u32>,
}

impl Vocabulary {
    pub(crate) fn with_words(words: Vec<Box<str>>) -> Self {
        let ids = words.into_iter().enumerate().filter_map(|(n, w)| Some((w, u32::try_from(n).ok()?))).collect();
        Self { ids }
    }

    pub(crate) fn intern(&mut self, word: Box<str>) -> u32 {
        let next = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        *self.ids.entry(word).or_insert(next)
    }

    pub(crate) fn find(&self, word: &str) -> Option<u32> {
        self.ids.get(word).copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The words by number.
    pub(crate) fn words(&self) -> Vec<&str> {
        let mut words = vec![""; self.ids.len()];
        for (word, id) in &self.ids {
            if let Some(slot) = usize::try_from(*id).ok().and_then(|i| words.get_mut(i)) {
                *slot = word;
            }
        }
        words
    }
}

/// What the cache knew before.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) vocabulary: Vocabulary,
    pub(crate) entries: Vec<Entry>,
}

/// Everything that is known of a tree.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(crate) entries: Vec<Entry>,
    pub(crate) vocabulary: Vocabulary,
    /// In how many files each term is.
    pub(crate) frequency: Vec<u32>,
    /// Definitions by joined lower-case name: entry and symbol.
    pub(crate) definitions: HashMap<String, Vec<(usize, usize)>>,
    by_path: HashMap<String, usize>,
    /// Files read in this run (not taken from the cache).
    pub(crate) fresh: usize,
    /// Whether the cache on disk should be written again.
    pub(crate) changed: bool,
}

/// How files are read.
pub(crate) struct ReadLimits {
    pub(crate) max_bytes: u64,
    pub(crate) threads: usize,
    /// Nanoseconds since 1970; files younger than two seconds before it are compared by content next time.
    pub(crate) now: u64,
}

enum Outcome {
    Same(usize, [u8; 16]),
    New([u8; 16], Document),
    Unread(Document),
    Binary,
    Failed,
}

impl Index {
    /// Brings what was known up to the files that are there.
    pub(crate) fn build(
        root: &Utf8Path,
        found: Vec<Found>,
        known: Known,
        limits: &ReadLimits,
        stats: &mut WalkStats,
    ) -> Self {
        let Known { mut vocabulary, entries: old } = known;
        let before = old.len();
        let outcomes = read_all(root, &found, &old, limits);
        let mut old: Vec<Option<Entry>> = old.into_iter().map(Some).collect();
        let mut index = Self::default();
        for (file, outcome) in found.into_iter().zip(outcomes) {
            let racy = file.mtime.saturating_add(2_000_000_000) >= limits.now;
            let mtime = if racy { 0 } else { file.mtime };
            let entry = match outcome {
                Outcome::Same(at, hash) => {
                    let Some(mut entry) = old.get_mut(at).and_then(Option::take) else { continue };
                    index.changed |= entry.mtime != mtime;
                    entry.mtime = mtime;
                    entry.hash = hash;
                    entry
                }
                Outcome::New(hash, document) => {
                    index.fresh += 1;
                    entry_of(file, mtime, hash, document, &mut vocabulary)
                }
                Outcome::Unread(document) => {
                    stats.huge += 1;
                    entry_of(file, mtime, [0; 16], document, &mut vocabulary)
                }
                Outcome::Binary => {
                    stats.binary += 1;
                    continue;
                }
                Outcome::Failed => {
                    stats.unreadable += 1;
                    continue;
                }
            };
            index.entries.push(entry);
        }
        index.changed |= index.fresh > 0 || before != index.entries.len();
        index.vocabulary = vocabulary;
        index.finish();
        index
    }

    fn finish(&mut self) {
        self.frequency = vec![0; self.vocabulary.len()];
        for (at, entry) in self.entries.iter().enumerate() {
            for (term, _) in &entry.terms {
                if let Some(count) = usize::try_from(*term).ok().and_then(|t| self.frequency.get_mut(t)) {
                    *count += 1;
                }
            }
            for (n, symbol) in entry.symbols.iter().enumerate() {
                self.definitions.entry(joined(&symbol.name)).or_default().push((at, n));
            }
            self.by_path.insert(entry.path.clone(), at);
        }
    }

    /// The entry of a path.
    pub(crate) fn find(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// In how many files a term is.
    pub(crate) fn frequency_of(&self, term: u32) -> u32 {
        usize::try_from(term).ok().and_then(|t| self.frequency.get(t)).copied().unwrap_or(0)
    }
}

fn entry_of(file: Found, mtime: u64, hash: [u8; 16], document: Document, vocabulary: &mut Vocabulary) -> Entry {
    let mut terms: Vec<(u32, Counts)> =
        document.terms.into_iter().map(|(word, counts)| (vocabulary.intern(word), counts)).collect();
    terms.sort_unstable_by_key(|(term, _)| *term);
    Entry {
        path: file.path,
        size: file.size,
        mtime,
        hash,
        class: document.class,
        lines: document.lines,
        terms,
        symbols: document.symbols,
        imports: document.imports,
    }
}

fn read_all(root: &Utf8Path, found: &[Found], old: &[Entry], limits: &ReadLimits) -> Vec<Outcome> {
    let known: HashMap<&str, usize> = old.iter().enumerate().map(|(n, e)| (e.path.as_str(), n)).collect();
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, Outcome)>> = Mutex::new(Vec::with_capacity(found.len()));
    let work = || {
        let mut mine = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = found.get(at) else { break };
            let known = known.get(file.path.as_str()).and_then(|n| old.get(*n).map(|e| (*n, e)));
            mine.push((at, read_one(root, file, known, limits)));
        }
        if let Ok(mut all) = results.lock() {
            all.append(&mut mine);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..limits.threads.max(1) {
            scope.spawn(work);
        }
        work();
    });
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_unstable_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, outcome)| outcome).collect()
}

fn read_one(root: &Utf8Path, file: &Found, known: Option<(usize, &Entry)>, limits: &ReadLimits) -> Outcome {
    if file.size > limits.max_bytes {
        return Outcome::Unread(Document::unread(FileClass::Huge));
    }
    if let Some((at, entry)) = known
        && entry.class != FileClass::Huge
        && entry.mtime != 0
        && (entry.mtime, entry.size) == (file.mtime, file.size)
    {
        return Outcome::Same(at, entry.hash);
    }
    let Ok(bytes) = planex_sys::fs::read(&place(root, &file.path)) else { return Outcome::Failed };
    let hash = hash_of(&bytes);
    if let Some((at, entry)) = known
        && entry.class != FileClass::Huge
        && entry.hash == hash
        && entry.size == file.size
    {
        return Outcome::Same(at, hash);
    }
    match Document::analyse(&file.path, &bytes) {
        Some(document) => Outcome::New(hash, document),
        None => Outcome::Binary,
    }
}

fn hash_of(bytes: &[u8]) -> [u8; 16] {
    let digest = Sha256::digest(bytes);
    let mut hash = [0; 16];
    for (to, from) in hash.iter_mut().zip(digest.iter()) {
        *to = *from;
    }
    hash
}
