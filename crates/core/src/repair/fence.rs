//! Fenced code blocks of Markdown.

/// Byte ranges of the contents of fenced blocks (``` or ~~~), outermost ones, closed ones only.
pub(super) fn blocks(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open: Option<(u8, usize, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        let body = line.trim();
        match (open, marker(body)) {
            (None, Some((mark, length))) => open = Some((mark, length, next)),
            (Some((mark, length, start)), Some((m, l))) if m == mark && l >= length && body.len() == l => {
                found.push((start, at));
                open = None;
            }
            (None, None) | (Some(_), _) => {}
        }
        at = next;
    }
    found
}

/// The fence character and its count, if the line starts with three or more.
fn marker(line: &str) -> Option<(u8, usize)> {
    let first = *line.as_bytes().first()?;
    if first != b'`' && first != b'~' {
        return None;
    }
    let length = line.bytes().take_while(|b| *b == first).count();
    // "```json {}```" on one line is inline code, not the opening of a block.
    let inline = first == b'`' && line.bytes().skip(length).any(|b| b == b'`');
    (length >= 3 && !inline).then_some((first, length))
}

#[cfg(test)]
mod tests {
    use super::blocks;

    #[test]
    fn finds_closed_blocks_only() {
        let text = "a\n```json\n{}\n```\nb\n~~~\n[]\n~~~~\n```\nopen";
        let contents: Vec<_> = blocks(text).into_iter().map(|(s, e)| &text[s..e]).collect();
        assert_eq!(contents, ["{}\n", "[]\n"]);
    }

    #[test]
    fn a_longer_fence_holds_a_shorter_one() {
        let text = "````\n```\nx\n```\n````\n";
        let contents: Vec<_> = blocks(text).into_iter().map(|(s, e)| &text[s..e]).collect();
        assert_eq!(contents, ["```\nx\n```\n"]);
    }
}
