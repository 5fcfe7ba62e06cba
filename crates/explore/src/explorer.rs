//! A tree opened for questions.

use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use planex_core::exploration::Exploration;
use planex_core::tech::ProjectTech;

use crate::error::ExploreError;
use crate::graph::Graph;
use crate::index::{Index, Known, ReadLimits};
use crate::rank::{Query, Ranking};
use crate::walk::{WalkStats, walk};
use crate::{cache, rank, report};

/// How a tree is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExploreOptions {
    /// Where indexes are kept; nothing is kept without it. Safe to delete, safe to share between processes.
    pub cache_dir: Option<Utf8PathBuf>,
    /// Files above this are known by path only. Bytes.
    pub max_file_bytes: u64,
    /// Threads; 0 means as many as there are processors, at most 8.
    pub threads: usize,
}

impl Default for ExploreOptions {
    fn default() -> Self {
        Self { cache_dir: None, max_file_bytes: 1_500_000, threads: 0 }
    }
}

/// A tree, read and ready to be asked.
#[derive(Debug)]
pub struct Explorer {
    root: Utf8PathBuf,
    pub(crate) index: Index,
    graph: OnceLock<Graph>,
    tech: OnceLock<ProjectTech>,
    stats: WalkStats,
}

impl Explorer {
    /// Reads a tree, or what changed of it since the cache was written.
    ///
    /// # Errors
    /// The folder does not exist, is no folder, or cannot be listed. Single unreadable files are counted in
    /// [`Explorer::stats`].
    pub fn open(root: &Utf8Path, options: &ExploreOptions) -> Result<Self, ExploreError> {
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(2, usize::from).min(8),
            n => n,
        };
        let (found, mut stats) = walk(root, threads)?;
        let canonical = planex_sys::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let place = options.cache_dir.as_ref().map(|dir| cache::place(dir, &canonical));
        let known = place.as_deref().map_or_else(Known::default, cache::load);
        let now = u64::try_from(planex_sys::clock::now().as_nanosecond()).unwrap_or(0);
        let limits = ReadLimits { max_bytes: options.max_file_bytes, threads, now };
        let index = Index::build(root, found, known, &limits, &mut stats);
        if let Some(place) = place.as_deref().filter(|_| index.changed) {
            cache::save(place, &index);
        }
        Ok(Self { root: root.to_owned(), index, graph: OnceLock::new(), tech: OnceLock::new(), stats })
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// What was seen and what was left out.
    #[must_use]
    pub fn stats(&self) -> &WalkStats {
        &self.stats
    }

    /// Files that are known, tests and documents included.
    #[must_use]
    pub fn file_count(&self) -> usize {
        self.index.entries.len()
    }

    /// Files that were read anew because the cache did not know them.
    #[must_use]
    pub fn files_read(&self) -> usize {
        self.index.fresh
    }

    /// Whether the tree has a file of that path (relative, with `/`).
    #[must_use]
    pub fn has_file(&self, path: &str) -> bool {
        self.index.find(path).is_some()
    }

    /// Orders the files by how much they matter for a text.
    #[must_use]
    pub fn rank(&self, query: &Query) -> Ranking {
        rank::rank(self, query)
    }

    /// The exploration file for a text and angle (spec 15). `index` counts from 1; `now_stamp` is RFC 3339;
    /// `duration` is in seconds.
    #[must_use]
    pub fn exploration(&self, query: &Query, index: u32, total: u32, now_stamp: &str, duration: f64) -> Exploration {
        report::exploration(self, query, &report::Stamp { index, total, now: now_stamp, duration })
    }

    pub(crate) fn graph(&self) -> &Graph {
        self.graph.get_or_init(|| Graph::build(&self.index))
    }

    /// What the project is made of, without a time.
    pub(crate) fn tech(&self) -> &ProjectTech {
        self.tech.get_or_init(|| crate::tech::project_tech(&self.root, Some(self), ""))
    }

    /// The text of a file of the tree; invalid bytes are replaced.
    pub(crate) fn read(&self, path: &str) -> Option<String> {
        let bytes = planex_sys::fs::read(&self.root.join(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}
