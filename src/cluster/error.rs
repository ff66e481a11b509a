//! Why the cluster could not be asked. Each message is one sentence that can be acted upon: what
//! failed, at which object and server, what to do next. A cause is part of the sentence and not a
//! `source`, so that printing the chain repeats nothing.

use std::path::PathBuf;
use std::time::Duration;

use super::rule::Rule;

/// What sort of failure: `cli` maps each to one exit code (design.md section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupErrorKind {
    /// The cluster was not reached in time, or answered nothing that can be used (69).
    Unreachable,
    /// The cluster refused (77).
    Denied,
    /// Helm's own command line names another cluster or namespace, or the server answered with another
    /// object (76).
    Contradiction,
    /// The manifests name what cannot exist (65).
    Manifest,
    /// What belay was told about the cluster cannot be right (78).
    Configuration,
}

/// Why a lookup failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// No connection, or a cut one, or no answer in time.
    #[error(
        "no answer from {server} about {asked} within {timeout:?} ({cause}): check the network and --context, raise --timeout, or do without the cluster (--no-cluster)"
    )]
    Unanswered {
        /// The API server.
        server: String,
        /// The objects.
        asked: String,
        /// How long it was tried.
        timeout: Duration,
        /// What was seen last.
        cause: String,
    },
    /// The API server is up and cannot serve.
    #[error(
        "{server} answered {status} about {asked} ({cause}): try again later, raise --timeout, or do without the cluster (--no-cluster)"
    )]
    Failing {
        /// The API server.
        server: String,
        /// The objects.
        asked: String,
        /// The HTTP status.
        status: u16,
        /// The server's words.
        cause: String,
    },
    /// Something answered, but no API server.
    #[error(
        "{server} answered about {asked} with {answer}, which is no Kubernetes object: check the server's address and whether a proxy stands in between (HTTPS_PROXY, NO_PROXY)"
    )]
    NotKubernetes {
        /// The API server.
        server: String,
        /// The objects.
        asked: String,
        /// What came.
        answer: String,
    },
    /// The API server, or something in between, answered with another object.
    #[error(
        "{server} answered about {asked} with {answer}: check the server's address and whether a proxy stands in between (HTTPS_PROXY, NO_PROXY)"
    )]
    AnotherObject {
        /// The API server.
        server: String,
        /// The objects.
        asked: String,
        /// The object that came.
        answer: String,
    },
    /// A manifest names an object that cannot exist.
    #[error(
        "the manifests name {object}, whose {part} no cluster can have: mend the manifests, or do without the cluster (--no-cluster)"
    )]
    NoSuchName {
        /// The object.
        object: String,
        /// `namespace` or `name`.
        part: &'static str,
    },
    /// The credential plugin did not end.
    #[error(
        "the credential plugin `{command}` did not end within {timeout:?}{}: run it by hand to see what it waits for, or raise --timeout",
        last_words(said.as_deref())
    )]
    PluginHangs {
        /// Its command.
        command: String,
        /// How long it had.
        timeout: Duration,
        /// The last line that it wrote to stderr.
        said: Option<String>,
    },
    /// The machinery for asking could not be started.
    #[error("requests could not be started ({cause}): try again")]
    NotStarted {
        /// Why.
        cause: String,
    },
    /// 401.
    #[error(
        "{server} does not accept the credentials for {asked} (401): log in again, or name others with --context or --kubeconfig"
    )]
    Unauthorized {
        /// The API server.
        server: String,
        /// The objects.
        asked: String,
    },
    /// 403.
    #[error(
        "{server} forbids {} to read what the pins are decided from: add to a Role {}, or apply what belay rbac prints",
        who.as_deref().unwrap_or("this user"),
        list(rules)
    )]
    Forbidden {
        /// The API server.
        server: String,
        /// Who was refused, where the server says so.
        who: Option<String>,
        /// The missing rules.
        rules: Vec<Rule>,
    },
    /// The credential plugin gave no credentials.
    #[error("the credential plugin `{command}` failed ({cause}): log in again, or run it by hand")]
    PluginFailed {
        /// Its command.
        command: String,
        /// What it said.
        cause: String,
    },
    /// Helm's command line contradicts what would be asked.
    #[error("helm runs with {helm}, but belay would ask {belay}: {remedy}")]
    HelmContradicts {
        /// Helm's option.
        helm: String,
        /// What is in use.
        belay: String,
        /// What to change.
        remedy: String,
    },
    /// In Argo CD's plugin sidecar, the nearest cluster is Argo CD's own.
    #[error(
        "this is Argo CD's plugin sidecar (ARGOCD_APP_NAME is `{app}`), whose own cluster need not be the application's: name the cluster with --context, or give the record with --record"
    )]
    ArgoCd {
        /// The application.
        app: String,
    },
    /// There is no cluster.
    #[error(
        "there is no kubeconfig and this is no Pod: name one with --kubeconfig or KUBECONFIG, or do without the cluster (--no-cluster)"
    )]
    NoCluster,
    /// A kubeconfig cannot be read.
    #[error("the kubeconfig {} cannot be used ({cause}): mend it, or name another with --kubeconfig", .path.display())]
    Kubeconfig {
        /// Its path.
        path: PathBuf,
        /// Why.
        cause: String,
    },
    /// There is no such context.
    #[error("there is no context `{context}` in {files}: {}", known(contexts))]
    NoSuchContext {
        /// The context.
        context: String,
        /// The kubeconfig.
        files: String,
        /// The contexts that there are.
        contexts: Vec<String>,
    },
    /// No context was chosen.
    #[error("{files} {}", unchosen(contexts))]
    NoCurrentContext {
        /// The kubeconfig.
        files: String,
        /// The contexts that there are.
        contexts: Vec<String>,
    },
    /// What the kubeconfig or the environment says of the connection cannot be used.
    #[error("{what} cannot be used ({cause}): {remedy}")]
    Unusable {
        /// The part of the configuration.
        what: String,
        /// Why.
        cause: String,
        /// What to do.
        remedy: String,
    },
    /// The server's certificate, or its TLS at all, is not to be trusted.
    #[error(
        "{server} cannot be trusted ({cause}): check the cluster's certificate authority in the kubeconfig (or HELM_KUBECAFILE) and the server's certificate"
    )]
    Tls {
        /// The API server.
        server: String,
        /// Why.
        cause: String,
    },
    /// The credential plugin wants a terminal.
    #[error(
        "the credential plugin `{command}` always wants a terminal (interactiveMode: Always), which a post-renderer has not: use a context with other credentials"
    )]
    PluginInteractive {
        /// Its command.
        command: String,
    },
}

impl LookupError {
    /// What sort of failure this is.
    #[must_use]
    pub fn kind(&self) -> LookupErrorKind {
        match self {
            Self::Unanswered { .. }
            | Self::Failing { .. }
            | Self::NotKubernetes { .. }
            | Self::PluginHangs { .. }
            | Self::NotStarted { .. } => LookupErrorKind::Unreachable,
            Self::Unauthorized { .. } | Self::Forbidden { .. } | Self::PluginFailed { .. } => {
                LookupErrorKind::Denied
            }
            Self::HelmContradicts { .. } | Self::AnotherObject { .. } => {
                LookupErrorKind::Contradiction
            }
            Self::NoSuchName { .. } => LookupErrorKind::Manifest,
            Self::ArgoCd { .. }
            | Self::NoCluster
            | Self::Kubeconfig { .. }
            | Self::NoSuchContext { .. }
            | Self::NoCurrentContext { .. }
            | Self::Unusable { .. }
            | Self::Tls { .. }
            | Self::PluginInteractive { .. } => LookupErrorKind::Configuration,
        }
    }
}

fn list(rules: &[Rule]) -> String {
    let rules: Vec<_> = rules.iter().map(ToString::to_string).collect();
    rules.join(", and ")
}

fn last_words(said: Option<&str>) -> String {
    said.map_or_else(String::new, |said| format!(", and said last `{said}`"))
}

fn unchosen(contexts: &[String]) -> String {
    if contexts.is_empty() {
        return "has no context: name another file with --kubeconfig, or do without the cluster \
                (--no-cluster)"
            .to_owned();
    }
    format!(
        "has no current context: name one with --context; {}",
        known(contexts)
    )
}

fn known(contexts: &[String]) -> String {
    if contexts.is_empty() {
        return "it has none".to_owned();
    }
    format!("there are `{}`", contexts.join("`, `"))
}
