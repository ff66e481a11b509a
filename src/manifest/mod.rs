//! What a stream of manifests holds for belay: objects, image sites and CronJobs, each with its place.
//!
//! Reading is selective: a chunk that cannot hold anything of interest is never parsed, so that it can
//! neither fail a release nor cost time. See [`Needles`] for the rule.

mod container;
mod document;
mod object;
mod podspec;
mod scan;
mod search;
mod site;
mod walk;

pub use container::{Container, ContainerList};
pub use document::{CronJob, Document};
pub use object::ObjectKey;
pub use podspec::{Step, pod_spec_paths};
pub use scan::{Breadth, ScanError, Stream, scan};
pub use search::Needles;
pub use site::{Obstacle, Site, SiteStyle};
