//! Which cluster: options, then Helm's variables, then the kubeconfig, then the Pod's own cluster.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kube::config::{AuthInfo, Cluster};

use super::address::without_credentials;
use super::environment::{Environment, HelmEnvironment};
use super::error::LookupError;
use super::kubeconfig::{self, Chosen};
use super::local;

/// The options that say which cluster and who asks, named as kubectl names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// `--kubeconfig`: one file, instead of `KUBECONFIG`.
    pub kubeconfig: Option<PathBuf>,
    /// `--context`.
    pub context: Option<String>,
    /// `--as`.
    pub as_user: Option<String>,
    /// `--as-group`, repeatable.
    pub as_groups: Vec<String>,
    /// `--namespace`, where the user gave it: `HELM_NAMESPACE` is no substitute here.
    pub namespace: Option<String>,
    /// `--timeout`: for everything together, the credential plugin and all tries included. Helm
    /// itself sets its post-renderer no limit.
    pub timeout: Duration,
}

/// A cluster and who asks it, before anything is opened.
#[derive(Debug)]
pub struct Target {
    pub(super) cluster: Cluster,
    pub(super) user: AuthInfo,
    context: Option<String>,
    files: Vec<PathBuf>,
    namespace: Option<(String, String)>,
}

impl Target {
    /// Works out which cluster is meant. The order is Helm's own (`genericclioptions.ConfigFlags`):
    /// Helm's variables change what the context says, and a context is the explicit one, else
    /// `HELM_KUBECONTEXT`, else the current one. A kubeconfig that is a pipe is read until `deadline`.
    ///
    /// # Errors
    /// When there is no cluster, or not the one that was named, or when the nearest one is Argo
    /// CD's own: all of the kind [`Configuration`](super::LookupErrorKind::Configuration).
    pub fn find(
        connection: &Connection,
        environment: &Environment,
        deadline: Instant,
    ) -> Result<Self, LookupError> {
        let explicit = connection
            .context
            .as_deref()
            .filter(|name| !name.is_empty());
        if let (Some(app), None) = (&environment.argo_cd_app, explicit) {
            return Err(LookupError::ArgoCd { app: app.clone() });
        }
        let helm = &environment.helm;
        let context = explicit.or(helm.context.as_deref());
        let loaded = kubeconfig::load(connection.kubeconfig.as_deref(), environment, deadline)?;
        let mut target = match (loaded, context) {
            (Some(loaded), _) => match loaded.choose(context) {
                Ok(chosen) => Self::from_context(chosen, loaded.files),
                // client-go asks for no context where the server is named otherwise.
                Err(LookupError::NoCurrentContext { .. }) if helm.api_server.is_some() => {
                    Self::from_context(Chosen::default(), loaded.files)
                }
                Err(error) => return Err(error),
            },
            (None, Some(context)) => {
                return Err(LookupError::NoSuchContext {
                    context: context.to_owned(),
                    files: "any kubeconfig, since there is no file".to_owned(),
                    contexts: Vec::new(),
                });
            }
            (None, None) => match Self::of_the_pod(environment, deadline) {
                Some(target) => target,
                None if helm.api_server.is_some() => {
                    Self::from_context(Chosen::default(), Vec::new())
                }
                None => return Err(LookupError::NoCluster),
            },
        };
        target.apply(helm);
        target.impersonate(connection, helm)?;
        Ok(target)
    }

    /// The context that is in use; None in a Pod without a kubeconfig.
    #[must_use]
    pub fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }

    /// The kubeconfig files that are in use.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The API server's address as messages show it: without credentials.
    #[must_use]
    pub fn server(&self) -> String {
        without_credentials(self.cluster.server.as_deref().unwrap_or("(no server)"))
    }

    /// The namespace that the context or the Pod names, and which of them.
    pub(super) fn namespace(&self) -> Option<(&str, &str)> {
        let (name, source) = self.namespace.as_ref()?;
        Some((name, source))
    }

    fn from_context(chosen: Chosen, files: Vec<PathBuf>) -> Self {
        let source = match &chosen.context {
            Some(context) => format!("the kubeconfig's context `{context}`"),
            None => "the kubeconfig".to_owned(),
        };
        Self {
            cluster: chosen.cluster,
            user: chosen.user,
            context: chosen.context,
            files,
            namespace: chosen.namespace.map(|name| (name, source)),
        }
    }

    /// The Pod's own cluster, by the variables and files that Kubernetes gives each Pod. A Pod
    /// without a token is not meant to ask (client-go's `inClusterClientConfig.Possible`).
    fn of_the_pod(environment: &Environment, deadline: Instant) -> Option<Self> {
        let host = environment.service_host.as_ref()?;
        let port = environment.service_port.as_ref()?;
        let file = |name: &str| environment.service_account.join(name);
        if !file("token").is_file() {
            return None;
        }
        // IPv6 addresses come without the brackets that a URL wants.
        let host = if host.contains(':') {
            format!("[{host}]")
        } else {
            host.clone()
        };
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let namespace = local::text(&file("namespace"), deadline).unwrap_or_default();
        let namespace = namespace.trim();
        Some(Self {
            cluster: Cluster {
                server: Some(format!("https://{host}:{port}")),
                certificate_authority: Some(text(&file("ca.crt"))),
                ..Cluster::default()
            },
            user: AuthInfo {
                token_file: Some(text(&file("token"))),
                ..AuthInfo::default()
            },
            context: None,
            files: Vec::new(),
            namespace: (!namespace.is_empty())
                .then(|| (namespace.to_owned(), "the Pod's service account".to_owned())),
        })
    }

    /// Helm's variables over the context, with the couplings of client-go's
    /// `DirectClientConfig.getCluster` and of its exec provider, which yields to a token.
    fn apply(&mut self, helm: &HelmEnvironment) {
        let cluster = &mut self.cluster;
        if helm.insecure || helm.ca_file.is_some() {
            cluster.insecure_skip_tls_verify = Some(helm.insecure);
            let path = helm.ca_file.as_ref();
            cluster.certificate_authority = path.map(|path| path.to_string_lossy().into_owned());
            cluster.certificate_authority_data = None;
        }
        if helm.tls_server_name.is_some() || helm.api_server.is_some() {
            cluster.tls_server_name = helm.tls_server_name.clone();
        }
        if let Some(server) = &helm.api_server {
            cluster.server = Some(server.clone());
        }
        if let Some(server) = cluster.server.as_ref().filter(|it| !it.contains("://")) {
            // client-go's `DefaultServerURL`: TLS where there is anything to check it by, or not to.
            let tls = cluster.certificate_authority.is_some()
                || cluster.certificate_authority_data.is_some()
                || cluster.insecure_skip_tls_verify == Some(true);
            let scheme = if tls { "https" } else { "http" };
            cluster.server = Some(format!("{scheme}://{server}"));
        }
        if let Some(token) = &helm.token {
            let user = &mut self.user;
            user.token = Some(token.reveal().to_owned().into());
            user.token_file = None;
            user.exec = None;
            user.auth_provider = None;
            user.username = None;
            user.password = None;
        }
    }

    fn impersonate(
        &mut self,
        connection: &Connection,
        helm: &HelmEnvironment,
    ) -> Result<(), LookupError> {
        let user = &mut self.user;
        if let Some(name) = connection.as_user.as_ref().or(helm.as_user.as_ref()) {
            user.impersonate = Some(name.clone());
        }
        let groups = [&connection.as_groups, &helm.as_groups];
        if let Some(groups) = groups.into_iter().find(|groups| !groups.is_empty()) {
            user.impersonate_groups = Some(groups.clone());
        }
        if user.impersonate.is_none() && user.impersonate_groups.is_some() {
            return Err(LookupError::Unusable {
                what: "a group to act as".to_owned(),
                cause: "no user to act as is given".to_owned(),
                remedy: "give --as as well".to_owned(),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::environment::Secret;
    use super::super::error::LookupErrorKind;
    use super::*;

    const KUBECONFIG: &str = "
current-context: a
contexts:
- {name: a, context: {cluster: one, user: me, namespace: team}}
- {name: b, context: {cluster: two, user: me}}
clusters:
- name: one
  cluster: {server: 'https://one:6443', certificate-authority: /ca, tls-server-name: alias}
- {name: two, cluster: {server: 'https://two'}}
users:
- {name: me, user: {exec: {command: login, interactiveMode: Always}}}
";

    /// A folder with a kubeconfig and a service account, and options without any wish.
    struct Place {
        folder: tempfile::TempDir,
        connection: Connection,
        environment: Environment,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            for (name, text) in [
                ("config", KUBECONFIG),
                ("token", "t"),
                ("namespace", "ci\n"),
            ] {
                fs::write(folder.path().join(name), text).unwrap();
            }
            Self {
                connection: Connection {
                    kubeconfig: Some(folder.path().join("config")),
                    context: None,
                    as_user: None,
                    as_groups: Vec::new(),
                    namespace: None,
                    timeout: Duration::from_secs(10),
                },
                environment: Environment::default(),
                folder,
            }
        }

        /// Without a kubeconfig.
        fn bare() -> Self {
            let mut place = Self::new();
            place.connection.kubeconfig = None;
            place
        }

        /// In a Pod, without a kubeconfig.
        fn pod() -> Self {
            let mut place = Self::bare();
            place.environment.service_host = Some("10.0.0.1".to_owned());
            place.environment.service_port = Some("443".to_owned());
            place.environment.service_account = place.folder.path().to_owned();
            place
        }

        fn find(&self) -> Result<Target, LookupError> {
            let deadline = Instant::now() + self.connection.timeout;
            Target::find(&self.connection, &self.environment, deadline)
        }
    }

    #[test]
    fn an_option_beats_helm_s_variable_and_that_the_current_context() {
        let mut place = Place::new();
        assert_eq!(place.find().unwrap().context(), Some("a"));
        place.environment.helm.context = Some("b".to_owned());
        assert_eq!(place.find().unwrap().context(), Some("b"));
        place.connection.context = Some("a".to_owned());
        let target = place.find().unwrap();
        assert_eq!(target.context(), Some("a"));
        assert_eq!(target.namespace().unwrap().0, "team");
    }

    #[test]
    fn helm_s_variables_change_what_the_context_says() {
        let mut place = Place::new();
        place.environment.helm.api_server = Some("https://other:1".to_owned());
        place.environment.helm.token = Some(Secret::new("t0".to_owned()));
        let target = place.find().unwrap();
        assert_eq!(target.server(), "https://other:1");
        // The alias was of the other server; the authority may be of both.
        assert_eq!(target.cluster.tls_server_name, None);
        assert_eq!(target.cluster.certificate_authority.as_deref(), Some("/ca"));
        assert!(target.user.token.is_some() && target.user.exec.is_none());

        place.environment.helm.insecure = true;
        let target = place.find().unwrap();
        assert_eq!(target.cluster.insecure_skip_tls_verify, Some(true));
        assert_eq!(target.cluster.certificate_authority, None);
    }

    #[test]
    fn an_address_without_a_scheme_gets_one() {
        let mut place = Place::bare();
        place.environment.helm.api_server = Some("other:1".to_owned());
        assert_eq!(place.find().unwrap().server(), "http://other:1");
        place.environment.helm.ca_file = Some("/ca".into());
        assert_eq!(place.find().unwrap().server(), "https://other:1");
    }

    #[test]
    fn without_a_kubeconfig_a_pod_asks_its_own_cluster() {
        let mut place = Place::pod();
        let target = place.find().unwrap();
        assert_eq!(
            (target.server().as_str(), target.context()),
            ("https://10.0.0.1:443", None)
        );
        assert_eq!(
            target.namespace(),
            Some(("ci", "the Pod's service account"))
        );
        place.environment.service_host = Some("fd00::1".to_owned());
        assert_eq!(place.find().unwrap().server(), "https://[fd00::1]:443");
        fs::remove_file(place.folder.path().join("token")).unwrap();
        assert_eq!(place.find().unwrap_err(), LookupError::NoCluster);
    }

    #[test]
    fn without_any_cluster_the_way_out_is_named() {
        let error = Place::bare().find().unwrap_err();
        assert!(error.to_string().contains("--no-cluster"), "{error}");
        let mut place = Place::pod();
        place.connection.context = Some("a".to_owned());
        let error = place.find().unwrap_err();
        assert!(
            matches!(error, LookupError::NoSuchContext { .. }),
            "{error}"
        );
    }

    #[test]
    fn argo_cd_s_sidecar_needs_a_context() {
        let mut place = Place::new();
        place.environment.argo_cd_app = Some("shop".to_owned());
        place.environment.helm.context = Some("a".to_owned());
        let error = place.find().unwrap_err();
        assert!(matches!(error, LookupError::ArgoCd { .. }), "{error}");
        assert_eq!(error.kind(), LookupErrorKind::Configuration);
        place.connection.context = Some("a".to_owned());
        assert!(place.find().is_ok());
    }

    #[test]
    fn a_group_is_nobody_without_a_user() {
        let mut place = Place::new();
        place.environment.helm.as_groups = vec!["ops".to_owned()];
        assert!(matches!(place.find(), Err(LookupError::Unusable { .. })));
        place.connection.as_user = Some("jane".to_owned());
        let user = place.find().unwrap().user;
        assert_eq!(user.impersonate.as_deref(), Some("jane"));
        assert_eq!(user.impersonate_groups, Some(vec!["ops".to_owned()]));
    }

    #[test]
    fn the_namespace_is_a_guess_but_for_the_option() {
        use super::super::namespace;
        let mut place = Place::new();
        let used = |place: &Place| {
            let target = place.find().unwrap();
            let used = namespace::used(&place.connection, &place.environment, &target);
            (used.name, used.guessed)
        };
        assert_eq!(used(&place), ("team".to_owned(), true));
        place.connection.context = Some("b".to_owned());
        assert_eq!(used(&place), ("default".to_owned(), true));
        place.environment.helm.namespace = Some("maybe".to_owned());
        assert_eq!(used(&place), ("maybe".to_owned(), true));
        place.connection.namespace = Some("prod".to_owned());
        assert_eq!(used(&place), ("prod".to_owned(), false));
        assert_eq!(used(&Place::pod()), ("ci".to_owned(), true));
    }
}
