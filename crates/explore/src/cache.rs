//! The index on disk, one file per tree under the user's cache folder.
//!
//! It may be deleted at any time. A file that is damaged, of another version, or half of another tree is as good as none:
//! it carries its own digest. Two processes may write at once: each writes a whole file and the last one stays.

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest, Sha256};

use crate::classify::FileClass;
use crate::document::Counts;
use crate::index::{Entry, Index, Known, Vocabulary};
use crate::symbols::{Symbol, SymbolKind};

/// Changes with every change of what is stored or of how files are read.
const MAGIC: &[u8; 8] = b"PXEXPL02";
const DIGEST: usize = 16;

/// Where the index of `root` lies.
pub(crate) fn place(cache_dir: &Utf8Path, root: &Utf8Path) -> Utf8PathBuf {
    let name: String = Sha256::digest(root.as_str().as_bytes()).iter().take(12).map(|b| format!("{b:02x}")).collect();
    cache_dir.join("explore").join(format!("{name}.idx"))
}

/// What is on disk; nothing where it cannot be used.
pub(crate) fn load(path: &Utf8Path) -> Known {
    let Ok(Some(bytes)) = planex_sys::fs::read_if_exists(path) else { return Known::default() };
    decode(&bytes).unwrap_or_default()
}

/// Writes the index. A failure is no harm: the next run reads the tree again.
pub(crate) fn save(path: &Utf8Path, index: &Index) {
    if let Some(folder) = path.parent()
        && planex_sys::fs::create_dir_all(folder).is_ok()
    {
        let _ = planex_sys::fs::write_atomic_nosync(path, &encode(index));
    }
}

fn encode(index: &Index) -> Vec<u8> {
    let mut out = Writer(MAGIC.to_vec());
    let words = index.vocabulary.words();
    // Only words that are still used go to disk; numbers are dealt anew.
    let mut renumbered: Vec<Option<u32>> = vec![None; words.len()];
    let mut kept = Vec::new();
    for (id, word) in words.iter().enumerate() {
        let used = u32::try_from(id).is_ok_and(|id| index.frequency_of(id) > 0);
        if let Some(slot) = renumbered.get_mut(id).filter(|_| used) {
            *slot = u32::try_from(kept.len()).ok();
            kept.push(*word);
        }
    }
    out.number(kept.len() as u64);
    kept.iter().for_each(|word| out.text(word));
    out.number(index.entries.len() as u64);
    for entry in &index.entries {
        write_entry(&mut out, entry, &renumbered);
    }
    let digest = Sha256::digest(&out.0);
    out.0.extend(digest.iter().take(DIGEST));
    out.0
}

fn write_entry(out: &mut Writer, entry: &Entry, renumbered: &[Option<u32>]) {
    out.text(&entry.path);
    out.number(entry.size);
    out.number(entry.mtime);
    out.0.extend_from_slice(&entry.hash);
    out.0.push(entry.class.code());
    out.number(u64::from(entry.lines));
    let mut terms: Vec<(u32, Counts)> = entry
        .terms
        .iter()
        .filter_map(|(term, counts)| Some(((*renumbered.get(usize::try_from(*term).ok()?)?)?, *counts)))
        .collect();
    terms.sort_unstable_by_key(|(term, _)| *term);
    out.number(terms.len() as u64);
    let mut last = 0;
    for (term, counts) in terms {
        out.number(u64::from(term - last));
        last = term;
        out.number(u64::from(counts.body));
        out.number(u64::from(counts.symbol));
        out.number(u64::from(counts.comment));
    }
    out.number(entry.symbols.len() as u64);
    for symbol in &entry.symbols {
        out.text(&symbol.name);
        out.0.push(symbol.kind.code());
        out.number(u64::from(symbol.start));
        out.number(u64::from(symbol.end));
    }
    out.number(entry.imports.len() as u64);
    entry.imports.iter().for_each(|import| out.text(import));
}

fn decode(bytes: &[u8]) -> Option<Known> {
    let (body, digest) = bytes.split_at_checked(bytes.len().checked_sub(DIGEST)?)?;
    let mut reader = Reader(body.strip_prefix(MAGIC)?);
    if !Sha256::digest(body).starts_with(digest) {
        return None;
    }
    let words = (0..reader.number()?).map(|_| reader.text().map(String::into_boxed_str)).collect::<Option<Vec<_>>>()?;
    let count = reader.number()?;
    let mut entries = Vec::new();
    for _ in 0..count {
        entries.push(read_entry(&mut reader)?);
    }
    Some(Known { vocabulary: Vocabulary::with_words(words), entries })
}

fn read_entry(reader: &mut Reader<'_>) -> Option<Entry> {
    let path = reader.text()?;
    let size = reader.number()?;
    let mtime = reader.number()?;
    let hash = reader.take(16)?.try_into().ok()?;
    let class = FileClass::from_code(reader.byte()?)?;
    let lines = reader.small()?;
    let mut terms = Vec::new();
    let mut last = 0_u32;
    for _ in 0..reader.number()? {
        last = last.checked_add(reader.small()?)?;
        let counts = Counts { body: reader.short()?, symbol: reader.short()?, comment: reader.short()? };
        terms.push((last, counts));
    }
    let mut symbols = Vec::new();
    for _ in 0..reader.number()? {
        let name = reader.text()?;
        let kind = SymbolKind::from_code(reader.byte()?)?;
        symbols.push(Symbol { name, kind, start: reader.small()?, end: reader.small()? });
    }
    let imports = (0..reader.number()?).map(|_| reader.text()).collect::<Option<Vec<_>>>()?;
    Some(Entry { path, size, mtime, hash, class, lines, terms, symbols, imports })
}

struct Writer(Vec<u8>);

impl Writer {
    /// Seven bits a byte, low ones first.
    fn number(&mut self, mut value: u64) {
        loop {
            let low = u8::try_from(value & 0x7f).unwrap_or(0);
            value >>= 7;
            if value == 0 {
                self.0.push(low);
                return;
            }
            self.0.push(low | 0x80);
        }
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(head)
    }

    fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    fn short(&mut self) -> Option<u16> {
        u16::try_from(self.number()?).ok()
    }

    fn text(&mut self) -> Option<String> {
        let len = usize::try_from(self.number()?).ok()?;
        String::from_utf8(self.take(len)?.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_files_are_as_good_as_none() {
        let good = encode(&Index::default());
        assert!(decode(&good).is_some());
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            assert!(decode(&bad).is_none(), "byte {at}");
            assert!(decode(&good[..at]).is_none(), "cut at {at}");
        }
    }

    proptest::proptest! {
        #[test]
        fn numbers_come_back(value: u64) {
            let mut out = Writer(Vec::new());
            out.number(value);
            assert_eq!(Reader(&out.0).number(), Some(value));
        }

        #[test]
        fn any_bytes_are_refused(bytes: Vec<u8>) {
            assert!(decode(&bytes).is_none());
        }
    }
}
