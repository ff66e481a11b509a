//! Where the pod specs of an object are, by its kind.

/// A field on the way from an object to a pod spec.
pub type Step = &'static str;

const POD: &[Step] = &["spec"];
const POD_TEMPLATE: &[Step] = &["template", "spec"];
const WORKLOAD: &[Step] = &["spec", "template", "spec"];
const JOB_TEMPLATE: &[Step] = &["spec", "jobTemplate", "spec", "template", "spec"];

/// The paths to look at in an object of `kind`. A kind that belay does not know is looked at as a
/// workload: Argo Rollouts, Knative Services and many custom resources embed a pod template there.
#[must_use]
pub fn pod_spec_paths(kind: &str) -> &'static [&'static [Step]] {
    match kind {
        "Pod" => &[POD],
        "PodTemplate" => &[POD_TEMPLATE],
        _ => &[WORKLOAD, JOB_TEMPLATE],
    }
}
