//! The environment variables that say which cluster, as a value: this layer reads none itself, so
//! that a test can set them and so that `cli` alone decides what is looked at.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

/// Where Kubernetes mounts a Pod's service account ("Accessing the Kubernetes API from a Pod").
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// All variables that matter for finding a cluster. An empty variable counts as unset:
/// Helm exports its unset options as empty strings (helm-contract.md section 1.3).
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Helm's own variables.
    pub helm: HelmEnvironment,
    /// `KUBECONFIG`: a list of files.
    pub kubeconfig: Option<OsString>,
    /// The home directory, for `~/.kube/config`.
    pub home: Option<PathBuf>,
    /// `KUBERNETES_SERVICE_HOST`, set in every Pod.
    pub service_host: Option<String>,
    /// `KUBERNETES_SERVICE_PORT`, set in every Pod.
    pub service_port: Option<String>,
    /// The folder with the Pod's token, CA and namespace.
    pub service_account: PathBuf,
    /// `ARGOCD_APP_NAME`, which Argo CD sets for a plugin sidecar.
    pub argo_cd_app: Option<String>,
    /// The proxies.
    pub proxy: ProxyEnvironment,
}

/// The variables that Helm takes its own connection from, and so hands to a post-renderer when they
/// were exported: the list of helm-contract.md section 1.3.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HelmEnvironment {
    /// `HELM_NAMESPACE`. It may be stale: `-n` on Helm's command line beats it and is not exported.
    pub namespace: Option<String>,
    /// `HELM_KUBECONTEXT`.
    pub context: Option<String>,
    /// `HELM_KUBEAPISERVER`.
    pub api_server: Option<String>,
    /// `HELM_KUBETOKEN`.
    pub token: Option<Secret>,
    /// `HELM_KUBECAFILE`.
    pub ca_file: Option<PathBuf>,
    /// `HELM_KUBEASUSER`.
    pub as_user: Option<String>,
    /// `HELM_KUBEASGROUPS`, which Helm splits at commas.
    pub as_groups: Vec<String>,
    /// `HELM_KUBETLS_SERVER_NAME`.
    pub tls_server_name: Option<String>,
    /// `HELM_KUBEINSECURE_SKIP_TLS_VERIFY`.
    pub insecure: bool,
}

/// The variables of Go's `http.ProxyFromEnvironment`, which Helm's client follows.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxyEnvironment {
    /// `HTTPS_PROXY`, else `https_proxy`: for `https://` servers.
    pub https: Option<String>,
    /// `HTTP_PROXY`, else `http_proxy`: for `http://` servers.
    pub http: Option<String>,
    /// `NO_PROXY`, else `no_proxy`: the exceptions.
    pub except: Option<String>,
}

/// A text that must not be shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Environment {
    /// Takes the variables from `variable`, which is `std::env::var_os` outside of tests.
    pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let raw = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text = |name: &str| {
            let value = raw(name)?.to_string_lossy().trim().to_owned();
            (!value.is_empty()).then_some(value)
        };
        let either = |upper: &str, lower: &str| text(upper).or_else(|| text(lower));
        Self {
            helm: HelmEnvironment {
                namespace: text("HELM_NAMESPACE"),
                context: text("HELM_KUBECONTEXT"),
                api_server: text("HELM_KUBEAPISERVER"),
                token: text("HELM_KUBETOKEN").map(Secret::new),
                ca_file: raw("HELM_KUBECAFILE").map(PathBuf::from),
                as_user: text("HELM_KUBEASUSER"),
                as_groups: text("HELM_KUBEASGROUPS")
                    .map(|list| list.split(',').map(str::to_owned).collect())
                    .unwrap_or_default(),
                tls_server_name: text("HELM_KUBETLS_SERVER_NAME"),
                insecure: text("HELM_KUBEINSECURE_SKIP_TLS_VERIFY").is_some_and(|it| is_true(&it)),
            },
            kubeconfig: raw("KUBECONFIG"),
            home: raw("HOME").or_else(|| raw("USERPROFILE")).map(Into::into),
            service_host: text("KUBERNETES_SERVICE_HOST"),
            service_port: text("KUBERNETES_SERVICE_PORT"),
            service_account: SERVICE_ACCOUNT.into(),
            argo_cd_app: text("ARGOCD_APP_NAME"),
            proxy: ProxyEnvironment {
                https: either("HTTPS_PROXY", "https_proxy"),
                http: either("HTTP_PROXY", "http_proxy"),
                except: either("NO_PROXY", "no_proxy"),
            },
        }
    }
}

impl Secret {
    /// Wraps `text`.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text, for the one place that sends it.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Debug for ProxyEnvironment {
    /// A proxy's address may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyEnvironment")
            .field("https", &self.https.is_some())
            .field("http", &self.http.is_some())
            .field("except", &self.except)
            .finish()
    }
}

/// What Go's `strconv.ParseBool` takes for true; Helm reads its booleans with it.
fn is_true(text: &str) -> bool {
    matches!(text, "1" | "t" | "T" | "TRUE" | "true" | "True")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Environment {
        Environment::read(|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn an_empty_variable_is_not_set() {
        let environment = read(&[
            ("HELM_KUBECONTEXT", ""),
            ("HELM_KUBEASGROUPS", ""),
            ("HELM_KUBEINSECURE_SKIP_TLS_VERIFY", "false"),
            ("KUBECONFIG", ""),
        ]);
        assert_eq!(environment.helm, HelmEnvironment::default());
        assert_eq!(environment.kubeconfig, None);
    }

    #[test]
    fn groups_are_split_at_commas() {
        let environment = read(&[("HELM_KUBEASGROUPS", "ops,dev")]);
        assert_eq!(environment.helm.as_groups, ["ops", "dev"]);
    }

    #[test]
    fn nothing_secret_is_shown() {
        let shown = format!(
            "{:?}",
            read(&[
                ("HELM_KUBETOKEN", "hunter2"),
                ("HTTPS_PROXY", "http://me:hunter2@proxy:3128"),
            ])
        );
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
