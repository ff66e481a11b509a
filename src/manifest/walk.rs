//! The walk from a document's root to its images, through aliases and merge keys.

use std::collections::{BTreeMap, HashSet};

use super::{Container, ContainerList, pod_spec_paths};
use crate::yaml::{Kind, NodeId, Tree};

/// The decoding steps of one text that aliases can bring before Helm's own parser refuses it: go-yaml
/// (v2) lets a falling share of its steps come from aliases, 99% of the first 400,000 down to 10% of
/// 4,000,000. At best that is some 1,200,000 (of 2,200,000).
const MOST_BORROWED: usize = 1_200_000;
/// What an image takes of them: a container with the keys and values of its name and image.
const STEPS_OF_IMAGE: usize = 5;
/// How often the walk goes through one mapping at most, where go-yaml goes once: the root of an object
/// is asked for its kind, its name and so on, each by itself.
const LOOKUPS: usize = 16;

/// A node on the walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    /// The node as it stands there, which may be an alias.
    pub(super) node: NodeId,
    /// The way through aliases and merge keys to the collection that it stands in, if there was any.
    trail: Option<TrailId>,
}

/// The place of a [`Step`] in [`Walk::trail`].
type TrailId = usize;

/// An alias that the walk went through, and the one before it.
#[derive(Clone, Copy, Debug)]
struct Step {
    alias: NodeId,
    before: Option<TrailId>,
}

/// An entry of a mapping.
#[derive(Clone, Copy, Debug)]
struct Entry {
    mapping: NodeId,
    key: NodeId,
    value: Visit,
}

/// What may still bring a key to a mapping.
#[derive(Clone, Copy, Debug)]
enum Candidate {
    Entry(Entry),
    /// A mapping, entered: the one itself or one that is merged into it, and the alias at the merge key
    /// that names it.
    Mapping(Visit, Option<NodeId>),
}

impl Visit {
    /// The root of a document.
    pub(super) fn root(node: NodeId) -> Self {
        Self { node, trail: None }
    }

    /// Whether an alias or merge key led here.
    pub(super) fn is_borrowed(self) -> bool {
        self.trail.is_some()
    }
}

/// An object of a document: the root itself, or an item of a list.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) root: Visit,
    /// What the list says of items that do not name their kind (`DeploymentList` holds Deployments).
    pub(super) implied_kind: Option<String>,
}

/// An image that the walk came to.
#[derive(Clone, Debug)]
pub(super) struct Image {
    pub(super) container: Container,
    pub(super) visit: Visit,
}

/// Walks the documents of one tree and remembers the aliases on the way to each node, and which merge
/// keys bring nothing because the key is written nearer.
pub(super) struct Walk<'t, 'a> {
    tree: &'t Tree<'a>,
    trail: Vec<Step>,
    /// The aliases under merge keys with the key that they do not bring.
    overridden: HashSet<(NodeId, String)>,
    /// How many images were reached through aliases or merge keys.
    borrowed: usize,
    /// How many entries and merged mappings were gone through there, whatever they led to: merge keys
    /// that build on each other multiply them without an image.
    steps: usize,
}

impl<'t, 'a> Walk<'t, 'a> {
    pub(super) fn new(tree: &'t Tree<'a>) -> Self {
        Self {
            tree,
            trail: Vec::new(),
            overridden: HashSet::new(),
            borrowed: 0,
            steps: 0,
        }
    }

    /// Whether aliases multiply the text beyond what Helm itself would read. The walk stops there.
    pub(super) fn is_excessive(&self) -> bool {
        self.borrowed > MOST_BORROWED / STEPS_OF_IMAGE || self.steps > MOST_BORROWED * LOOKUPS
    }

    /// The aliases that led to `visit`.
    pub(super) fn aliases(&self, visit: Visit) -> impl Iterator<Item = NodeId> {
        let step = |at: Option<TrailId>| Some(self.trail[at?]);
        std::iter::successors(step(visit.trail), move |last| step(last.before)).map(|at| at.alias)
    }

    /// Whether the alias `node`, under a merge key, does not bring `key` since it is written nearer.
    pub(super) fn is_overridden(&self, node: NodeId, key: &str) -> bool {
        self.overridden.contains(&(node, key.to_owned()))
    }

    /// The objects of the document at `root`: the items of a list, however deep, else the root.
    pub(super) fn objects(&mut self, root: NodeId) -> Vec<Object> {
        let mut objects = Vec::new();
        let mut seen = HashSet::new();
        let mut waiting = vec![Object {
            root: Visit::root(root),
            implied_kind: None,
        }];
        while let Some(object) = waiting.pop() {
            let kinds = self.kinds(&object);
            let list = kinds.iter().find_map(|kind| kind.strip_suffix("List"));
            let items = match list {
                Some(_) => self.values(object.root, "items"),
                None => Vec::new(),
            };
            if items.is_empty() {
                objects.push(object);
                continue;
            }
            let implied_kind = list.filter(|kind| !kind.is_empty()).map(str::to_owned);
            let items: Vec<_> = items
                .into_iter()
                .flat_map(|list| self.items(list))
                .collect();
            for root in items.into_iter().rev() {
                // By its own place and not by what an alias names: each use is an object of its own, and
                // a list that holds itself comes to the same places again.
                if seen.insert(root.node) {
                    waiting.push(Object {
                        root,
                        implied_kind: implied_kind.clone(),
                    });
                }
            }
        }
        objects
    }

    /// Every kind that the object claims: with a key written twice Kubernetes takes the last, so each
    /// may be the one that counts.
    pub(super) fn kinds(&mut self, object: &Object) -> Vec<String> {
        let kinds: Vec<String> = self
            .values(object.root, "kind")
            .into_iter()
            .filter_map(|visit| self.tree.scalar(visit.node).map(str::to_owned))
            .collect();
        if kinds.is_empty() {
            object.implied_kind.clone().into_iter().collect()
        } else {
            kinds
        }
    }

    /// The images of the object's pod specs, in the order written.
    pub(super) fn images(&mut self, object: &Object) -> Vec<Image> {
        let mut paths = Vec::new();
        for path in self
            .kinds(object)
            .iter()
            .flat_map(|kind| pod_spec_paths(kind))
        {
            if !paths.contains(path) {
                paths.push(path);
            }
        }
        let mut images = Vec::new();
        for path in paths {
            for spec in self.path(object.root, path) {
                self.images_of_spec(spec, &mut images);
            }
        }
        images
    }

    fn images_of_spec(&mut self, spec: Visit, images: &mut Vec<Image>) {
        for list in ContainerList::ALL {
            for items in self.values(spec, list.field()) {
                for item in self.items(items) {
                    let name = self.text(item, &["name"]).unwrap_or_default();
                    for visit in self.path(item, list.image_path()) {
                        self.borrowed += usize::from(visit.is_borrowed());
                        if self.is_excessive() {
                            return;
                        }
                        let container = Container {
                            list,
                            name: name.clone(),
                        };
                        images.push(Image { container, visit });
                    }
                }
            }
        }
    }

    /// The text at `path`; of a key written twice the last, as Kubernetes takes it.
    pub(super) fn text(&mut self, from: Visit, path: &[&str]) -> Option<String> {
        let last = self.path(from, path).pop()?;
        self.tree.scalar(last.node).map(str::to_owned)
    }

    /// Every node at `path`. Keys written twice can lead to one node on many ways; one is enough, or
    /// they would multiply at every step.
    pub(super) fn path(&mut self, from: Visit, path: &[&str]) -> Vec<Visit> {
        let mut at = vec![from];
        for key in path {
            let values = at.into_iter().flat_map(|visit| self.values(visit, key));
            let values = values.collect();
            at = self.distinct(values);
        }
        at
    }

    /// One visit for each collection that is stood for, as itself and as an alias, directly and borrowed,
    /// and one for each scalar or alias of one: each of those is a token of its own, to be edited or not.
    fn distinct(&self, mut visits: Vec<Visit>) -> Vec<Visit> {
        let mut seen = HashSet::new();
        visits.retain(|visit| {
            let target = self.tree.resolve(visit.node);
            let node = match self.tree.node(target).kind {
                Kind::Scalar { .. } => visit.node,
                _ => target,
            };
            seen.insert((node, target == visit.node, visit.is_borrowed()))
        });
        visits
    }

    /// Every value of `key` in the mapping that `visit` stands for, in the order written: more than one
    /// where the key is written twice.
    pub(super) fn values(&mut self, visit: Visit, key: &str) -> Vec<Visit> {
        let mut found: Vec<Visit> = Vec::new();
        let mut owner = None;
        let mut unread = Vec::new();
        self.by_precedence(
            visit,
            |name| name == key,
            |entry, rest| {
                owner = Some(entry.mapping);
                found.push(entry.value);
                // What the same mapping has of the key is as near; what it merges brings nothing of it.
                for candidate in rest.drain(..).rev() {
                    match candidate {
                        Candidate::Entry(other) if Some(other.mapping) == owner => {
                            found.push(other.value);
                        }
                        Candidate::Entry(_) => {}
                        Candidate::Mapping(_, useless) => unread.extend(useless),
                    }
                }
            },
        );
        let unread = unread.into_iter().map(|alias| (alias, key.to_owned()));
        self.overridden.extend(unread);
        found.reverse();
        self.distinct(found)
    }

    /// The entries of a mapping whose keys and values are texts, such as labels.
    pub(super) fn texts(&mut self, visit: Visit) -> BTreeMap<String, String> {
        let tree = self.tree;
        let mut texts = BTreeMap::new();
        self.by_precedence(
            visit,
            |_| true,
            |entry, _| {
                if let Some(key) = tree.scalar(entry.key) {
                    let value = tree.scalar(entry.value.node).unwrap_or_default();
                    texts
                        .entry(key.to_owned())
                        .or_insert_with(|| value.to_owned());
                }
            },
        );
        texts
    }

    /// Goes through the entries of the mapping that `visit` stands for, its merge keys followed, so
    /// that of several with the same key the one that counts comes first. As go-yaml (v2) decodes, and
    /// so Helm and kubectl: in the order written, a merge key's entries in its place, each entry
    /// replacing the one before it; of a sequence of merged mappings the first counts.
    ///
    /// `take` is given each entry whose key is `wanted`, and what is still to come.
    fn by_precedence(
        &mut self,
        visit: Visit,
        wanted: impl Fn(&str) -> bool,
        mut take: impl FnMut(Entry, &mut Vec<Candidate>),
    ) {
        let tree = self.tree;
        let mut waiting = vec![Candidate::Mapping(self.enter(visit), None)];
        let mut seen = HashSet::new();
        while let Some(candidate) = waiting.pop() {
            let mapping = match candidate {
                Candidate::Entry(entry) => {
                    take(entry, &mut waiting);
                    continue;
                }
                Candidate::Mapping(mapping, _) => mapping,
            };
            let Kind::Mapping(entries) = &tree.node(mapping.node).kind else {
                continue;
            };
            if !seen.insert(mapping.node) {
                continue;
            }
            if mapping.is_borrowed() {
                self.steps += entries.len();
            }
            if self.is_excessive() {
                return;
            }
            for &(key, node) in entries {
                let value = Visit {
                    node,
                    trail: mapping.trail,
                };
                if tree.is_merge_key(key) {
                    for merged in self.merged(value).into_iter().rev() {
                        let alias =
                            (tree.resolve(merged.node) != merged.node).then_some(merged.node);
                        self.steps += usize::from(alias.is_some() || merged.is_borrowed());
                        waiting.push(Candidate::Mapping(self.enter(merged), alias));
                    }
                } else if tree.scalar(key).is_some_and(&wanted) {
                    waiting.push(Candidate::Entry(Entry {
                        mapping: mapping.node,
                        key,
                        value,
                    }));
                }
            }
        }
    }

    /// The mappings that a merge key's value names, as they stand there: one, or a sequence of them.
    fn merged(&mut self, value: Visit) -> Vec<Visit> {
        match &self.tree.node(self.tree.resolve(value.node)).kind {
            Kind::Sequence(_) => self.items(value),
            _ => vec![value],
        }
    }

    /// The items of the sequence that `visit` stands for.
    pub(super) fn items(&mut self, visit: Visit) -> Vec<Visit> {
        let list = self.enter(visit);
        match &self.tree.node(list.node).kind {
            Kind::Sequence(items) => {
                let trail = list.trail;
                items.iter().map(|&node| Visit { node, trail }).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Goes through an alias.
    fn enter(&mut self, visit: Visit) -> Visit {
        match self.tree.node(visit.node).kind {
            Kind::Alias(target) => {
                self.trail.push(Step {
                    alias: visit.node,
                    before: visit.trail,
                });
                Visit {
                    node: target,
                    trail: Some(self.trail.len() - 1),
                }
            }
            _ => visit,
        }
    }
}
