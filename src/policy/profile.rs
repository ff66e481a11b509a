//! The vendor's vocabulary: which images are managed, where the record is, what the refresher is called.
//!
//! Nothing of the default vendor is known outside this file's [`Profile::default`].

use std::collections::BTreeMap;

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::image_pattern::ImagePattern;
use crate::image::Repository;
use crate::manifest::Needles;

/// Where the release's name goes in a name pattern.
const RELEASE: &str = "{release}";
/// Where the image's record name goes in an annotation pattern.
const IMAGE: &str = "{image}";

/// A chart's conventions. Every field can be set in the config file, whose reader refuses keys that are
/// none of these; the default is tracebloc's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Profile {
    /// The managed repositories.
    pub repositories: Vec<ManagedRepository>,
    /// Other images, without a record: what somebody other than the deployer set is kept as it runs.
    pub live_images: Vec<ImagePattern>,
    /// The registries that the refresher watches; any other is a mirror.
    pub registries: Vec<String>,
    /// Where the refresher writes what it decided.
    pub record: RecordProfile,
    /// The refresher's CronJob.
    pub refresher: RefresherProfile,
    /// The variable in a workload's containers that holds the tag they were rendered for.
    pub tag_variable: String,
}

/// A managed repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManagedRepository {
    /// The path without its registry: `tracebloc/jobs-manager`.
    pub repository: String,
    /// The name that the record's annotations use for it: `jobs-manager`.
    pub image: String,
}

/// Where the refresher writes what it decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RecordProfile {
    /// The Deployment that carries the annotations where the refresher does not name one.
    pub deployment: String,
    /// The annotation that holds the digest, with `{image}` for the image's record name.
    pub digest: String,
    /// The annotation that holds the whole reference that was resolved.
    pub reference: String,
    /// The annotation that holds `observed@` or `applied@` and the digest.
    pub state: String,
    /// The annotation that counts roll-outs tried.
    pub attempt: String,
    /// The annotation whose presence says that roll-outs keep failing.
    pub flap_detected: String,
    /// The annotation that counts ticks skipped.
    pub skip_streak: String,
}

/// The refresher's CronJob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RefresherProfile {
    /// The labels that tell it from other CronJobs.
    pub selector: BTreeMap<String, String>,
    /// Its variable for the tag that it resolves.
    pub tag: String,
    /// Its variable for the registry that it asks.
    pub registry: String,
    /// Its variable for the record Deployment's name.
    pub deployment: String,
    /// Its variables that make it skip something.
    pub pins: Vec<PinVariable>,
}

/// A variable that makes the refresher skip an image, or a workload, when it is `1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PinVariable {
    /// The variable: `JOBS_MANAGER_PINNED`.
    pub variable: String,
    /// The record name of the image that is skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The workload that is skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadName>,
}

/// How a workload's name is found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadName {
    /// The refresher's variable that holds it.
    pub variable: String,
    /// The name where that variable is not set, with `{release}`.
    pub fallback: String,
}

impl Default for Profile {
    fn default() -> Self {
        let managed = |image: &str| ManagedRepository {
            repository: format!("tracebloc/{image}"),
            image: image.to_owned(),
        };
        Self {
            repositories: ["jobs-manager", "pods-monitor", "resource-monitor"]
                .map(managed)
                .to_vec(),
            live_images: Vec::new(),
            registries: vec!["docker.io".to_owned()],
            record: RecordProfile::default(),
            refresher: RefresherProfile::default(),
            tag_variable: "CLIENT_ENV".to_owned(),
        }
    }
}

impl Default for RecordProfile {
    fn default() -> Self {
        let key = |name: &str| format!("tracebloc.io/{name}");
        Self {
            deployment: "{release}-jobs-manager".to_owned(),
            digest: key("last-refreshed-{image}-digest"),
            reference: key("last-refreshed-{image}-ref"),
            state: key("last-refreshed-{image}-state"),
            attempt: key("refresh-attempt"),
            flap_detected: key("refresh-flap-detected"),
            skip_streak: key("refresh-skip-streak"),
        }
    }
}

impl Default for RefresherProfile {
    fn default() -> Self {
        let image = |variable: &str, image: &str| PinVariable {
            variable: variable.to_owned(),
            image: Some(image.to_owned()),
            workload: None,
        };
        Self {
            selector: BTreeMap::from([(
                "app.kubernetes.io/component".to_owned(),
                "image-refresh".to_owned(),
            )]),
            tag: "IMAGE_TAG".to_owned(),
            registry: "IMAGE_REGISTRY".to_owned(),
            deployment: "DEPLOYMENT_NAME".to_owned(),
            pins: vec![
                image("JOBS_MANAGER_PINNED", "jobs-manager"),
                image("PODS_MONITOR_PINNED", "pods-monitor"),
                image("RESOURCE_MONITOR_PINNED", "resource-monitor"),
                PinVariable {
                    variable: "REQUESTS_PROXY_PINNED".to_owned(),
                    image: None,
                    workload: Some(WorkloadName {
                        variable: "REQUESTS_PROXY_DEPLOYMENT".to_owned(),
                        fallback: "{release}-requests-proxy".to_owned(),
                    }),
                },
            ],
        }
    }
}

impl Profile {
    /// The profile that has no record and no refresher: only what `live_images` names is looked at.
    #[must_use]
    pub fn live() -> Self {
        Self {
            repositories: Vec::new(),
            ..Self::default()
        }
    }

    /// Whether the profile can be worked with; else what is wrong. An empty list or name would not
    /// fail by itself but match nothing, or everything.
    ///
    /// # Errors
    /// With the sentence to show.
    pub fn check(&self) -> Result<(), &'static str> {
        let unreadable = |managed: &ManagedRepository| {
            Repository::parse(&managed.repository).is_none_or(|repository| {
                repository.path() != managed.repository
                    && repository.path() != format!("library/{}", managed.repository)
            })
        };
        if self.repositories.is_empty() && self.live_images.is_empty() {
            Err(
                "repositories is empty and liveImages too, so there is no image to look at (--image names some)",
            )
        } else if self.repositories.iter().any(unreadable) {
            Err("a repository is written with a registry, a tag, or not as a repository at all")
        } else if self
            .repositories
            .iter()
            .any(|managed| managed.image.is_empty())
        {
            Err("a repository has an empty image")
        } else if self.registries.is_empty() {
            Err("registries is empty")
        } else if self.refresher.selector.is_empty() {
            Err("refresher.selector is empty and would match every CronJob")
        } else if self.repositories.len() > 1 && !self.record.tells_images_apart() {
            Err(
                "record.digest, record.reference or record.state lacks {image}, so all images would share it",
            )
        } else {
            Ok(())
        }
    }

    /// The managed repository that `repository` is, on whatever registry.
    #[must_use]
    pub fn managed(&self, repository: &Repository) -> Option<&ManagedRepository> {
        self.repositories
            .iter()
            .find(|managed| repository.ends_with(&managed.repository))
    }

    /// Whether `repository` is one without a record, whose live image is kept.
    #[must_use]
    pub fn keeps_live(&self, repository: &Repository) -> bool {
        self.live_images
            .iter()
            .any(|pattern| pattern.matches(repository))
    }

    /// Whether images of `repository` are looked at.
    #[must_use]
    pub fn concerns(&self, repository: &Repository) -> bool {
        self.managed(repository).is_some() || self.keeps_live(repository)
    }

    /// Whether `repository` is `managed` itself, on a registry that the refresher watches, and not a
    /// copy of it elsewhere.
    #[must_use]
    pub fn is_watched(&self, repository: &Repository, managed: &ManagedRepository) -> bool {
        let official = repository.path().strip_prefix("library/");
        self.is_watched_registry(repository.registry())
            && (repository.path() == managed.repository
                || official == Some(managed.repository.as_str()))
    }

    /// Whether the refresher watches `host`.
    #[must_use]
    pub fn is_watched_registry(&self, host: &str) -> bool {
        let host = Repository::normalize_registry(host);
        self.registries
            .iter()
            .any(|watched| Repository::normalize_registry(watched) == host)
    }

    /// What to search a stream for. Managed images and the refresher must be readable; the record
    /// Deployment mostly holds a managed image too, and tells its namespace when it does not.
    #[must_use]
    pub fn needles(&self) -> Needles {
        let repositories = self
            .repositories
            .iter()
            // `docker.io/library/nginx` may be written `nginx`.
            .map(|managed| {
                managed
                    .repository
                    .strip_prefix("library/")
                    .unwrap_or(&managed.repository)
            });
        let label = self
            .refresher
            .selector
            .values()
            .max_by_key(|value| value.len());
        let deployment = self
            .record
            .deployment
            .split(RELEASE)
            .max_by_key(|part| part.len());
        Needles::new(
            repositories.chain(self.live_images.iter().map(ImagePattern::needle)),
            &["CronJob", label.map_or("", String::as_str)],
            &["Deployment", deployment.unwrap_or_default()],
        )
    }
}

impl RecordProfile {
    fn tells_images_apart(&self) -> bool {
        [&self.digest, &self.reference, &self.state]
            .iter()
            .all(|annotation| annotation.contains(IMAGE))
    }

    /// The image's record name, if `annotation` is one that holds a digest.
    #[must_use]
    pub fn image_of<'a>(&self, annotation: &'a str) -> Option<&'a str> {
        let pattern = regex::escape(&self.digest).replace(&regex::escape(IMAGE), "(.+)");
        let pattern = Regex::new(&format!(r"\A{pattern}\z")).ok()?;
        Some(pattern.captures(annotation)?.get(1)?.as_str())
    }

    /// Whether `name` could be that of some release's record Deployment by the fall-back pattern.
    #[must_use]
    pub fn could_name(&self, name: &str) -> bool {
        let pattern = regex::escape(&self.deployment).replace(&regex::escape(RELEASE), "(.+)");
        Regex::new(&format!(r"\A{pattern}\z")).is_ok_and(|pattern| pattern.is_match(name))
    }
}

/// `pattern` with the image's record name in its place.
pub(super) fn for_image(pattern: &str, image: &str) -> String {
    pattern.replace(IMAGE, image)
}

/// `pattern` with the release's name in its place.
pub(super) fn for_release(pattern: &str, release: &str) -> String {
    pattern.replace(RELEASE, release)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_managed_repository_is_known_on_any_registry() {
        let profile = Profile::default();
        let image = |text: &str| {
            let repository = Repository::parse(text).unwrap();
            let managed = profile.managed(&repository)?;
            Some((
                managed.image.clone(),
                profile.is_watched(&repository, managed),
            ))
        };
        let watched = Some(("jobs-manager".to_owned(), true));
        let mirror = Some(("jobs-manager".to_owned(), false));
        assert_eq!(image("tracebloc/jobs-manager"), watched);
        assert_eq!(image("docker.io/tracebloc/jobs-manager"), watched);
        assert_eq!(image("index.docker.io/tracebloc/jobs-manager"), watched);
        assert_eq!(
            image("mirror.example:5000/cache/tracebloc/jobs-manager"),
            mirror
        );
        assert_eq!(image("ghcr.io/tracebloc/jobs-manager"), mirror);
        assert_eq!(image("docker.io/fork/tracebloc/jobs-manager"), mirror);
        assert_eq!(image("tracebloc/jobs-manager-debug"), None);
        assert_eq!(image("nottracebloc/jobs-manager"), None);
    }

    #[test]
    fn annotations_name_their_image() {
        let record = RecordProfile::default();
        let image = |key| record.image_of(key);
        assert_eq!(
            image("tracebloc.io/last-refreshed-jobs-manager-digest"),
            Some("jobs-manager")
        );
        assert_eq!(image("tracebloc.io/last-refreshed-jobs-manager-ref"), None);
        assert_eq!(
            image("traceblocxio/last-refreshed-jobs-manager-digest"),
            None
        );
        assert_eq!(image("tracebloc.io/last-refreshed--digest"), None);
    }

    #[test]
    fn a_record_deployment_is_known_by_its_fall_back_name() {
        let record = RecordProfile::default();
        assert!(record.could_name("demo-jobs-manager"));
        assert!(!record.could_name("jobs-manager"));
        assert!(!record.could_name("demo-jobs-manager-2"));
    }
}
