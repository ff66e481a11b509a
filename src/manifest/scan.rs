//! From bytes to documents, sites and CronJobs.

use std::collections::{HashMap, HashSet};

use super::document::{self, CronJob, Document};
use super::search::{Interest, Needles};
use super::site::{Obstacle, Site, SiteStyle};
use super::walk::{Image, Walk};
use crate::yaml::{self, Chunk, Kind, NodeId, Style, SyntaxError, Tree};

/// NEL, LS and PS in UTF-8: line breaks of YAML 1.1 that are none in 1.2.
const ODD_LINE_BREAKS: [&str; 3] = ["\u{85}", "\u{2028}", "\u{2029}"];

/// How much of the stream is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breadth {
    /// The chunks that the needles mark.
    Marked,
    /// Also every other chunk that can be read, so that unmanaged images are counted.
    All,
}

/// The whole input, and what was found in it.
#[derive(Debug)]
pub struct Stream<'a> {
    /// The input.
    pub bytes: &'a [u8],
    /// Its chunks in order; together they are the input.
    pub chunks: Vec<Chunk>,
    /// The objects of the chunks that were read.
    pub documents: Vec<Document>,
    /// Their images, in the order written.
    pub sites: Vec<Site>,
    /// Their CronJobs.
    pub cron_jobs: Vec<CronJob>,
}

/// A chunk of ours that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScanError {
    /// It mentions a managed image or the refresher and is not UTF-8.
    #[error("the document that starts on line {line} is not UTF-8 at byte {offset} of the input")]
    NotUtf8 {
        /// The line that the chunk's text starts on, from 1.
        line: usize,
        /// The first byte that is no UTF-8.
        offset: usize,
    },
    /// It mentions a managed image or the refresher and is no YAML.
    #[error("line {line}, column {column} is no YAML: {message}")]
    Syntax {
        /// The line in the input, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What the parser says.
        message: String,
    },
    /// Its aliases multiply it without end.
    #[error(
        "the document that starts on line {line} holds more than Helm would read, through YAML aliases that multiply it; write it out"
    )]
    Excessive {
        /// The line that the chunk's text starts on, from 1.
        line: usize,
    },
}

/// Reads `bytes` as far as `needles` and `breadth` ask for.
///
/// # Errors
/// When a chunk that could hold a managed image or the refresher cannot be read: leaving it alone would
/// drop a pin silently.
pub fn scan<'a>(
    bytes: &'a [u8],
    needles: &Needles,
    breadth: Breadth,
) -> Result<Stream<'a>, ScanError> {
    let mut stream = Stream {
        bytes,
        chunks: yaml::split(bytes),
        documents: Vec::new(),
        sites: Vec::new(),
        cron_jobs: Vec::new(),
    };
    for index in 0..stream.chunks.len() {
        let start = stream.chunks[index].text;
        let text = stream.chunks[index].text(bytes);
        let interest = needles.interest(text);
        if interest == Interest::None && breadth == Breadth::Marked {
            continue;
        }
        match read(text) {
            Ok((text, tree)) => collect(&mut stream, start, text, &tree)
                .map_err(|problem| problem.locate(bytes, start))?,
            Err(problem) if interest == Interest::Required => {
                return Err(problem.locate(bytes, start));
            }
            Err(_) => {}
        }
    }
    Ok(stream)
}

enum Problem {
    NotUtf8(usize),
    Syntax(SyntaxError),
    Excessive,
}

impl Problem {
    fn locate(self, bytes: &[u8], start: usize) -> ScanError {
        let lines_above = memchr::memchr_iter(b'\n', &bytes[..start]).count();
        match self {
            Self::NotUtf8(at) => ScanError::NotUtf8 {
                line: lines_above + 1,
                offset: start + at,
            },
            Self::Syntax(error) => ScanError::Syntax {
                line: lines_above + error.line,
                column: error.column,
                message: error.message,
            },
            Self::Excessive => ScanError::Excessive {
                line: lines_above + 1,
            },
        }
    }
}

fn read(text: &[u8]) -> Result<(&str, Tree<'_>), Problem> {
    let text = str::from_utf8(text).map_err(|error| Problem::NotUtf8(error.valid_up_to()))?;
    let tree = Tree::parse(text).map_err(Problem::Syntax)?;
    Ok((text, tree))
}

fn collect(
    stream: &mut Stream<'_>,
    start: usize,
    text: &str,
    tree: &Tree<'_>,
) -> Result<(), Problem> {
    let mut walk = Walk::new(tree);
    let mut found: Vec<(usize, Image)> = Vec::new();
    for &root in &tree.roots {
        for object in walk.objects(root) {
            let index = stream.documents.len();
            let node = tree.node(tree.resolve(object.root.node));
            let document = document::document(&mut walk, &object, start + node.span.start);
            if document.object.kind == "CronJob" {
                stream
                    .cron_jobs
                    .push(document::cron_job(&mut walk, object.root, index));
            }
            stream.documents.push(document);
            found.extend(walk.images(&object).into_iter().map(|image| (index, image)));
            if walk.is_excessive() {
                return Err(Problem::Excessive);
            }
        }
    }
    let odd = ODD_LINE_BREAKS.iter().any(|mark| text.contains(mark));
    let places = Places::new(&walk, &found);
    // By token: many objects may come to one.
    let mut obstacles: HashMap<NodeId, Option<Obstacle>> = HashMap::new();
    stream
        .sites
        .extend(found.iter().filter_map(|(document, image)| {
            let mut site = site(tree, *document, image)?;
            site.obstacle = if odd {
                Some(Obstacle::OddLineBreak)
            } else {
                site.obstacle
                    .or_else(|| tree.odd_anchor.clone().map(Obstacle::OddAnchor))
                    .or_else(|| {
                        let known = obstacles.entry(image.visit.node);
                        known
                            .or_insert_with(|| places.obstacle(tree, &walk, image))
                            .clone()
                    })
            };
            site.token = site.token.start + start..site.token.end + start;
            site.scalar = site.scalar.start + start..site.scalar.end + start;
            Some(site)
        }));
    Ok(())
}

/// The site of an image, with offsets in the chunk's text. None where no image is written.
fn site(tree: &Tree<'_>, document: usize, image: &Image) -> Option<Site> {
    let token = tree.node(image.visit.node);
    let scalar = tree.node(tree.resolve(image.visit.node));
    let Kind::Scalar { value, style } = &scalar.kind else {
        return None;
    };
    if scalar.is_null() {
        return None;
    }
    Some(Site {
        document,
        container: image.container.clone(),
        value: trim_block(value, *style).to_owned(),
        token: token.span.clone(),
        scalar: scalar.span.clone(),
        style: match token.kind {
            Kind::Alias(_) => SiteStyle::Alias,
            _ => SiteStyle::Scalar(*style),
        },
        obstacle: scalar.is_binary().then_some(Obstacle::Binary),
    })
}

/// A block scalar's value ends in its line break, which is not part of the image that it means.
fn trim_block(value: &str, style: Style) -> &str {
    match style {
        Style::Literal | Style::Folded => value.trim_end_matches(['\n', '\r']),
        Style::Plain | Style::Single | Style::Double => value,
    }
}

/// The places in a tree where images stand, to tell whether an image's bytes are its own.
struct Places {
    /// The tokens that were reached without an alias around them.
    own: HashSet<NodeId>,
    /// The tokens that were reached at all.
    images: HashSet<NodeId>,
    /// The alias that stands where an image is looked for, and the token that it leads to. The aliases
    /// behind it stand elsewhere.
    reached: HashSet<(NodeId, NodeId)>,
}

impl Places {
    fn new(walk: &Walk<'_, '_>, found: &[(usize, Image)]) -> Self {
        let visits = || found.iter().map(|(_, image)| image.visit);
        Self {
            own: visits()
                .filter(|visit| !visit.is_borrowed())
                .map(|visit| visit.node)
                .collect(),
            images: visits().map(|visit| visit.node).collect(),
            reached: visits()
                .filter_map(|visit| Some((walk.aliases(visit).last()?, visit.node)))
                .collect(),
        }
    }

    /// Why `image`'s bytes must not change, if they also mean something else.
    fn obstacle(&self, tree: &Tree<'_>, walk: &Walk<'_, '_>, image: &Image) -> Option<Obstacle> {
        let token = image.visit.node;
        if !self.own.contains(&token) {
            return Some(Obstacle::Borrowed);
        }
        // An alias of the token itself is at home where an image stands, and has its own obstacles there.
        let mut aliases = tree.node(token).aliases.iter();
        if !aliases.all(|alias| self.images.contains(alias)) {
            return Some(Obstacle::Lent);
        }
        // One of a collection around it is where it leads to this image as an image, or brings nothing of
        // it. What stands around such an alias may be shared in its turn.
        let mut seen = HashSet::new();
        let mut waiting = vec![(token, None)];
        while let Some((below, key)) = waiting.pop() {
            let Some(around) = tree.node(below).parent.filter(|&id| seen.insert(id)) else {
                continue;
            };
            let key = key_in(tree, around, below).or(key);
            for &alias in &tree.node(around).aliases {
                if self.reached.contains(&(alias, token)) {
                    waiting.push((alias, key));
                } else if !key.is_some_and(|key| walk.is_overridden(alias, key)) {
                    return Some(Obstacle::Lent);
                }
            }
            waiting.push((around, key));
        }
        None
    }
}

/// The key under which `value` stands in `mapping`; none where it is merged and has its own keys there.
fn key_in<'t>(tree: &'t Tree<'_>, mapping: NodeId, value: NodeId) -> Option<&'t str> {
    let Kind::Mapping(entries) = &tree.node(mapping).kind else {
        return None;
    };
    let (key, _) = entries.iter().find(|(_, found)| *found == value)?;
    tree.scalar(*key).filter(|_| !tree.is_merge_key(*key))
}
