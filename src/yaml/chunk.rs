//! Cutting a stream into chunks at its `---` lines.
//!
//! YAML 1.2 (`c-forbidden`) keeps a line that begins with `---` in column 0 out of every scalar style,
//! so a byte search is exact and one odd document cannot make the others unreadable. Apimachinery's
//! reader, and so Helm, cuts at the same lines.

use std::ops::Range;

use memchr::memmem;

/// A piece of the stream that holds whole documents: mostly one, more where `...` ends one inside.
/// The chunks of a stream, put together, are the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The whole chunk, its separator line included.
    pub span: Range<usize>,
    /// Where the text for the parser starts: after a bare separator line, else at the chunk's start.
    /// Apimachinery eats that line too, which is what lets a byte order mark follow it.
    pub text: usize,
}

impl Chunk {
    /// The bytes that the parser is given.
    #[must_use]
    pub fn text<'a>(&self, stream: &'a [u8]) -> &'a [u8] {
        &stream[self.text..self.span.end]
    }

    /// Whether the chunk holds nothing but blank lines, comments and separators.
    #[must_use]
    pub fn is_blank(&self, stream: &[u8]) -> bool {
        self.text(stream)
            .split(|&byte| byte == b'\n')
            .map(<[u8]>::trim_ascii)
            .all(|line| {
                line.is_empty() || line.starts_with(b"#") || line == b"---" || line == b"..."
            })
    }
}

/// Cuts `stream` into chunks. An empty stream has none.
#[must_use]
pub fn split(stream: &[u8]) -> Vec<Chunk> {
    let mut starts = vec![0];
    for newline in memmem::find_iter(stream, b"\n---") {
        if is_separator(&stream[newline + 1..]) {
            let boundary = above_directives(stream, newline + 1);
            // A second separator right below directives that were moved already is the same cut.
            if starts.last().is_some_and(|&last| last < boundary) {
                starts.push(boundary);
            }
        }
    }
    starts.push(stream.len());
    starts
        .windows(2)
        .filter(|pair| pair[0] < pair[1])
        .map(|pair| Chunk {
            span: pair[0]..pair[1],
            text: pair[0] + bare_separator(&stream[pair[0]..pair[1]]),
        })
        .collect()
}

fn is_separator(line: &[u8]) -> bool {
    line.starts_with(b"---") && matches!(line.get(3), None | Some(b' ' | b'\t' | b'\r' | b'\n'))
}

/// `%YAML` and `%TAG` lines belong to the document below them, so the cut moves above the first of
/// them; comments and blank lines may stand between.
fn above_directives(stream: &[u8], separator: usize) -> usize {
    let mut boundary = separator;
    let mut line_end = separator;
    while line_end > 0 {
        let line_start = stream[..line_end - 1]
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |newline| newline + 1);
        let line = &stream[line_start..line_end];
        if line.starts_with(b"%") {
            boundary = line_start;
        } else if !(line.trim_ascii().is_empty() || line.starts_with(b"#")) {
            break;
        }
        line_end = line_start;
    }
    boundary
}

/// The length of a first line that is `---` and at most a comment. A lone carriage return ends a line
/// for YAML but not here, so such a line is left to the parser.
fn bare_separator(chunk: &[u8]) -> usize {
    if !is_separator(chunk) {
        return 0;
    }
    let Some(newline) = chunk.iter().position(|&byte| byte == b'\n') else {
        return 0;
    };
    let rest = &chunk[3..newline];
    let rest = rest.strip_suffix(b"\r").unwrap_or(rest);
    let after_blanks = rest.trim_ascii_start();
    let comment = after_blanks.starts_with(b"#") && after_blanks.len() < rest.len();
    if !rest.contains(&b'\r') && (after_blanks.is_empty() || comment) {
        newline + 1
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chunks of `stream` as text, and what the parser gets of each.
    fn cut(stream: &str) -> Vec<(&str, &str)> {
        let chunks = split(stream.as_bytes());
        let whole: String = chunks
            .iter()
            .map(|chunk| &stream[chunk.span.clone()])
            .collect();
        assert_eq!(whole, stream, "the chunks are the stream");
        chunks
            .iter()
            .map(|chunk| {
                (
                    &stream[chunk.span.clone()],
                    &stream[chunk.text..chunk.span.end],
                )
            })
            .collect()
    }

    #[test]
    fn an_empty_stream_has_no_chunk() {
        assert_eq!(cut(""), []);
    }

    #[test]
    fn separators_begin_a_chunk_and_are_not_parsed() {
        assert_eq!(
            cut("---\na: 1\n--- # two\r\nb: 2\n---"),
            [
                ("---\na: 1\n", "a: 1\n"),
                ("--- # two\r\nb: 2\n", "b: 2\n"),
                ("---", "---")
            ]
        );
    }

    #[test]
    fn content_on_the_separator_line_is_parsed() {
        assert_eq!(
            cut("a: 1\n--- {b: 2}\n---\t|\n x\n---#c\n"),
            [
                ("a: 1\n", "a: 1\n"),
                ("--- {b: 2}\n", "--- {b: 2}\n"),
                ("---\t|\n x\n---#c\n", "---\t|\n x\n---#c\n")
            ]
        );
    }

    #[test]
    fn indented_and_glued_dashes_are_content() {
        for whole in ["a: |\n  ---\n  b\n", "a: 1\n---b: 2\n", "a: 1\n----\n"] {
            assert_eq!(cut(whole), [(whole, whole)]);
        }
    }

    #[test]
    fn directives_go_with_the_document_below() {
        let (first, second) = ("a: 1\n...\n", "%YAML 1.2\n# why\n\n---\nb: 2\n");
        assert_eq!(
            cut(&format!("{first}{second}")),
            [(first, first), (second, second)]
        );
        assert_eq!(cut(second), [(second, second)]);
    }

    #[test]
    fn a_lone_carriage_return_leaves_the_line_to_the_parser() {
        let whole = "---\rimage: x\n";
        assert_eq!(cut(whole), [(whole, whole)]);
    }

    #[test]
    fn blank_chunks_are_told_from_content() {
        let blank = |text: &str| {
            split(text.as_bytes())
                .iter()
                .all(|c| c.is_blank(text.as_bytes()))
        };
        for text in [
            "",
            "\n \n",
            "# HIDDEN: x\n",
            "---\n---\n# c\n...\n",
            "---\r\n# c\r\n",
        ] {
            assert!(blank(text), "{text:?}");
        }
        assert!(!blank("---\na: 1\n"));
    }
}
