//! What runs in a site's place.

use super::decision::LiveEvidence;
use super::facts::{Answer, Facts};
use crate::image::{Pin, Reference};
use crate::manifest::{Document, Site};

/// The live reference of the site's place.
pub(super) struct LiveImage {
    /// The text and the digest in it, where the repository is the same.
    pub(super) image: Option<(String, Option<String>)>,
    absent: Option<&'static str>,
    pub(super) others_own: Option<bool>,
    owners: Option<Vec<String>>,
    deployers: Vec<String>,
}

impl LiveImage {
    pub(super) fn find(
        site: &Site,
        document: &Document,
        rendered: &Reference,
        facts: &Facts,
    ) -> Self {
        let mut live = Self {
            image: None,
            absent: None,
            others_own: None,
            owners: None,
            deployers: Vec::new(),
        };
        let object = match facts.object(&document.object) {
            Answer::Found(object) => object,
            Answer::NotFound => return live.without("there is no such object"),
            Answer::Unknown => return live.without("what the object runs is not known"),
        };
        live.deployers = object.owners.deployers().map(str::to_owned).collect();
        let Some(container) = object.container(&site.container) else {
            return live.without("the object has no such container");
        };
        let reference = Reference::parse(&container.image)
            .filter(|reference| reference.repository() == rendered.repository());
        let Some(reference) = reference else {
            return live.without("the container runs another repository");
        };
        live.others_own = object.owners.others_own(&container.container);
        live.owners = object
            .owners
            .of_image(&container.container)
            .map(|names| names.into_iter().map(str::to_owned).collect());
        let digest = match reference.pin() {
            Pin::Digest(digest) => Some(digest.clone()),
            Pin::None | Pin::Malformed(_) => None,
        };
        live.image = Some((reference.as_str().to_owned(), digest));
        live
    }

    fn without(mut self, why: &'static str) -> Self {
        self.absent = Some(why);
        self
    }

    pub(super) fn digest(&self) -> Option<&String> {
        self.image.as_ref()?.1.as_ref()
    }

    pub(super) fn text(&self) -> Option<String> {
        Some(self.image.as_ref()?.0.clone())
    }

    pub(super) fn evidence(&self) -> LiveEvidence {
        LiveEvidence {
            image: self.text(),
            absent: self.absent,
            owners: self.owners.clone(),
            deployers: self.deployers.clone(),
        }
    }
}
