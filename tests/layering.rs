//! The architecture of design.md section 3, held by a machine: inner layers name no outer ones, and
//! pure layers no clock, file, network or environment.

#![allow(clippy::unwrap_used, reason = "a test's helpers may fail the test")]

use std::fs;
use std::path::{Path, PathBuf};

/// The layers, and what each may name of the others.
const LAYERS: &[(&str, &[&str])] = &[
    ("image", &[]),
    ("yaml", &[]),
    ("file", &[]),
    ("manifest", &["image", "yaml"]),
    ("policy", &["image", "manifest"]),
    ("edit", &["manifest", "yaml"]),
    ("report", &["manifest", "policy", "yaml"]),
    ("cluster", &["file", "image", "manifest", "policy"]),
    (
        "cli",
        &[
            "image", "yaml", "file", "manifest", "policy", "edit", "report", "cluster",
        ],
    ),
];

/// The layers that must be functions of their input.
const PURE: &[&str] = &["image", "yaml", "manifest", "policy", "edit", "report"];

/// What only thin layers may name.
const OUTSIDE: &[&str] = &[
    "kube",
    "k8s_openapi",
    "tokio",
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::time",
    "async ",
    ".await",
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// The code of each file of a layer, without comments.
fn code(layer: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src")
        .join(layer);
    let files = sources(&folder);
    assert!(!files.is_empty(), "the layer {layer} has files");
    let without_comments = |text: String| {
        let line = |line: &str| line.split("//").next().unwrap_or("").to_owned();
        text.lines().map(line).collect::<Vec<_>>().join("\n")
    };
    files
        .into_iter()
        .map(|path| {
            let text = without_comments(fs::read_to_string(&path).unwrap());
            (path, text)
        })
        .collect()
}

/// Whether `code` names `word` as a path segment of its own (`kube::`, `use kube;`, not `mykube`).
fn names(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let part = |c: &char| c.is_alphanumeric() || *c == '_';
        let before = code[..at].chars().next_back().filter(part);
        let after = code[at + word.len()..].chars().next().filter(part);
        // `.await` and `async ` end a name themselves.
        let starts_name = word.starts_with(char::is_alphanumeric);
        let ends_name = word.ends_with(char::is_alphanumeric);
        !(starts_name && before.is_some() || ends_name && after.is_some())
    })
}

#[test]
fn layers_name_only_layers_below() {
    for (layer, allowed) in LAYERS {
        for (path, code) in code(layer) {
            for (other, _) in LAYERS {
                let forbidden = other != layer && !allowed.contains(other);
                assert!(
                    !(forbidden && code.contains(&format!("crate::{other}"))),
                    "{} names the layer {other}",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn every_folder_is_a_layer() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in fs::read_dir(src).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_dir() {
            let name = entry.file_name().into_string().unwrap();
            assert!(
                LAYERS.iter().any(|(layer, _)| *layer == name),
                "{name} is in LAYERS"
            );
        }
    }
}

#[test]
fn pure_layers_touch_nothing_outside() {
    for layer in PURE {
        for (path, code) in code(layer) {
            for word in OUTSIDE {
                assert!(!names(&code, word), "{} names {word}", path.display());
            }
        }
    }
}

#[test]
fn nothing_of_the_default_vendor_is_wired_in() {
    for (layer, _) in LAYERS {
        for (path, code) in code(layer) {
            let tests = code.find("#[cfg(test)]").unwrap_or(code.len());
            assert!(
                path.ends_with("policy/profile.rs") || !code[..tests].contains("tracebloc"),
                "{} names the default vendor",
                path.display()
            );
        }
    }
}

#[test]
fn the_check_sees_what_it_looks_for() {
    assert!(names("use kube::Client;", "kube"));
    assert!(names("std::env::var(x)", "std::env"));
    assert!(names("x.await?", ".await"));
    assert!(!names("let kubelet = kube_path;", "kube"));
}

#[test]
fn main_only_starts() {
    let main = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/main.rs");
    assert!(fs::read_to_string(main).unwrap().lines().count() <= 20);
}
