//! `belay rbac`.

use crate::support::Sandbox;
use crate::{assert_fails, input, text};

#[test]
fn rbac_prints_what_a_render_may_ask_and_asks_nobody() {
    let manifests = input("cases/def-applied-controller-revision-daemon-set");
    let sandbox = Sandbox::new();
    let bound = sandbox.run(["rbac", "--service-account=ci/deployer"], &manifests);
    assert_eq!(bound.exit, Some(0), "{}", bound.stderr);
    assert_eq!(bound.stderr, "");
    let roles = text(&bound.stdout);
    assert_eq!(roles.matches("\nkind: Role\n").count(), 2, "{roles}");
    assert_eq!(roles.matches("\nkind: RoleBinding\n").count(), 2, "{roles}");
    for name in ["demo-belay", "replicasets", "controllerrevisions"] {
        assert!(roles.contains(name), "{name} in {roles}");
    }
    let stated = sandbox.run(["rbac", "--no-history"], &manifests);
    let roles = text(&stated.stdout);
    assert!(roles.contains("daemonsets"), "{roles}");
    for rule in ["list", "replicasets", "RoleBinding"] {
        assert!(!roles.contains(rule), "{rule} in {roles}");
    }
}

#[test]
fn rbac_of_manifests_that_ask_nothing_prints_nothing() {
    let sandbox = Sandbox::new();
    for manifests in [b"".as_slice(), b"kind: Deployment\n"] {
        let run = sandbox.run(["rbac"], manifests);
        assert_eq!((run.exit, text(&run.stdout)), (Some(0), ""));
        assert!(run.stderr.contains("no Role"), "{}", run.stderr);
    }
    let run = sandbox.run(["rbac", "--service-account=deployer"], b"");
    assert_fails(&run, 2, "NAMESPACE/NAME");
}
