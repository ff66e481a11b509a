//! Who wrote a field, from `metadata.managedFields`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::manifest::{Container, ContainerList, Step};

/// The annotation that every Helm writes on every object of a release and nobody else does: whoever
/// owns it is the deployer (measured for every Helm in rig.md section 3).
const RELEASE_NAME: [&str; 3] = ["f:metadata", "f:annotations", "f:meta.helm.sh/release-name"];

/// Who owns what of a live object. Managers count by name, whatever their operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    /// The managers that own the release's name.
    deployers: BTreeSet<String>,
    /// The managers that own each image.
    images: BTreeMap<Container, BTreeSet<String>>,
}

impl Owners {
    /// Reads `managedFields`. `pod_spec` is the path from the object to its pod spec.
    #[must_use]
    pub(super) fn from_json(managed_fields: &Value, pod_spec: &[Step]) -> Self {
        let mut owners = Self::default();
        for entry in managed_fields.as_array().into_iter().flatten() {
            let (Some(manager), Some(fields)) = (entry["manager"].as_str(), entry.get("fieldsV1"))
            else {
                continue;
            };
            if RELEASE_NAME
                .iter()
                .try_fold(fields, |at, key| at.get(key))
                .is_some()
            {
                owners.deployers.insert(manager.to_owned());
            }
            let spec = pod_spec
                .iter()
                .try_fold(fields, |at, step| at.get(format!("f:{step}")));
            let Some(spec) = spec else { continue };
            for list in ContainerList::ALL {
                let items = spec
                    .get(format!("f:{}", list.field()))
                    .and_then(Value::as_object);
                for (key, fields) in items.into_iter().flatten() {
                    let image = list
                        .image_path()
                        .iter()
                        .try_fold(fields, |at, step| at.get(format!("f:{step}")));
                    if let (Some(name), Some(_)) = (name_of(key), image) {
                        let container = Container { list, name };
                        let managers = owners.images.entry(container).or_default();
                        managers.insert(manager.to_owned());
                    }
                }
            }
        }
        owners
    }

    /// The managers that own `container`'s image. None where the deployer is not known, since then
    /// nobody can be told from it.
    #[must_use]
    pub fn of_image(&self, container: &Container) -> Option<Vec<&str>> {
        if self.deployers.is_empty() {
            return None;
        }
        let managers = self.images.get(container);
        Some(managers.into_iter().flatten().map(String::as_str).collect())
    }

    /// Whether some manager beside the deployer owns `container`'s image; None where the deployer is
    /// not known.
    #[must_use]
    pub fn others_own(&self, container: &Container) -> Option<bool> {
        let managers = self.of_image(container)?;
        Some(
            managers
                .iter()
                .any(|manager| !self.deployers.contains(*manager)),
        )
    }

    /// The managers that own the release's name.
    pub fn deployers(&self) -> impl Iterator<Item = &str> {
        self.deployers.iter().map(String::as_str)
    }
}

/// The name in a list item's key, `k:{"name":"api"}`.
fn name_of(key: &str) -> Option<String> {
    let key: Value = serde_json::from_str(key.strip_prefix("k:")?).ok()?;
    Some(key["name"].as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn api() -> Container {
        Container {
            list: ContainerList::Containers,
            name: "api".to_owned(),
        }
    }

    fn image_of_api() -> Value {
        json!({"f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"api\"}": {"f:image": {}}}}}})
    }

    fn read(entries: &Value) -> Owners {
        Owners::from_json(entries, &["spec", "template", "spec"])
    }

    #[test]
    fn a_second_manager_of_an_image_is_another_owner() {
        let deployer = json!({"manager": "helm", "operation": "Apply", "fieldsV1": {
            "f:metadata": {"f:annotations": {"f:meta.helm.sh/release-name": {}}},
            "f:spec": image_of_api()}});
        let other = json!({"manager": "kubectl-set", "fieldsV1": {"f:spec": image_of_api()}});
        assert_eq!(read(&json!([deployer])).others_own(&api()), Some(false));
        let owners = read(&json!([deployer, other]));
        assert_eq!(owners.others_own(&api()), Some(true));
        assert_eq!(owners.of_image(&api()), Some(vec!["helm", "kubectl-set"]));
    }

    #[test]
    fn one_manager_name_with_two_operations_is_one_owner() {
        let deployer = json!({"manager": "helm", "operation": "Apply", "fieldsV1": {
            "f:metadata": {"f:annotations": {"f:meta.helm.sh/release-name": {}}}}});
        let update = json!({"manager": "helm", "operation": "Update", "fieldsV1": {"f:spec": image_of_api()}});
        assert_eq!(
            read(&json!([deployer, update])).others_own(&api()),
            Some(false)
        );
    }

    #[test]
    fn without_a_deployer_nobody_can_be_told() {
        let other = json!({"manager": "kubectl-set", "fieldsV1": {"f:spec": image_of_api()}});
        assert_eq!(read(&json!([other])).others_own(&api()), None);
        assert_eq!(read(&Value::Null).others_own(&api()), None);
    }
}
