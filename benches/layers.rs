//! What each layer costs: `cargo bench`. Whole processes are compared by `scripts/bench`.
#![allow(
    clippy::expect_used,
    reason = "a bench whose input is broken has nothing to measure"
)]

use std::fs;
use std::path::Path;

use belay::edit::{self, Edit, Rewrite};
use belay::manifest::{self, Breadth, Stream};
use belay::policy::{
    self, Facts, Namespaces, Policy, Profile, RecordHint, Refreshing, SavedObjects, Source, Verdict,
};
use divan::counter::BytesCount;
use divan::{AllocProfiler, Bencher, black_box};

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// How often the chart's stream is repeated.
const TIMES: [usize; 2] = [1, 20];

fn example(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/example");
    fs::read_to_string(folder.join(file)).expect("the example")
}

fn stream(times: usize) -> Vec<u8> {
    example("manifests.yaml").repeat(times).into_bytes()
}

/// The example's record, and what it says of the only release.
struct Record {
    profile: Profile,
    policy: Policy,
    saved: SavedObjects,
    hint: Option<RecordHint>,
}

impl Record {
    fn load() -> Self {
        let profile = Profile::default();
        let saved = SavedObjects::parse(example("record.yaml").as_bytes()).expect("a record");
        Self {
            policy: Policy {
                source: Source::File,
                refreshing: Refreshing::Auto,
                require_record: true,
                namespace: None,
            },
            hint: saved.hint(&profile),
            profile,
            saved,
        }
    }

    fn scan<'a>(&self, input: &'a [u8], breadth: Breadth) -> Stream<'a> {
        manifest::scan(input, &self.profile.needles(), breadth).expect("the example can be read")
    }

    fn facts(&self, stream: &Stream<'_>) -> Facts {
        let survey = policy::survey(stream, &self.profile, &self.policy, self.hint.as_ref());
        let questions = survey.questions();
        let facts = self
            .saved
            .answer(&questions, &self.profile, Namespaces::default());
        facts.expect("the example's record")
    }

    fn decide(&self, stream: &Stream<'_>, facts: &Facts) -> Verdict {
        let survey = policy::survey(stream, &self.profile, &self.policy, self.hint.as_ref());
        survey.decide(facts).expect("the example is decided")
    }

    fn edits(&self, stream: &Stream<'_>) -> Vec<Edit> {
        let verdict = self.decide(stream, &self.facts(stream));
        let edits = edit::plan(stream, &rewrites(&verdict)).edits;
        assert!(!edits.is_empty(), "the example has images to pin");
        edits
    }
}

fn rewrites(verdict: &Verdict) -> Vec<Rewrite> {
    let rewrite = |decision: &policy::Decision| {
        Some(Rewrite {
            site: decision.site,
            text: decision.rewritten()?.to_owned(),
        })
    };
    verdict.decisions.iter().filter_map(rewrite).collect()
}

#[divan::bench(args = TIMES)]
fn scan_marked(bencher: Bencher, times: usize) {
    let (record, input) = (Record::load(), stream(times));
    bencher
        .counter(BytesCount::of_slice(&input))
        .bench(|| record.scan(black_box(&input), Breadth::Marked));
}

#[divan::bench(args = TIMES)]
fn scan_all(bencher: Bencher, times: usize) {
    let (record, input) = (Record::load(), stream(times));
    bencher
        .counter(BytesCount::of_slice(&input))
        .bench(|| record.scan(black_box(&input), Breadth::All));
}

#[divan::bench(args = TIMES)]
fn decide(bencher: Bencher, times: usize) {
    let (record, input) = (Record::load(), stream(times));
    let stream = record.scan(&input, Breadth::Marked);
    let facts = record.facts(&stream);
    bencher.bench(|| record.decide(black_box(&stream), &facts));
}

#[divan::bench(args = TIMES)]
fn plan(bencher: Bencher, times: usize) {
    let (record, input) = (Record::load(), stream(times));
    let stream = record.scan(&input, Breadth::Marked);
    let rewrites = rewrites(&record.decide(&stream, &record.facts(&stream)));
    bencher.bench(|| edit::plan(black_box(&stream), &rewrites));
}

#[divan::bench(args = TIMES)]
fn splice(bencher: Bencher, times: usize) {
    let (record, input) = (Record::load(), stream(times));
    let edits = record.edits(&record.scan(&input, Breadth::Marked));
    bencher
        .counter(BytesCount::of_slice(&input))
        .bench(|| edit::splice(black_box(&input), &edits).to_vec());
}

#[divan::bench(args = TIMES)]
fn verify(bencher: Bencher, times: usize) {
    let (record, input) = (Record::load(), stream(times));
    let stream = record.scan(&input, Breadth::Marked);
    let edits = record.edits(&stream);
    let spliced = edit::splice(&input, &edits);
    bencher
        .counter(BytesCount::of_slice(&input))
        .bench(|| edit::verify(black_box(&stream), &edits, &spliced).expect("the edits are right"));
}

#[divan::bench]
fn parse_record(bencher: Bencher) {
    let text = example("record.yaml");
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| SavedObjects::parse(black_box(text.as_bytes())).expect("a record"));
}
