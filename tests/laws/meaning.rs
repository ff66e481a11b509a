//! What Kubernetes is told by a text: its documents with aliases followed, merge keys merged and of a key
//! written twice the last, as go-yaml (v2) decodes them. Written from libyaml's events alone.

use std::collections::{BTreeMap, HashMap};

use base64::Engine as _;

use super::libyaml::{Event, Style, What};

/// A node of a document as it is decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Null,
    Text(String),
    Sequence(Vec<Self>),
    Mapping(BTreeMap<String, Self>),
}

/// An image of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The object, by its number among all of its text.
    pub(crate) object: usize,
    pub(crate) list: &'static str,
    pub(crate) container: String,
    pub(crate) image: String,
}

/// The lists of a pod spec with the way to the image in an item.
const LISTS: [(&str, &[&str]); 4] = [
    ("initContainers", &["image"]),
    ("containers", &["image"]),
    ("ephemeralContainers", &["image"]),
    ("volumes", &["image", "reference"]),
];

/// The roots of all documents. None where an alias names nothing.
pub(crate) fn documents(events: &[Event]) -> Option<Vec<Meaning>> {
    let mut reader = Reader {
        events,
        at: 0,
        anchors: HashMap::new(),
    };
    let mut documents = Vec::new();
    while reader.at < events.len() {
        match reader.events[reader.at].0 {
            What::DocumentStart => reader.anchors.clear(),
            What::DocumentEnd => {}
            _ => {
                documents.push(reader.node()?);
                continue;
            }
        }
        reader.at += 1;
    }
    Some(documents)
}

struct Reader<'e> {
    events: &'e [Event],
    at: usize,
    anchors: HashMap<&'e str, Meaning>,
}

impl<'e> Reader<'e> {
    fn node(&mut self) -> Option<Meaning> {
        let event = &self.events[self.at].0;
        self.at += 1;
        let (anchor, node) = match event {
            What::Alias(name) => {
                return self.anchors.get(name.as_str()).cloned();
            }
            What::Scalar {
                anchor,
                tag,
                value,
                style,
            } => (anchor, scalar(tag.as_deref(), value, *style)),
            What::SequenceStart { anchor } => {
                let mut items = Vec::new();
                while self.events[self.at].0 != What::SequenceEnd {
                    items.push(self.node()?);
                }
                self.at += 1;
                (anchor, Meaning::Sequence(items))
            }
            What::MappingStart { anchor } => {
                let mut entries = BTreeMap::new();
                while self.events[self.at].0 != What::MappingEnd {
                    self.entry(&mut entries)?;
                }
                self.at += 1;
                (anchor, Meaning::Mapping(entries))
            }
            other => panic!("{other:?} where a node should be"),
        };
        if let Some(name) = anchor {
            self.anchors.insert(name, node.clone());
        }
        Some(node)
    }

    fn entry(&mut self, entries: &mut BTreeMap<String, Meaning>) -> Option<()> {
        let is_merge = matches!(
            &self.events[self.at].0,
            What::Scalar { value, style: Style::Plain, tag: None, .. } if value == "<<"
        );
        let key = match self.node()? {
            Meaning::Text(key) => key,
            other => format!("{other:?}"),
        };
        let value = self.node()?;
        match value {
            Meaning::Mapping(merged) if is_merge => entries.extend(merged),
            // Of several the first counts.
            Meaning::Sequence(several) if is_merge => {
                for mapping in several.into_iter().rev() {
                    if let Meaning::Mapping(merged) = mapping {
                        entries.extend(merged);
                    }
                }
            }
            value => {
                entries.insert(key, value);
            }
        }
        Some(())
    }
}

fn scalar(tag: Option<&str>, value: &str, style: Style) -> Meaning {
    let is_null = tag.is_none()
        && style == Style::Plain
        && matches!(value, "" | "~" | "null" | "Null" | "NULL");
    if is_null {
        return Meaning::Null;
    }
    if tag == Some("tag:yaml.org,2002:binary")
        && let Ok(bytes) = base64::engine::general_purpose::STANDARD.decode(value)
    {
        return Meaning::Text(String::from_utf8_lossy(&bytes).into_owned());
    }
    Meaning::Text(value.to_owned())
}

impl Meaning {
    fn field(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Mapping(entries) => entries.get(key),
            _ => None,
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    fn items_mut(&mut self) -> &mut [Self] {
        match self {
            Self::Sequence(items) => items,
            _ => &mut [],
        }
    }
}

/// Calls `visit` for every image of every object, which it may change. Returns how many objects there
/// are.
pub(crate) fn for_each_image(
    documents: &mut [Meaning],
    visit: &mut dyn FnMut(Place, &mut String),
) -> usize {
    let mut objects = 0;
    for root in documents {
        object(root, None, &mut objects, visit);
    }
    objects
}

fn object(
    root: &mut Meaning,
    implied: Option<&str>,
    objects: &mut usize,
    visit: &mut dyn FnMut(Place, &mut String),
) {
    let kind = root.field("kind").and_then(Meaning::text).or(implied);
    let kind = kind.unwrap_or_default().to_owned();
    if let Some(of) = kind.strip_suffix("List")
        && let Meaning::Mapping(entries) = root
        && let Some(items) = entries.get_mut("items")
    {
        for item in items.items_mut() {
            object(item, (!of.is_empty()).then_some(of), objects, visit);
        }
        return;
    }
    let paths: &[&[&str]] = match kind.as_str() {
        "Pod" => &[&["spec"]],
        "PodTemplate" => &[&["template", "spec"]],
        _ => &[
            &["spec", "template", "spec"],
            &["spec", "jobTemplate", "spec", "template", "spec"],
        ],
    };
    let number = *objects;
    *objects += 1;
    for path in paths {
        if let Some(spec) = below(root, path) {
            pod(spec, number, visit);
        }
    }
}

fn pod(spec: &mut Meaning, object: usize, visit: &mut dyn FnMut(Place, &mut String)) {
    for (list, path) in LISTS {
        let Some(Meaning::Sequence(items)) = below(spec, &[list]) else {
            continue;
        };
        for item in items {
            let name = item.field("name").and_then(Meaning::text);
            let container = name.unwrap_or_default().to_owned();
            if let Some(Meaning::Text(image)) = below(item, path) {
                let place = Place {
                    object,
                    list,
                    container,
                    image: image.trim_end_matches('\n').to_owned(),
                };
                visit(place, image);
            }
        }
    }
}

fn below<'m>(node: &'m mut Meaning, path: &[&str]) -> Option<&'m mut Meaning> {
    path.iter().try_fold(node, |node, key| match node {
        Meaning::Mapping(entries) => entries.get_mut(*key),
        _ => None,
    })
}
