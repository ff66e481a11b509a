//! The second round trip: which histories are asked for, and what becomes of the answers.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Barrier};

use belay::cluster::LookupErrorKind;
use belay::manifest::ObjectKey;
use belay::policy::{Answer, HistoryQuestion, RevisionKind};
use serde_json::{Value, json};

use crate::run::{LONG, RECORD_PATH, Run, SHORT, config, good, key, record};
use crate::saved::SavedApiServer;
use crate::server::{Act, FaultyApiServer, Seen};
use crate::support::{self, Sandbox, testdata};

const LIST: &str = "/apis/apps/v1/namespaces/team/replicasets";

fn question(kind: RevisionKind) -> HistoryQuestion {
    HistoryQuestion {
        kind,
        namespace: "team".to_owned(),
        owner: "uid-1".to_owned(),
        selector: Some("app=a,tier in (x,y)".to_owned()),
    }
}

/// A lookup that asks for the record, then for its history.
fn run(server: &FaultyApiServer) -> Run {
    let mut run = Run::of(server, LONG);
    run.histories
        .insert(record(), question(RevisionKind::ReplicaSet));
    run
}

fn revision(owner: &str, image: &str) -> Value {
    let template = json!({"spec": {"containers": [{"name": "api", "image": image}]}});
    json!({
        "metadata": {"ownerReferences": [{"kind": "Deployment", "name": "x", "uid": owner}]},
        "spec": {"template": template.clone()},
        "data": {"spec": {"template": template}},
    })
}

fn list(kind: &str, items: &[Value], next: &str) -> Act {
    let kind = format!("{kind}List");
    let metadata = json!({"resourceVersion": "7", "continue": next});
    let list = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "items": items});
    Act::json(200, &list)
}

fn images(answer: &Answer<Vec<belay::policy::Revision>>) -> Vec<&str> {
    let revisions = answer.found().expect("a history").iter();
    revisions
        .flat_map(|revision| &revision.containers)
        .map(|container| container.image.as_str())
        .collect()
}

/// A fake that has the record, and answers all else by `act`, with the number of those before.
fn after_the_record(act: impl Fn(&Seen, usize) -> Act + Send + Sync + 'static) -> FaultyApiServer {
    FaultyApiServer::start(move |request, before| {
        if request.path == RECORD_PATH {
            good()
        } else {
            act(request, before - 1)
        }
    })
}

#[test]
fn a_history_is_what_the_workload_itself_owns() {
    let others = after_the_record(|_, _| {
        let items = [revision("uid-1", "a"), revision("uid-2", "b"), json!({})];
        list("ReplicaSet", &items, "")
    });
    let facts = run(&others).run().unwrap();
    assert_eq!(images(facts.history(&record())), ["a"]);
    let path = &others.seen()[1].path;
    let (collection, query) = path.split_once('?').unwrap();
    assert_eq!(collection, LIST);
    for part in ["labelSelector=app%3Da%2Ctier+in+%28x%2Cy%29", "limit=25"] {
        assert!(query.contains(part), "{query}");
    }
}

#[test]
fn a_daemon_set_s_templates_are_in_controller_revisions() {
    let server = after_the_record(|_, _| list("ControllerRevision", &[revision("uid-1", "a")], ""));
    let mut run = Run::of(&server, LONG);
    run.histories
        .insert(record(), question(RevisionKind::ControllerRevision));
    let facts = run.run().unwrap();
    assert_eq!(images(facts.history(&record())), ["a"]);
    let path = &server.seen()[1].path;
    assert!(path.contains("/team/controllerrevisions?"), "{path}");
}

#[test]
fn a_long_list_is_read_page_by_page() {
    let server = after_the_record(|request, _| {
        match request.path.rsplit_once("continue=").map(|(_, at)| at) {
            None => list("ReplicaSet", &[revision("uid-1", "a")], "to b"),
            Some("to+b") => list("ReplicaSet", &[], "c"),
            _ => list("ReplicaSet", &[revision("uid-1", "c")], ""),
        }
    });
    let facts = run(&server).run().unwrap();
    assert_eq!(images(facts.history(&record())), ["a", "c"]);
    assert_eq!(server.seen().len(), 4);
}

#[test]
fn a_list_that_expires_meanwhile_begins_anew_once() {
    let expired = || Act::status(410, "Expired", "too old");
    let server = after_the_record(move |_, before| match before {
        0 => list("ReplicaSet", &[revision("uid-1", "a")], "b"),
        1 => expired(),
        _ => list("ReplicaSet", &[revision("uid-1", "b")], ""),
    });
    let facts = run(&server).run().unwrap();
    assert_eq!(images(facts.history(&record())), ["b"]);

    let server = after_the_record(move |_, before| match before % 2 {
        0 => list("ReplicaSet", &[], "b"),
        _ => expired(),
    });
    let (kind, text) = run(&server).fail();
    assert_eq!(kind, LookupErrorKind::Unreachable);
    assert!(text.contains("410"), "{text}");
    assert_eq!(server.seen().len(), 5);
}

#[test]
fn all_histories_are_asked_for_at_once_and_after_all_objects() {
    let all = Arc::new(Barrier::new(2));
    let server = after_the_record(move |request, _| {
        // Nobody is answered before everybody has asked.
        all.wait();
        let controlled = request.path.contains("/controllerrevisions?");
        let kind = match controlled {
            true => "ControllerRevision",
            false => "ReplicaSet",
        };
        list(kind, &[], "")
    });
    let mut run = run(&server);
    let agent = key("apps/v1", "DaemonSet", Some("team"), "agent");
    let question = question(RevisionKind::ControllerRevision);
    run.histories.insert(agent.clone(), question);
    let facts = run.run().unwrap();
    for key in [record(), agent] {
        assert_eq!(*facts.history(&key), Answer::Found(Vec::new()));
    }
    assert_eq!(server.seen()[0].path, RECORD_PATH);
}

#[test]
fn a_cluster_without_such_objects_has_no_history() {
    let server = after_the_record(|_, _| Act::not_found());
    let facts = run(&server).run().unwrap();
    assert_eq!(*facts.history(&record()), Answer::NotFound);
}

#[test]
fn a_list_that_is_forbidden_names_its_rule() {
    let server = after_the_record(|_, _| Act::status(403, "Forbidden", "no"));
    let (kind, text) = run(&server).fail();
    assert_eq!(kind, LookupErrorKind::Denied);
    let rule =
        r#"{apiGroups: ["apps"], resources: ["replicasets"], verbs: ["list"]} in namespace `team`"#;
    assert!(text.contains(rule), "{text}");
    assert!(text.contains("belay rbac"), "{text}");
}

#[test]
fn what_passes_is_tried_again_for_lists_too() {
    let faults: [fn() -> Act; 3] = [
        || Act::html(503),
        || Act::status(429, "TooManyRequests", "later"),
        || Act::Cut(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"kind\":".to_vec()),
    ];
    for fault in faults {
        let server = after_the_record(move |_, before| match before {
            0 => fault(),
            _ => list("ReplicaSet", &[revision("uid-1", "a")], ""),
        });
        let facts = run(&server).run().unwrap();
        assert_eq!(images(facts.history(&record())), ["a"]);
    }
}

#[test]
fn a_history_that_does_not_come_ends_inside_the_time_limit() {
    let endless: fn() -> Act = || list("ReplicaSet", &[revision("uid-1", "a")], "on");
    for act in [endless, || Act::Stall(Vec::new())] {
        let server = after_the_record(move |_, _| act());
        let mut run = run(&server);
        run.connection.timeout = SHORT;
        let (kind, text) = run.fail();
        assert_eq!(kind, LookupErrorKind::Unreachable);
        let asked = "the history of Deployment demo-jobs-manager";
        assert!(text.contains(asked), "{text}");
    }
}

#[test]
fn another_answer_than_the_list_is_no_history() {
    let deployments = || list("Deployment", &[], "");
    let answers: [(fn() -> Act, LookupErrorKind); 4] = [
        (|| Act::json(200, &json!({})), LookupErrorKind::Unreachable),
        (good, LookupErrorKind::Contradiction),
        (deployments, LookupErrorKind::Unreachable),
        (|| Act::html(404), LookupErrorKind::Unreachable),
    ];
    for (answer, expected) in answers {
        let server = after_the_record(move |_, _| answer());
        let (kind, text) = run(&server).fail();
        assert_eq!(kind, expected, "{text}");
        assert!(text.contains("the history of"), "{text}");
    }
}

/// A case of testdata/cases with its record in a cluster: what belay wrote, and what it listed.
fn by_cluster(case: &str, forbid_lists: bool, args: &[&str]) -> (support::Run, Vec<String>) {
    let folder = testdata("cases").join(case);
    let input = fs::read(folder.join("input.yaml")).unwrap();
    let record = fs::read(folder.join("record.yaml")).unwrap();
    let server = SavedApiServer::start(&[&record, &input], forbid_lists);
    let sandbox = Sandbox::new();
    let kubeconfig = sandbox.path().join("config");
    let cluster = json!({"server": format!("http://127.0.0.1:{}", server.port)});
    fs::write(&kubeconfig, config(cluster, json!({"token": "x"}))).unwrap();
    let mut command = sandbox.belay();
    command.env("KUBECONFIG", kubeconfig).args(args);
    let run = support::run(&mut command, &input);
    let seen = server.seen().into_iter().map(|seen| seen.path);
    (run, seen.filter(|path| path.contains('?')).collect())
}

/// The cases where a record without a state leaves the decision to the history, by whether there is one.
fn cases() -> BTreeMap<String, bool> {
    let folders = fs::read_dir(testdata("cases")).unwrap();
    let names = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names = names.filter(|name| name.starts_with("def-applied-"));
    names
        .map(|name| {
            let stated = ["state-before", "state-observed"];
            let asked = !stated.iter().any(|it| name.contains(it));
            (name, asked)
        })
        .collect()
}

#[test]
fn the_cluster_decides_as_its_saved_objects_do_and_lists_only_where_that_matters() {
    let cases = cases();
    assert!(cases.len() > 20);
    for (case, asked) in cases {
        let (run, lists) = by_cluster(&case, false, &["--namespace=prod"]);
        assert_eq!(run.exit, Some(0), "{case}: {}", run.stderr);
        let expected = fs::read(testdata("cases").join(&case).join("expected.yaml")).unwrap();
        assert_eq!(
            String::from_utf8(run.stdout).unwrap(),
            String::from_utf8(expected).unwrap(),
            "{case}"
        );
        assert_eq!(!lists.is_empty(), asked, "{case}: {lists:?}");
    }
}

#[test]
fn a_forbidden_history_is_77_or_leaves_the_tags() {
    let case = "def-applied-controller-revision-daemon-set";
    let (run, _) = by_cluster(case, true, &[]);
    assert_eq!(run.exit, Some(77), "{}", run.stderr);
    assert!(run.stdout.is_empty());
    for part in ["controllerrevisions", "replicasets", "verbs: [\"list\"]"] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    let (run, _) = by_cluster(case, true, &["--on-lookup-error=leave"]);
    assert_eq!(run.exit, Some(0), "{}", run.stderr);
    let input = fs::read(testdata("cases").join(case).join("input.yaml")).unwrap();
    assert_eq!(run.stdout, input);
}

#[test]
fn another_release_s_record_stops_before_its_history_is_asked_for() {
    let (run, lists) = by_cluster("def-applied-replica-set", false, &["--namespace=other"]);
    assert_eq!(run.exit, Some(76), "{}", run.stderr);
    assert!(lists.is_empty(), "{lists:?}");
}

/// Keys are those of the questions, as for objects.
#[test]
fn a_history_stands_under_the_key_of_its_question() {
    let server = after_the_record(|_, _| list("ReplicaSet", &[], ""));
    let facts = run(&server).run().unwrap();
    let asked: Vec<&ObjectKey> = facts.histories.keys().collect();
    assert_eq!(asked, [&record()]);
}
