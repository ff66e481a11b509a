//! Choosing what should become of each site, and putting it into the bytes.

use std::ops::Range;

use belay::edit::{self, Plan, Rewrite};
use belay::image::Reference;
use belay::manifest::{Breadth, Container, Site, Stream, scan};
use belay::policy::{
    self, Answer, Facts, LiveObject, Policy, Profile, Questions, Refreshing, Source,
};

/// What is chosen for sites: for the same container with the same image always the same.
#[derive(Clone, Debug)]
pub(crate) struct Choices(Vec<u8>);

impl Choices {
    pub(crate) fn new(choices: Vec<u8>) -> Self {
        Self(choices)
    }

    /// The reference to write; None where the image stays.
    pub(crate) fn of(
        &self,
        object: usize,
        list: &str,
        container: &str,
        image: &str,
    ) -> Option<String> {
        let key = format!("{object} {list} {container} {image}");
        let hash = key.bytes().fold(7_usize, |hash, byte| {
            hash.wrapping_mul(31).wrapping_add(usize::from(byte))
        });
        match self.0[hash % self.0.len()] % 5 {
            0 => None,
            // Rarely another than for other sites, or whatever is shared could never be written.
            1 => Some(reference('b')),
            _ => Some(reference('a')),
        }
    }

    pub(crate) fn of_site(&self, site: &Site) -> Option<String> {
        let container = &site.container;
        self.of(
            site.document,
            container.list.field(),
            &container.name,
            &site.value,
        )
    }
}

fn reference(digit: char) -> String {
    let digest = digit.to_string().repeat(64);
    format!("docker.io/tracebloc/jobs-manager@sha256:{digest}")
}

/// All sites of `bytes`, managed or not. None where a document that must be read cannot be.
pub(crate) fn scanned(bytes: &[u8]) -> Option<Stream<'_>> {
    scan(bytes, &Profile::default().needles(), Breadth::All).ok()
}

/// The rewrites that `choices` ask for.
pub(crate) fn rewrites(stream: &Stream<'_>, choices: &Choices) -> Vec<Rewrite> {
    let sites = stream.sites.iter().enumerate();
    sites
        .filter_map(|(site, found)| {
            Some(Rewrite {
                site,
                text: choices.of_site(found)?,
            })
        })
        .collect()
}

/// The bytes after `plan`, which pass belay's own check.
pub(crate) fn rewritten(stream: &Stream<'_>, plan: &Plan) -> Vec<u8> {
    let spliced = edit::splice(stream.bytes, &plan.edits);
    if let Err(error) = edit::verify(stream, &plan.edits, &spliced) {
        panic!("{error}");
    }
    spliced.to_vec()
}

/// Puts `items` into an order that `seed` stands for.
pub(crate) fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed | 1;
    for index in (1..items.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let other = usize::try_from(state >> 33).unwrap_or(0) % (index + 1);
        items.swap(index, other);
    }
}

/// The managed images of a stream: bytes and value.
pub(crate) fn managed(stream: &Stream<'_>, profile: &Profile) -> Vec<(Range<usize>, String)> {
    let sites = stream.sites.iter().filter(|site| {
        Reference::parse(&site.value)
            .is_some_and(|reference| profile.managed(reference.repository()).is_some())
    });
    sites
        .map(|site| (site.token.clone(), site.value.clone()))
        .collect()
}

/// The places of a stream's sites.
pub(crate) fn places(stream: &Stream<'_>) -> Vec<(usize, Container)> {
    let sites = stream.sites.iter();
    sites
        .map(|site| (site.document, site.container.clone()))
        .collect()
}

/// The sites that a plan could not edit.
pub(crate) fn refused(plan: &Plan) -> Vec<usize> {
    plan.refused.iter().map(|(site, _)| *site).collect()
}

/// What `belay --on-uneditable=leave` makes of a stream, offline or with a record that has a digest of
/// these digits for each image. None where it stops.
pub(crate) fn pinned(bytes: &[u8], digits: Option<&[u8]>) -> Option<Vec<u8>> {
    let profile = Profile::default();
    let policy = Policy {
        source: digits.map_or(Source::Nowhere, |_| Source::File),
        refreshing: Refreshing::Auto,
        require_record: false,
        namespace: None,
    };
    let stream = scan(bytes, &profile.needles(), Breadth::Marked).ok()?;
    let survey = policy::survey(&stream, &profile, &policy, None);
    let facts = facts(&survey.questions(), &profile, digits.unwrap_or_default());
    let decisions = survey.decide(&facts).ok()?.decisions;
    let asked: Vec<_> = decisions
        .iter()
        .filter_map(|decision| {
            Some(Rewrite {
                site: decision.site,
                text: decision.rewritten()?.to_owned(),
            })
        })
        .collect();
    Some(rewritten(&stream, &edit::plan(&stream, &asked)))
}

fn facts(questions: &Questions, profile: &Profile, digits: &[u8]) -> Facts {
    let images = profile.repositories.iter().zip(digits);
    let annotations = images.map(|(managed, digit)| {
        let digest = format!("{digit:x}").repeat(64);
        let key = profile.record.digest.replace("{image}", &managed.image);
        (key, format!("sha256:{digest}"))
    });
    let record = LiveObject {
        annotations: annotations.collect(),
        ..LiveObject::default()
    };
    let records = questions.records.iter();
    Facts {
        objects: records
            .map(|key| (key.clone(), Answer::Found(record.clone())))
            .collect(),
        ..Facts::default()
    }
}
