//! Asks for the past pod templates of workloads.

use std::sync::Arc;

use kube::core::params::ListParams;
use serde_json::Value;
use tokio::task::JoinSet;

use super::answer::Reply;
use super::asker::{Asker, Outcome, another};
use super::fault::Fault;
use super::request::{PAGE, Wanted};
use super::resource::Served;
use super::rule::Rule;
use crate::policy::{Answer, HistoryQuestion, HistoryQuestions, LiveObject, Revision};

/// What a page of a list holds of one workload's history, and where the list goes on.
struct Page {
    revisions: Vec<Revision>,
    next: Option<String>,
}

impl Asker {
    /// All histories at once.
    pub(super) async fn ask_histories(
        self: Arc<Self>,
        questions: HistoryQuestions,
    ) -> Vec<Outcome<Vec<Revision>>> {
        let mut tasks = JoinSet::new();
        for (key, question) in questions {
            let asker = Arc::clone(&self);
            tasks.spawn(async move {
                let rule = Rule::revisions_in(question.kind, &question.namespace);
                let answer = asker.history(&question).await;
                (key, answer.map_err(|fault| (rule, fault)))
            });
        }
        tasks.join_all().await
    }

    /// Page after page. A list that has expired meanwhile (410, once etcd is compacted) begins anew,
    /// once.
    async fn history(&self, question: &HistoryQuestion) -> Result<Answer<Vec<Revision>>, Fault> {
        let mut revisions = Vec::new();
        let (mut next, mut anew) = (None, false);
        loop {
            match self.page(question, next.as_deref()).await {
                Ok(Some(page)) => {
                    revisions.extend(page.revisions);
                    next = page.next;
                    if next.is_none() {
                        return Ok(Answer::Found(revisions));
                    }
                }
                Ok(None) => return Ok(Answer::NotFound),
                Err(Fault::Status { status: 410, .. }) if next.is_some() && !anew => {
                    revisions.clear();
                    (next, anew) = (None, true);
                }
                Err(fault) => return Err(fault),
            }
        }
    }

    /// One page; None where there is no such collection.
    async fn page(
        &self,
        question: &HistoryQuestion,
        next: Option<&str>,
    ) -> Result<Option<Page>, Fault> {
        let served = Served::revisions(question.kind);
        let Some(path) = served.collection(&question.namespace) else {
            return Ok(None);
        };
        let params = ListParams {
            label_selector: question.selector.clone(),
            limit: Some(PAGE),
            continue_token: next.map(str::to_owned),
            ..ListParams::default()
        };
        let (kind, owner) = (question.kind.kind(), question.owner.clone());
        let read = move |list: Value| {
            if served.is_list(&list) {
                Ok(page(list, kind, &owner))
            } else {
                Err(another(&LiveObject::from_json(&list).key))
            }
        };
        match self.session.get(&Wanted::Many(path, params), read).await? {
            Reply::Found(page) => page.map(Some),
            Reply::NotFound => Ok(None),
            Reply::NothingThere => Err(Fault::nothing_there()),
        }
    }
}

/// Reads a page: what `owner` owns, since a selector may also match what others do.
fn page(mut list: Value, kind: &str, owner: &str) -> Page {
    let next = list["metadata"]["continue"].as_str();
    let next = next.filter(|token| !token.is_empty()).map(str::to_owned);
    let mut revisions = Vec::new();
    for item in list["items"].as_array_mut().into_iter().flatten() {
        let owners = item["metadata"]["ownerReferences"].as_array();
        if owners
            .into_iter()
            .flatten()
            .any(|reference| reference["uid"] == *owner)
        {
            // The API server leaves it out in a list of one kind.
            item["kind"] = kind.into();
            revisions.push(Revision::from_json(item));
        }
    }
    Page { revisions, next }
}
