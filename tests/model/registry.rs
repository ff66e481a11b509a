//! The registry: which digest each tag names, and what each digest is.

use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Image {
    JobsManager,
    PodsMonitor,
    ResourceMonitor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tag {
    Prod,
    Stg,
}

impl Image {
    pub(crate) const ALL: [Self; 3] = [Self::JobsManager, Self::PodsMonitor, Self::ResourceMonitor];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::JobsManager => "jobs-manager",
            Self::PodsMonitor => "pods-monitor",
            Self::ResourceMonitor => "resource-monitor",
        }
    }
}

impl Tag {
    pub(crate) const ALL: [Self; 2] = [Self::Prod, Self::Stg];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Prod => "prod",
            Self::Stg => "stg",
        }
    }
}

/// What was pushed so far.
#[derive(Clone, Debug)]
pub(crate) struct Registry {
    /// The digests that a tag named, in order; the last is what it names now.
    tags: BTreeMap<(Image, Tag), Vec<String>>,
    /// Digests whose Pods never get ready.
    crashing: Vec<String>,
    pushed: u32,
}

impl Registry {
    /// One image for each tag.
    pub(crate) fn new() -> Self {
        let mut registry = Self {
            tags: BTreeMap::new(),
            crashing: Vec::new(),
            pushed: 0,
        };
        for image in Image::ALL {
            for tag in Tag::ALL {
                registry.publish(image, tag, false);
            }
        }
        registry
    }

    pub(crate) fn publish(&mut self, image: Image, tag: Tag, crashing: bool) {
        self.pushed += 1;
        let digest = format!("sha256:{:064x}", self.pushed);
        if crashing {
            self.crashing.push(digest.clone());
        }
        self.tags.entry((image, tag)).or_default().push(digest);
    }

    /// Makes prod name what stg names.
    pub(crate) fn promote(&mut self, image: Image) {
        let digest = self.latest(image, Tag::Stg).to_owned();
        let prod = self.tags.entry((image, Tag::Prod)).or_default();
        if prod.last() != Some(&digest) {
            prod.push(digest);
        }
    }

    pub(crate) fn latest(&self, image: Image, tag: Tag) -> &str {
        self.tags[&(image, tag)].last().expect("one was pushed")
    }

    pub(crate) fn crashes(&self, digest: &str) -> bool {
        self.crashing.iter().any(|crashing| crashing == digest)
    }

    /// When `tag` named `digest` first and last, as numbers that grow: a tag can go back. None where it
    /// never did.
    pub(crate) fn named(&self, image: Image, tag: Tag, digest: &str) -> Option<(usize, usize)> {
        let digests = &self.tags[&(image, tag)];
        let first = digests.iter().position(|pushed| pushed == digest)?;
        let last = digests.iter().rposition(|pushed| pushed == digest)?;
        Some((first, last))
    }
}
