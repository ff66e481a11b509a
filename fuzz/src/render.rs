//! Any bytes as a stream and a record file, through everything that `belay render` does with them.

use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;

use belay::edit::{self, Edit, Rewrite};
use belay::image::Reference;
use belay::manifest::{self, Breadth, Stream};
use belay::policy::{self, Namespaces, Policy, Profile, Refreshing, SavedObjects, Source, Verdict};
use belay::report::{self, Report, Width};

use crate::libyaml;

/// The line between the stream and the record file.
pub const SEPARATOR: &str = "\n#-record-\n";

/// The digest that is written everywhere.
const DIGEST: &str = "sha256:3d96a458120e68868ccca6bad66be3fc8df4627a6b7372d69b98d3ba7688774d";

/// What is decided can be written or is refused, the self-check agrees, nothing else changes, and a
/// second render changes nothing more.
pub fn render(bytes: &[u8]) {
    let (input, record) = split(bytes);
    let profile = Profile::default();
    let saved = SavedObjects::parse(record).unwrap_or_default();
    for refreshing in [Refreshing::Auto, Refreshing::Active] {
        let policy = Policy {
            source: Source::File,
            refreshing,
            require_record: false,
            namespace: None,
        };
        let Some((once, changed)) = decided(input, &saved, &profile, &policy) else {
            continue;
        };
        if changed {
            let (twice, _) = decided(&once, &saved, &profile, &policy).expect("its own output");
            assert_eq!(text(&twice), text(&once), "a second render changes more");
        }
    }
    let Ok(stream) = manifest::scan(input, &profile.needles(), Breadth::All) else {
        return;
    };
    for step in 1..=2 {
        forced(&stream, step, &profile);
    }
}

fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    let separator = SEPARATOR.as_bytes();
    let mut places = bytes.windows(separator.len());
    match places.position(|text| text == separator) {
        // The stream keeps its last line break.
        Some(at) => (&bytes[..=at], &bytes[at + separator.len()..]),
        None => (bytes, &[]),
    }
}

/// The stream as `--on-uneditable=leave` renders it, and whether anything was written.
fn decided(
    input: &[u8],
    saved: &SavedObjects,
    profile: &Profile,
    policy: &Policy,
) -> Option<(Vec<u8>, bool)> {
    let stream = manifest::scan(input, &profile.needles(), Breadth::Marked).ok()?;
    let hint = saved.hint(profile);
    let survey = policy::survey(&stream, profile, policy, hint.as_ref());
    let questions = survey.questions();
    let facts = saved.answer(&questions, profile, Namespaces::default());
    let mut verdict = survey.decide(&facts.ok()?).ok()?;
    assert_eq!(verdict.decisions.len(), stream.sites.len());
    let wanted = verdict.decisions.iter();
    let wanted: BTreeMap<usize, String> = wanted
        .filter_map(|decision| Some((decision.site, decision.rewritten()?.to_owned())))
        .collect();
    let (output, edits, refused) = write(&stream, &wanted, profile, Breadth::Marked);
    for site in refused {
        verdict.decisions[site].not_editable("refused", true);
    }
    tell(&stream, &verdict);
    Some((output, !edits.is_empty()))
}

/// Rewrites every `step`th image, managed or not, whatever the policy would say.
fn forced(stream: &Stream<'_>, step: usize, profile: &Profile) {
    let sites = stream.sites.iter().enumerate().step_by(step);
    let wanted = sites.filter_map(|(index, site)| {
        let reference = Reference::parse(&site.value)?;
        Some((index, format!("{}@{DIGEST}", reference.name())))
    });
    write(stream, &wanted.collect(), profile, Breadth::All);
}

/// Plans, splices and verifies as `render` does, and looks at the result by other means.
fn write(
    stream: &Stream<'_>,
    wanted: &BTreeMap<usize, String>,
    profile: &Profile,
    breadth: Breadth,
) -> (Vec<u8>, Vec<Edit>, BTreeSet<usize>) {
    let rewrites = wanted.iter().map(|(&site, text)| Rewrite {
        site,
        text: text.clone(),
    });
    let plan = edit::plan(stream, &rewrites.collect::<Vec<_>>());
    let refused: BTreeSet<usize> = plan.refused.iter().map(|(site, _)| *site).collect();
    let spliced = edit::splice(stream.bytes, &plan.edits);
    if let Err(error) = edit::verify(stream, &plan.edits, &spliced) {
        panic!("{error}: {:?}", plan.edits);
    }
    let output = spliced.to_vec();
    only_edits_changed(stream.bytes, &plan.edits, &output);
    let again = manifest::scan(&output, &profile.needles(), breadth).expect("a readable result");
    let keys = |stream: &Stream<'_>| -> Vec<_> {
        let documents = stream.documents.iter();
        documents.map(|document| document.object.clone()).collect()
    };
    assert_eq!(keys(stream), keys(&again), "an object has changed");
    assert_eq!(stream.sites.len(), again.sites.len(), "images came or went");
    for (index, (old, new)) in stream.sites.iter().zip(&again.sites).enumerate() {
        let expected = match wanted.get(&index) {
            Some(text) if !refused.contains(&index) => text,
            _ => &old.value,
        };
        assert_eq!(&new.value, expected, "site {index}");
        assert_eq!(new.container, old.container, "site {index}");
    }
    libyaml::compare(stream, &plan.edits);
    (output, plan.edits, refused)
}

/// Every byte outside of the edits is the input's.
fn only_edits_changed(input: &[u8], edits: &[Edit], output: &[u8]) {
    let (mut input_at, mut output_at) = (0, 0);
    for edit in edits {
        let length = edit.span.start - input_at;
        assert_eq!(
            input[input_at..edit.span.start],
            output[output_at..output_at + length]
        );
        input_at = edit.span.end;
        output_at += length + edit.text.len();
    }
    assert_eq!(input[input_at..], output[output_at..]);
}

/// Whatever was decided can be told.
fn tell(stream: &Stream<'_>, verdict: &Verdict) {
    let report = Report::new(stream, verdict, true, true);
    black_box(report.to_json());
    black_box(report::page(&report));
    black_box(report::explanation(&report, Width::Normal));
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
