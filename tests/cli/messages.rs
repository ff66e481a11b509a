//! What is said on stderr, and what not.

use crate::support::Sandbox;
use crate::{PINNED, WARNED, assert_fails, expected, input, run_case, text};

#[test]
fn names_do_not_reach_the_terminal_as_control_characters() {
    let stream = b"kind: Deployment\nmetadata: {name: \"a\\e[31m\\nb\"}\nspec: {template: {spec: {containers: [{name: c, image: tracebloc/jobs-manager:prod}]}}}\n";
    let run = Sandbox::new().run(["explain", "--no-cluster"], stream);
    assert!(
        text(&run.stdout).contains(r"a\u{1b}[31m\nb"),
        "{}",
        text(&run.stdout)
    );
    assert!(!run.stdout.contains(&0x1b));
}

#[test]
fn an_unreadable_line_is_not_shown_where_it_may_be_a_secrets() {
    let broken = |kind: &str| {
        let stream = format!("kind: {kind}\na: tracebloc/jobs-manager\nhunter2: ]\n");
        Sandbox::new()
            .run(["--no-cluster"], stream.as_bytes())
            .stderr
    };
    assert!(broken("ConfigMap").contains("hunter2"));
    assert!(
        !broken("Secret").contains("hunter2"),
        "{}",
        broken("Secret")
    );
}

#[test]
fn quiet_says_errors_only() {
    let warned = run_case(&[], WARNED);
    assert!(
        warned.stderr.starts_with("belay: warning: "),
        "{}",
        warned.stderr
    );
    let quiet = run_case(&["-q"], WARNED);
    assert_eq!((quiet.exit, quiet.stderr.as_str()), (Some(0), ""));
    assert_eq!(quiet.stdout, warned.stdout);
    let both = run_case(&["-q", "-v"], WARNED);
    assert_eq!(both.stderr, "", "-q beats -v");
    let failed = run_case(&["--quiet", "--strict"], WARNED);
    assert_fails(&failed, 79, "belay: error: ");
    assert!(!failed.stderr.contains("belay: warning"));
}

#[test]
fn verbose_says_what_was_decided() {
    assert_eq!(run_case(&[], PINNED).stderr, "");
    let once = run_case(&["-v"], PINNED);
    assert_eq!(once.stdout, expected(PINNED));
    assert!(once.stderr.contains("OBJECT ") && once.stderr.contains("pinned"));
    assert!(!once.stderr.contains("OWNERS"));
    let twice = run_case(&["-vv"], PINNED);
    assert!(twice.stderr.contains("OWNERS"), "{}", twice.stderr);
}

#[test]
fn colours_are_for_terminals_unless_asked_for() {
    let plain = run_case(&[], WARNED);
    assert!(!plain.stderr.contains('\u{1b}'));
    let always = run_case(&["--color", "always"], WARNED);
    assert!(always.stderr.contains('\u{1b}'));
    assert_eq!(always.stdout, plain.stdout);
    let never = run_case(&["--color=never"], WARNED);
    assert_eq!(never.stderr, plain.stderr);
}

/// Helm 3 shows the last line of a failed post-renderer inside its own message.
#[test]
fn an_error_is_one_line_with_its_causes() {
    let run = Sandbox::new().run(["--record", "no-such-file"], &input(PINNED));
    assert_fails(&run, 66, "no-such-file");
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains("No such file"), "{}", run.stderr);
}
