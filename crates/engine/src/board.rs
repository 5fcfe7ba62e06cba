//! The shared board `discoveries.ndjson` of a session (spec 20, *The board*).
//!
//! Append only: each line is one atomic append, and "is it there already?" and the append happen under one lock, so
//! that workers in several processes never write a line twice. Foreign lines (`echo >>`) are tolerated.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use planex_core::discovery::{Board, Discovery, DiscoveryKind};
use planex_core::time::Zone;
use planex_sys::fs;
use planex_sys::lock::SessionLock;
use serde_json::{Map, Value};

use crate::error::{EngineError, Result};
use crate::session::brief_lock;
use crate::store::SessionPaths;

/// Longest line that is taken, in bytes: the board goes into prompts.
pub const MAX_LINE: usize = 16 * 1024;

/// What became of a discovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// It is on the board now.
    New,
    /// It was there already.
    Known,
}

/// Reads the board; an absent one is empty.
///
/// # Errors
/// It is there and cannot be read.
pub fn load(paths: &SessionPaths) -> Result<Board> {
    let bytes = fs::read_if_exists(&paths.discoveries())?.unwrap_or_default();
    Ok(parse(&String::from_utf8_lossy(&bytes)))
}

/// As [`Board::parse`], in linear time.
fn parse(text: &str) -> Board {
    let mut board = Board::default();
    let mut seen = HashSet::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match serde_json::from_str::<Discovery>(line) {
            Ok(entry) => {
                if seen.insert(key(&entry)) {
                    board.entries.push(entry);
                }
            }
            Err(_) => board.malformed += 1,
        }
    }
    board
}

/// What makes two entries the same: kind and data, whatever the order of its fields.
fn key(entry: &Discovery) -> (DiscoveryKind, String) {
    (entry.kind, canonical(&Value::Object(entry.data.clone())))
}

fn canonical(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut fields: Vec<_> = map.iter().collect();
            fields.sort_by_key(|(name, _)| name.as_str());
            let inner: Vec<String> = fields.into_iter().map(|(n, v)| format!("{n:?}:{}", canonical(v))).collect();
            format!("{{{}}}", inner.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}

/// Checks what an agent says it found: a kind, a non-empty object with text in the fields that planex shows.
///
/// # Errors
/// What is wrong, as one sentence.
pub fn check(kind: &str, data: &Value) -> Result<(DiscoveryKind, Map<String, Value>)> {
    let kind: DiscoveryKind = serde_json::from_value(Value::String(kind.to_owned())).map_err(|_| {
        let known = KINDS.map(|(kind, _)| name(kind)).join(", ");
        EngineError::usage(format!("`{}` is no type of discovery; use one of {known}", kind.escape_debug()))
    })?;
    let Some(map) = data.as_object().filter(|map| !map.is_empty()) else {
        return Err(EngineError::usage("the data of a discovery is a JSON object with at least one field"));
    };
    let fields = KINDS.iter().find(|(k, _)| *k == kind).map(|(_, fields)| *fields).unwrap_or_default();
    if !fields.iter().any(|field| map.contains_key(*field)) {
        return Err(EngineError::usage(format!("a {} has {}", name(kind), fields.join(", "))));
    }
    Ok((kind, map.clone()))
}

/// Fields of each kind, the telling ones first.
const KINDS: [(DiscoveryKind, &[&str]); 6] = [
    (DiscoveryKind::CodePattern, &["name", "file", "description"]),
    (DiscoveryKind::IntegrationPoint, &["file", "description", "exports"]),
    (DiscoveryKind::Convention, &["naming", "imports", "formatting"]),
    (DiscoveryKind::Blocker, &["issue", "severity", "impact"]),
    (DiscoveryKind::TechStack, &["framework", "version", "config"]),
    (DiscoveryKind::TestCommand, &["command", "framework", "scope"]),
];

/// The word of a kind.
#[must_use]
pub fn name(kind: DiscoveryKind) -> &'static str {
    match kind {
        DiscoveryKind::CodePattern => "code_pattern",
        DiscoveryKind::IntegrationPoint => "integration_point",
        DiscoveryKind::Convention => "convention",
        DiscoveryKind::Blocker => "blocker",
        DiscoveryKind::TechStack => "tech_stack",
        DiscoveryKind::TestCommand => "test_command",
    }
}

/// Adds one discovery unless it is there.
///
/// # Errors
/// It is too long, or the board cannot be read or written.
pub fn add(paths: &SessionPaths, entry: &Discovery) -> Result<Added> {
    let tally = Writer::new(paths.clone()).add_all(std::slice::from_ref(entry))?;
    match tally {
        Tally { too_long: 0, new: 0 } => Ok(Added::Known),
        Tally { too_long: 0, .. } => Ok(Added::New),
        Tally { .. } => Err(EngineError::usage(format!("a discovery has at most {MAX_LINE} bytes, this one has more"))
            .hint("shorten its texts, or name the file that holds them")),
    }
}

/// What became of a batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Entries that are on the board now and were not before.
    pub new: usize,
    /// Entries longer than [`MAX_LINE`], which were left out.
    pub too_long: usize,
}

/// Adds to one board again and again; cheap to clone, clones share what they know.
///
/// It remembers which entries are there and reads only what others appended since, so that the cost of a result does
/// not grow with the board.
#[derive(Debug, Clone)]
pub struct Writer {
    paths: SessionPaths,
    known: Arc<Mutex<Known>>,
}

/// What a writer has read of the board.
#[derive(Debug, Default)]
struct Known {
    seen: HashSet<(DiscoveryKind, String)>,
    /// Bytes read, up to the end of a line.
    read: u64,
}

impl Writer {
    /// A writer that has read nothing yet.
    #[must_use]
    pub fn new(paths: SessionPaths) -> Self {
        Self { paths, known: Arc::default() }
    }

    /// Adds those discoveries that are not there, one by one; one that is too long stops none of the others.
    ///
    /// # Errors
    /// The board cannot be read or written.
    pub fn add_all(&self, entries: &[Discovery]) -> Result<Tally> {
        let mut tally = Tally::default();
        if entries.is_empty() {
            return Ok(tally);
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let lock = lock(&self.paths)?;
        known.catch_up(&self.paths)?;
        for entry in entries {
            let line = serde_json::to_string(entry).map_err(EngineError::internal)?;
            let key = key(entry);
            if line.len() > MAX_LINE {
                tally.too_long += 1;
            } else if !known.seen.contains(&key) {
                fs::append_line(&self.paths.discoveries(), &line)?;
                known.seen.insert(key);
                tally.new += 1;
            }
        }
        drop(lock);
        Ok(tally)
    }
}

impl Known {
    /// Reads what was appended since. A board that is shorter than before was written anew and is read from its start.
    fn catch_up(&mut self, paths: &SessionPaths) -> Result<()> {
        let path = paths.discoveries();
        let length = if fs::exists(&path) { fs::metadata(&path)?.len() } else { 0 };
        if length < self.read {
            *self = Self::default();
        }
        if length == self.read {
            return Ok(());
        }
        let bytes = fs::read_tail(&path, length - self.read)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let text = String::from_utf8_lossy(bytes.get(..whole).unwrap_or_default());
        self.seen.extend(parse(&text).entries.iter().map(key));
        self.read += whole as u64;
        Ok(())
    }
}

fn lock(paths: &SessionPaths) -> Result<SessionLock> {
    fs::create_dir_all(&paths.planex())?;
    brief_lock(&paths.discoveries_lock(), "planex discoveries add", planex_sys::clock::now())
}

/// Takes `discoveries[]` out of a result (the only way out of a read-only sandbox). What is malformed is counted.
#[must_use]
pub fn of_result(result: &Value, worker: &str, at: Timestamp, zone: &Zone) -> (Vec<Discovery>, usize) {
    let (mut good, mut bad) = (Vec::new(), 0);
    for found in result.get("discoveries").and_then(Value::as_array).into_iter().flatten() {
        let kind = found.get("type").and_then(Value::as_str).unwrap_or_default();
        // Some agents leave the envelope away and put the fields beside `type`.
        let flat = || {
            let mut map = found.as_object().cloned().unwrap_or_default();
            ["type", "ts", "worker"].iter().for_each(|name| drop(map.shift_remove(*name)));
            Value::Object(map)
        };
        let data = found.get("data").cloned().unwrap_or_else(flat);
        match check(kind, &data) {
            Ok((kind, data)) => good.push(Discovery { ts: zone.stamp(at), worker: worker.to_owned(), kind, data }),
            Err(_) => bad += 1,
        }
    }
    (good, bad)
}

/// The board for a prompt: one line an entry, blockers first, then the newest, at most `max_bytes`.
#[must_use]
pub fn digest(board: &Board, max_bytes: usize) -> String {
    let blockers = board.entries.iter().filter(|e| e.kind == DiscoveryKind::Blocker);
    let others = board.entries.iter().rev().filter(|e| e.kind != DiscoveryKind::Blocker);
    let mut out = String::new();
    let mut left_out = 0;
    for entry in blockers.chain(others) {
        let line = line_of(entry);
        // Room for the line that says how many are missing.
        if out.len() + line.len() + 60 > max_bytes {
            left_out += 1;
        } else {
            out.push_str(&line);
        }
    }
    if left_out > 0 && out.len() + 60 <= max_bytes {
        let _ = writeln!(out, "- ({left_out} more in discoveries.ndjson)");
    }
    out
}

/// Longest part of one entry in a digest, in characters.
const DIGEST_CHARS: usize = 300;

fn line_of(entry: &Discovery) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            items.iter().map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned)).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    let parts: Vec<String> = entry.data.iter().map(|(name, value)| format!("{name}: {}", text(value))).collect();
    let joined: String =
        parts.join("; ").chars().map(|c| if c.is_control() { ' ' } else { c }).take(DIGEST_CHARS).collect();
    format!("- [{}] {joined} ({})\n", name(entry.kind), entry.worker)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(kind: DiscoveryKind, data: Value) -> Discovery {
        let Value::Object(data) = data else { panic!("no object") };
        Discovery { ts: "t".into(), worker: "T1".into(), kind, data }
    }

    fn session() -> (tempfile::TempDir, SessionPaths) {
        let temp = tempfile::tempdir().unwrap();
        let paths = SessionPaths::new(camino::Utf8Path::from_path(temp.path()).unwrap());
        (temp, paths)
    }

    #[test]
    fn the_same_thing_is_written_once_whatever_the_order_of_its_fields() {
        let (_temp, paths) = session();
        let a = entry(DiscoveryKind::CodePattern, json!({"name": "repo", "file": "a.rs"}));
        let b = entry(DiscoveryKind::CodePattern, json!({"file": "a.rs", "name": "repo"}));
        assert_eq!(add(&paths, &a).unwrap(), Added::New);
        assert_eq!(add(&paths, &b).unwrap(), Added::Known);
        assert_eq!(load(&paths).unwrap().entries, [a]);
    }

    #[test]
    fn malformed_lines_are_counted_and_a_torn_one_swallows_nothing() {
        let (_temp, paths) = session();
        std::fs::write(paths.discoveries(), "nonsense\n{\"ts\":\"t\",\"wor").unwrap();
        add(&paths, &entry(DiscoveryKind::Blocker, json!({"issue": "x"}))).unwrap();
        let board = load(&paths).unwrap();
        assert_eq!((board.entries.len(), board.malformed), (1, 2));
    }

    #[test]
    fn many_writers_lose_and_repeat_nothing() {
        let (_temp, paths) = session();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for n in 0..25 {
                        add(&paths, &entry(DiscoveryKind::Blocker, json!({"issue": n}))).unwrap();
                    }
                });
            }
        });
        let text = std::fs::read_to_string(paths.discoveries()).unwrap();
        assert_eq!(text.lines().count(), 25);
        assert_eq!(load(&paths).unwrap().malformed, 0);
    }

    #[test]
    fn one_that_is_too_long_stops_none_of_the_others() {
        let (_temp, paths) = session();
        let short = |text: &str| entry(DiscoveryKind::Blocker, json!({"issue": text}));
        let batch = [short("a"), short(&"x".repeat(MAX_LINE)), short("b")];
        let tally = Writer::new(paths.clone()).add_all(&batch).unwrap();
        assert_eq!(tally, Tally { new: 2, too_long: 1 });
        assert_eq!(load(&paths).unwrap().entries, [batch[0].clone(), batch[2].clone()]);
        assert!(add(&paths, &batch[1]).unwrap_err().to_string().contains("at most"));
    }

    #[test]
    fn a_writer_reads_each_line_once_and_sees_what_others_add() {
        let (_temp, paths) = session();
        let writer = Writer::new(paths.clone());
        let numbered = |n: usize| entry(DiscoveryKind::Blocker, json!({"issue": n}));
        for n in 0..20 {
            assert_eq!(writer.clone().add_all(&[numbered(n)]).unwrap().new, 1);
        }
        let read = writer.known.lock().unwrap().read;
        // Space for a whole entry would be noticed: only what is behind `read` is looked at again.
        let text = std::fs::read_to_string(paths.discoveries()).unwrap();
        let blanked = " ".repeat(usize::try_from(read).unwrap() - 1) + &text[usize::try_from(read).unwrap() - 1..];
        std::fs::write(paths.discoveries(), blanked).unwrap();
        add(&paths, &numbered(77)).unwrap();
        let tally = writer.add_all(&[numbered(0), numbered(77), numbered(78)]).unwrap();
        assert_eq!(tally, Tally { new: 1, too_long: 0 });
        // A board that someone wrote anew is read from its start.
        std::fs::write(paths.discoveries(), "").unwrap();
        assert_eq!(writer.add_all(&[numbered(0)]).unwrap().new, 1);
    }

    #[test]
    fn results_bring_discoveries_with_or_without_an_envelope() {
        let result = json!({"discoveries": [
            {"type": "blocker", "data": {"issue": "i", "severity": "high"}},
            {"type": "test_command", "command": "make test"},
            {"type": "nonsense", "data": {"a": 1}},
            {"type": "blocker", "data": "text"},
            7
        ]});
        let (good, bad) = of_result(&result, "T9", Timestamp::UNIX_EPOCH, &Zone::default());
        assert_eq!((good.len(), bad), (2, 3));
        assert_eq!(good[1].data.get("command"), Some(&json!("make test")));
        assert_eq!(good[0].worker, "T9");
    }

    #[test]
    fn a_digest_keeps_its_limit_and_the_blockers() {
        let mut board = Board::default();
        for n in 0..100 {
            board.entries.push(entry(DiscoveryKind::Convention, json!({"naming": format!("rule {n} 認証")})));
        }
        board.entries.push(entry(DiscoveryKind::Blocker, json!({"issue": "the database\nis gone"})));
        let text = digest(&board, 600);
        assert!(text.len() <= 600, "{}", text.len());
        assert!(text.starts_with("- [blocker] issue: the database is gone (T1)\n"), "{text}");
        assert!(text.contains("more in discoveries.ndjson"));
        assert_eq!(digest(&Board::default(), 600), "");
    }
}
