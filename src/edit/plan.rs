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
/// an indicator there, and it resolves to no number (`1:30` is one in YAML 1.1), date, boolean or null.
fn is_safe(text: &str) -> bool {
    let is_text = match text.bytes().next() {
        Some(b'0'..=b'9') => text.contains(['@', '/']),
        Some(byte) => {
            byte.is_ascii_alphabetic() && !WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
        }
        None => false,
    };
    is_text
        && !text.ends_with(':')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._/:@-".contains(&byte))
}

/// The words that YAML 1.1 or 1.2 takes for a boolean or null: <https://yaml.org/type/bool.html>.
const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{Breadth, Needles, scan};

    const DIGEST: &str = "x/a@sha256:0";

    #[test]
    fn a_reference_that_yaml_reads_as_something_else_is_not_written() {
        for text in [
            "nginx",
            "nginx:1.29",
            "ghcr.io/a/b:1",
            "1/a",
            "1a@sha256:0",
            "yes:1",
        ] {
            assert!(is_safe(text), "{text}");
            let read: serde_yaml::Value = serde_yaml::from_str(text).unwrap();
            assert_eq!(read.as_str(), Some(text));
        }
        for text in [
            "",
            "1.5",
            "1:30",
            "0x1f",
            "2020-01-01",
            "on",
            "Null",
            "y",
            "nginx:",
            "a b",
            "a#b",
            "-a",
            "~",
        ] {
            assert!(!is_safe(text), "{text}");
        }
    }

    /// The plan for a pod with these images, each given with its new reference, if it has one.
    fn planned(images: &[(&str, Option<&str>)]) -> Plan {
        let mut pod = "kind: Pod\nspec:\n  containers:\n".to_owned();
        for (image, _) in images {
            pod.push_str(&format!("  - image: {image}\n"));
        }
        let needles = Needles::new(["x/"], &["CronJob"], &["Deployment"]);
        let stream = scan(pod.as_bytes(), &needles, Breadth::Marked).unwrap();
        let rewrites = images.iter().enumerate().filter_map(|(site, (_, text))| {
            Some(Rewrite {
                site,
                text: (*text)?.to_owned(),
            })
        });
        let plan = plan(&stream, &rewrites.collect::<Vec<_>>());
        for edit in &plan.edits {
            assert_eq!(edit.value, DIGEST);
        }
        plan
    }

    /// Which sites are refused.
    fn refused(images: &[(&str, Option<&str>)]) -> Vec<usize> {
        planned(images).refused.iter().map(|it| it.0).collect()
    }

    #[test]
    fn what_some_scalar_style_would_read_differently_is_not_written() {
        for odd in [
            "x/a: b@c", "-x@c", "@x", "null", "12", "x@\u{e9}", "x@a#", "", "x@a\nb",
        ] {
            let plan = planned(&[("x/a:1", Some(odd))]);
            assert!(plan.edits.is_empty());
            assert_eq!(plan.refused, [(0, Obstacle::OddReference(odd.to_owned()))]);
        }
        assert!(refused(&[("x/a:1", Some(DIGEST))]).is_empty());
    }

    #[test]
    fn images_that_share_bytes_stay_together() {
        let new = Some(DIGEST);
        // The alias would follow the scalar, and should not.
        assert_eq!(refused(&[("&a x/a:1", new), ("*a", None)]), [0]);
        // An alias is replaced by its own text.
        assert!(refused(&[("&a x/a:1", None), ("*a", new)]).is_empty());
        assert!(refused(&[("&a x/a:1", new), ("*a", new)]).is_empty());
        assert!(refused(&[("&a x/a:1", None), ("*a", new), ("*a", None)]).is_empty());
    }

    #[test]
    fn a_refused_site_holds_back_those_that_share_its_bytes_and_no_others() {
        let new = Some(DIGEST);
        let images = [("&a x/a:1", new), ("*a", Some("on")), ("x/a:1", new)];
        let plan = planned(&images);
        assert_eq!(plan.edits.len(), 1);
        assert_eq!(plan.refused[0], (0, Obstacle::Disagreement));
        assert_eq!(
            plan.refused[1],
            (1, Obstacle::OddReference("on".to_owned()))
        );
    }

    #[test]
    fn a_block_whose_lines_break_the_image_is_refused() {
        let broken = "|\n      x/a\n      :1";
        let plan = planned(&[(broken, Some(DIGEST)), ("|\n      x/a:1", Some(DIGEST))]);
        assert_eq!(plan.refused, [(0, Obstacle::BrokenBlock)]);
        assert_eq!(plan.edits.len(), 1);
    }
}
