//! Anchors, aliases, merge keys and keys written twice, put into a tree that had none.

use super::node::{Kind, MERGE, Node, Path, role};
use super::tape::Tape;

/// Keys that decide what an object is. Written twice they would make it several things at once, which
/// testdata's cases look at one by one.
const IDENTITY: [&str; 2] = ["kind", "items"];

/// Lets some nodes of `root` be shared or written twice.
pub(crate) fn share(root: &mut Node, tape: &mut Tape<'_>) {
    let mut sharing = Sharing {
        root,
        anchors: 0,
        tape,
    };
    for _ in 0..sharing.tape.below(5) {
        match sharing.tape.below(7) {
            0 | 1 => sharing.alias_of_the_same_role(),
            2 => sharing.alias(),
            3 => sharing.merge(),
            4 => sharing.merge_into_the_same_role(),
            5 => sharing.write_twice(),
            _ => sharing.keep_elsewhere(),
        }
    }
}

struct Sharing<'n, 't, 'b> {
    root: &'n mut Node,
    anchors: usize,
    tape: &'t mut Tape<'b>,
}

impl Sharing<'_, '_, '_> {
    /// A place, and one behind it for an alias of it.
    fn pair(
        &mut self,
        is_source: impl Fn(&Node, &Path) -> bool,
        fits: impl Fn(&Node, &Path, &Path) -> bool,
    ) -> Option<(Path, Path)> {
        let paths = self.root.paths();
        let root = &*self.root;
        let sources = (1..paths.len())
            .filter(|&index| !root.at(&paths[index]).is_alias() && is_source(root, &paths[index]));
        let source = self.choose(sources.collect())?;
        let (from, root) = (&paths[source], &*self.root);
        let behind = paths[source..].iter();
        let targets = behind.filter(|to| !to.starts_with(from) && fits(root, from, to));
        let to = self.choose(targets.cloned().collect())?;
        Some((from.clone(), to))
    }

    fn choose<T>(&mut self, mut choices: Vec<T>) -> Option<T> {
        if choices.is_empty() {
            return None;
        }
        let high = self.tape.below(256);
        let index = (high * 256 + self.tape.below(256)) % choices.len();
        Some(choices.swap_remove(index))
    }

    fn anchor(&mut self, path: &[usize]) -> usize {
        let next = self.anchors + 1;
        let anchor = *self.root.at_mut(path).anchor.get_or_insert(next);
        self.anchors = self.anchors.max(anchor);
        anchor
    }

    /// The same node for two places of one kind: two images, two lists of containers.
    fn alias_of_the_same_role(&mut self) {
        let pair = self.pair(is_of_interest, |root, from, to| {
            !root.at(to).holds_anchors()
                && (role(root, from) == role(root, to) && from.len() == to.len()
                    || is_containers(root, from) && is_containers(root, to))
        });
        self.replace(pair);
    }

    fn alias(&mut self) {
        let pair = self.pair(is_of_interest, |root, _, to| {
            !root.at(to).holds_anchors() && !is_identity(root, to)
        });
        self.replace(pair);
    }

    fn replace(&mut self, pair: Option<(Path, Path)>) {
        if let Some((from, to)) = pair {
            let anchor = self.anchor(&from);
            *self.root.at_mut(&to) = Node::alias(anchor);
        }
    }

    fn merge(&mut self) {
        let pair = self.pair(is_mapping, |root, _, to| root.at(to).is_mapping());
        self.insert_merge(pair);
    }

    fn merge_into_the_same_role(&mut self) {
        let pair = self.pair(is_mapping, |root, from, to| {
            root.at(to).is_mapping() && from.len() == to.len() && role(root, from) == role(root, to)
        });
        self.insert_merge(pair);
    }

    /// Puts a merge key somewhere among the entries of the second mapping: of the first, of the first
    /// between others, or of a sequence.
    fn insert_merge(&mut self, pair: Option<(Path, Path)>) {
        let Some((from, to)) = pair else { return };
        let anchor = self.anchor(&from);
        let alias = Node::alias(anchor);
        let own = || Node::mapping([("own", Node::text("x"))]);
        let value = match self.tape.below(4) {
            0 | 1 => alias,
            2 => Node::sequence([alias]),
            _ => Node::sequence([own(), alias]),
        };
        let position = self.tape.below(256);
        if let Kind::Mapping(entries) = &mut self.root.at_mut(&to).kind {
            entries.insert(position % (entries.len() + 1), (MERGE.to_owned(), value));
        }
    }

    /// Writes a key of a mapping a second time, with the same value or another image.
    fn write_twice(&mut self) {
        let paths = self.root.paths();
        let only_images = self.tape.rarely(2);
        let places = paths.into_iter().filter(|path| {
            path.split_last().is_some_and(|(_, parent)| {
                self.root.at(parent).is_mapping() && !is_identity(self.root, path)
            }) && (!only_images || role(self.root, path) == Some("image"))
        });
        let Some(path) = self.choose(places.collect()) else {
            return;
        };
        let Some((&position, parent)) = path.split_last() else {
            return;
        };
        let mut copy = self.root.at(&path).without_anchors();
        if matches!(copy.kind, Kind::Text(_)) && self.tape.rarely(2) {
            copy = Node::text("docker.io/tracebloc/pods-monitor:twice");
        }
        let place = self.tape.below(256);
        if let Kind::Mapping(entries) = &mut self.root.at_mut(parent).kind {
            let key = entries[position].0.clone();
            // Behind the original, or an alias in it could come before its anchor.
            let behind = position + 1 + place % (entries.len() - position);
            entries.insert(behind, (key, copy));
        }
    }

    /// Moves a node to a field of its own and leaves an alias, as people write shared parts.
    fn keep_elsewhere(&mut self) {
        let paths = self.root.paths();
        let places = paths.into_iter().skip(1).filter(|path| {
            let node = self.root.at(path);
            !node.holds_anchors() && !holds_aliases(node) && !is_identity(self.root, path)
        });
        let Some(path) = self.choose(places.collect()) else {
            return;
        };
        let anchor = self.anchors + 1;
        let alias = Node::alias(anchor);
        let mut moved = std::mem::replace(self.root.at_mut(&path), alias);
        moved.anchor = Some(anchor);
        self.anchors = anchor;
        if let Kind::Mapping(entries) = &mut self.root.kind {
            entries.insert(0, ("x-shared".to_owned(), moved));
        }
    }
}

fn is_mapping(root: &Node, path: &Path) -> bool {
    root.at(path).is_mapping()
}

fn is_identity(root: &Node, path: &[usize]) -> bool {
    role(root, path).is_some_and(|role| IDENTITY.contains(&role) || role == MERGE)
}

fn is_containers(root: &Node, path: &[usize]) -> bool {
    let role = role(root, path).unwrap_or_default();
    matches!(role, "containers" | "initContainers")
        && matches!(root.at(path).kind, Kind::Sequence(_))
}

/// Images and what holds them; aliases of anything else are one case among many.
fn is_of_interest(root: &Node, path: &Path) -> bool {
    role(root, path) == Some("image") || holds_images(root.at(path))
}

fn holds_images(node: &Node) -> bool {
    let own = match &node.kind {
        Kind::Mapping(entries) => entries.iter().any(|(key, _)| key == "image"),
        _ => false,
    };
    own || node.children().into_iter().any(holds_images)
}

fn holds_aliases(node: &Node) -> bool {
    node.is_alias() || node.children().into_iter().any(holds_aliases)
}
