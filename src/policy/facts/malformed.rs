//! Saved objects that are no Kubernetes objects: read on, they would look like "nothing recorded".

use serde_json::Value;

/// A saved object that Kubernetes would not accept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It does not say what it is.
    #[error("{0} has no kind")]
    NoKind(String),
    /// A field is of another type.
    #[error("{field} of {object} is {found}, not {expected}")]
    Field {
        /// The object, as far as it has a kind and a name.
        object: String,
        /// The field: `metadata.annotations.a`.
        field: String,
        /// What stands there.
        found: &'static str,
        /// What should.
        expected: &'static str,
    },
}

/// What a field has to be.
type Expected = (&'static str, fn(&Value) -> bool);

const TEXT: Expected = ("a text", Value::is_string);
const MAPPING: Expected = ("a mapping", Value::is_object);
const LIST: Expected = ("a list", Value::is_array);

/// Checks what identifies `object` and what belay reads of it. A null is a field that is not there, as
/// Kubernetes decodes it.
pub(super) fn check(object: &Value) -> Result<(), Malformed> {
    let field = |at: &Value, field: &str, (expected, holds): Expected| {
        if at.is_null() || holds(at) {
            return Ok(());
        }
        Err(Malformed::Field {
            object: name(object),
            field: field.to_owned(),
            found: found(at),
            expected,
        })
    };
    let metadata = &object["metadata"];
    field(&object["apiVersion"], "apiVersion", TEXT)?;
    field(metadata, "metadata", MAPPING)?;
    field(&object["kind"], "kind", TEXT)?;
    if object["kind"].as_str().is_none_or(str::is_empty) {
        return Err(Malformed::NoKind(name(object)));
    }
    for text in ["name", "namespace"] {
        field(&metadata[text], &format!("metadata.{text}"), TEXT)?;
    }
    for map in ["labels", "annotations"] {
        let path = format!("metadata.{map}");
        field(&metadata[map], &path, MAPPING)?;
        for (key, value) in metadata[map].as_object().into_iter().flatten() {
            field(value, &format!("{path}.{key}"), TEXT)?;
        }
    }
    Ok(())
}

/// Checks the items of a list.
pub(super) fn check_items(list: &Value) -> Result<(), Malformed> {
    let items = &list["items"];
    let wrong = |field: &str, at: &Value, expected| Malformed::Field {
        object: name(list),
        field: field.to_owned(),
        found: found(at),
        expected,
    };
    if !items.is_null() && !LIST.1(items) {
        return Err(wrong("items", items, LIST.0));
    }
    let items = items.as_array().into_iter().flatten();
    match items.enumerate().find(|(_, item)| !item.is_object()) {
        Some((index, item)) => Err(wrong(&format!("items[{index}]"), item, "an object")),
        None => Ok(()),
    }
}

fn name(object: &Value) -> String {
    let kind = object["kind"].as_str().unwrap_or_default();
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    match format!("{kind} {name}").trim() {
        "" => "an object".to_owned(),
        called => called.to_owned(),
    }
}

fn found(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn says(object: &Value) -> Option<String> {
        check(object).err().map(|malformed| malformed.to_string())
    }

    #[test]
    fn what_kubernetes_decodes_passes() {
        let metadata = json!({"name": "a", "namespace": null, "labels": null, "annotations": {"k": null, "l": ""}});
        for object in [
            json!({"kind": "Deployment", "apiVersion": "apps/v1", "metadata": metadata}),
            json!({"kind": "Deployment"}),
        ] {
            assert_eq!(says(&object), None);
        }
        assert_eq!(check_items(&json!({"kind": "List"})), Ok(()));
        assert_eq!(check_items(&json!({"kind": "List", "items": [{}]})), Ok(()));
    }

    #[test]
    fn what_it_refuses_is_named() {
        for (object, expected) in [
            (
                json!({"kind": "Deployment", "metadata": 5}),
                "metadata of Deployment is a number, not a mapping",
            ),
            (
                json!({"kind": null, "metadata": {"name": "a"}}),
                "a has no kind",
            ),
            (
                json!({"kind": 5, "metadata": {"name": "a"}}),
                "kind of a is a number, not a text",
            ),
            (
                json!({"kind": "Deployment", "apiVersion": ["v1"]}),
                "apiVersion of Deployment is a list, not a text",
            ),
            (
                json!({"kind": "Deployment", "metadata": {"name": "a", "annotations": {"k": 5}}}),
                "metadata.annotations.k of Deployment a is a number, not a text",
            ),
            (
                json!({"kind": "Deployment", "metadata": {"name": ["a"]}}),
                "metadata.name of Deployment is a list, not a text",
            ),
        ] {
            assert_eq!(says(&object).as_deref(), Some(expected));
        }
        let items = |items: Value| check_items(&json!({"kind": "List", "items": items}));
        assert!(items(json!(5)).is_err() && items(json!([{}, 5])).is_err());
    }
}
