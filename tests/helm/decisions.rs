//! One chart and one record lead to the same decisions, whichever Helm renders.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::manifests::images;
use crate::real::{Helm, Rendered, chart};
use crate::support::{read, testdata};

const CONTROL_PLANE: &str = "charts/control-plane";

/// KIND/NAME and container of an image that is pinned, and to what.
type Images = BTreeMap<(String, String), String>;

/// What the golden cases call the streams of real Helms is still what they send.
#[test]
fn streams_are_those_of_the_golden_cases() {
    let output = Command::new(chart("scripts/streams"))
        .arg("--check")
        .output()
        .expect("scripts/streams");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn every_helm_leads_to_the_same_decisions() {
    let sets = fs::read_dir(testdata("streams")).expect("testdata/streams");
    for set in sets {
        let set = set.expect("an entry").path();
        let values = set.join("values.yaml").display().to_string();
        agree(
            &chart(CONTROL_PLANE),
            &["--values", &values],
            &pinned(&set.join("images")),
        );
    }
}

#[test]
fn also_of_lists_subcharts_quotes_and_flow_style() {
    let folder = testdata("charts/assorted");
    let images = pinned(&folder.join("images"));
    assert_eq!(images.len(), 4);
    agree(&folder, &[], &images);
}

/// The images that a file names, as scripts/streams reads it.
fn pinned(file: &Path) -> Images {
    let text = String::from_utf8(read(file).expect("images")).expect("UTF-8");
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let mut fields = line.split('\t').map(str::to_owned);
            let mut next = || fields.next().expect("three fields");
            ((next(), next()), next())
        })
        .collect()
}

/// Renders with every Helm: `pinned` and nothing else has changed, and all reports say the same.
fn agree(chart: &Path, helm_args: &[&str], pinned: &Images) {
    let mut first: Option<Vec<Value>> = None;
    for helm in Helm::all() {
        let what = format!("Helm {}, {} {helm_args:?}", helm.version, chart.display());
        let tags = helm.render_offline(chart, helm_args).succeeded();
        let digests = helm.render(chart, helm_args).succeeded();

        let mut expected = images(&tags.manifests);
        for (place, image) in pinned {
            let tag = expected.insert(place.clone(), image.clone());
            assert!(
                tag.is_some_and(|tag| tag.ends_with(":prod")),
                "{what}: {place:?}"
            );
        }
        assert_eq!(images(&digests.manifests), expected, "{what}");
        assert_eq!(changed_lines(&tags, &digests), pinned.len(), "{what}");

        let found = decisions(&digests);
        let first = first.get_or_insert_with(|| found.clone());
        assert_eq!(&found, first, "{what}");
    }
}

/// How many lines are not the same. Helm puts the documents in an order of its own, but the same for both.
fn changed_lines(tags: &Rendered, digests: &Rendered) -> usize {
    let (tags, digests) = (&tags.manifests, &digests.manifests);
    assert_eq!(tags.lines().count(), digests.lines().count());
    let lines = tags.lines().zip(digests.lines());
    lines.filter(|(tag, digest)| tag != digest).count()
}

/// What was decided and why: without the places, which no two Helms share, and without the hooks, which
/// Helm 3 shows to nobody.
fn decisions(rendered: &Rendered) -> Vec<Value> {
    let mut sites = rendered.report["sites"].as_array().expect("sites").clone();
    sites.retain(|site| site["reason"] != "hook");
    for site in &mut sites {
        let site = site.as_object_mut().expect("a site");
        for place in ["line", "column"] {
            site.remove(place).expect("a place");
        }
    }
    sites.sort_by_key(ToString::to_string);
    sites
}
