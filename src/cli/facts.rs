//! Where answers come from: the cluster, record files, or nowhere.

use super::args::{ClusterArgs, DecideArgs, OnTrouble};
use super::record_file;
use crate::cluster::{self, Connection, Environment, HelmCommandLine, LookupErrorKind};
use crate::policy::{
    Facts, Namespaces, Profile, Questions, RecordHint, SavedObjects, Source, Survey,
};

/// The source of answers, ready to be asked.
pub(super) enum Answers {
    Cluster,
    File(SavedObjects),
    Nowhere,
}

impl Answers {
    /// Chooses by the options; record files are read now, so that a wrong one is told whatever the
    /// stream holds.
    pub(super) fn open(args: &DecideArgs) -> anyhow::Result<Self> {
        Ok(if !args.record.record.is_empty() {
            Self::File(record_file::load(&args.record.record)?)
        } else if args.record.no_cluster {
            Self::Nowhere
        } else {
            Self::Cluster
        })
    }

    pub(super) fn source(&self) -> Source {
        match self {
            Self::Cluster => Source::Cluster,
            Self::File(_) => Source::File,
            Self::Nowhere => Source::Nowhere,
        }
    }

    /// The record that names the release of sites which do not.
    pub(super) fn hint(&self, profile: &Profile) -> Option<RecordHint> {
        match self {
            Self::File(saved) => saved.hint(profile),
            Self::Cluster | Self::Nowhere => None,
        }
    }

    /// Asks what `survey` leaves open.
    pub(super) fn answer(
        &self,
        survey: &Survey<'_>,
        profile: &Profile,
        args: &DecideArgs,
    ) -> anyhow::Result<Facts> {
        let questions = &survey.questions();
        if questions.is_empty() {
            return Ok(Facts::default());
        }
        match self {
            Self::Nowhere => Ok(Facts::default()),
            Self::File(saved) => {
                let environment = environment();
                let namespaces = Namespaces {
                    given: args.cluster.namespace.as_deref(),
                    likely: environment.helm.namespace.as_deref(),
                };
                let mut facts = saved.answer(questions, profile, namespaces)?;
                facts.notes.extend(stale_namespace(questions, &environment));
                Ok(facts)
            }
            Self::Cluster => ask(survey, questions, args),
        }
    }
}

fn environment() -> Environment {
    Environment::read(|name| std::env::var_os(name))
}

/// Asks the cluster. Where `--on-lookup-error=leave`, not being able to is a fact like others; a wrong
/// place or a wrong configuration always stops.
fn ask(survey: &Survey<'_>, questions: &Questions, args: &DecideArgs) -> anyhow::Result<Facts> {
    let ClusterArgs {
        namespace,
        context,
        kubeconfig,
        as_user,
        as_groups,
        timeout,
        on_lookup_error,
    } = &args.cluster;
    let connection = Connection {
        kubeconfig: kubeconfig.clone(),
        context: context.clone(),
        as_user: as_user.clone(),
        as_groups: as_groups.clone(),
        namespace: namespace.clone(),
        timeout: *timeout,
    };
    let environment = environment();
    let further = |facts: &Facts| survey.further_questions(facts);
    match cluster::lookup(
        questions,
        further,
        &connection,
        &environment,
        HelmCommandLine::find,
    ) {
        Ok(mut facts) => {
            facts.notes.extend(stale_namespace(questions, &environment));
            Ok(facts)
        }
        Err(error) => match error.kind() {
            LookupErrorKind::Unreachable | LookupErrorKind::Denied
                if *on_lookup_error == OnTrouble::Leave =>
            {
                Ok(Facts {
                    failure: Some(error.to_string()),
                    ..Facts::default()
                })
            }
            _ => Err(error.into()),
        },
    }
}

/// `HELM_NAMESPACE` may be left over from another command (helm-contract.md section 1.3), so it never
/// beats a manifest; where they differ somebody may want to know.
fn stale_namespace(questions: &Questions, environment: &Environment) -> Option<String> {
    let exported = environment.helm.namespace.as_deref()?;
    let record = questions.records.iter().find(|record| {
        let rendered = record.namespace.as_deref();
        rendered.is_some_and(|rendered| rendered != exported)
    })?;
    Some(format!(
        "HELM_NAMESPACE is `{exported}`, but the manifests place {record}"
    ))
}
