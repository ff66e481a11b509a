//! The second parser: libyaml's events with byte ranges. It shares its scanner with go-yaml, so with
//! Helm and kubectl, and no code with belay.

use std::ops::Range;

use libyaml_safer::{EventData, Parser, ScalarStyle};

/// An event that carries content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    DocumentStart,
    DocumentEnd,
    Alias(String),
    Scalar {
        anchor: Option<String>,
        tag: Option<String>,
        value: String,
        style: Style,
    },
    SequenceStart {
        anchor: Option<String>,
    },
    SequenceEnd,
    MappingStart {
        anchor: Option<String>,
    },
    MappingEnd,
}

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Single,
    Double,
    Literal,
    Folded,
}

/// An event and the bytes that it comes from.
pub(crate) type Event = (What, Range<usize>);

/// The events of `text`, or libyaml's error.
pub(crate) fn events(text: &[u8]) -> Result<Vec<Event>, String> {
    let mut text = text.to_vec();
    // The port panics at a block scalar without a last line break.
    let is_cut = !text.ends_with(b"\n") && !text.ends_with(b"\r");
    if is_cut {
        text.push(b'\n');
    }
    // Its marks do not count the byte order mark.
    let skipped = if text.starts_with(b"\xEF\xBB\xBF") {
        3
    } else {
        0
    };
    let mut input = text.as_slice();
    let mut parser = Parser::new();
    parser.set_input_string(&mut input);
    let mut events = Vec::new();
    loop {
        let event = parser.parse().map_err(|error| error.to_string())?;
        let place = |index: u64| usize::try_from(index).expect("an offset") + skipped;
        let range = place(event.start_mark.index)..place(event.end_mark.index);
        let what = match event.data {
            EventData::StreamStart { .. } => continue,
            EventData::StreamEnd => return Ok(events),
            EventData::DocumentStart { .. } => What::DocumentStart,
            EventData::DocumentEnd { .. } => What::DocumentEnd,
            EventData::Alias { anchor } => What::Alias(anchor),
            EventData::Scalar {
                anchor,
                tag,
                value,
                style,
                ..
            } => What::Scalar {
                anchor,
                tag,
                value,
                style: match style {
                    ScalarStyle::SingleQuoted => Style::Single,
                    ScalarStyle::DoubleQuoted => Style::Double,
                    ScalarStyle::Literal => Style::Literal,
                    ScalarStyle::Folded => Style::Folded,
                    _ => Style::Plain,
                },
            },
            EventData::SequenceStart { anchor, .. } => What::SequenceStart { anchor },
            EventData::SequenceEnd => What::SequenceEnd,
            EventData::MappingStart { anchor, .. } => What::MappingStart { anchor },
            EventData::MappingEnd => What::MappingEnd,
        };
        events.push((what, range));
        if is_cut {
            without_last_break(&mut events, text.len());
        }
    }
}

/// Takes the line break that was added from a block scalar that ends in it.
fn without_last_break(events: &mut [Event], end: usize) {
    if let Some((What::Scalar { value, style, .. }, range)) = events.last_mut()
        && matches!(style, Style::Literal | Style::Folded)
        && range.end == end
    {
        *value = value.strip_suffix('\n').unwrap_or(value).to_owned();
    }
}
