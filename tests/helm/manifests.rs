//! What Helm has rendered, read with another YAML parser than belay's.

use std::collections::BTreeMap;

use serde::Deserialize as _;
use serde_yaml::{Deserializer, Value};

/// The objects of a stream, in its order.
pub(crate) fn objects(stream: &str) -> Vec<Value> {
    Deserializer::from_str(stream)
        .map(|document| Value::deserialize(document).expect("YAML"))
        .flat_map(|object| match object.get("items") {
            // Helm 4 takes a List apart, Helm 3 does not.
            Some(Value::Sequence(items)) => items.clone(),
            _ => vec![object],
        })
        .filter(|object| !object.is_null())
        .collect()
}

/// `KIND/NAME`.
pub(crate) fn name(object: &Value) -> String {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    format!(
        "{}/{}",
        text(&object["kind"]),
        text(&object["metadata"]["name"])
    )
}

/// Whether Helm would run the object as a hook.
pub(crate) fn is_hook(object: &Value) -> bool {
    object["metadata"]
        .get("annotations")
        .and_then(|annotations| annotations.get("helm.sh/hook"))
        .is_some()
}

/// The image of each container, by `KIND/NAME` and the container's name.
pub(crate) fn images(stream: &str) -> BTreeMap<(String, String), String> {
    let mut images = BTreeMap::new();
    for object in objects(stream) {
        containers(&object, &mut |container, image| {
            images.insert((name(&object), container), image);
        });
    }
    images
}

fn containers(value: &Value, found: &mut impl FnMut(String, String)) {
    match value {
        Value::Mapping(mapping) => {
            if let (Some(Value::String(name)), Some(Value::String(image))) =
                (mapping.get("name"), mapping.get("image"))
            {
                found(name.clone(), image.clone());
            }
            mapping.values().for_each(|value| containers(value, found));
        }
        Value::Sequence(items) => items.iter().for_each(|item| containers(item, found)),
        _ => {}
    }
}
