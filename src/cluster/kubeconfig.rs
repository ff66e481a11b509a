//! Finding and reading kubeconfig files, and choosing a context in them, by the rules of client-go
//! (`NewDefaultClientConfigLoadingRules`), which Helm follows.

use std::env::split_paths;
use std::path::{Path, PathBuf};
use std::time::Instant;

use kube::config::{AuthInfo, Cluster, Kubeconfig};

use super::environment::Environment;
use super::error::LookupError;
use super::local;

/// Kubeconfig files, merged.
#[derive(Debug)]
pub(super) struct Loaded {
    config: Kubeconfig,
    /// The files, in the order of precedence.
    pub(super) files: Vec<PathBuf>,
}

/// What one context says.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    /// Its name.
    pub(super) context: Option<String>,
    /// Its cluster.
    pub(super) cluster: Cluster,
    /// Its user.
    pub(super) user: AuthInfo,
    /// Its namespace.
    pub(super) namespace: Option<String>,
}

/// Reads `explicit` (`--kubeconfig`), else the files of `KUBECONFIG`, else `~/.kube/config`. None
/// where there is no file, or nothing in it. A pipe among them has until `deadline`.
pub(super) fn load(
    explicit: Option<&Path>,
    environment: &Environment,
    deadline: Instant,
) -> Result<Option<Loaded>, LookupError> {
    if let Some(path) = explicit {
        return read(vec![path.to_owned()], deadline).map(Some);
    }
    let listed: Vec<_> = environment
        .kubeconfig
        .iter()
        .flat_map(split_paths)
        .filter(|path| !path.as_os_str().is_empty())
        .collect();
    let files = if listed.is_empty() {
        let home = environment
            .home
            .iter()
            .map(|home| home.join(".kube/config"));
        home.filter(|path| path.exists()).collect()
    } else {
        // Of several, client-go passes over those that do not exist. Where none does, it goes on
        // to the Pod's own cluster, which is not what somebody who named a file wants.
        let there: Vec<_> = listed
            .iter()
            .filter(|path| path.exists())
            .cloned()
            .collect();
        if there.is_empty() { listed } else { there }
    };
    let loaded = read(files, deadline)?;
    let empty = loaded.config.contexts.is_empty() && loaded.config.clusters.is_empty();
    Ok((!empty).then_some(loaded))
}

fn read(files: Vec<PathBuf>, deadline: Instant) -> Result<Loaded, LookupError> {
    let mut config = Kubeconfig::default();
    for path in &files {
        let merged = local::kubeconfig(path, deadline)
            .and_then(|next| config.merge(next).map_err(|error| error.to_string()));
        config = merged.map_err(|cause| LookupError::Kubeconfig {
            path: path.clone(),
            cause,
        })?;
    }
    Ok(Loaded { config, files })
}

impl Loaded {
    /// The context called `wanted`, else the current one.
    pub(super) fn choose(&self, wanted: Option<&str>) -> Result<Chosen, LookupError> {
        let current = self.config.current_context.as_deref();
        let Some(name) = wanted.or(current).filter(|name| !name.is_empty()) else {
            return Err(LookupError::NoCurrentContext {
                files: self.names(),
                contexts: self.contexts(),
            });
        };
        let contexts = &self.config.contexts;
        let context = contexts.iter().find(|context| context.name == name);
        let Some(context) = context.and_then(|named| named.context.clone()) else {
            return Err(LookupError::NoSuchContext {
                context: name.to_owned(),
                files: self.names(),
                contexts: self.contexts(),
            });
        };
        let clusters = &self.config.clusters;
        let cluster = clusters.iter().find(|named| named.name == context.cluster);
        let Some(cluster) = cluster.and_then(|named| named.cluster.clone()) else {
            return Err(LookupError::Unusable {
                what: format!("the context `{name}`"),
                cause: format!("{} has no cluster `{}`", self.names(), context.cluster),
                remedy: "mend the kubeconfig, or name another context with --context".to_owned(),
            });
        };
        // As client-go does: a context whose user is missing is nobody's.
        let users = &self.config.auth_infos;
        let user = users
            .iter()
            .find(|named| Some(&named.name) == context.user.as_ref());
        Ok(Chosen {
            context: Some(name.to_owned()),
            cluster,
            user: user
                .and_then(|named| named.auth_info.clone())
                .unwrap_or_default(),
            namespace: context.namespace.filter(|namespace| !namespace.is_empty()),
        })
    }

    fn contexts(&self) -> Vec<String> {
        let contexts = self.config.contexts.iter();
        contexts.map(|context| context.name.clone()).collect()
    }

    /// The files as a message names them.
    fn names(&self) -> String {
        let files: Vec<_> = self
            .files
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        format!("the kubeconfig {}", files.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::time::Duration;

    const TWO: &str = "
current-context: a
contexts:
- {name: a, context: {cluster: one, user: me, namespace: team}}
- {name: b, context: {cluster: two}}
- {name: c, context: {cluster: none}}
clusters:
- {name: one, cluster: {server: 'https://one'}}
- {name: two, cluster: {server: 'https://two'}}
users:
- {name: me, user: {token: hunter2}}
";

    fn loaded(
        explicit: Option<&Path>,
        environment: &Environment,
    ) -> Result<Option<Loaded>, LookupError> {
        let deadline = Instant::now() + Duration::from_secs(60);
        load(explicit, environment, deadline)
    }

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn the_context_is_the_named_one_else_the_current_one() {
        let (_folder, path) = file(TWO);
        let files = loaded(Some(&path), &Environment::default())
            .unwrap()
            .unwrap();
        let current = files.choose(None).unwrap();
        assert_eq!(current.context.as_deref(), Some("a"));
        assert_eq!(current.namespace.as_deref(), Some("team"));
        let named = files.choose(Some("b")).unwrap();
        assert_eq!(named.cluster.server.as_deref(), Some("https://two"));
        assert_eq!(named.namespace, None);
    }

    #[test]
    fn a_missing_context_is_named_with_those_that_are_there() {
        let (_folder, path) = file(TWO);
        let files = loaded(Some(&path), &Environment::default())
            .unwrap()
            .unwrap();
        let error = files.choose(Some("z")).unwrap_err().to_string();
        assert!(
            error.contains("`z`") && error.contains("`a`, `b`, `c`"),
            "{error}"
        );
        let error = files.choose(Some("c")).unwrap_err().to_string();
        assert!(error.contains("no cluster `none`"), "{error}");
    }

    #[test]
    fn a_broken_file_is_named_and_not_quoted() {
        for text in [
            "users:\n- name: me\n  user: {token: hunter2\nx: [",
            "contexts: hunter2",
            "users:\n- name: [hunter2]",
            "clusters:\n- name: x\n  cluster: hunter2",
        ] {
            let (_folder, path) = file(text);
            let error = loaded(Some(&path), &Environment::default()).unwrap_err();
            let text = error.to_string();
            assert!(text.contains(path.to_str().unwrap()), "{text}");
            assert!(!text.contains("hunter2"), "{text}");
            assert!(!text.contains('\n'), "{text}");
        }
    }

    #[test]
    fn a_file_that_is_named_must_be_there() {
        let missing = Path::new("/nowhere/config");
        let error = loaded(Some(missing), &Environment::default()).unwrap_err();
        assert!(error.to_string().contains("/nowhere/config"), "{error}");
        let environment = Environment {
            kubeconfig: Some(missing.into()),
            ..Environment::default()
        };
        let error = loaded(None, &environment).unwrap_err();
        assert!(error.to_string().contains("/nowhere/config"), "{error}");
    }

    #[test]
    fn of_a_list_the_files_that_exist_count_and_the_first_wins() {
        let (_first, first) = file("current-context: b\ncontexts: []");
        let (_second, second) = file(TWO);
        let paths = [Path::new("/nowhere/config"), &first, &second];
        let environment = Environment {
            kubeconfig: Some(std::env::join_paths(paths).unwrap()),
            ..Environment::default()
        };
        let files = loaded(None, &environment).unwrap().unwrap();
        assert_eq!(files.files, [first, second]);
        assert_eq!(files.choose(None).unwrap().context.as_deref(), Some("b"));
    }

    #[test]
    fn no_file_and_an_empty_file_are_no_kubeconfig() {
        assert!(loaded(None, &Environment::default()).unwrap().is_none());
        let (_folder, path) = file("");
        let environment = Environment {
            kubeconfig: Some(path.into()),
            ..Environment::default()
        };
        assert!(loaded(None, &environment).unwrap().is_none());
    }
}
