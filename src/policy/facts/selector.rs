//! A workload's selector as a request writes it.

use serde_json::Value;

/// The text of a LabelSelector, as `LabelSelectorAsSelector` of apimachinery makes it. None where it has
/// no parts, or one that this does not know: what it selects is then found by other marks.
pub(super) fn text(selector: &Value) -> Option<String> {
    let mut parts = Vec::new();
    for (key, value) in selector["matchLabels"].as_object().into_iter().flatten() {
        parts.push(format!("{key}={}", value.as_str()?));
    }
    let expressions = selector["matchExpressions"].as_array();
    for expression in expressions.into_iter().flatten() {
        parts.push(requirement(expression)?);
    }
    (!parts.is_empty()).then(|| parts.join(","))
}

fn requirement(expression: &Value) -> Option<String> {
    let key = expression["key"].as_str()?;
    let values = expression["values"].as_array().into_iter().flatten();
    let values: Vec<_> = values.map(Value::as_str).collect::<Option<_>>()?;
    let values = values.join(",");
    Some(match expression["operator"].as_str()? {
        "In" => format!("{key} in ({values})"),
        "NotIn" => format!("{key} notin ({values})"),
        "Exists" => key.to_owned(),
        "DoesNotExist" => format!("!{key}"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_selector_is_written_as_kubectl_writes_it() {
        let selector = json!({
            "matchLabels": {"app": "a", "part": ""},
            "matchExpressions": [
                {"key": "tier", "operator": "In", "values": ["x", "y"]},
                {"key": "tier", "operator": "NotIn", "values": ["z"]},
                {"key": "on", "operator": "Exists"},
                {"key": "off", "operator": "DoesNotExist", "values": []},
            ],
        });
        let expected = "app=a,part=,tier in (x,y),tier notin (z),on,!off";
        assert_eq!(text(&selector).as_deref(), Some(expected));
    }

    #[test]
    fn what_cannot_be_written_selects_nothing_by_itself() {
        for selector in [
            json!(null),
            json!({}),
            json!({"matchLabels": {"app": 5}}),
            json!({"matchLabels": {"app": "a"},
                "matchExpressions": [{"key": "a", "operator": "Near", "values": ["x"]}]}),
        ] {
            assert_eq!(text(&selector), None, "{selector}");
        }
    }
}
