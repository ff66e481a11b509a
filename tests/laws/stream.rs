//! Whole streams: documents of all sorts with what stands between them.

use std::fmt;
use std::ops::Deref;

use super::node::Node;
use super::object::{object, refresher};
use super::share::share;
use super::tape::Tape;
use super::write;

/// Chunks that are no manifests, or no YAML at all. None mentions what belay looks for.
const GARBAGE: [&[u8]; 9] = [
    b"# nothing but a comment: \xF0\x9F\x98\x80\n",
    b"\n\n",
    b"{{ .Values.broken\n",
    b"a: b: c\n\t- x\n",
    b"\x00\x01\x7F\n",
    b"latin: \xE9\xFF\n",
    b"just a text\n",
    b"[1, 2, {\n",
    b"a: *unknown\n",
];

/// A stream, shown as text where a law breaks.
#[derive(Clone)]
pub(crate) struct Bytes(Vec<u8>);

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.0.split_inclusive(|&byte| byte == b'\n') {
            write!(f, "\n    {}", String::from_utf8_lossy(line).escape_debug())?;
        }
        Ok(())
    }
}

/// A stream of any documents.
pub(crate) fn stream(shape: &[u8], looks: &[u8]) -> Bytes {
    let mut shape = Tape::new(shape);
    let mut looks = Tape::new(looks);
    let count = 1 + shape.below(4);
    let objects = (0..count).map(|_| {
        (!shape.rarely(8)).then(|| {
            let mut root = object(&mut shape);
            share(&mut root, &mut shape);
            root
        })
    });
    let objects: Vec<_> = objects.collect();
    assemble(&objects, &mut looks)
}

/// A release: the refresher among its objects.
pub(crate) fn release(shape: &[u8], looks: &[u8]) -> Bytes {
    let mut shape = Tape::new(shape);
    let mut looks = Tape::new(looks);
    let mut objects = vec![Some(refresher(shape.rarely(8)))];
    for _ in 0..1 + shape.below(3) {
        let mut root = object(&mut shape);
        share(&mut root, &mut shape);
        objects.push(Some(root));
    }
    let place = shape.below(objects.len());
    objects.swap(0, place);
    assemble(&objects, &mut looks)
}

fn assemble(objects: &[Option<Node>], looks: &mut Tape<'_>) -> Bytes {
    let mut stream = Vec::new();
    if looks.rarely(12) {
        stream.extend("\u{feff}".bytes());
    }
    for (index, root) in objects.iter().enumerate() {
        let above = match looks.below(12) {
            // A later byte order mark is an error to both parsers.
            0..=5 => "---\n",
            6 => "---\n# Source: chart/templates/x.yaml\n",
            7 => "--- # é tracebloc/x\n",
            8 if index == 0 => "",
            8 => "...\n---\n",
            9 if index == 0 => "%YAML 1.1\n---\n",
            9 => "...\n%YAML 1.1\n# why\n---\n",
            10 => "---\t\n\n",
            _ => "---\n---\n",
        };
        let mut text = above.as_bytes().to_vec();
        match root {
            Some(root) => {
                let mut document = write::document(root, looks);
                if looks.rarely(30) {
                    document.insert_str(0, "# a\u{2028}b\n");
                }
                text.extend(document.bytes());
            }
            None => text.extend_from_slice(looks.pick(&GARBAGE)),
        }
        if looks.rarely(6) {
            text = crlf(&text);
        }
        stream.extend(text);
    }
    match looks.below(8) {
        6 => stream.extend(b"...\n"),
        7 => {
            stream.pop_if(|byte| *byte == b'\n');
        }
        _ => {}
    }
    Bytes(stream)
}

fn crlf(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for &byte in text {
        if byte == b'\n' {
            out.push(b'\r');
        }
        out.push(byte);
    }
    out
}
