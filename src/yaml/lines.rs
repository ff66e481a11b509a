//! Line and column of a byte, for people.

use std::sync::OnceLock;

/// The lines of a text, counted when somebody first asks: a run without a message never does.
#[derive(Debug)]
pub struct Lines<'a> {
    text: &'a [u8],
    newlines: OnceLock<Vec<usize>>,
}

impl<'a> Lines<'a> {
    /// Prepares to count the lines of `text`.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            newlines: OnceLock::new(),
        }
    }

    /// The line and the column (in characters) of the byte at `offset`, both from 1.
    #[must_use]
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let newlines = self
            .newlines
            .get_or_init(|| memchr::memchr_iter(b'\n', self.text).collect());
        let before = newlines.partition_point(|&newline| newline < offset);
        let start = before.checked_sub(1).map_or(0, |last| newlines[last] + 1);
        let column = String::from_utf8_lossy(&self.text[start..offset.min(self.text.len())])
            .chars()
            .count();
        (before + 1, column + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let lines = Lines::new("é: 1\n  b: x\n".as_bytes());
        assert_eq!(lines.position(0), (1, 1));
        assert_eq!(lines.position(4), (1, 4));
        assert_eq!(lines.position(11), (2, 6));
    }
}
