//! The check of the result against its original, before anything is written (yaml.md section 8).
//!
//! Chunks without an edit are the input's own bytes by construction. Each changed chunk is parsed again
//! beside its original: every event must be the same at the shifted place, but for the edits, each of
//! which must mean what was decided. What fails here is a bug of ours, whatever the input.

use std::collections::HashSet;
use std::ops::Range;

use super::{Edit, Spliced, splice};
use crate::manifest::Stream;
use crate::yaml::{Chunk, Event, Events};

/// The result is not the input with the edits. Never the operator's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "belay's own check failed near byte {offset} of the input ({what}): nothing was written; please report this with the input"
)]
pub struct SelfCheckError {
    /// The place in the input.
    pub offset: usize,
    /// What differs.
    pub what: &'static str,
}

/// Checks that `spliced` is `stream` but for `edits`, byte by byte and in meaning.
///
/// # Errors
/// At the first difference.
pub fn verify(
    stream: &Stream<'_>,
    edits: &[Edit],
    spliced: &Spliced<'_>,
) -> Result<(), SelfCheckError> {
    let apart = edits
        .windows(2)
        .find(|pair| pair[0].token.end > pair[1].token.start);
    if let Some(pair) = apart {
        return fail(pair[1].token.start, "two edits overlap");
    }
    let growth: isize = edits.iter().map(Edit::growth).sum();
    if stream.bytes.len().checked_add_signed(growth) != Some(spliced.len()) {
        return fail(0, "the length is wrong");
    }
    let mut rest = edits;
    for chunk in &stream.chunks {
        let inside = rest.partition_point(|edit| edit.span.start < chunk.span.end);
        let (here, later) = rest.split_at(inside);
        rest = later;
        if !here.is_empty() {
            verify_chunk(stream.bytes, chunk, here)?;
        }
    }
    if rest.is_empty() {
        Ok(())
    } else {
        fail(rest[0].span.start, "an edit is outside of every document")
    }
}

fn fail<T>(offset: usize, what: &'static str) -> Result<T, SelfCheckError> {
    Err(SelfCheckError { offset, what })
}

fn verify_chunk(bytes: &[u8], chunk: &Chunk, edits: &[Edit]) -> Result<(), SelfCheckError> {
    let start = chunk.text;
    let local: Vec<Edit> = edits
        .iter()
        .map(|edit| Edit {
            span: edit.span.start - start..edit.span.end - start,
            token: edit.token.start - start..edit.token.end - start,
            ..edit.clone()
        })
        .collect();
    let old = chunk.text(bytes);
    let new = splice(old, &local).to_vec();
    let (Ok(old), Ok(new)) = (str::from_utf8(old), str::from_utf8(&new)) else {
        return fail(start, "a document is not UTF-8");
    };
    let mut lockstep = Lockstep {
        start,
        edits: &local,
        growth: 0,
        changed: HashSet::new(),
    };
    let mut new_events = Events::new(new);
    for old in Events::new(old) {
        let Ok(old) = old else {
            return fail(start, "the original is no YAML");
        };
        let Some(Ok(new)) = new_events.next() else {
            return fail(start + old.1.start, "the result is no YAML, or ends early");
        };
        lockstep.compare(old, new)?;
    }
    if new_events.next().is_some() {
        return fail(chunk.span.end, "the result has more than the original");
    }
    match lockstep.edits.first() {
        None => Ok(()),
        Some(edit) => fail(start + edit.span.start, "an edit is not at a scalar"),
    }
}

/// Two parsers side by side.
struct Lockstep<'e> {
    /// Where the chunk's text starts in the input.
    start: usize,
    /// The edits that have not been met.
    edits: &'e [Edit],
    /// By how much the edits so far have moved what follows.
    growth: isize,
    /// The anchors on edited scalars: an alias of one that is not edited itself has changed unasked.
    changed: HashSet<usize>,
}

type At<'a> = (Event<'a>, Range<usize>);

impl Lockstep<'_> {
    fn compare(&mut self, old: At<'_>, new: At<'_>) -> Result<(), SelfCheckError> {
        let (old, old_span) = old;
        let (new, new_span) = new;
        let offset = self.start + old_span.start;
        if let (Event::AnchorName(old), Event::AnchorName(new)) = (&old, &new) {
            // It stands before the node whose event came first, so its place says nothing here.
            return if old == new {
                Ok(())
            } else {
                fail(offset, "an anchor has another name")
            };
        }
        if old_span.start.checked_add_signed(self.growth) != Some(new_span.start) {
            return fail(offset, "something has moved");
        }
        let is_node = matches!(old, Event::Scalar { .. } | Event::Alias(_));
        let edit = match self.edits.split_first() {
            Some((edit, later)) if is_node && edit.token == old_span => {
                self.edits = later;
                edit
            }
            _ => {
                let changed = matches!(&old, Event::Alias(anchor) if self.changed.contains(anchor));
                return if changed {
                    fail(offset, "an alias names an edited scalar")
                } else if old == new {
                    Ok(())
                } else {
                    fail(offset, "something else has changed")
                };
            }
        };
        self.growth += edit.growth();
        if old_span.end.checked_add_signed(self.growth) != Some(new_span.end) {
            return fail(offset, "an edit has the wrong length");
        }
        let Event::Scalar {
            value,
            style,
            anchor,
            tag,
        } = new
        else {
            return fail(offset, "an edit made no scalar");
        };
        if value.trim_end_matches(['\n', '\r']) != edit.value {
            return fail(offset, "an edit does not mean what was decided");
        }
        match old {
            Event::Scalar {
                style: old_style,
                anchor: old_anchor,
                tag: old_tag,
                ..
            } if (style, anchor, &tag) != (old_style, old_anchor, &old_tag) => {
                fail(offset, "an edit changed a scalar's style, anchor or tag")
            }
            Event::Scalar { .. } => {
                if anchor != 0 {
                    self.changed.insert(anchor);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{Breadth, Needles, scan};

    /// What the check says of `input` when each `old` becomes `new` and should then mean `value`.
    fn says(input: &str, edits: &[(&str, &str, &str)]) -> Option<&'static str> {
        told(input, edits).map(|error| error.what)
    }

    fn told(input: &str, edits: &[(&str, &str, &str)]) -> Option<SelfCheckError> {
        let needles = Needles::new(["x/"], &["CronJob"], &["Deployment"]);
        let stream = scan(input.as_bytes(), &needles, Breadth::Marked).unwrap();
        let edits = edits.iter().map(|(old, new, value)| {
            let start = input.find(old).unwrap();
            Edit {
                span: start..start + old.len(),
                text: (*new).to_owned(),
                token: start..start + old.len(),
                value: (*value).to_owned(),
            }
        });
        let edits: Vec<_> = edits.collect();
        verify(&stream, &edits, &splice(input.as_bytes(), &edits)).err()
    }

    #[test]
    fn edits_at_scalars_that_mean_what_they_should_pass() {
        let input = "---\na: [old, 'odd']\n---\nb: 1\n---\nc: &x last\nd: *x\n";
        let edits = [
            ("old", "newer", "newer"),
            ("'odd'", "'n'", "n"),
            ("*x", "own", "own"),
        ];
        assert_eq!(says(input, &edits), None);
        let both = [("last", "new", "new"), ("*x", "new", "new")];
        assert_eq!(says(input, &both), None);
        assert_eq!(says("a: |\n  old\n", &[("old\n", "new\n", "new")]), None);
    }

    #[test]
    fn each_way_to_be_wrong_is_seen() {
        let meaning = "an edit does not mean what was decided";
        let shape = "an edit changed a scalar's style, anchor or tag";
        for (new, value, what) in [
            ("new", "other", meaning),
            (" new", "new", "something has moved"),
            ("new ", "new", "an edit has the wrong length"),
            ("new # why", "new", "an edit has the wrong length"),
            ("*x", "new", "an edit made no scalar"),
            ("'new'", "new", shape),
            ("\"", "new", "the result is no YAML, or ends early"),
        ] {
            let found = says("x: &x 1\na: old\nb: 2\n", &[("old", new, value)]);
            assert_eq!(found, Some(what), "{new:?}");
        }
    }

    #[test]
    fn an_alias_does_not_follow_an_edit_unasked() {
        let input = "a: &x old\nb: *x\n";
        let what = says(input, &[("old", "new", "new")]);
        assert_eq!(what, Some("an alias names an edited scalar"));
        // Another anchor's alias, or one that the edit does not reach, is none of it.
        let input = "a: &x old\nb: &y c\nd: *y\n";
        assert_eq!(says(input, &[("old", "new", "new")]), None);
    }

    #[test]
    fn an_edit_beside_the_scalars_is_seen_by_what_it_does() {
        let directive = "%TAG ! tag:a,2000:\n---\nk: !t v\n";
        let edit = [("tag:a", "tag:b", "tag:b")];
        assert_eq!(says(directive, &edit), Some("something else has changed"));
        let comment = [("why", "how", "how")];
        let error = told("---\na: 1 # why\n", &comment).unwrap();
        assert_eq!(
            (error.offset, error.what),
            (11, "an edit is not at a scalar")
        );
    }

    #[test]
    fn edits_must_be_apart_and_the_length_theirs() {
        let input = "a: old\nb: 2\n";
        let twice = [("old", "new", "new"), ("ld", "ew", "ew")];
        assert_eq!(says(input, &twice[..1]), None);
        let needles = Needles::new(["x/"], &["CronJob"], &["Deployment"]);
        let stream = scan(input.as_bytes(), &needles, Breadth::Marked).unwrap();
        let edit = |span: Range<usize>, text: &str| Edit {
            token: span.clone(),
            span,
            text: text.to_owned(),
            value: text.to_owned(),
        };
        let good = [edit(3..6, "new")];
        let longer = [edit(3..6, "newer")];
        let other = splice(input.as_bytes(), &longer);
        let error = verify(&stream, &good, &other).unwrap_err();
        assert_eq!(error.what, "the length is wrong");
        let overlapping = [edit(3..6, "new"), edit(5..6, "n")];
        let error = verify(&stream, &overlapping, &other).unwrap_err();
        assert_eq!((error.offset, error.what), (5, "two edits overlap"));
        let outside = [edit(input.len()..input.len(), "new")];
        let error = verify(&stream, &outside, &splice(input.as_bytes(), &outside)).unwrap_err();
        assert_eq!(error.what, "an edit is outside of every document");
    }
}
