//! The place in the input that a message is about.

use super::text::printable;
use crate::yaml::Lines;

/// How many characters are shown on either side of the place: an indented image with its digest fits. JSON
/// documents have their whole stream on one line.
const AROUND: usize = 120;

/// A place in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Line and column, from 1; the column in characters.
    Column(usize, usize),
    /// A byte, from 0.
    Byte(usize),
}

/// The line of `stream` at `place` with a caret below, as compilers show it.
#[must_use]
pub fn excerpt(stream: &[u8], place: Place) -> String {
    let (line, column) = match place {
        Place::Column(line, column) => (line, column),
        Place::Byte(offset) => Lines::new(stream).position(offset),
    };
    let text = stream
        .split(|&byte| byte == b'\n')
        .nth(line.saturating_sub(1))
        .unwrap_or_default();
    let text = String::from_utf8_lossy(text.strip_suffix(b"\r").unwrap_or(text));
    let at = column.saturating_sub(1);
    let skipped = at.saturating_sub(AROUND);
    // A tab is as wide as the caret's line takes it for.
    let mut rest = text.chars().map(|c| if c == '\t' { ' ' } else { c });
    let before: String = rest.by_ref().skip(skipped).take(at - skipped).collect();
    let after: String = rest.by_ref().take(AROUND).collect();
    let (before, after) = (printable(&before), printable(&after));
    let start = if skipped > 0 { "…" } else { "" };
    let end = if rest.next().is_some() { "…" } else { "" };
    let blanks = " ".repeat(start.chars().count() + before.chars().count());
    let margin = " ".repeat(line.to_string().len());
    format!("{line} | {start}{before}{after}{end}\n{margin} | {blanks}^\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_below_the_place() {
        let stream = "a: 1\r\né: \tx\r\n".as_bytes();
        assert_eq!(
            excerpt(stream, Place::Column(2, 5)),
            "2 | é:  x\n  |     ^\n"
        );
        assert_eq!(excerpt(stream, Place::Byte(11)), "2 | é:  x\n  |     ^\n");
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let stream = format!("{}X{}", "a".repeat(200), "b".repeat(200));
        let expected = format!(
            "1 | …{}X{}…\n  | {}^\n",
            "a".repeat(120),
            "b".repeat(119),
            " ".repeat(121)
        );
        assert_eq!(excerpt(stream.as_bytes(), Place::Column(1, 201)), expected);
    }

    #[test]
    fn a_place_beyond_the_text_is_shown_at_its_end() {
        assert_eq!(excerpt(b"a", Place::Column(1, 2)), "1 | a\n  |  ^\n");
        assert_eq!(excerpt(b"a", Place::Column(9, 9)), "9 | \n  | ^\n");
        assert_eq!(
            excerpt(b"\x1b\xff", Place::Byte(1)),
            "1 | \\u{1b}\u{fffd}\n  |       ^\n"
        );
    }
}
