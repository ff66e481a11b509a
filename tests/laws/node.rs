//! A YAML tree before it is written: what a document holds, with anchors and aliases, but not yet how it
//! looks.

/// A node, maybe anchored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) anchor: Option<usize>,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Text(String),
    Sequence(Vec<Node>),
    /// Keys and values in the order written. The key [`MERGE`] merges.
    Mapping(Vec<(String, Node)>),
    Alias(usize),
}

/// YAML 1.1's merge key.
pub(crate) const MERGE: &str = "<<";

/// The way from a root to a node: positions in collections.
pub(crate) type Path = Vec<usize>;

impl Node {
    pub(crate) fn new(kind: Kind) -> Self {
        Self { anchor: None, kind }
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::new(Kind::Text(text.into()))
    }

    pub(crate) fn alias(anchor: usize) -> Self {
        Self::new(Kind::Alias(anchor))
    }

    pub(crate) fn sequence(items: impl IntoIterator<Item = Self>) -> Self {
        Self::new(Kind::Sequence(items.into_iter().collect()))
    }

    pub(crate) fn mapping<'k>(entries: impl IntoIterator<Item = (&'k str, Self)>) -> Self {
        let entries = entries.into_iter();
        Self::new(Kind::Mapping(
            entries.map(|(key, node)| (key.to_owned(), node)).collect(),
        ))
    }

    /// The nodes below this one.
    pub(crate) fn children(&self) -> Vec<&Self> {
        match &self.kind {
            Kind::Sequence(items) => items.iter().collect(),
            Kind::Mapping(entries) => entries.iter().map(|(_, node)| node).collect(),
            Kind::Null | Kind::Text(_) | Kind::Alias(_) => Vec::new(),
        }
    }

    pub(crate) fn at(&self, path: &[usize]) -> &Self {
        path.iter()
            .fold(self, |node, &position| node.children()[position])
    }

    pub(crate) fn at_mut(&mut self, path: &[usize]) -> &mut Self {
        path.iter()
            .fold(self, |node, &position| match &mut node.kind {
                Kind::Sequence(items) => &mut items[position],
                Kind::Mapping(entries) => &mut entries[position].1,
                Kind::Null | Kind::Text(_) | Kind::Alias(_) => panic!("a path leads into a scalar"),
            })
    }

    /// The paths of all nodes in the order written, the root's first.
    pub(crate) fn paths(&self) -> Vec<Path> {
        let mut paths = vec![Vec::new()];
        for (position, child) in self.children().into_iter().enumerate() {
            for below in child.paths() {
                let mut path = vec![position];
                path.extend(below);
                paths.push(path);
            }
        }
        paths
    }

    /// Whether a node in here carries an anchor, which an alias elsewhere may name.
    pub(crate) fn holds_anchors(&self) -> bool {
        self.anchor.is_some() || self.children().iter().any(|child| child.holds_anchors())
    }

    /// A copy that can stand beside the original: an anchor is set once.
    pub(crate) fn without_anchors(&self) -> Self {
        let kind = match &self.kind {
            Kind::Sequence(items) => {
                Kind::Sequence(items.iter().map(Self::without_anchors).collect())
            }
            Kind::Mapping(entries) => {
                let entries = entries.iter();
                Kind::Mapping(
                    entries
                        .map(|(key, node)| (key.clone(), node.without_anchors()))
                        .collect(),
                )
            }
            scalar => scalar.clone(),
        };
        Self::new(kind)
    }

    pub(crate) fn is_mapping(&self) -> bool {
        matches!(self.kind, Kind::Mapping(_))
    }

    pub(crate) fn is_alias(&self) -> bool {
        matches!(self.kind, Kind::Alias(_))
    }
}

/// The last key on the way to `path`; the items of a sequence share its key.
pub(crate) fn role<'n>(root: &'n Node, path: &[usize]) -> Option<&'n str> {
    let mut node = root;
    let mut role = None;
    for &position in path {
        if let Kind::Mapping(entries) = &node.kind {
            role = Some(entries[position].0.as_str());
        }
        node = node.children()[position];
    }
    role
}
