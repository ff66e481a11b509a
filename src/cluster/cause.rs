//! What an error of kube, hyper and rustls comes from.

use std::error::Error;
use std::io;

use rustls::CertificateError;

use super::secrets::Secrets;

/// Why a client cannot be made, without addresses: a proxy's may hold a password.
pub(super) fn configuration(error: &kube::Error) -> String {
    match error {
        kube::Error::ProxyProtocolUnsupported { .. }
        | kube::Error::ProxyProtocolDisabled { .. } => {
            "its proxy is none of http, https and socks5".to_owned()
        }
        other => match innermost(other) {
            Innermost::Tls(cause) | Innermost::Other(cause) => {
                // The outer text says which file, the inner one why; kube repeats one in the other.
                let whole = other.to_string();
                let text = if whole.contains(&cause) { whole } else { cause };
                Secrets::default().words(&text)
            }
        },
    }
}

/// The first cause of an error.
pub(super) enum Innermost {
    /// TLS, in words that say whose fault it is.
    Tls(String),
    /// Anything else, in its own words.
    Other(String),
}

/// Follows an error to its first cause. kube's and hyper's own texts only say on which layer it was
/// noticed. An `io::Error` hides what it wraps from `source`, and TLS errors come wrapped so.
pub(super) fn innermost(error: &(dyn Error + 'static)) -> Innermost {
    let mut at = error;
    loop {
        if let Some(tls) = at.downcast_ref::<rustls::Error>() {
            return Innermost::Tls(tls_cause(tls));
        }
        let wrapped = at.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        let next = match wrapped {
            Some(inner) => Some(inner as &(dyn Error + 'static)),
            None => at.source(),
        };
        match next {
            Some(next) => at = next,
            None => return Innermost::Other(at.to_string()),
        }
    }
}

fn tls_cause(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "its certificate comes from an unknown authority".to_owned()
        }
        rustls::Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        ) => "its certificate has expired".to_owned(),
        // kubeadm calls every cluster's authority `kubernetes`.
        rustls::Error::InvalidCertificate(CertificateError::BadSignature) => {
            "its certificate comes from another authority of the same name".to_owned()
        }
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. },
        ) => "its certificate is not valid yet".to_owned(),
        rustls::Error::InvalidCertificate(CertificateError::NotValidForNameContext {
            presented,
            ..
        }) if !presented.is_empty() => {
            format!(
                "its certificate is for another name, {}",
                presented.join(", ")
            )
        }
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => "its certificate is for another name".to_owned(),
        rustls::Error::InvalidMessage(_) => "it does not speak TLS".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tls_error_is_found_inside_io_errors() {
        let tls = rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
        let error = io::Error::other(io::Error::new(io::ErrorKind::InvalidData, tls));
        assert!(
            matches!(innermost(&error), Innermost::Tls(cause) if cause.contains("unknown authority"))
        );
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        let error = io::Error::other(refused);
        assert!(
            matches!(innermost(&error), Innermost::Other(cause) if cause == "connection refused")
        );
    }
}
