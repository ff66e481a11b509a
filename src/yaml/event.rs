//! The parser's events with byte spans: the only place that names granit.

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::{Event as Granit, Options, Parser, ScalarStyle, StrInput};

/// How deep a document may nest: go-yaml's own limit, so that what Helm reads is read here too.
const DEEPEST: usize = 10_000;

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// In `'…'`.
    Single,
    /// In `"…"`, with escapes.
    Double,
    /// As a `|` block.
    Literal,
    /// As a `>` block.
    Folded,
}

/// What the parser found next. Numbers of anchors are unique in one text; 0 means none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A document begins.
    DocumentStart,
    /// A document ended.
    DocumentEnd,
    /// A scalar, escapes resolved.
    Scalar {
        /// What the text means.
        value: Cow<'a, str>,
        /// How it is written.
        style: Style,
        /// The anchor on it.
        anchor: usize,
        /// Its tag, written out (`tag:yaml.org,2002:binary`).
        tag: Option<String>,
    },
    /// A sequence begins.
    SequenceStart {
        /// The anchor on it.
        anchor: usize,
    },
    /// A sequence ended.
    SequenceEnd,
    /// A mapping begins.
    MappingStart {
        /// The anchor on it.
        anchor: usize,
    },
    /// A mapping ended.
    MappingEnd,
    /// `*name`, by the number of its anchor.
    Alias(usize),
    /// The name of the anchor on the node before this event.
    AnchorName(Cow<'a, str>),
}

/// A text that is no YAML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// What the parser says.
    pub message: String,
    /// The line in the text that was parsed, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// The events of one text, each with its byte range in that text. Quotes are inside a scalar's range;
/// anchors, tags and a block scalar's header are outside; a null that nobody wrote has an empty range.
pub struct Events<'a> {
    parser: Parser<'a, StrInput<'a>>,
}

impl<'a> Events<'a> {
    /// Starts to parse `text`.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        let mut options = Options::default();
        options.set_emit_comments(false);
        options.flow_nesting_limit = DEEPEST;
        options.block_nesting_limit = DEEPEST;
        options.block_scalar_eof_without_line_feed = true; // as libyaml and go-yaml read it
        options.emit_anchor_events = true;
        Self {
            parser: Parser::new_from_str_with_options(text, options),
        }
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Result<(Event<'a>, Range<usize>), SyntaxError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (event, span) = match self.parser.next_event()? {
                Ok(found) => found,
                Err(error) => {
                    return Some(Err(SyntaxError {
                        message: error.info(),
                        line: error.marker().line(),
                        column: error.marker().col() + 1,
                    }));
                }
            };
            if let Some(event) = translate(event) {
                // A text parsed from `&str` always has byte offsets.
                return Some(Ok((event, span.byte_range().unwrap_or(0..0))));
            }
        }
    }
}

/// None for what carries no meaning here.
fn translate(event: Granit<'_>) -> Option<Event<'_>> {
    Some(match event {
        Granit::DocumentStart(..) => Event::DocumentStart,
        Granit::DocumentEnd => Event::DocumentEnd,
        Granit::Scalar(value, style, anchor, tag) => Event::Scalar {
            value,
            style: match style {
                ScalarStyle::Plain => Style::Plain,
                ScalarStyle::SingleQuoted => Style::Single,
                ScalarStyle::DoubleQuoted => Style::Double,
                ScalarStyle::Literal => Style::Literal,
                ScalarStyle::Folded => Style::Folded,
            },
            anchor,
            tag: tag.map(|tag| format!("{}{}", tag.handle(), tag.suffix())),
        },
        Granit::SequenceStart(_, anchor, _) => Event::SequenceStart { anchor },
        Granit::SequenceEnd => Event::SequenceEnd,
        Granit::MappingStart(_, anchor, _) => Event::MappingStart { anchor },
        Granit::MappingEnd => Event::MappingEnd,
        Granit::Alias(anchor) => Event::Alias(anchor),
        Granit::Anchor(_, name) => Event::AnchorName(name),
        _ => return None,
    })
}
