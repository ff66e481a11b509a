//! Decisions from what only a cluster can answer: no record file says where it was looked for, that a
//! lookup failed, or that a history is empty.

#![allow(clippy::unwrap_used, reason = "a test's helpers may fail the test")]

use belay::manifest::{Breadth, ObjectKey, scan};
use belay::policy::{
    Answer, Facts, LiveObject, Outcome, Policy, PolicyError, Profile, Reason, Refreshing, Source,
    UsedNamespace, Verdict, survey,
};

const STREAM: &str = "\
kind: Deployment
apiVersion: apps/v1
metadata: {name: demo-jobs-manager, labels: {app.kubernetes.io/instance: demo}}
spec: {template: {spec: {containers: [{name: api, image: tracebloc/jobs-manager:prod}]}}}
";

/// What is decided about [`STREAM`] from `facts`; `change` makes the policy.
fn decide(facts: &Facts, change: impl FnOnce(&mut Policy)) -> Result<Verdict, PolicyError> {
    decide_stream(STREAM, facts, change)
}

fn decide_stream(
    text: &str,
    facts: &Facts,
    change: impl FnOnce(&mut Policy),
) -> Result<Verdict, PolicyError> {
    let profile = Profile::default();
    let mut policy = Policy {
        source: Source::Cluster,
        refreshing: Refreshing::Active,
        require_record: false,
        namespace: None,
    };
    change(&mut policy);
    let stream = scan(text.as_bytes(), &profile.needles(), Breadth::Marked).unwrap();
    survey(&stream, &profile, &policy, None).decide(facts)
}

fn record() -> ObjectKey {
    ObjectKey {
        api_version: "apps/v1".to_owned(),
        kind: "Deployment".to_owned(),
        namespace: None,
        name: "demo-jobs-manager".to_owned(),
    }
}

fn looked_up_in(guessed: bool) -> Facts {
    Facts {
        objects: [(record(), Answer::NotFound)].into(),
        namespace: Some(UsedNamespace {
            name: "team".to_owned(),
            source: "the kubeconfig".to_owned(),
            guessed,
        }),
        ..Facts::default()
    }
}

#[test]
fn a_record_missing_from_a_guessed_namespace_is_no_first_install() {
    let guessed = PolicyError::NamespaceGuessed {
        record: Box::new(record()),
        namespace: "team".to_owned(),
        from: "the kubeconfig".to_owned(),
    };
    assert_eq!(decide(&looked_up_in(true), |_| {}), Err(guessed));
    let verdict = decide(&looked_up_in(false), |_| {}).unwrap();
    assert_eq!(verdict.decisions[0].reason, Reason::FirstInstall);
    assert!(verdict.notes[0].contains("`team` (from the kubeconfig)"));
    // Nobody guesses where a file was given, or where the manifest names the namespace.
    let from_file = decide(&looked_up_in(true), |policy| policy.source = Source::File);
    assert!(from_file.is_ok());
    let placed = STREAM.replace("{name: demo", "{namespace: prod, name: demo");
    assert!(decide_stream(&placed, &looked_up_in(true), |_| {}).is_ok());
}

#[test]
fn what_could_not_be_asked_is_not_missing() {
    let facts = Facts {
        failure: Some("no answer".to_owned()),
        ..looked_up_in(true)
    };
    let verdict = decide(&facts, |policy| policy.require_record = true).unwrap();
    let decision = &verdict.decisions[0];
    assert_eq!(decision.reason, Reason::LookupFailed);
    assert_eq!(decision.outcome, Outcome::Left);
    assert_eq!(decision.warnings, ["no answer"]);
}

/// The cluster may have cleaned up every ReplicaSet (`revisionHistoryLimit: 0`).
#[test]
fn an_empty_history_leaves_it_to_the_revision() {
    let digest = format!("sha256:{}", "ab".repeat(32));
    for (revision, reason) in [("1", Reason::ObservedOnly), ("2", Reason::Pinned)] {
        let live = LiveObject::from_json(&serde_json::json!({
            "kind": "Deployment",
            "apiVersion": "apps/v1",
            "metadata": {"name": "demo-jobs-manager", "annotations": {
                "deployment.kubernetes.io/revision": revision,
                "tracebloc.io/last-refreshed-jobs-manager-digest": digest,
            }},
        }));
        let facts = Facts {
            objects: [(record(), Answer::Found(live))].into(),
            histories: [(record(), Answer::Found(Vec::new()))].into(),
            ..Facts::default()
        };
        let verdict = decide(&facts, |_| {}).unwrap();
        assert_eq!(verdict.decisions[0].reason, reason);
    }
}

/// Without a record, the workloads themselves tell whether the namespace can be right.
#[test]
fn workloads_without_a_record_missing_from_a_guessed_namespace_are_no_first_install() {
    let deployment = |name: &str| {
        format!(
            "---\nkind: Deployment\napiVersion: apps/v1\nmetadata: {{name: {name}}}\nspec: {{template: {{spec: {{containers: [{{name: a, image: ghcr.io/acme/a:1}}]}}}}}}\n"
        )
    };
    let text = deployment("old") + &deployment("new");
    let key = |name: &str| ObjectKey {
        name: name.to_owned(),
        ..record()
    };
    let mut profile = Profile::live();
    profile.live_images.push("ghcr.io/acme/*".parse().unwrap());
    let stream = scan(text.as_bytes(), &profile.needles(), Breadth::Marked).unwrap();
    let policy = Policy {
        source: Source::Cluster,
        refreshing: Refreshing::Auto,
        require_record: false,
        namespace: None,
    };
    let survey = survey(&stream, &profile, &policy, None);
    assert_eq!(
        survey.questions().workloads,
        [key("new"), key("old")].into()
    );

    let mut facts = looked_up_in(true);
    facts.objects = [
        (key("old"), Answer::NotFound),
        (key("new"), Answer::NotFound),
    ]
    .into();
    let guessed = survey.decide(&facts).unwrap_err();
    assert!(guessed.to_string().contains("only a guess"), "{guessed}");

    let live = serde_json::json!({"kind": "Deployment", "metadata": {"name": "old"}});
    let found = Answer::Found(LiveObject::from_json(&live));
    facts.objects.insert(key("old"), found);
    let verdict = survey.decide(&facts).unwrap();
    let reasons = verdict.decisions.iter().map(|decision| decision.reason);
    assert!(reasons.eq([Reason::NothingToKeep; 2]));

    facts.failure = Some("no answer".to_owned());
    let verdict = survey.decide(&facts).unwrap();
    assert_eq!(verdict.decisions[0].reason, Reason::LookupFailed);
    assert_eq!(verdict.decisions[1].warnings, ["no answer"]);
}
