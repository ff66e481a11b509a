//! What belay reads of an object beside its images.

use std::collections::BTreeMap;

use super::ObjectKey;
use super::walk::{Object, Visit, Walk};

/// An object of the stream: a document, or an item of a list.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its name in full.
    pub object: ObjectKey,
    /// Where it starts in the stream.
    pub offset: usize,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Whether it carries `helm.sh/hook`: Helm 4 sends hooks through post-renderers, Helm 3 never.
    pub hook: bool,
}

/// A CronJob of the stream, which may be a refresher.
#[derive(Clone, Debug)]
pub struct CronJob {
    /// The index of its document.
    pub document: usize,
    /// `spec.suspend`, as YAML 1.1 reads it.
    pub suspend: bool,
    /// The environment variables of its containers that have a value of their own (no `valueFrom`).
    pub variables: BTreeMap<String, String>,
}

/// Helm's mark of a hook.
const HOOK: &str = "helm.sh/hook";

/// Reads names, labels and the hook mark.
pub(super) fn document(walk: &mut Walk<'_, '_>, object: &Object, offset: usize) -> Document {
    let root = object.root;
    let mut text = |path: &[&str]| walk.text(root, path).filter(|text| !text.is_empty());
    let object = ObjectKey {
        api_version: text(&["apiVersion"]).unwrap_or_default(),
        kind: text(&["kind"])
            .or_else(|| object.implied_kind.clone())
            .unwrap_or_default(),
        namespace: text(&["metadata", "namespace"]),
        name: text(&["metadata", "name"]).unwrap_or_default(),
    };
    Document {
        object,
        offset,
        labels: last_texts(walk, root, &["metadata", "labels"]),
        hook: last_texts(walk, root, &["metadata", "annotations"]).contains_key(HOOK),
    }
}

/// Reads what a refresher's CronJob says. `index` is that of its document.
pub(super) fn cron_job(walk: &mut Walk<'_, '_>, root: Visit, index: usize) -> CronJob {
    let suspend = walk
        .text(root, &["spec", "suspend"])
        .is_some_and(|text| is_true(&text));
    let mut variables = BTreeMap::new();
    for spec in walk.path(root, &["spec", "jobTemplate", "spec", "template", "spec"]) {
        for containers in walk.values(spec, "containers") {
            for container in walk.items(containers) {
                for list in walk.values(container, "env") {
                    for entry in walk.items(list) {
                        if let (Some(name), Some(value)) =
                            (walk.text(entry, &["name"]), walk.text(entry, &["value"]))
                        {
                            variables.insert(name, value);
                        }
                    }
                }
            }
        }
    }
    CronJob {
        document: index,
        suspend,
        variables,
    }
}

fn last_texts(walk: &mut Walk<'_, '_>, root: Visit, path: &[&str]) -> BTreeMap<String, String> {
    match walk.path(root, path).pop() {
        Some(mapping) => walk.texts(mapping),
        None => BTreeMap::new(),
    }
}

/// A true boolean of YAML 1.1, which is what Kubernetes reads (helm-contract.md section 1.5). A quoted
/// one is a string that the API server refuses, so taking it for true harms nothing.
fn is_true(text: &str) -> bool {
    matches!(
        text,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON"
    )
}
