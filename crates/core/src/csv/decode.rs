//! Bytes to text: UTF-8 and UTF-16 with a byte order mark; everything else is refused with how to save the file.

use super::{CsvFault, Place};

/// How to get a file that planex reads, for people.
const HOW_TO_SAVE: &str = "save it as UTF-8: in Excel choose `CSV UTF-8 (Comma delimited)`, in LibreOffice `Text CSV` \
                           with the character set `Unicode (UTF-8)`";

/// Text of a file, without its byte order mark.
pub(super) struct Decoded {
    pub(super) text: String,
    pub(super) bom: bool,
}

/// Decodes a whole file.
pub(super) fn decode(bytes: &[u8]) -> Result<Decoded, CsvFault> {
    match bytes {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => {
            Err(CsvFault::new(Place::START, "the file is UTF-32, which planex does not read", HOW_TO_SAVE))
        }
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => utf8(bytes),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<Decoded, CsvFault> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len());
    for decoded in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        match decoded {
            Ok(c) => text.push(c),
            Err(_) => return Err(CsvFault::new(end_of(&text), "the UTF-16 text is damaged here", HOW_TO_SAVE)),
        }
    }
    if !rest.is_empty() {
        return Err(CsvFault::new(end_of(&text), "the UTF-16 text ends in the middle of a character", HOW_TO_SAVE));
    }
    Ok(Decoded { text: without_marks(&text).to_owned(), bom: true })
}

fn utf8(bytes: &[u8]) -> Result<Decoded, CsvFault> {
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            let bare = without_marks(text);
            let first_line = bare.split(['\n', '\r']).next().unwrap_or_default();
            if first_line.contains('\0') {
                let message = "the first line holds NUL bytes: UTF-16 without a byte order mark, or no text at all";
                return Err(CsvFault::new(Place::START, message, HOW_TO_SAVE));
            }
            Ok(Decoded { text: bare.to_owned(), bom: bare.len() != text.len() })
        }
        Err(error) => {
            let (good, bad) = bytes.split_at(error.valid_up_to());
            let before = std::str::from_utf8(good).unwrap_or_default();
            let byte = bad.first().copied().unwrap_or_default();
            let guess = guess(bytes);
            let message = format!("the file is not UTF-8 (byte 0x{byte:02X} here){}", guess.said());
            Err(CsvFault::new(end_of(without_marks(before)), message, guess.hint()))
        }
    }
}

fn without_marks(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

/// The place behind the last character of `text`.
fn end_of(text: &str) -> Place {
    let mut place = Place::START;
    let mut last = '\0';
    for c in text.chars() {
        let second_half = c == '\n' && last == '\r';
        if !second_half && (c == '\n' || c == '\r') {
            place = Place { line: place.line + 1, column: 1 };
        } else if !second_half {
            place.column += 1;
        }
        last = c;
    }
    place
}

/// What an undecodable file probably is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guess {
    Cp932,
    Gbk,
    Western,
    Unknown,
}

impl Guess {
    fn said(self) -> &'static str {
        match self {
            Self::Cp932 => "; it looks like CP932 (Shift_JIS)",
            Self::Gbk => "; it looks like GBK (GB18030)",
            Self::Western => "; it looks like Windows-1252",
            Self::Unknown => "",
        }
    }

    fn hint(self) -> String {
        match self {
            Self::Cp932 => format!("{HOW_TO_SAVE}, or run `iconv -f CP932 -t UTF-8`"),
            Self::Gbk => format!("{HOW_TO_SAVE}, or run `iconv -f GB18030 -t UTF-8`"),
            Self::Western => format!("{HOW_TO_SAVE}, or run `iconv -f WINDOWS-1252 -t UTF-8`"),
            Self::Unknown => HOW_TO_SAVE.to_owned(),
        }
    }
}

/// Tells the usual encodings apart by the shape of their two-byte characters; only for the message.
fn guess(bytes: &[u8]) -> Guess {
    let (mut japanese, mut hanzi, mut lone) = (0_usize, 0_usize, 0_usize);
    let mut rest = bytes.iter().copied().peekable();
    while let Some(lead) = rest.next() {
        if lead < 0x80 {
            continue;
        }
        match rest.peek().copied() {
            Some(trail) if is_japanese(lead, trail) => {
                japanese += 1;
                rest.next();
            }
            Some(trail) if (0xB0..=0xF7).contains(&lead) && trail >= 0xA1 => {
                hanzi += 1;
                rest.next();
            }
            Some(0x40..=0xFE) if (0x81..=0xFC).contains(&lead) && !lone_letter(rest.peek().copied()) => {
                rest.next();
            }
            _ => lone += 1,
        }
    }
    match (japanese, hanzi, lone) {
        (j, h, l) if j > l && j >= h => Guess::Cp932,
        (_, h, l) if h > l => Guess::Gbk,
        (_, _, l) if l > 0 => Guess::Western,
        _ => Guess::Unknown,
    }
}

/// Hiragana, katakana, the usual punctuation and the common kanji of CP932; GBK has rare characters there.
fn is_japanese(lead: u8, trail: u8) -> bool {
    match lead {
        0x81 => matches!(trail, 0x40..=0x5B | 0x75..=0x78),
        0x82 => (0x9F..=0xF1).contains(&trail),
        0x83 => (0x40..=0x96).contains(&trail),
        0x88..=0x97 => trail >= 0x40 && !lone_letter(Some(trail)),
        _ => false,
    }
}

/// An ASCII letter behind a high byte speaks for a single-byte encoding.
fn lone_letter(byte: Option<u8>) -> bool {
    byte.is_some_and(|b| b.is_ascii_lowercase() || b == b' ')
}

#[cfg(test)]
mod tests {
    use super::decode;

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(bytes).collect()
    }

    #[test]
    fn utf8_and_utf16_are_read_with_and_without_mark() {
        for (bytes, bom) in [
            ("id,題\n".as_bytes().to_vec(), false),
            ("\u{feff}id,題\n".as_bytes().to_vec(), true),
            (utf16("id,題\n", u16::to_le_bytes), true),
            (utf16("id,題\n", u16::to_be_bytes), true),
        ] {
            let decoded = decode(&bytes).expect("decodes");
            assert_eq!((decoded.text.as_str(), decoded.bom), ("id,題\n", bom));
        }
    }

    #[test]
    fn other_encodings_are_refused_with_place_and_help() {
        // タイトル and 日本 in CP932, 标题 in GBK, café in Windows-1252.
        let cases: [(&[u8], &str, (u64, u64)); 6] = [
            (b"id,\x93Hello\x94 he said\n", "Windows-1252", (1, 4)),
            (b"id,\x93\xfa\x96\x7b\n", "CP932", (1, 4)),
            (b"id,a\r\n1,\x83\x5e\x83\x43\x83\x67\x83\x8b\r\n", "CP932", (2, 3)),
            (b"id\n\xb1\xea\xcc\xe2\n", "GBK", (2, 1)),
            (b"id\ncaf\xe9 au lait\n", "Windows-1252", (2, 4)),
            (b"id\n\xff", "not UTF-8", (2, 1)),
        ];
        for (bytes, word, place) in cases {
            let fault = decode(bytes).err().expect("refused");
            assert!(fault.message.contains(word), "{fault}");
            assert!(fault.hint.contains("CSV UTF-8"), "{fault}");
            assert_eq!((fault.line, fault.column), place, "{fault}");
        }
    }

    #[test]
    fn damaged_and_unmarked_utf16_are_refused() {
        for bytes in [
            vec![0xFF, 0xFE, b'i', 0, 0x00, 0xD8],
            vec![0xFF, 0xFE, b'i', 0, b'd'],
            vec![0xFF, 0xFE, 0, 0, b'i', 0, 0, 0],
            b"i\0d\0\n\0".to_vec(),
        ] {
            assert!(decode(&bytes).is_err(), "{bytes:?}");
        }
    }
}
