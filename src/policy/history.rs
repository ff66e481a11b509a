//! Which past pod templates to ask for, once the answers to the first questions are known: only where a
//! decision hangs on them, since most renders are decided by the record alone (design.md section 5,
//! "Applied").

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::facts::{Facts, LiveObject};
use super::survey::{OpenSite, Survey};
use crate::manifest::ObjectKey;

/// The objects that hold a workload's past pod templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RevisionKind {
    /// Of a Deployment.
    ReplicaSet,
    /// Of a DaemonSet or a StatefulSet.
    ControllerRevision,
}

impl RevisionKind {
    /// The kind that holds the past templates of `workload`; None for what keeps none, such as a Pod.
    #[must_use]
    pub fn of(workload: &ObjectKey) -> Option<Self> {
        match (workload.group(), workload.kind.as_str()) {
            ("apps", "Deployment") => Some(Self::ReplicaSet),
            ("apps", "DaemonSet" | "StatefulSet") => Some(Self::ControllerRevision),
            _ => None,
        }
    }

    /// The `kind` of these objects.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Self::ReplicaSet => "ReplicaSet",
            Self::ControllerRevision => "ControllerRevision",
        }
    }
}

/// The history of one workload, to be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryQuestion {
    /// What holds it.
    pub kind: RevisionKind,
    /// The workload's namespace.
    pub namespace: String,
    /// The workload's uid: what another object of the same name left behind is not its history.
    pub owner: String,
    /// The workload's selector, which its past templates match; None where it cannot be written as a
    /// text.
    pub selector: Option<String>,
}

/// What to ask in a second round, by the key under which the answer is looked up.
pub type HistoryQuestions = BTreeMap<ObjectKey, HistoryQuestion>;

impl Survey<'_> {
    /// What to ask after [`Survey::questions`] are answered and before [`Survey::decide`]: the histories
    /// of the workloads whose record does not say whether it was applied, where that would make
    /// another decision. Empty where `decide` fails anyway.
    #[must_use]
    pub fn further_questions(&self, facts: &Facts) -> HistoryQuestions {
        let mut questions = HistoryQuestions::new();
        if facts.failure.is_some() || self.check(facts, &mut Vec::new()).is_err() {
            return questions;
        }
        for open in &self.open {
            let is_there = facts.object(&open.document.object).found().is_some();
            if !is_there || !Case::new(self, open, facts).hangs_on_history() {
                continue;
            }
            for key in keepers(open) {
                let live = facts.object(key).found();
                if let Some(question) = live.and_then(question) {
                    questions.insert(key.clone(), question);
                }
            }
        }
        questions
    }

    /// The kinds of which [`Survey::further_questions`] could ask for, and their namespaces, as far as
    /// the stream tells: whether a record says that it was applied stands in the record alone.
    #[must_use]
    pub fn possible_histories(&self) -> BTreeSet<(Option<&str>, RevisionKind)> {
        let keys = self.open.iter().flat_map(keepers);
        keys.filter_map(|key| Some((key.namespace.as_deref(), RevisionKind::of(key)?)))
            .collect()
    }
}

/// The objects whose histories tell of a site: its workload, and the record Deployment, which speaks for
/// templates without the tag variable. None where the workload keeps no history.
fn keepers<'o>(open: &'o OpenSite<'_>) -> impl Iterator<Item = &'o ObjectKey> {
    let workload = &open.document.object;
    let both = RevisionKind::of(workload).map(|_| [workload, &open.record]);
    both.into_iter().flatten()
}

fn question(live: &LiveObject) -> Option<HistoryQuestion> {
    Some(HistoryQuestion {
        kind: RevisionKind::of(&live.key)?,
        namespace: live.key.namespace.clone()?,
        owner: live.uid.clone()?,
        selector: live.selector.clone(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::manifest::{self, Breadth, Stream};
    use crate::policy::{Answer, Policy, Profile, Refreshing, Source, survey};

    const DIGEST: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000001";

    /// A refreshed image in a workload of `kind`, beside the record Deployment of the release.
    fn stream(kind: &str) -> String {
        let object = |api: &str, kind: &str, name: &str, component: &str, spec: Value| {
            let labels = json!({"app.kubernetes.io/instance": "demo", "app.kubernetes.io/component": component});
            let metadata = json!({"name": name, "namespace": "prod", "labels": labels});
            json!({"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec}).to_string()
        };
        let pod = |image: &str| json!({"containers": [{"name": "api", "image": image}]});
        let managed = pod("tracebloc/jobs-manager:prod");
        let workload = match kind {
            "Pod" => object("v1", kind, "w", "w", managed),
            _ => {
                let template = json!({"template": {"spec": managed}});
                object("apps/v1", kind, "w", "w", template)
            }
        };
        let record = json!({"template": {"spec": pod("busybox")}});
        let job = json!({"jobTemplate": {"spec": {"template": {"spec": pod("refresher")}}}});
        [
            workload,
            object("apps/v1", "Deployment", "demo-jobs-manager", "m", record),
            object("batch/v1", "CronJob", "r", "image-refresh", job),
        ]
        .join("\n---\n")
    }

    /// All that the survey asks for, as a cluster has it: the record with `annotations`, and the
    /// workload running `image`.
    fn facts(survey: &Survey<'_>, image: &str, annotations: &Value) -> Facts {
        let mut facts = Facts::default();
        for key in survey.questions().objects() {
            let object = json!({
                "apiVersion": key.api_version, "kind": key.kind,
                "metadata": {"name": key.name, "namespace": key.namespace, "uid": format!("of {}", key.name),
                    "annotations": annotations},
                "spec": {"selector": {"matchLabels": {"app": key.name}},
                    "template": {"spec": {"containers": [{"name": "api", "image": image}]}}},
            });
            let live = Answer::Found(LiveObject::from_json(&object));
            facts.objects.insert(key.clone(), live);
        }
        facts
    }

    fn asked(kind: &str, change: impl FnOnce(&mut Facts), annotations: &Value) -> Vec<String> {
        let profile = Profile::default();
        let text = stream(kind);
        let stream: Stream<'_> =
            manifest::scan(text.as_bytes(), &profile.needles(), Breadth::All).unwrap();
        let policy = Policy {
            source: Source::Cluster,
            refreshing: Refreshing::Auto,
            require_record: false,
            namespace: None,
        };
        let survey = survey(&stream, &profile, &policy, None);
        assert_eq!(survey.open.len(), 1);
        let mut facts = facts(&survey, "tracebloc/jobs-manager:prod", annotations);
        change(&mut facts);
        let questions = survey.further_questions(&facts);
        questions
            .values()
            .map(|question| {
                let HistoryQuestion {
                    kind,
                    namespace,
                    owner,
                    selector,
                } = question;
                let selector = selector.as_deref().unwrap_or_default();
                format!("{} {namespace} {owner} {selector}", kind.kind())
            })
            .collect()
    }

    fn digest() -> Value {
        json!({"tracebloc.io/last-refreshed-jobs-manager-digest": DIGEST})
    }

    #[test]
    fn a_record_without_a_state_leaves_it_to_the_histories_of_workload_and_record() {
        let record = "ReplicaSet prod of demo-jobs-manager app=demo-jobs-manager";
        for (kind, revisions) in [
            ("Deployment", "ReplicaSet"),
            ("DaemonSet", "ControllerRevision"),
            ("StatefulSet", "ControllerRevision"),
        ] {
            let asked: BTreeSet<_> = asked(kind, |_| (), &digest()).into_iter().collect();
            let expected = [format!("{revisions} prod of w app=w"), record.to_owned()];
            assert_eq!(asked, BTreeSet::from(expected));
        }
    }

    #[test]
    fn what_keeps_no_history_is_asked_for_none() {
        assert!(asked("Pod", |_| (), &digest()).is_empty());
    }

    #[test]
    fn nothing_is_asked_for_where_no_decision_hangs_on_it() {
        let mut stated = digest();
        stated["tracebloc.io/last-refreshed-jobs-manager-state"] =
            format!("observed@{DIGEST}").into();
        for annotations in [stated, json!({}), json!({"a": "b"})] {
            assert!(asked("Deployment", |_| (), &annotations).is_empty());
        }
        let running = |facts: &mut Facts| {
            for answer in facts.objects.values_mut() {
                if let Answer::Found(live) = answer {
                    for container in &mut live.containers {
                        container.image = format!("tracebloc/jobs-manager@{DIGEST}");
                    }
                }
            }
        };
        assert!(asked("Deployment", running, &digest()).is_empty());
    }

    #[test]
    fn nothing_is_asked_for_where_the_run_fails_or_the_workload_is_gone() {
        let failed = |facts: &mut Facts| facts.failure = Some("forbidden".to_owned());
        assert!(asked("Deployment", failed, &digest()).is_empty());
        let mut foreign = digest();
        foreign["meta.helm.sh/release-name"] = "other".into();
        assert!(asked("Deployment", |_| (), &foreign).is_empty());
        let gone = |facts: &mut Facts| {
            for (key, answer) in &mut facts.objects {
                if key.name == "w" {
                    *answer = Answer::NotFound;
                }
            }
        };
        assert!(asked("Deployment", gone, &digest()).is_empty());
    }
}
