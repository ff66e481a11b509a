//! A text's nodes in an arena, each with its place. Aliases stay references, so nothing expands
//! ("billion laughs" is as long as it is written), and nothing here recurses.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::event::{Event, Events, Style, SyntaxError};

/// How many nodes are expected at most before they are seen: a megabyte of them. A long text may be one
/// scalar.
const LARGEST_GUESS: usize = 8 * 1024;

/// The place of a node in its [`Tree`].
pub type NodeId = usize;

/// What a node is.
#[derive(Clone, Debug)]
pub enum Kind<'a> {
    /// A scalar.
    Scalar {
        /// What it means, escapes resolved.
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
                } => (Kind::Scalar { value, style }, anchor, tag),
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

    /// The meaning of a scalar, through an alias. None for a collection and for a null nobody wrote.
    #[must_use]
    pub fn scalar(&self, id: NodeId) -> Option<&str> {
        let node = &self.nodes[self.resolve(id)];
        match &node.kind {
            Kind::Scalar { value, .. } if !node.span.is_empty() => Some(value),
            _ => None,
        }
    }
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
    fn an_unwritten_null_is_no_scalar() {
        let tree = Tree::parse("a:\nb: ~\n").unwrap();
        let Kind::Mapping(entries) = &tree.node(tree.roots[0]).kind else {
            panic!("a mapping")
        };
        assert_eq!(tree.scalar(entries[0].1), None);
        assert_eq!(tree.scalar(entries[1].1), Some("~"));
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
