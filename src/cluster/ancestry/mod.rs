//! Helm's own command line, held against what belay would ask.
//!
//! Helm hands its options to no post-renderer, not even by the environment (helm-contract.md section
//! 1.3), but on Linux a child can read its ancestors' command lines. They are used to refuse a
//! contradiction, never to choose a cluster: what is asked must not depend on who calls.

#[cfg(target_os = "linux")]
mod process;

use std::path::{Path, PathBuf};

use super::address::without_credentials;
use super::error::LookupError;
use crate::policy::UsedNamespace;

/// Which options of `helm install`, `upgrade` and `template` take a value in the next argument that
/// may look like an option. Of all others such a value would be a mistake that Helm refuses.
const TAKE_ANYTHING: [&str; 8] = [
    "--post-renderer-args",
    "--description",
    "--set",
    "--set-string",
    "--set-json",
    "--set-literal",
    "--set-file",
    "--labels",
];

/// The one-letter options of Helm that take no value, and so may stand before `n` in `-in prod`:
/// `--install`, `--generate-name`, `--help`.
const SWITCHES: [char; 3] = ['i', 'g', 'h'];

/// The options of a Helm command line that say which cluster and namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HelmCommandLine {
    context: Option<String>,
    kubeconfig: Option<String>,
    api_server: Option<String>,
    namespace: Option<String>,
    /// Helm's working folder, which `--kubeconfig` may be relative to.
    folder: PathBuf,
}

/// What a lookup would use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// The context; None where there is no kubeconfig.
    pub context: Option<String>,
    /// The kubeconfig files.
    pub kubeconfig: Vec<PathBuf>,
    /// The API server.
    pub server: Option<String>,
    /// The namespace, where it was given or some question needs it: a document's own namespace may
    /// differ from Helm's `-n`, since charts place objects elsewhere.
    pub namespace: Option<UsedNamespace>,
}

impl HelmCommandLine {
    /// The nearest ancestor that is Helm; a shell, helmfile's or anybody's wrapper may stand between.
    /// None where there is none, and on systems that do not tell.
    #[must_use]
    pub fn find() -> Option<Self> {
        #[cfg(target_os = "linux")]
        return process::find();
        #[cfg(not(target_os = "linux"))]
        return None;
    }

    /// Reads Helm's arguments, the program's name first. None where this is not Helm.
    ///
    /// The rules are those of pflag, Helm's parser: `--x=y` and `--x y`, `-nx`, `-n x` and `-n=x`, the
    /// last one wins, `--` ends the options.
    #[must_use]
    pub fn parse<A: AsRef<str>>(arguments: &[A], folder: PathBuf) -> Option<Self> {
        let mut arguments = arguments.iter().map(AsRef::as_ref);
        if !is_helm(arguments.next()?) {
            return None;
        }
        let mut found = Self {
            folder,
            ..Self::default()
        };
        while let Some(argument) = arguments.next() {
            if argument == "--" {
                break;
            }
            if argument.starts_with("--") {
                let (name, value) = match argument.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (argument, None),
                };
                if let Some(option) = found.option(name) {
                    let value = value.or_else(|| arguments.next())?;
                    // Helm reads an empty value as none.
                    *option = (!value.is_empty()).then(|| value.to_owned());
                } else if value.is_none() && TAKE_ANYTHING.contains(&name) {
                    arguments.next();
                }
            } else if let Some(letters) = argument.strip_prefix('-') {
                let letters = letters.trim_start_matches(SWITCHES);
                if let Some(value) = letters.strip_prefix('n') {
                    let value = match value.strip_prefix('=').unwrap_or(value) {
                        "" => arguments.next()?,
                        value => value,
                    };
                    found.namespace = (!value.is_empty()).then(|| value.to_owned());
                }
            }
        }
        Some(found)
    }

    fn option(&mut self, name: &str) -> Option<&mut Option<String>> {
        match name {
            "--kube-context" => Some(&mut self.context),
            "--kubeconfig" => Some(&mut self.kubeconfig),
            "--kube-apiserver" => Some(&mut self.api_server),
            "--namespace" => Some(&mut self.namespace),
            _ => None,
        }
    }

    /// Whether a lookup would ask where Helm applies. What Helm's command line does not say
    /// contradicts nothing: Helm takes it from the environment, as belay does.
    ///
    /// # Errors
    /// [`LookupError::HelmContradicts`], saying which argument belay needs.
    pub fn check(&self, used: &Used) -> Result<(), LookupError> {
        let contradiction = |option: &str, value: &str, belay: String, remedy: String| {
            Err(LookupError::HelmContradicts {
                helm: format!("{option} {value}"),
                belay,
                remedy,
            })
        };
        if let Some(context) = &self.context
            && used.context.as_ref() != Some(context)
        {
            let belay = match &used.context {
                Some(other) => format!("the context `{other}`"),
                None => "a cluster without a context".to_owned(),
            };
            return contradiction("--kube-context", context, belay, pass("context", context));
        }
        if let Some(path) = &self.kubeconfig
            && !self.is_only(path, &used.kubeconfig)
        {
            let belay = match used.kubeconfig.as_slice() {
                [] => "without a kubeconfig".to_owned(),
                files => {
                    let files: Vec<_> = files.iter().map(|it| it.display().to_string()).collect();
                    format!("by the kubeconfig {}", files.join(", "))
                }
            };
            return contradiction("--kubeconfig", path, belay, pass("kubeconfig", path));
        }
        if let Some(server) = &self.api_server
            && !used
                .server
                .as_ref()
                .is_some_and(|used| is_same_server(used, server))
        {
            let belay = used
                .server
                .clone()
                .unwrap_or_else(|| "no server".to_owned());
            let remedy = "export HELM_KUBEAPISERVER with that address instead, which helm and belay both read";
            let server = without_credentials(server);
            return contradiction("--kube-apiserver", &server, belay, remedy.to_owned());
        }
        if let (Some(namespace), Some(used)) = (&self.namespace, &used.namespace)
            && *namespace != used.name
        {
            let belay = format!("in namespace `{}` (from {})", used.name, used.source);
            return contradiction(
                "--namespace",
                namespace,
                belay,
                pass("namespace", namespace),
            );
        }
        Ok(())
    }

    /// Whether `path`, as Helm sees it, is the only file in use.
    fn is_only(&self, path: &str, files: &[PathBuf]) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let [file] = files else { return false };
        real(&self.folder.join(path)) == real(file)
    }
}

/// How an argument reaches belay. With a `=`, since Helm takes `--post-renderer-args` one by one.
fn pass(option: &str, value: &str) -> String {
    format!("add --post-renderer-args=--{option}={value} to helm's arguments")
}

/// Whether both addresses are one server. A scheme need not be given.
fn is_same_server(one: &str, other: &str) -> bool {
    let (one, other) = (&without_credentials(one), &without_credentials(other));
    let bare = |address: &str| {
        let bare = address.split_once("://").map_or(address, |(_, rest)| rest);
        bare.trim_end_matches('/').to_ascii_lowercase()
    };
    let schemes_agree = match (one.split_once("://"), other.split_once("://")) {
        (Some((one, _)), Some((other, _))) => one.eq_ignore_ascii_case(other),
        _ => true,
    };
    schemes_agree && bare(one) == bare(other)
}

/// Whether a program is Helm by its name: `helm`, `helm3`, `helm-v3.17.1`, `helm_4`, but neither
/// `helmfile` nor `helm-docs`.
fn is_helm(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or_default();
    let Some(version) = name.strip_prefix("helm") else {
        return false;
    };
    let version = version.trim_start_matches(['-', '_', '.', '@']);
    let version = version.strip_prefix('v').unwrap_or(version);
    name == "helm" || version.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Option<HelmCommandLine> {
        let arguments: Vec<_> = line.split(' ').collect();
        HelmCommandLine::parse(&arguments, PathBuf::from("/work"))
    }

    #[test]
    fn helm_is_known_by_its_name() {
        for name in [
            "helm",
            "/usr/bin/helm",
            "helm3",
            "helm4",
            "helm-3.17.1",
            "helm-v4.1.0",
            "./helm_v3",
            "helm3.19",
        ] {
            assert!(is_helm(name), "{name}");
        }
        for name in [
            "helmfile",
            "helm-docs",
            "sh",
            "helm/sh",
            "myhelm",
            "helmet",
            "helm-vet",
            "",
        ] {
            assert!(!is_helm(name), "{name}");
        }
    }

    #[test]
    fn the_namespace_is_read_as_pflag_reads_it() {
        for (line, expected) in [
            ("helm upgrade x .", None),
            ("helm upgrade x . -n prod", Some("prod")),
            ("helm upgrade x . -nprod", Some("prod")),
            ("helm upgrade x . -n=prod", Some("prod")),
            ("helm -n prod upgrade x .", Some("prod")),
            ("helm upgrade -in prod x .", Some("prod")),
            ("helm upgrade x . --namespace prod", Some("prod")),
            ("helm upgrade x . --namespace=prod", Some("prod")),
            ("helm upgrade x . -n a -n b", Some("b")),
            ("helm upgrade x . --namespace=", None),
            ("helm upgrade x . -- -n prod", None),
            (
                "helm upgrade x . --post-renderer-args -n --post-renderer-args other",
                None,
            ),
            (
                "helm upgrade x . --post-renderer-args=--namespace=other -n prod",
                Some("prod"),
            ),
            ("helm upgrade x . --description -n -n prod", Some("prod")),
            ("helm upgrade x . -f new.yaml", None),
            ("helm upgrade x . -fnew.yaml", None),
            ("helm upgrade x . --no-hooks", None),
        ] {
            let found = parse(line).unwrap();
            assert_eq!(found.namespace.as_deref(), expected, "{line}");
        }
        assert_eq!(parse("sh -c helm"), None);
    }

    #[test]
    fn the_cluster_is_read() {
        let line =
            "helm upgrade x . --kube-context=b --kubeconfig k/c --kube-apiserver https://s:1";
        let found = parse(line).unwrap();
        assert_eq!(found.context.as_deref(), Some("b"));
        assert_eq!(found.kubeconfig.as_deref(), Some("k/c"));
        assert_eq!(found.api_server.as_deref(), Some("https://s:1"));
    }

    fn used() -> Used {
        Used {
            context: Some("a".to_owned()),
            kubeconfig: vec![PathBuf::from("/work/k/c")],
            server: Some("https://s:1".to_owned()),
            namespace: Some(UsedNamespace {
                name: "prod".to_owned(),
                source: "HELM_NAMESPACE".to_owned(),
                guessed: true,
            }),
        }
    }

    #[test]
    fn what_agrees_or_is_not_said_passes() {
        for line in [
            "helm upgrade x .",
            "helm upgrade x . --kube-context a -n prod",
            "helm upgrade x . --kubeconfig k/c",
            "helm upgrade x . --kubeconfig /work/k/c",
            "helm upgrade x . --kube-apiserver https://S:1/",
            "helm upgrade x . --kube-apiserver s:1",
            "helm upgrade x . --kube-apiserver https://me:hunter2@s:1",
        ] {
            assert_eq!(parse(line).unwrap().check(&used()), Ok(()), "{line}");
        }
        let elsewhere = Used {
            namespace: None,
            ..used()
        };
        assert_eq!(
            parse("helm upgrade x . -n other")
                .unwrap()
                .check(&elsewhere),
            Ok(())
        );
    }

    #[test]
    fn a_password_in_helm_s_address_is_not_shown() {
        let helm = parse("helm upgrade x . --kube-apiserver https://me:hunter2/@t:1").unwrap();
        let error = helm.check(&used()).unwrap_err().to_string();
        assert!(
            error.contains("https://t:1") && !error.contains("hunter2"),
            "{error}"
        );
    }

    #[test]
    fn a_contradiction_says_what_to_pass() {
        for (line, remedy) in [
            (
                "helm upgrade x . --kube-context b",
                "--post-renderer-args=--context=b",
            ),
            (
                "helm upgrade x . --kubeconfig other",
                "--post-renderer-args=--kubeconfig=other",
            ),
            (
                "helm upgrade x . --kube-apiserver http://s:1",
                "HELM_KUBEAPISERVER",
            ),
            (
                "helm upgrade x . -n other",
                "--post-renderer-args=--namespace=other",
            ),
        ] {
            let helm = parse(line).unwrap();
            let error = helm.check(&used()).unwrap_err().to_string();
            assert!(error.contains(remedy), "{error}");
            if !line.contains("-n other") {
                assert!(helm.check(&Used::default()).is_err(), "{line}");
            }
        }
    }
}
