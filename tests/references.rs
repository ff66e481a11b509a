//! References as the kubelet and containerd read them: testdata/references/table.tsv, which
//! scripts/references makes with their own library.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail by panicking, as tests do"
)]

use std::fs;
use std::path::Path;

use belay::image::{Pin, Reference};

/// A reference and what it is made of; None for what no runtime could start.
struct Row<'t> {
    text: &'t str,
    parts: Option<[&'t str; 4]>,
}

fn rows(table: &str) -> impl Iterator<Item = Row<'_>> {
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    rows.map(|line| {
        let mut fields = line.split('\t');
        let text = fields.next().unwrap();
        let fields: Vec<_> = fields.collect();
        let parts = match fields[..] {
            [refused] => {
                assert!(refused.starts_with("refused: "), "{line}");
                None
            }
            // A name like `host_1.example/x`, whose host is none and whose path is one as a whole. It has
            // no registry to pull from.
            ["-", ..] => None,
            [registry, path, tag, digest] => Some([registry, path, tag, digest]),
            _ => panic!("{line}"),
        };
        Row { text, parts }
    })
}

/// What belay reads, in the form of the table.
fn read(reference: &Reference) -> Option<[&str; 4]> {
    let digest = match reference.pin() {
        Pin::None => "-",
        Pin::Digest(digest) => digest,
        Pin::Malformed(_) => return None,
    };
    let repository = reference.repository();
    let tag = reference.tag().unwrap_or("-");
    Some([repository.registry(), repository.path(), tag, digest])
}

#[test]
fn references_are_read_as_a_runtime_reads_them() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/references/table.tsv");
    let table = fs::read_to_string(path).unwrap();
    let (mut good, mut bad) = (0, 0);
    let mut wrong = Vec::new();
    for Row { text, parts } in rows(&table) {
        let reference = Reference::parse(text);
        let found = reference.as_ref().and_then(read);
        if found != parts {
            wrong.push(format!(
                "{text}\n  expected {parts:?}\n  found    {found:?}"
            ));
        }
        *if parts.is_some() { &mut good } else { &mut bad } += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(good > 80 && bad > 80, "{good} and {bad}");
}

/// The text is kept: the name is what is written back before a digest.
#[test]
fn a_name_is_the_text_before_tag_and_digest() {
    for (text, name) in [
        ("nginx", "nginx"),
        ("nginx:5000", "nginx"),
        ("nginx:5000/x", "nginx:5000/x"),
        (
            "index.docker.io/nginx:1@sha256:abc",
            "index.docker.io/nginx",
        ),
        ("[::1]:5000/x:prod", "[::1]:5000/x"),
        ("host.example:5000/x@sha256:abc", "host.example:5000/x"),
    ] {
        let reference = Reference::parse(text).unwrap();
        assert_eq!(reference.name(), name);
        assert_eq!(reference.as_str(), text);
    }
}
