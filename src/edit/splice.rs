//! Putting edits into bytes without copying the rest.

use std::io::{self, IoSlice, Write};
use std::ops::Range;

/// New bytes for a span of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes to replace.
    pub span: Range<usize>,
    /// What takes their place.
    pub text: String,
    /// The whole token that the span is in, quotes included.
    pub token: Range<usize>,
    /// What the token means afterwards.
    pub value: String,
}

impl Edit {
    /// How many bytes longer the stream becomes.
    pub(super) fn growth(&self) -> isize {
        self.text.len().wrapping_sub(self.span.len()).cast_signed()
    }
}

/// The edited stream: slices of the input and new texts in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spliced<'a> {
    pieces: Vec<&'a [u8]>,
}

/// Puts `edits`, which must be in order and apart from each other, into `input`.
#[must_use]
pub fn splice<'a>(input: &'a [u8], edits: &'a [Edit]) -> Spliced<'a> {
    let mut pieces = Vec::with_capacity(edits.len() * 2 + 1);
    let mut at = 0;
    for edit in edits {
        pieces.push(&input[at..edit.span.start]);
        pieces.push(edit.text.as_bytes());
        at = edit.span.end;
    }
    pieces.push(&input[at..]);
    Spliced { pieces }
}

impl Spliced<'_> {
    /// The length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pieces.iter().map(|piece| piece.len()).sum()
    }

    /// Whether there is nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes in one piece.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.pieces.concat()
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let mut slices: Vec<_> = self
            .pieces
            .iter()
            .map(|piece| IoSlice::new(piece))
            .collect();
        let mut rest = slices.as_mut_slice();
        // Empty slices at the front would make a write of nothing look like the end.
        IoSlice::advance_slices(&mut rest, 0);
        while !rest.is_empty() {
            match out.write_vectored(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => IoSlice::advance_slices(&mut rest, written),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `input` after replacing each span by its text.
    fn spliced(input: &str, edits: &[(Range<usize>, &str)]) -> String {
        let edits: Vec<_> = edits
            .iter()
            .map(|(span, text)| Edit {
                span: span.clone(),
                text: (*text).to_owned(),
                token: span.clone(),
                value: (*text).to_owned(),
            })
            .collect();
        let spliced = splice(input.as_bytes(), &edits);
        let growth: isize = edits.iter().map(Edit::growth).sum();
        assert_eq!(spliced.len(), input.len().strict_add_signed(growth));
        assert_eq!(spliced.is_empty(), spliced.to_vec().is_empty());
        let mut written = Vec::new();
        spliced.write_to(&mut written).unwrap();
        assert_eq!(written, spliced.to_vec());
        String::from_utf8(written).unwrap()
    }

    #[test]
    fn nothing() {
        assert_eq!(spliced("abc", &[]), "abc");
        assert_eq!(spliced("", &[]), "");
    }

    #[test]
    fn grow() {
        assert_eq!(spliced("a b c", &[(2..3, "long")]), "a long c");
    }

    #[test]
    fn shrink() {
        assert_eq!(spliced("a long c", &[(2..6, "b")]), "a b c");
    }

    #[test]
    fn start_and_end() {
        assert_eq!(spliced("abc", &[(0..1, "x"), (2..3, "yz")]), "xbyz");
    }

    #[test]
    fn neighbours() {
        assert_eq!(
            spliced("abc", &[(0..1, "x"), (1..2, ""), (2..3, "z")]),
            "xz"
        );
    }

    #[test]
    fn a_writer_that_takes_one_byte_at_a_time_and_is_interrupted_gets_all() {
        struct Slow(Vec<u8>, bool);
        impl Write for Slow {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.1 = !self.1;
                if self.1 {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                self.0.extend(bytes.first());
                Ok(bytes.len().min(1))
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut slow = Slow(Vec::new(), false);
        splice(b"abc", &[]).write_to(&mut slow).unwrap();
        assert_eq!(slow.0, b"abc");
    }

    #[test]
    fn a_writer_that_is_full_is_an_error() {
        let error = splice(b"abc", &[]).write_to(&mut [0; 2].as_mut_slice());
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::WriteZero);
    }
}
