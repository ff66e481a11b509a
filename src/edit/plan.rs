//! From "this site should read so" to bytes, in the scalar's own style (yaml.md section 7).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use memchr::memmem;

use super::Edit;
use crate::manifest::{Obstacle, Site, SiteStyle, Stream};
use crate::yaml::Style;

/// A site and the reference that it should hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// The index of the site in [`Stream::sites`].
    pub site: usize,
    /// The reference.
    pub text: String,
}

/// What can be edited, and what cannot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The edits in the order of the stream.
    pub edits: Vec<Edit>,
    /// The sites that cannot be rewritten, and why.
    pub refused: Vec<(usize, Obstacle)>,
}

/// Plans the edits for `rewrites`. A site that is refused counts as left, which may make others, that
/// share its bytes, impossible too.
#[must_use]
pub fn plan(stream: &Stream<'_>, rewrites: &[Rewrite]) -> Plan {
    let mut texts: BTreeMap<usize, &str> = rewrites
        .iter()
        .map(|rewrite| (rewrite.site, rewrite.text.as_str()))
        .collect();
    let mut plan = Plan::default();
    let mut edits: BTreeMap<usize, Edit> = BTreeMap::new();
    for (&index, &text) in &texts {
        match edit(stream.bytes, &stream.sites[index], text) {
            Ok(edit) => {
                edits.insert(edit.token.start, edit);
            }
            Err(obstacle) => plan.refused.push((index, obstacle)),
        }
    }
    for (index, _) in &plan.refused {
        texts.remove(index);
    }
    loop {
        let torn = disagreeing(&stream.sites, &texts);
        if torn.is_empty() {
            break;
        }
        for index in torn {
            texts.remove(&index);
            plan.refused.push((index, Obstacle::Disagreement));
        }
    }
    let tokens: HashSet<usize> = texts.keys().map(|&i| stream.sites[i].token.start).collect();
    edits.retain(|token, _| tokens.contains(token));
    plan.edits = edits.into_values().collect();
    plan.refused.sort_by_key(|(index, _)| *index);
    plan
}

/// The rewrites that would change a site which should stay, or should change otherwise.
fn disagreeing(sites: &[Site], texts: &BTreeMap<usize, &str>) -> Vec<usize> {
    let is_own = |site: &Site| site.token == site.scalar;
    // One token, two texts.
    let mut wanted: HashMap<usize, Option<&str>> = HashMap::new();
    let mut torn: HashSet<usize> = HashSet::new();
    // Scalars that an alias names which should stay. One that is rewritten follows nothing: `*name` is
    // replaced by its own text.
    let mut followed: HashSet<usize> = HashSet::new();
    for (index, site) in sites.iter().enumerate() {
        let text = texts.get(&index).copied();
        if *wanted.entry(site.token.start).or_insert(text) != text {
            torn.insert(site.token.start);
        }
        if text.is_none() && !is_own(site) {
            followed.insert(site.scalar.start);
        }
    }
    let disagrees = |site: &Site| {
        torn.contains(&site.token.start) || is_own(site) && followed.contains(&site.scalar.start)
    };
    let rewritten = texts.keys().copied();
    rewritten
        .filter(|&index| disagrees(&sites[index]))
        .collect()
}

fn edit(stream: &[u8], site: &Site, text: &str) -> Result<Edit, Obstacle> {
    if let Some(obstacle) = &site.obstacle {
        return Err(obstacle.clone());
    }
    if !is_safe(text) {
        return Err(Obstacle::OddReference(text.to_owned()));
    }
    let (span, replacement) = replacement(stream, site, text)?;
    Ok(Edit {
        span,
        text: replacement,
        token: site.token.clone(),
        value: text.to_owned(),
    })
}

/// The narrowest bytes that make the scalar mean `text`: quotes, block header and indentation stay.
fn replacement(stream: &[u8], site: &Site, text: &str) -> Result<(Range<usize>, String), Obstacle> {
    let token = &site.token;
    let whole = |text: String| Ok((token.clone(), text));
    if site.style == SiteStyle::Alias {
        return whole(text.to_owned());
    }
    let raw = &stream[token.clone()];
    if let Some(at) = memmem::find(raw, site.value.as_bytes()) {
        let start = token.start + at;
        return Ok((start..start + site.value.len(), text.to_owned()));
    }
    match site.style {
        SiteStyle::Scalar(Style::Literal | Style::Folded) => Err(Obstacle::BrokenBlock),
        // Written in escapes.
        _ => whole(format!("\"{text}\"")),
    }
}

/// Whether `text` means itself in every scalar style, in block and in flow: none of its characters is
/// an indicator there, and it resolves to no number, boolean or null.
fn is_safe(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._/:@-".contains(&byte))
        && text.contains('@')
}
