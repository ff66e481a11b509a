//! One image in the stream.

use std::fmt;
use std::ops::Range;

use super::Container;
use crate::yaml::Style;

/// How a site's token is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteStyle {
    /// A scalar in this style.
    Scalar(Style),
    /// `*name`, to be replaced by the image itself.
    Alias,
}

/// One image in the stream: the container that it belongs to, and the bytes that name it.
#[derive(Clone, Debug)]
pub struct Site {
    /// The index of its document in [`Stream::documents`](super::Stream::documents).
    pub document: usize,
    /// The container or image volume.
    pub container: Container,
    /// What the bytes mean: escapes resolved, a block scalar's line break taken off.
    pub value: String,
    /// The bytes to edit, in the stream.
    pub token: Range<usize>,
    /// The scalar that the value comes from: the token itself, or what an alias names. Sites with the
    /// same scalar change together.
    pub scalar: Range<usize>,
    /// How the token is written.
    pub style: SiteStyle,
    /// Why the token must not be edited.
    pub obstacle: Option<Obstacle>,
}

/// Why a site cannot be edited without changing something else (yaml.md section 7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// It is reached only through an alias or a merge key, so its bytes belong to another place.
    Borrowed,
    /// Its bytes, or a collection around them, are anchored and used where no image stands.
    Lent,
    /// Sites that share its bytes came to different decisions.
    Disagreement,
    /// `!!binary`: base64 that Kubernetes decodes.
    Binary,
    /// The document has an anchor whose name YAML 1.1 and 1.2 read differently.
    OddAnchor(String),
    /// The document has a NEL, LS or PS character: a line break to YAML 1.1 only.
    OddLineBreak,
    /// A block scalar whose lines do not hold the image in one piece.
    BrokenBlock,
    /// The reference to write has characters that some scalar style would read differently.
    OddReference(String),
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Borrowed => f.write_str("it is written elsewhere and reached through a YAML alias or merge key"),
            Self::Lent => f.write_str("its YAML anchor is also used where no image stands"),
            Self::Disagreement => f.write_str(
                "a YAML alias shares it between containers that need different images",
            ),
            Self::Binary => f.write_str("it is tagged !!binary"),
            Self::OddAnchor(name) => write!(f, "its document has the anchor `&{name}`, which YAML versions read differently"),
            Self::OddLineBreak => f.write_str(
                "its document has a U+0085, U+2028 or U+2029 character, which YAML versions read differently",
            ),
            Self::OddReference(text) => write!(f, "`{text}` cannot be written safely in YAML"),
            Self::BrokenBlock => f.write_str("its block scalar spreads it over several lines"),
        }
    }
}
