//! A second opinion on edits: libyaml, from which the YAML that Helm and Kubernetes use descends.

use std::collections::{HashMap, HashSet};

use belay::edit::{Edit, splice};
use belay::manifest::Stream;
use serde::Deserialize as _;
use serde_yaml::{Deserializer, Value};

/// Each changed chunk that libyaml reads, it reads with the edited texts and no other difference.
pub(crate) fn compare(stream: &Stream<'_>, edits: &[Edit]) {
    let sites = stream.sites.iter();
    let was: HashMap<usize, &str> = sites
        .map(|site| (site.token.start, site.value.as_str()))
        .collect();
    for chunk in &stream.chunks {
        let here = edits
            .iter()
            .filter(|edit| chunk.text <= edit.token.start && edit.token.end <= chunk.span.end);
        let local: Vec<Edit> = here
            .map(|edit| Edit {
                span: edit.span.start - chunk.text..edit.span.end - chunk.text,
                token: edit.token.start - chunk.text..edit.token.end - chunk.text,
                ..edit.clone()
            })
            .collect();
        if local.is_empty() {
            continue;
        }
        let old = chunk.text(stream.bytes);
        let new = splice(old, &local).to_vec();
        let Some(old) = read(old) else { continue };
        let new = read(&new).expect("libyaml reads the result as it reads the original");
        assert_eq!(old.len(), new.len(), "the number of documents");
        let values: HashSet<&str> = local.iter().map(|edit| edit.value.as_str()).collect();
        let mut changed = 0;
        let mut pairs: Vec<(&Value, &Value)> = old.iter().zip(&new).collect();
        while let Some((old, new)) = pairs.pop() {
            match (old, new) {
                (Value::Sequence(old), Value::Sequence(new)) => {
                    assert_eq!(old.len(), new.len(), "the length of a sequence");
                    pairs.extend(old.iter().zip(new));
                }
                (Value::Mapping(old), Value::Mapping(new)) => {
                    assert!(old.keys().eq(new.keys()), "the keys of a mapping");
                    pairs.extend(old.values().zip(new.values()));
                }
                (Value::Tagged(old), Value::Tagged(new)) => {
                    assert_eq!(old.tag, new.tag, "a tag");
                    pairs.push((&old.value, &new.value));
                }
                (old, new) if old == new => {}
                (Value::String(_), Value::String(new)) => {
                    let new = new.trim_end_matches(['\n', '\r']);
                    let known = values.contains(new);
                    assert!(known, "{new:?} is no edit's text");
                    changed += 1;
                }
                (old, new) => panic!("{old:?} became {new:?}"),
            }
        }
        let no_change = |edit: &Edit| {
            was.get(&(edit.token.start + chunk.text))
                .is_some_and(|was| *was == edit.value)
        };
        assert!(
            changed > 0 || local.iter().all(no_change),
            "libyaml sees no change"
        );
    }
}

fn read(text: &[u8]) -> Option<Vec<Value>> {
    let text = str::from_utf8(text).ok()?;
    Deserializer::from_str(text)
        .map(|document| Value::deserialize(document).ok())
        .collect()
}
