//! Writing one scalar in one of its styles.

use super::tape::Tape;

/// Where a scalar stands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Context {
    /// In a collection at this indentation.
    Block { indent: usize },
    /// In brackets; lines go on at this indentation.
    Flow { indent: usize },
}

/// A text as JSON writes it.
pub(crate) fn json(out: &mut String, text: &str) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

/// A key: on one line.
pub(crate) fn key(out: &mut String, text: &str, context: Context, looks: &mut Tape<'_>) {
    match looks.below(12) {
        9 => single(out, text),
        10 => double(out, text),
        11 => escaped(out, text, looks),
        _ => plain(out, text, context),
    }
}

/// A value. Whether it is a block scalar, which takes its lines to the end.
pub(crate) fn value(out: &mut String, text: &str, context: Context, looks: &mut Tape<'_>) -> bool {
    let style = looks.below(14);
    if style == 12 {
        out.push_str("!!str ");
    }
    match style {
        0..=3 | 12 => plain(out, text, context),
        4 => single(out, text),
        5 | 6 => double(out, text),
        7 => escaped(out, text, looks),
        8 => broken(out, text, context, looks),
        13 if looks.rarely(3) => {
            use base64::Engine as _;
            out.push_str("!!binary ");
            let base64 = base64::engine::general_purpose::STANDARD.encode(text);
            double(out, &base64);
        }
        _ => match context {
            Context::Block { indent } if is_blockable(text) => {
                block(out, text, indent, looks);
                return true;
            }
            _ => double(out, text),
        },
    }
    false
}

/// As it is, where that means the same.
fn plain(out: &mut String, text: &str, context: Context) {
    let harmless = |c: char| c.is_alphanumeric() || "._/@:-".contains(c);
    let is_plain = text.starts_with(|c: char| c.is_alphanumeric())
        && !text.ends_with(':')
        && text.chars().all(harmless);
    if is_plain {
        out.push_str(text);
    } else if matches!(context, Context::Block { .. }) && text.contains('"') && !text.contains('\n')
    {
        single(out, text);
    } else {
        double(out, text);
    }
}

fn single(out: &mut String, text: &str) {
    if text.contains(['\n', '\u{2028}']) {
        return double(out, text);
    }
    out.push('\'');
    out.push_str(&text.replace('\'', "''"));
    out.push('\'');
}

fn double(out: &mut String, text: &str) {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    out.push('"');
    out.push_str(&text.replace('\n', "\\n"));
    out.push('"');
}

/// In double quotes, some characters as escapes.
fn escaped(out: &mut String, text: &str, looks: &mut Tape<'_>) {
    out.push('"');
    for c in text.chars() {
        let code = u32::from(c);
        let escape = match (looks.below(5), c) {
            (1, _) if code < 0x100 => format!("\\x{code:02x}"),
            (2, _) if code < 0x1_0000 => format!("\\u{code:04X}"),
            (3, _) => format!("\\U{code:08x}"),
            // libyaml, which kubectl reads with, knows `\/`; kyaml does not.
            (4, '/') => "\\/".to_owned(),
            (_, '"' | '\\') => format!("\\{c}"),
            (_, '\n') => "\\n".to_owned(),
            _ => c.to_string(),
        };
        out.push_str(&escape);
    }
    out.push('"');
}

/// In double quotes over two lines, the break escaped: it means nothing.
fn broken(out: &mut String, text: &str, context: Context, looks: &mut Tape<'_>) {
    let indent = match context {
        Context::Block { indent } | Context::Flow { indent } => indent,
    };
    let middle = text.char_indices().nth(text.chars().count() / 2);
    let (head, tail) = text.split_at(middle.map_or(0, |(at, _)| at));
    let escaped = |text: &str| {
        let mut out = String::new();
        double(&mut out, text);
        out[1..out.len() - 1].to_owned()
    };
    // A blank that begins the second line would be eaten.
    let tail = escaped(tail).replace(' ', "\\x20");
    let indent = " ".repeat(indent + 1 + looks.below(3));
    out.push_str(&format!("\"{}\\\n{indent}{tail}\"", escaped(head)));
}

/// Whether a block scalar can hold the text without an indentation indicator that matters.
fn is_blockable(text: &str) -> bool {
    !text.is_empty()
        && text
            .lines()
            .all(|line| !line.is_empty() && !line.starts_with(' '))
        && !text.ends_with('\n')
        && !text.contains(['\t', '\u{2028}'])
}

fn block(out: &mut String, text: &str, indent: usize, looks: &mut Tape<'_>) {
    let folded = !text.contains('\n') && looks.rarely(2);
    out.push(if folded { '>' } else { '|' });
    let depth = 1 + (looks.below(3) + 1) % 3;
    if looks.rarely(4) {
        out.push_str(&depth.to_string());
    }
    out.push_str(looks.pick(&["-", "", "+"]));
    out.push_str(looks.pick(&["", "", " # header", "  "]));
    out.push('\n');
    let indent = " ".repeat(indent + depth);
    for line in text.lines() {
        out.push_str(&indent);
        out.push_str(line);
        out.push('\n');
    }
    if looks.rarely(8) {
        out.push('\n');
    }
}
