//! What a refresher is told: by its labels and variables.

use std::collections::BTreeMap;

use super::profile::{Profile, for_release};
use crate::manifest::CronJob;

/// Whether labels are those of the profile's refresher.
pub(super) fn is_refresher(profile: &Profile, labels: &BTreeMap<String, String>) -> bool {
    let mut selector = profile.refresher.selector.iter();
    selector.all(|(key, value)| labels.get(key) == Some(value))
}

/// A variable of the stream's refresher; an empty one is not set.
pub(super) fn variable<'j>(refresher: Option<&'j CronJob>, name: &str) -> Option<&'j str> {
    let value = refresher?.variables.get(name)?;
    (!value.is_empty()).then_some(value)
}

/// Whether a refresher with these variables skips `image`, or the workload called `workload`.
pub(super) fn skips<'v>(
    profile: &Profile,
    image: &str,
    workload: &str,
    release: Option<&str>,
    variable: impl Fn(&str) -> Option<&'v str>,
) -> bool {
    profile.refresher.pins.iter().any(|pin| {
        let of_image = pin.image.as_deref() == Some(image);
        let of_workload = pin.workload.as_ref().is_some_and(|name| {
            let fallback = || Some(for_release(&name.fallback, release?));
            let named = variable(&name.variable)
                .map(str::to_owned)
                .or_else(fallback);
            named.as_deref() == Some(workload)
        });
        (of_image || of_workload) && variable(&pin.variable).is_some_and(is_set)
    })
}

/// The chart writes `1`; `true` is what a person would.
fn is_set(value: &str) -> bool {
    matches!(value, "1" | "true")
}
