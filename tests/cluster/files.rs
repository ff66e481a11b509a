//! Files that are none: a kubeconfig and what it points to may be named as anything.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use belay::cluster::LookupErrorKind;
use serde_json::json;

use crate::run::{LONG, Run, assert_found, good};
use crate::server::FaultyApiServer;

/// What is no file, with what a message calls it.
fn no_files(folder: &Path) -> [(PathBuf, &'static str); 4] {
    let pipe = folder.join("pipe");
    if !pipe.exists() {
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
    }
    let link = folder.join("link");
    let _ = std::os::unix::fs::symlink(&pipe, &link);
    [
        (pipe, "a named pipe"),
        (link, "a named pipe"),
        ("/dev/zero".into(), "a device"),
        (folder.to_owned(), "a folder"),
    ]
}

#[test]
fn a_kubeconfig_that_is_no_file_does_not_hang() {
    let folder = tempfile::tempdir().unwrap();
    for (path, called) in no_files(folder.path()) {
        let mut by_option = Run::against("http://x", LONG);
        by_option.connection.kubeconfig = Some(path.clone());
        let mut by_variable = Run::against("http://x", LONG);
        by_variable.connection.kubeconfig = None;
        by_variable.environment.kubeconfig = Some(path.clone().into());
        for run in [by_option, by_variable] {
            let (kind, text) = run.fail();
            assert_eq!(kind, LookupErrorKind::Configuration);
            assert!(text.contains(called), "{text}");
            assert!(text.contains(path.to_str().unwrap()), "{text}");
        }
    }
}

#[test]
fn what_a_kubeconfig_points_to_and_is_no_file_does_not_hang() {
    let folder = tempfile::tempdir().unwrap();
    for (path, called) in no_files(folder.path()) {
        let against = || Run::against("https://127.0.0.1:1", LONG);
        let mut by_helm = against();
        by_helm.environment.helm.ca_file = Some(path.clone());
        let plugin = json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1",
            "command": "true", "provideClusterInfo": true}});
        for run in [
            against().user(json!({"tokenFile": path})),
            against().user(json!({"client-certificate": path, "client-key": path})),
            against().cluster("certificate-authority", json!(path)),
            against()
                .cluster("certificate-authority", json!(path))
                .user(plugin),
            by_helm,
        ] {
            let (kind, text) = run.fail();
            assert_eq!(kind, LookupErrorKind::Configuration);
            assert!(text.contains(called), "{text}");
            assert!(text.contains(path.to_str().unwrap()), "{text}");
        }
    }
}

#[test]
fn a_file_beyond_the_limit_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparse");
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let mut run = Run::against("http://x", LONG);
    run.connection.kubeconfig = Some(path.clone());
    assert!(run.fail().1.contains("larger than 16 MiB"));
    let run = Run::against("http://x", LONG).user(json!({"tokenFile": path}));
    assert!(run.fail().1.contains("larger than 16 MiB"));
}

/// `--kubeconfig <(decrypt config)`, which kubectl takes too.
#[test]
#[cfg(target_os = "linux")]
fn a_kubeconfig_from_a_shell_s_pipe_is_read() {
    use std::os::fd::AsRawFd as _;
    let server = FaultyApiServer::start(|_, _| good());
    let mut run = Run::of(&server, LONG);
    let path = run.connection.kubeconfig.take().unwrap();
    let mut writer = Command::new("cat")
        .arg(path)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let pipe = writer.stdout.take().unwrap();
    run.connection.kubeconfig = Some(format!("/dev/fd/{}", pipe.as_raw_fd()).into());
    assert_found(&run.run().unwrap());
    writer.wait().unwrap();
}

/// As kubectl and client-go have it: a token file ends in a line break, as every text file does.
#[test]
fn a_token_file_s_line_break_is_none_of_the_token() {
    let server = FaultyApiServer::start(|_, _| good());
    let run = Run::of(&server, LONG);
    // A relative path is one from the kubeconfig.
    fs::write(run.folder.path().join("token"), "hunter2\r\n").unwrap();
    assert_found(&run.user(json!({"tokenFile": "token"})).run().unwrap());
    assert_eq!(server.seen()[0].headers["authorization"], "Bearer hunter2");
}
