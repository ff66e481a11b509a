//! Certificates that are not to be trusted, each by its own fault.

use std::io::Write as _;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use belay::cluster::LookupErrorKind;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::json;

use crate::run::{LONG, Run, SHORT, assert_found, good};
use crate::server::FaultyApiServer;

/// Somebody who signs certificates.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn called(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        Self { issuer, pem }
    }

    /// A server with a certificate for `name`, changed by `change`.
    fn server(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> FaultyApiServer {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        change(&mut params);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        FaultyApiServer::start_tls(Arc::new(config), |_, _| good())
    }

    /// A lookup that trusts this authority alone.
    fn trusted_by(&self, server: &FaultyApiServer) -> Run {
        let address = format!("https://127.0.0.1:{}", server.port);
        Run::against(&address, LONG).cluster(
            "certificate-authority-data",
            json!(STANDARD.encode(&self.pem)),
        )
    }
}

#[test]
fn a_server_of_the_right_name_and_authority_is_trusted() {
    let authority = Authority::called("kubernetes");
    let server = authority.server("127.0.0.1", |_| ());
    assert_found(&authority.trusted_by(&server).run().unwrap());
    let server = authority.server("api.example", |_| ());
    let run = authority.trusted_by(&server);
    assert_found(
        &run.cluster("tls-server-name", json!("api.example"))
            .run()
            .unwrap(),
    );
    // By a file, and by nothing at all.
    let run = authority.trusted_by(&server);
    std::fs::write(run.folder.path().join("ca.crt"), &authority.pem).unwrap();
    let run = run
        .cluster("certificate-authority-data", json!(""))
        .cluster("certificate-authority", json!("ca.crt"))
        .cluster("tls-server-name", json!("api.example"));
    assert_found(&run.run().unwrap());
    let mut run = Run::against(&format!("https://127.0.0.1:{}", server.port), LONG);
    run.environment.helm.insecure = true;
    assert_found(&run.run().unwrap());
}

#[test]
fn a_certificate_that_is_not_to_be_trusted_says_why() {
    let authority = Authority::called("kubernetes");
    let expired = |params: &mut CertificateParams| params.not_after = date_time_ymd(2001, 1, 1);
    let early = |params: &mut CertificateParams| params.not_before = date_time_ymd(4000, 1, 1);
    for (server, why) in [
        (
            Authority::called("other").server("127.0.0.1", |_| ()),
            "unknown authority",
        ),
        (
            Authority::called("kubernetes").server("127.0.0.1", |_| ()),
            "the same name",
        ),
        (authority.server("127.0.0.1", expired), "expired"),
        (authority.server("127.0.0.1", early), "not valid yet"),
        (authority.server("api.example", |_| ()), "another name"),
    ] {
        let (kind, text) = authority.trusted_by(&server).fail();
        assert_eq!(kind, LookupErrorKind::Configuration);
        assert!(text.contains(why), "{why}: {text}");
        assert!(text.contains("certificate authority"), "{text}");
        assert!(server.seen().is_empty());
    }
}

#[test]
fn a_server_without_tls_is_no_server_to_trust() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            // The client may be gone already.
            let _ = connection.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let (kind, text) = Run::against(&format!("https://127.0.0.1:{port}"), LONG).fail();
    assert_eq!(kind, LookupErrorKind::Configuration);
    assert!(text.contains("does not speak TLS"), "{text}");
    // And the other way about: what answers in TLS is no HTTP.
    let secret = Authority::called("kubernetes").server("127.0.0.1", |_| ());
    let (kind, text) = Run::of(&secret, SHORT).fail();
    assert_eq!(kind, LookupErrorKind::Unreachable);
    assert!(text.contains("127.0.0.1"), "{text}");
}
