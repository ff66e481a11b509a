//! Opens a cluster: its kube client.

use std::time::Duration;

use kube::config::{AuthInfo, Cluster};
use kube::{Client, Config};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::address::without_credentials;
use super::cause;
use super::environment::ProxyEnvironment;
use super::error::LookupError;
use super::proxy::proxy_for;

/// Makes the client for `cluster`. `user` is who asks, with the credentials resolved; both hold what
/// they pointed to ([`inline`](super::local::inline)).
///
/// The configuration is filled in here and not by `Config::from_custom_kubeconfig`, which reads
/// proxies from the environment by rules that are not Helm's (see [`proxy_for`]).
///
/// Must run inside a tokio runtime: kube starts a task for the client.
pub(super) fn client(
    cluster: &Cluster,
    user: AuthInfo,
    proxies: &ProxyEnvironment,
    timeout: Duration,
) -> Result<Client, LookupError> {
    let address = cluster.server.as_deref().unwrap_or("(no server)");
    let shown = without_credentials(address);
    let unusable = |what: &str, cause: String| LookupError::Unusable {
        what: what.to_owned(),
        cause,
        remedy: "mend the kubeconfig, or name another context with --context".to_owned(),
    };
    let mut config = Config::new(
        address
            .parse()
            .map_err(|_| unusable("the server's address", format!("`{shown}` is no URL")))?,
    );
    let url = &config.cluster_url;
    let scheme = url.scheme_str().unwrap_or_default();
    let (Some(host), "http" | "https") = (url.host(), scheme) else {
        let cause = format!("`{shown}` is no http or https URL");
        return Err(unusable("the server's address", cause));
    };
    let port = url
        .port_u16()
        .unwrap_or(if scheme == "https" { 443 } else { 80 });
    let proxy = proxy_for(scheme, host, port, cluster.proxy_url.as_deref(), proxies);
    // A proxy's address may hold a password, so it is not shown.
    config.proxy_url = match proxy.map(|proxy| proxy.parse()).transpose() {
        Ok(proxy) => proxy,
        Err(_) => return Err(unusable("the proxy's address", "it is no URL".to_owned())),
    };
    config.accept_invalid_certs = cluster.insecure_skip_tls_verify.unwrap_or(false);
    config.tls_server_name = cluster
        .tls_server_name
        .clone()
        .filter(|name| !name.is_empty());
    config.root_cert = authorities(cluster)
        .map_err(|cause| unusable("the cluster's certificate authority", cause))?;
    config.auth_info = user;
    config.connect_timeout = Some(timeout);
    // Retries are ours: kube's know no time limit.
    config.default_retry = false;
    Client::try_from(config)
        .map_err(|error| unusable("the connection", cause::configuration(&error)))
}

/// The certificates that the server's must come from; None leaves that to the machine's own.
fn authorities(cluster: &Cluster) -> Result<Option<Vec<Vec<u8>>>, String> {
    use base64::Engine as _;
    let data = cluster.certificate_authority_data.as_deref();
    let Some(data) = data.filter(|data| !data.is_empty()) else {
        return Ok(None);
    };
    let data: String = data.split_whitespace().collect();
    let decoded = base64::engine::general_purpose::STANDARD.decode(data);
    let pem = decoded.map_err(|error| format!("certificate-authority-data: {error}"))?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let certificates = certificates.map_err(|error| error.to_string())?;
    if certificates.is_empty() {
        return Err("it holds no certificate".to_owned());
    }
    Ok(Some(certificates.iter().map(|it| it.to_vec()).collect()))
}
