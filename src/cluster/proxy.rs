//! Which proxy a request goes through, by the rules of Go's `http.ProxyFromEnvironment`
//! (golang.org/x/net/http/httpproxy), which Helm and kubectl follow.
//!
//! kube has rules of its own: without its proxy features it fails as soon as `HTTPS_PROXY` is set,
//! and with them it holds `NO_PROXY` against the proxy's address instead of the server's (5.0.0).

use std::net::IpAddr;

use super::environment::ProxyEnvironment;

/// The proxy for a server. `configured` is the kubeconfig's `proxy-url`, which has no exceptions.
pub(super) fn proxy_for(
    scheme: &str,
    host: &str,
    port: u16,
    configured: Option<&str>,
    environment: &ProxyEnvironment,
) -> Option<String> {
    if let Some(proxy) = configured.filter(|proxy| !proxy.is_empty()) {
        return Some(with_scheme(proxy));
    }
    let proxy = match scheme {
        "https" => environment.https.as_deref(),
        _ => environment.http.as_deref(),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let exceptions = environment.except.as_deref().unwrap_or_default();
    proxy
        .filter(|_| !is_local(&host))
        .filter(|_| !exceptions.split(',').any(|it| excepts(it, &host, port)))
        .map(with_scheme)
}

/// A proxy without a scheme is an HTTP proxy.
fn with_scheme(proxy: &str) -> String {
    if proxy.contains("://") {
        proxy.to_owned()
    } else {
        format!("http://{proxy}")
    }
}

/// This machine is never asked through a proxy.
fn is_local(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Whether one entry of `NO_PROXY` names the server: `*`, an address, a network (`10.0.0.0/8`), or a
/// domain, with or without a port. `x.y` is the domain and all below it, `.x.y` only what is below.
fn excepts(entry: &str, host: &str, port: u16) -> bool {
    let entry = entry.trim().to_ascii_lowercase();
    if entry == "*" {
        return true;
    }
    let ip = host.parse::<IpAddr>().ok();
    if let Some((network, length)) = entry.split_once('/') {
        return match (network.parse(), length.parse(), ip) {
            (Ok(network), Ok(length), Some(ip)) => is_in(ip, network, length),
            _ => false,
        };
    }
    let (name, only_port) = split_port(&entry);
    if only_port.is_some_and(|only| only != port) || name.is_empty() {
        return false;
    }
    if let Ok(address) = name.parse::<IpAddr>() {
        return ip == Some(address);
    }
    let below = name.strip_prefix("*.").or_else(|| name.strip_prefix('.'));
    let domain = below.unwrap_or(name);
    let is_below = host
        .strip_suffix(domain)
        .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'));
    is_below || (below.is_none() && host == domain)
}

/// An entry's host and port. An IPv6 address without brackets has no port.
fn split_port(entry: &str) -> (&str, Option<u16>) {
    if let Some((address, rest)) = entry.strip_prefix('[').and_then(|it| it.split_once(']')) {
        return (
            address,
            rest.strip_prefix(':').and_then(|it| it.parse().ok()),
        );
    }
    match entry.split_once(':') {
        Some((host, port)) if !port.contains(':') => match port.parse() {
            Ok(port) => (host, Some(port)),
            Err(_) => (entry, None),
        },
        _ => (entry, None),
    }
}

fn is_in(ip: IpAddr, network: IpAddr, length: u32) -> bool {
    let (ip, network, bits): (u128, u128, u32) = match (ip, network) {
        (IpAddr::V4(ip), IpAddr::V4(network)) => {
            (u32::from(ip).into(), u32::from(network).into(), 32)
        }
        (IpAddr::V6(ip), IpAddr::V6(network)) => (ip.into(), network.into(), 128),
        _ => return false,
    };
    let Some(below) = bits.checked_sub(length) else {
        return false;
    };
    // A shift by all bits is not defined; every address is in such a network.
    below == 128 || ip >> below == network >> below
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(host: &str, except: &str) -> bool {
        let environment = ProxyEnvironment {
            https: Some("proxy:3128".to_owned()),
            http: None,
            except: Some(except.to_owned()),
        };
        let proxy = proxy_for("https", host, 6443, None, &environment);
        assert!(proxy.is_none() || proxy.as_deref() == Some("http://proxy:3128"));
        proxy.is_some()
    }

    /// Rows of Go's own table (`proxy_test.go`, `UseProxyTests`), where a server is concerned.
    #[test]
    fn exceptions_are_those_of_go() {
        const NO_PROXY: &str = "foobar.com, .barbaz.net,*.quux.org,192.168.1.1,192.168.1.2:81,\
                                192.168.1.3:6443,10.0.0.0/30,2001:db8::52:0:1,[2001:db8::52:0:2]:443,\
                                [2001:db8::52:0:3]:80,2002:db8:a::45/64,,";
        for (host, expected) in [
            ("localhost", false),
            ("127.0.0.1", false),
            ("127.0.0.2", false),
            ("[::1]", false),
            ("[::2]", true),
            ("192.168.1.1", false),
            ("192.168.1.2", true),
            ("192.168.1.3", false),
            ("192.168.1.4", true),
            ("10.0.0.2", false),
            ("10.0.0.4", true),
            ("[2001:db8::52:0:1]", false),
            ("[2001:db8::52:0:2]", true),
            ("[2002:db8:a::123]", false),
            ("[fe80::424b:c8be:1643:a1b6]", true),
            ("barbaz.net", true),
            ("www.barbaz.net", false),
            ("quux.org", true),
            ("a.quux.org", false),
            ("foobar.com", false),
            ("FOOBAR.com", false),
            ("www.foobar.com", false),
            ("foofoobar.com", true),
            ("baz.com", true),
        ] {
            assert_eq!(through(host, NO_PROXY), expected, "{host}");
        }
        assert!(!through("baz.com", "*"));
        assert!(!through("8.8.8.8", "0.0.0.0/0") && !through("[::2]", "::/0"));
    }

    #[test]
    fn the_kubeconfig_s_proxy_has_no_exceptions() {
        let environment = ProxyEnvironment {
            except: Some("*".to_owned()),
            ..ProxyEnvironment::default()
        };
        let proxy = |configured| proxy_for("https", "localhost", 6443, configured, &environment);
        assert_eq!(proxy(Some("socks5://p:1")).as_deref(), Some("socks5://p:1"));
        assert_eq!(proxy(Some("")), None);
        assert_eq!(proxy(None), None);
    }

    #[test]
    fn a_plain_server_has_its_own_variable() {
        let environment = ProxyEnvironment {
            https: Some("secure:1".to_owned()),
            ..ProxyEnvironment::default()
        };
        assert_eq!(proxy_for("http", "x", 80, None, &environment), None);
        assert!(proxy_for("https", "x", 443, None, &environment).is_some());
    }
}
