//! A tape of random bytes that a generator reads its choices from. A short tape reads on as zeros, and
//! zero is always the plainest choice, so that proptest shrinks a text by cutting and zeroing bytes.

/// The choices that are left.
#[derive(Clone, Debug)]
pub(crate) struct Tape<'t> {
    bytes: &'t [u8],
}

impl<'t> Tape<'t> {
    pub(crate) fn new(bytes: &'t [u8]) -> Self {
        Self { bytes }
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let Some((&byte, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        usize::from(byte) % end.max(1)
    }

    /// Whether something happens that does so once in `times`.
    pub(crate) fn rarely(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    /// One of `choices`; the first is the plainest.
    pub(crate) fn pick<'c, T: ?Sized>(&mut self, choices: &[&'c T]) -> &'c T {
        choices[self.below(choices.len())]
    }
}
