//! Holding what belay did against what libyaml reads before and after.

use std::collections::BTreeSet;
use std::ops::Range;

use base64::Engine as _;
use belay::edit::{Edit, Plan};
use belay::manifest::Stream;
use belay::yaml;

use super::libyaml::{self, Event, Style, What};
use super::meaning::{self, Meaning, Place};
use super::rewriting::{Choices, refused, scanned};

/// What the bytes of a scalar mean, by themselves; in base64 also what that holds.
pub(crate) fn meant(token: &[u8], style: yaml::Style) -> Vec<String> {
    let value = match style {
        yaml::Style::Literal | yaml::Style::Folded => {
            let text = String::from_utf8_lossy(token).into_owned();
            let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
            lines.join("\n").trim_end().to_owned()
        }
        _ => {
            let events = libyaml::events(token).unwrap_or_default();
            let values = events.into_iter().filter_map(|(what, _)| match what {
                What::Scalar { value, .. } => Some(value),
                _ => None,
            });
            values.collect()
        }
    };
    let packed = value.replace(['\n', ' '], "");
    let decoded = base64::engine::general_purpose::STANDARD.decode(packed);
    let decoded = decoded.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    [Some(value), decoded.ok()].into_iter().flatten().collect()
}

/// Whether `after` has libyaml's events of `stream` but for the scalars that `plan` edits.
pub(crate) fn same_events(stream: &Stream<'_>, plan: &Plan, after: &[u8]) -> Result<(), String> {
    let mut growth = 0_isize;
    for chunk in &stream.chunks {
        let edits = plan.edits.iter();
        let edits: Vec<_> = edits
            .filter(|edit| chunk.span.contains(&edit.span.start))
            .collect();
        let start = chunk.text.strict_add_signed(growth);
        growth += edits.iter().map(|edit| grown(edit)).sum::<isize>();
        let new = &after[start..chunk.span.end.strict_add_signed(growth)];
        let old = chunk.text(stream.bytes);
        if edits.is_empty() {
            if old != new {
                return Err("a chunk without edits has changed".to_owned());
            }
            continue;
        }
        let mut expected = libyaml::events(old)?;
        for edit in edits {
            let token = edit.token.start - chunk.text..edit.token.end - chunk.text;
            if !replace(&mut expected, &token, &edit.value) {
                return Err(format!("libyaml has no scalar at {token:?} of {old:?}"));
            }
        }
        let expected = expected.into_iter().map(|(what, _)| what);
        let found = libyaml::events(new)?.into_iter().map(|(what, _)| what);
        if !expected.eq(found) {
            return Err(format!("became {}", String::from_utf8_lossy(new)));
        }
    }
    Ok(())
}

fn grown(edit: &Edit) -> isize {
    edit.text.len().cast_signed() - edit.span.len().cast_signed()
}

/// Gives the scalar or alias at `token` the meaning `value`. Whether there is one.
fn replace(events: &mut [Event], token: &Range<usize>, value: &str) -> bool {
    let mut here = events.iter_mut().filter(|(what, range)| {
        matches!(what, What::Scalar { .. } | What::Alias(_))
            && range.start <= token.start
            && token.start < range.end
    });
    let Some((what, _)) = here.next() else {
        return false;
    };
    match what {
        What::Scalar { value: old, .. } => {
            // The line breaks at the end of a block scalar stay.
            let end = old.trim_end_matches('\n').len();
            old.replace_range(..end, value);
        }
        other => {
            *other = What::Scalar {
                anchor: None,
                tag: None,
                value: value.to_owned(),
                style: Style::Plain,
            };
        }
    }
    true
}

/// Whether Kubernetes reads in `after` what it reads in `stream`, but for images, and of these the ones
/// that `choices` decide as decided: where the site could be edited.
pub(crate) fn same_meaning(
    stream: &Stream<'_>,
    plan: &Plan,
    choices: &Choices,
    after: &[u8],
) -> Result<(), String> {
    let later = scanned(after).ok_or("the result cannot be read")?;
    let judge = Judge {
        stream,
        refused: refused(plan).into_iter().collect(),
        choices,
    };
    if later.chunks.len() != stream.chunks.len() {
        return Err("the result has other chunks".to_owned());
    }
    let mut objects = 0;
    for (chunk, new) in stream.chunks.iter().zip(&later.chunks) {
        let (old, new) = (chunk.text(stream.bytes), new.text(after));
        let before = decoded(old);
        objects += match before {
            Some(before) => {
                let after = decoded(new).ok_or("libyaml cannot read the result")?;
                judge.compare(objects, before, after)?
            }
            // What libyaml does not read is no manifest to Helm either.
            None if old != new => return Err("libyaml could not read the original".to_owned()),
            None => {
                let documents = stream.documents.iter();
                let inside = documents.filter(|document| chunk.span.contains(&document.offset));
                inside.count()
            }
        };
    }
    if objects == stream.documents.len() {
        Ok(())
    } else {
        Err(format!("{objects} objects, not {}", stream.documents.len()))
    }
}

fn decoded(text: &[u8]) -> Option<Vec<Meaning>> {
    meaning::documents(&libyaml::events(text).ok()?)
}

struct Judge<'s> {
    stream: &'s Stream<'s>,
    refused: BTreeSet<usize>,
    choices: &'s Choices,
}

impl Judge<'_> {
    /// Compares two readings of one chunk, whose objects have numbers from `first`. Returns how many
    /// there are.
    fn compare(
        &self,
        first: usize,
        mut before: Vec<Meaning>,
        mut after: Vec<Meaning>,
    ) -> Result<usize, String> {
        let mut images = [Vec::new(), Vec::new()];
        let objects = take_images(first, &mut before, &mut images[0]);
        take_images(first, &mut after, &mut images[1]);
        let [old, new] = images;
        if before != after || old.len() != new.len() {
            return Err(format!("more than images differs: {before:?} {after:?}"));
        }
        for (old, new) in old.iter().zip(&new) {
            self.judge(old, &new.image)?;
        }
        Ok(objects)
    }

    fn judge(&self, place: &Place, new: &str) -> Result<(), String> {
        let sites: Vec<usize> = (0..self.stream.sites.len())
            .filter(|&site| self.is_at(site, place))
            .collect();
        let editable = sites.iter().filter(|site| !self.refused.contains(site));
        let editable = editable.count();
        let decided = self
            .choices
            .of(place.object, place.list, &place.container, &place.image);
        let is_left = new == place.image;
        let is_decided = decided.as_deref() == Some(new);
        let is_right = match decided {
            None => is_left,
            Some(_) if editable == sites.len() => is_decided,
            Some(_) if editable == 0 => is_left,
            // Of two containers with one name and image in one list one may be editable.
            Some(_) => is_left || is_decided,
        };
        if sites.is_empty() {
            Err(format!("{place:?} was not seen"))
        } else if !is_right {
            let all = sites.len();
            Err(format!(
                "{place:?} became {new}, {editable} of {all} editable"
            ))
        } else {
            Ok(())
        }
    }

    fn is_at(&self, site: usize, place: &Place) -> bool {
        let site = &self.stream.sites[site];
        site.document == place.object
            && site.container.list.field() == place.list
            && site.container.name == place.container
            && site.value == place.image
    }
}

fn take_images(first: usize, documents: &mut [Meaning], images: &mut Vec<Place>) -> usize {
    meaning::for_each_image(documents, &mut |mut place, image| {
        place.object += first;
        images.push(place);
        image.clear();
    })
}
