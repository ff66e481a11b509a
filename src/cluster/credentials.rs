//! Turns the indirect credentials of a user (a plugin, a token file) into direct ones.
//!
//! A render lasts milliseconds, so nothing expires under way and nothing has to be renewed.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube::config::{AuthInfo, Cluster, ExecAuthCluster, ExecConfig, ExecInteractiveMode};
use serde_json::{Value, json};

use super::error::LookupError;
use super::plugin::{self, Unfinished};
use super::secrets::Secrets;
use super::{headers, local};

/// Fills in what `user` only points to. The order is client-go's: what stands in the kubeconfig
/// before what is asked for.
pub(super) fn resolve(
    user: &mut AuthInfo,
    cluster: &Cluster,
    timeout: Duration,
    deadline: Instant,
) -> Result<(), LookupError> {
    if let Some(provider) = &user.auth_provider
        && provider.name != "oidc"
    {
        return Err(LookupError::Unusable {
            what: format!("the auth-provider `{}` of the kubeconfig", provider.name),
            cause: "Kubernetes has done away with it".to_owned(),
            remedy: "set the context up anew, with a credential plugin".to_owned(),
        });
    }
    let has_password = user.username.is_some() && user.password.is_some();
    if user.auth_provider.is_some() || has_password || user.token.is_some() {
        // kube need not look at what is not used.
        user.token_file = None;
        user.exec = None;
        return Ok(());
    }
    if let Some(path) = user.token_file.take() {
        let token = token_in(Path::new(&path), deadline);
        let token = token.map_err(|cause| LookupError::Unusable {
            what: format!("the token file {path}"),
            cause,
            remedy: "mend the kubeconfig or the Pod's service account".to_owned(),
        })?;
        user.token = Some(token.into());
    } else if let Some(exec) = user.exec.take() {
        let command = exec.command.clone().unwrap_or_default();
        let output = run(&exec, &command, cluster, timeout, deadline)?;
        take(user, &output).map_err(|cause| LookupError::PluginFailed {
            command,
            cause: cause.to_owned(),
        })?;
    }
    Ok(())
}

/// The token of a token file. As client-go has it, blanks around it are none of it, and an empty file
/// is no token (`tokensource.go`).
fn token_in(path: &Path, deadline: Instant) -> Result<String, String> {
    let text = local::text(path, deadline)?;
    let token = text.trim();
    if token.is_empty() {
        return Err("it is empty".to_owned());
    }
    if !headers::fits(token) {
        return Err(headers::UNFIT.to_owned());
    }
    Ok(token.to_owned())
}

/// Runs the plugin as client-go's `exec` package does where there is no terminal.
fn run(
    exec: &ExecConfig,
    name: &str,
    cluster: &Cluster,
    timeout: Duration,
    deadline: Instant,
) -> Result<Vec<u8>, LookupError> {
    if exec.interactive_mode == Some(ExecInteractiveMode::Always) {
        return Err(LookupError::PluginInteractive {
            command: name.to_owned(),
        });
    }
    let unusable = |cause: String| LookupError::Unusable {
        what: format!("the credential plugin `{name}`"),
        cause,
        remedy: exec.install_hint.as_deref().map_or_else(
            || "install it where PATH finds it, or use another context".to_owned(),
            |hint| hint.split_whitespace().collect::<Vec<_>>().join(" "),
        ),
    };
    let mut spec = json!({"interactive": false});
    if exec.provide_cluster_info {
        let about = ExecAuthCluster::try_from(cluster).map_err(|it| unusable(it.to_string()))?;
        spec["cluster"] = serde_json::to_value(about).map_err(|it| unusable(it.to_string()))?;
    }
    let about = json!({"apiVersion": exec.api_version, "kind": "ExecCredential", "spec": spec});
    let variables = exec.env.iter().flatten();
    let mut command = Command::new(name);
    command
        .args(exec.args.iter().flatten())
        .envs(variables.filter_map(|it| Some((it.get("name")?, it.get("value")?))))
        .env("KUBERNETES_EXEC_INFO", about.to_string());
    match plugin::run(&mut command, deadline) {
        Ok(finished) if finished.status.success() => Ok(finished.stdout),
        Ok(finished) => Err(LookupError::PluginFailed {
            command: name.to_owned(),
            cause: complaint(&finished.stderr, &finished.stdout)
                .unwrap_or_else(|| finished.status.to_string()),
        }),
        Err(Unfinished::NotStarted(error)) => Err(unusable(error.to_string())),
        Err(Unfinished::TooMuch) => Err(LookupError::PluginFailed {
            command: name.to_owned(),
            cause: "it printed more than any ExecCredential holds".to_owned(),
        }),
        Err(Unfinished::TimedOut { stderr }) => Err(LookupError::PluginHangs {
            command: name.to_owned(),
            timeout,
            said: complaint(&stderr, b""),
        }),
    }
}

/// Reads an `ExecCredential`. A failure is told without the text: it may hold a token.
fn take(user: &mut AuthInfo, output: &[u8]) -> Result<(), &'static str> {
    let credential: Value =
        serde_json::from_slice(output).map_err(|_| "it printed no ExecCredential")?;
    let status = &credential["status"];
    let text = |field: &str| status[field].as_str().filter(|text| !text.is_empty());
    let certificate = text("clientCertificateData").zip(text("clientKeyData"));
    if let Some((certificate, key)) = certificate {
        // A kubeconfig holds in base64 what a plugin prints in PEM.
        user.client_certificate_data = Some(STANDARD.encode(certificate));
        user.client_key_data = Some(STANDARD.encode(key).into());
    }
    let token = text("token").map(str::trim);
    if token.is_some_and(|token| !headers::fits(token)) {
        return Err(
            "it printed a token with a line break or another character that cannot stand in an \
             HTTP header",
        );
    }
    user.token = token.map(|token| token.to_owned().into());
    if token.is_none() && certificate.is_none() {
        return Err("it printed an ExecCredential with neither a token nor a certificate");
    }
    Ok(())
}

/// The last line that a plugin wrote to stderr, which is where tools put what went wrong. A token that
/// it printed to stdout is not repeated.
fn complaint(stderr: &[u8], stdout: &[u8]) -> Option<String> {
    let credential: Value = serde_json::from_slice(stdout).unwrap_or_default();
    let secrets = Secrets::default().with(credential["status"]["token"].as_str());
    let text = String::from_utf8_lossy(stderr);
    // A progress bar starts its line anew with a carriage return.
    let mut lines = text.rsplit(['\n', '\r']).map(|line| secrets.words(line));
    lines.find(|line| !line.is_empty())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn plugin(script: &str) -> AuthInfo {
        AuthInfo {
            exec: Some(ExecConfig {
                command: Some("sh".to_owned()),
                args: Some(vec!["-c".to_owned(), script.to_owned()]),
                ..ExecConfig::default()
            }),
            ..AuthInfo::default()
        }
    }

    fn resolved(mut user: AuthInfo, limit: Duration) -> Result<Value, LookupError> {
        resolve(
            &mut user,
            &Cluster::default(),
            limit,
            Instant::now() + limit,
        )?;
        Ok(serde_json::to_value(user).unwrap())
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_plugin_s_token_and_certificate_are_taken() {
        let script = r#"echo '{"kind":"ExecCredential","status":{"token":"t0","clientCertificateData":"C","clientKeyData":"K"}}'"#;
        let user = resolved(plugin(script), LONG).unwrap();
        assert_eq!(user["token"], "t0");
        assert_eq!(user["client-certificate-data"], STANDARD.encode("C"));
        assert_eq!(user["client-key-data"], STANDARD.encode("K"));
    }

    #[test]
    fn a_plugin_is_told_that_there_is_no_terminal() {
        let script = r#"echo "$KUBERNETES_EXEC_INFO" | grep -q '"interactive":false' && echo '{"status":{"token":"t0"}}'"#;
        assert_eq!(resolved(plugin(script), LONG).unwrap()["token"], "t0");
    }

    #[test]
    fn a_plugin_that_fails_is_quoted_by_its_last_words_alone() {
        let script = "echo hunter2; echo first >&2; echo 'Token has expired' >&2; exit 255";
        let error = resolved(plugin(script), LONG).unwrap_err();
        assert!(matches!(error, LookupError::PluginFailed { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("Token has expired") && !text.contains("hunter2"),
            "{text}"
        );
        for script in [
            "echo hunter2",
            "echo '{\"status\":{\"other\":\"hunter2\"}}'",
        ] {
            let error = resolved(plugin(script), LONG).unwrap_err();
            assert!(matches!(error, LookupError::PluginFailed { .. }), "{error}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_plugin_that_hangs_or_is_missing_or_wants_a_terminal_is_named() {
        let limit = Duration::from_millis(50);
        let error = resolved(plugin("exec sleep 600"), limit).unwrap_err();
        assert!(matches!(error, LookupError::PluginHangs { .. }), "{error}");

        let mut missing = plugin("");
        let exec = missing.exec.as_mut().unwrap();
        exec.command = Some("/nowhere/plugin".to_owned());
        exec.install_hint = Some("get it\nfrom there".to_owned());
        let text = resolved(missing, LONG).unwrap_err().to_string();
        assert!(
            text.contains("/nowhere/plugin") && text.ends_with("get it from there"),
            "{text}"
        );

        let mut interactive = plugin("");
        let exec = interactive.exec.as_mut().unwrap();
        exec.interactive_mode = Some(ExecInteractiveMode::Always);
        let error = resolved(interactive, LONG).unwrap_err();
        assert!(
            matches!(error, LookupError::PluginInteractive { .. }),
            "{error}"
        );
    }

    #[test]
    fn a_token_file_may_end_in_a_line_break_and_a_token_beats_it() {
        use std::fs;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, "t1\n").unwrap();
        let mut user = AuthInfo {
            token_file: path.to_str().map(str::to_owned),
            ..AuthInfo::default()
        };
        assert_eq!(resolved(user.clone(), LONG).unwrap()["token"], "t1");
        for bad in ["", " \n", "t1\nt2\n", "t\0"] {
            fs::write(&path, bad).unwrap();
            let error = resolved(user.clone(), LONG).unwrap_err();
            assert!(matches!(error, LookupError::Unusable { .. }), "{error}");
        }
        user.token = Some("t0".to_owned().into());
        assert_eq!(resolved(user, LONG).unwrap()["token"], "t0");
    }

    #[test]
    fn a_token_of_a_plugin_that_no_header_can_carry_is_refused_and_not_shown() {
        let script = r#"printf '{"status":{"token":"hunter\\nWORD"}}'"#;
        let error = resolved(plugin(script), LONG).unwrap_err();
        assert!(matches!(error, LookupError::PluginFailed { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("HTTP header") && !text.contains("hunter"),
            "{text}"
        );
    }

    #[test]
    fn what_a_plugin_says_is_one_line_without_the_token_that_it_printed() {
        let script =
            r#"echo '{"status":{"token":"hunter22"}}'; echo "no use for hunter22" >&2; exit 1"#;
        let text = resolved(plugin(script), LONG).unwrap_err().to_string();
        assert!(text.contains("no use for ***"), "{text}");
        let script = "printf 'first\\nlast\\r\\n' >&2; exec sleep 600";
        let text = resolved(plugin(script), Duration::from_millis(500)).unwrap_err();
        let text = text.to_string();
        assert!(text.contains("`last`") && !text.contains("first"), "{text}");
    }
}
