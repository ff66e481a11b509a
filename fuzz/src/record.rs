//! Any bytes as a record file.

use belay::manifest::{self, Breadth};
use belay::policy::{
    self, Namespaces, Policy, Profile, Refreshing, SavedObjects, SavedTextError, Source,
};

/// A stream with every sort of question: record, workloads, refresher and history.
const STREAMS: [&[u8]; 2] = [
    include_bytes!("../../testdata/cases/row-19-live-tag/input.yaml"),
    include_bytes!("../../testdata/cases/def-applied-proxy-of-another-tag/input.yaml"),
];

/// A record file is read or refused, and whatever was read answers every question.
pub fn record(bytes: &[u8]) {
    let saved = match SavedObjects::parse(bytes) {
        Ok(saved) => saved,
        Err(SavedTextError::Malformed(malformed)) => {
            assert!(!malformed.to_string().is_empty());
            return;
        }
        Err(SavedTextError::NotYaml(_) | SavedTextError::Empty) => return,
    };
    let profile = Profile::default();
    let hint = saved.hint(&profile);
    let mut twice = saved.clone();
    twice.extend(saved.clone());
    for input in STREAMS {
        let stream = manifest::scan(input, &profile.needles(), Breadth::Marked)
            .expect("a stream of testdata");
        for refreshing in [Refreshing::Auto, Refreshing::Active] {
            let policy = Policy {
                source: Source::File,
                refreshing,
                require_record: false,
                namespace: None,
            };
            let survey = policy::survey(&stream, &profile, &policy, hint.as_ref());
            let questions = survey.questions();
            for (given, likely) in [(None, None), (Some("prod"), None), (None, Some("prod"))] {
                let namespaces = Namespaces { given, likely };
                let decide = |saved: &SavedObjects| {
                    let facts = saved.answer(&questions, &profile, namespaces);
                    Some(survey.decide(&facts.ok()?).ok()?.decisions)
                };
                assert_eq!(decide(&saved), decide(&twice), "the same file given twice");
            }
        }
    }
}
