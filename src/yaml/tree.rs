//! A text's nodes in an arena, each with its place. Aliases stay references, so nothing expands
//! ("billion laughs" is as long as it is written), and nothing here recurses.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use base64::Engine as _;

use super::event::{Event, Events, Style, SyntaxError};

/// How many nodes are expected at most before they are seen: a megabyte of them. A long text may be one
/// scalar.
const LARGEST_GUESS: usize = 8 * 1024;

/// YAML's tag of a null, of a merge key and of bytes in base64, in full.
const NULL: &str = "tag:yaml.org,2002:null";
const MERGE: &str = "tag:yaml.org,2002:merge";
const BINARY: &str = "tag:yaml.org,2002:binary";

/// The place of a node in its [`Tree`].
pub type NodeId = usize;

/// What a node is.
#[derive(Clone, Debug)]
pub enum Kind<'a> {
    /// A scalar.
    Scalar {
        /// What it means, escapes resolved and `!!binary` decoded.
        value: Cow<'a, str>,
        /// How it is written.
        style: Style,
    },
    /// A sequence of nodes.
    Sequence(Vec<NodeId>),
    /// Keys and values in the order written; a key may occur twice.
    Mapping(Vec<(NodeId, NodeId)>),
    /// `*name` in place of the node it names.
    Alias(NodeId),
}

/// A node and its place.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    /// What it is.
    pub kind: Kind<'a>,
    /// Its bytes in the text. For collections only the start is used.
    pub span: Range<usize>,
    /// Its tag, written out, for scalars.
    pub tag: Option<String>,
    /// The collection that it stands in.
    pub parent: Option<NodeId>,
    /// The aliases that name it.
    pub aliases: Vec<NodeId>,
}

impl Node<'_> {
    /// Whether it is a null: one of YAML's plain words for it, nothing at all, or tagged so.
    #[must_use]
    pub fn is_null(&self) -> bool {
        match (&self.kind, &self.tag) {
            (Kind::Scalar { value, style }, None) => {
                *style == Style::Plain && matches!(&**value, "" | "~" | "null" | "Null" | "NULL")
            }
            (Kind::Scalar { .. }, Some(tag)) => tag == NULL,
            _ => false,
        }
    }

    /// Whether it is tagged `!!binary`: its value is what the base64 holds.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        self.tag.as_deref() == Some(BINARY)
    }
}

/// The nodes of one text.
#[derive(Clone, Debug, Default)]
pub struct Tree<'a> {
    nodes: Vec<Node<'a>>,
    /// The root of each document, for documents that have one.
    pub roots: Vec<NodeId>,
    /// An anchor whose name YAML 1.1 and 1.2 read differently (`&a:1`), if there is one.
    pub odd_anchor: Option<String>,
}

impl<'a> Tree<'a> {
    /// Reads all documents of `text`.
    pub fn parse(text: &'a str) -> Result<Self, SyntaxError> {
        let mut tree = Self {
            // Manifests hold a node in some 14 bytes; a small guess saves the first few growths.
            nodes: Vec::with_capacity((text.len() / 14).min(LARGEST_GUESS)),
            ..Self::default()
        };
        let mut open: Vec<Open> = Vec::new();
        let mut anchors: HashMap<usize, NodeId> = HashMap::new();
        for event in Events::new(text) {
            let (event, span) = event?;
            let (kind, anchor, tag) = match event {
                Event::Scalar {
                    value,
                    style,
                    anchor,
                    tag,
                } => {
                    let value = match tag.as_deref() {
                        Some(BINARY) => decode(&value).map_or(value, Cow::Owned),
                        _ => value,
                    };
                    (Kind::Scalar { value, style }, anchor, tag)
                }
                Event::SequenceStart { anchor } => (Kind::Sequence(Vec::new()), anchor, None),
                Event::MappingStart { anchor } => (Kind::Mapping(Vec::new()), anchor, None),
                // The parser has resolved the name, so the anchor is there.
                Event::Alias(anchor) => match anchors.get(&anchor) {
                    Some(&target) => (Kind::Alias(target), 0, None),
                    None => continue,
                },
                Event::SequenceEnd | Event::MappingEnd => {
                    open.pop();
                    continue;
                }
                Event::AnchorName(name) => {
                    let usual = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                    if !name.chars().all(usual) {
                        tree.odd_anchor.get_or_insert_with(|| name.into_owned());
                    }
                    continue;
                }
                Event::DocumentStart | Event::DocumentEnd => continue,
            };
            let collection = matches!(kind, Kind::Sequence(_) | Kind::Mapping(_));
            let id = tree.add(kind, span, tag, open.last_mut());
            if anchor != 0 {
                anchors.insert(anchor, id);
            }
            if collection {
                open.push(Open { id, key: None });
            }
        }
        Ok(tree)
    }

    fn add(
        &mut self,
        kind: Kind<'a>,
        span: Range<usize>,
        tag: Option<String>,
        parent: Option<&mut Open>,
    ) -> NodeId {
        let id = self.nodes.len();
        if let Kind::Alias(target) = kind {
            self.nodes[target].aliases.push(id);
        }
        let parent_id = parent.as_ref().map(|open| open.id);
        match parent {
            None => self.roots.push(id),
            Some(open) => match &mut self.nodes[open.id].kind {
                Kind::Sequence(items) => items.push(id),
                Kind::Mapping(entries) => match open.key.take() {
                    None => open.key = Some(id),
                    Some(key) => entries.push((key, id)),
                },
                Kind::Scalar { .. } | Kind::Alias(_) => {}
            },
        }
        self.nodes.push(Node {
            kind,
            span,
            tag,
            parent: parent_id,
            aliases: Vec::new(),
        });
        id
    }

    /// The node at `id`.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node<'a> {
        &self.nodes[id]
    }

    /// The node that `id` stands for: itself, or what its alias names.
    #[must_use]
    pub fn resolve(&self, id: NodeId) -> NodeId {
        match self.nodes[id].kind {
            Kind::Alias(target) => target,
            _ => id,
        }
    }

    /// The meaning of a scalar, through an alias. None for a collection and for a null.
    #[must_use]
    pub fn scalar(&self, id: NodeId) -> Option<&str> {
        let node = &self.nodes[self.resolve(id)];
        match &node.kind {
            Kind::Scalar { value, .. } if !node.is_null() => Some(value),
            _ => None,
        }
    }

    /// Whether the key `id` merges its value's entries into the mapping that it stands in. As go-yaml
    /// has it, a quoted `"<<"` is a key like any other.
    #[must_use]
    pub fn is_merge_key(&self, id: NodeId) -> bool {
        let node = &self.nodes[self.resolve(id)];
        match (&node.kind, &node.tag) {
            (Kind::Scalar { value, style }, None) => value == "<<" && *style == Style::Plain,
            (Kind::Scalar { value, .. }, Some(tag)) => value == "<<" && tag == MERGE,
            _ => false,
        }
    }
}

/// What go-yaml, and so Kubernetes, reads in a `!!binary` scalar. None for what is no base64, which
/// neither accepts.
fn decode(base64: &str) -> Option<String> {
    let packed: String = base64.split_ascii_whitespace().collect();
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(packed)
        .ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A collection whose end has not come yet.
struct Open {
    id: NodeId,
    /// The key that waits for its value, in a mapping.
    key: Option<NodeId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(text: &str) -> Vec<(&str, String)> {
        let tree = Tree::parse(text).unwrap();
        tree.nodes
            .iter()
            .filter_map(|node| match &node.kind {
                Kind::Scalar { value, .. } => Some((&text[node.span.clone()], value.to_string())),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn spans_are_bytes_also_behind_other_scripts() {
        let text = "# \u{1F600} é\nimage: \"a\\u002fb\" # é\nn: 'it''s'\n";
        let found = spans(text);
        assert_eq!(found[1], ("\"a\\u002fb\"", "a/b".to_owned()));
        assert_eq!(found[3], ("'it''s'", "it's".to_owned()));
    }

    #[test]
    fn a_null_is_no_text_however_it_is_written() {
        let value = |text: &str| {
            let tree = Tree::parse(text).unwrap();
            let Kind::Mapping(entries) = &tree.node(tree.roots[0]).kind else {
                panic!("a mapping")
            };
            tree.scalar(entries[0].1).map(str::to_owned)
        };
        for null in ["", "~", "null", "Null", "NULL", "!!null", "!!null x"] {
            assert_eq!(value(&format!("a: {null}\n")), None, "{null}");
        }
        for text in ["nULL", "'null'", "\"~\"", "!!str null", "! null", "null-"] {
            assert!(value(&format!("a: {text}\n")).is_some(), "{text}");
        }
    }

    #[test]
    fn binary_means_what_its_base64_holds() {
        let tree = Tree::parse("!!binary aW1h\\\n").unwrap();
        assert_eq!(tree.scalar(0), Some("aW1h\\"), "no base64 stays as written");
        let tree = Tree::parse("!!binary |\n  aW1h\n  Z2U=\n").unwrap();
        assert_eq!(tree.scalar(0), Some("image"));
    }

    #[test]
    fn merge_keys_are_plain_or_tagged() {
        let is_merge = |key: &str| {
            let text = format!("{key} : 1\n");
            let tree = Tree::parse(&text).unwrap();
            let Kind::Mapping(entries) = &tree.node(tree.roots[0]).kind else {
                panic!("a mapping")
            };
            tree.is_merge_key(entries[0].0)
        };
        assert!(is_merge("<<") && is_merge("!!merge \"<<\""));
        assert!(!is_merge("\"<<\"") && !is_merge("!!str <<") && !is_merge("<"));
    }

    #[test]
    fn aliases_are_references() {
        let tree = Tree::parse("a: &x [1]\nb: *x\nc: *x\n").unwrap();
        let Kind::Mapping(entries) = &tree.node(tree.roots[0]).kind else {
            panic!("a mapping")
        };
        let list = entries[0].1;
        assert_eq!(tree.resolve(entries[2].1), list);
        assert_eq!(tree.node(list).aliases, [entries[1].1, entries[2].1]);
    }

    #[test]
    fn an_anchor_that_the_two_yamls_read_differently_is_noted() {
        assert_eq!(Tree::parse("a: &x-1_Y 1").unwrap().odd_anchor, None);
        assert_eq!(
            Tree::parse("a: &x:1 1").unwrap().odd_anchor.as_deref(),
            Some("x:1")
        );
    }

    #[test]
    fn ten_thousand_levels_are_read_and_one_more_is_an_error() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(Tree::parse(&nested(10_000)).is_ok());
        assert!(Tree::parse(&nested(10_001)).is_err());
    }

    #[test]
    fn several_documents_of_one_chunk_are_several_roots() {
        assert_eq!(
            Tree::parse("a: 1\n...\n---\nb: 2\n").unwrap().roots.len(),
            2
        );
    }
}
