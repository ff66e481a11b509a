//! `belay config` and `--config`: the names of another vendor's chart.

use std::fs;

use crate::support::{Sandbox, read, testdata};
use crate::{PINNED, assert_fails, case, expected, input, text};

#[test]
fn a_token_named_as_config_is_not_shown() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path().join("token"), "eyJhbGciOi.secret").expect("a file");
    let run = sandbox.run(["--config", "token"], b"a: 1\n");
    assert_fails(&run, 78, "it is no mapping");
    assert!(!run.stderr.contains("eyJ"), "{}", run.stderr);
}

#[test]
fn the_default_config_read_back_is_the_default() {
    let sandbox = Sandbox::new();
    let default = sandbox.run(["config", "--default"], b"");
    assert_eq!(default.exit, Some(0));
    let file = sandbox.path().join("c.yaml");
    fs::write(&file, &default.stdout).expect("a file");

    let again = sandbox.run(["config", "--config", "c.yaml"], b"");
    assert_eq!((again.exit, &again.stdout), (Some(0), &default.stdout));
    assert_eq!(sandbox.run(["config"], b"").stdout, default.stdout);

    let (input, record) = case(PINNED);
    let args = ["--config", "c.yaml", "--record", &record];
    assert_eq!(sandbox.run(args, &input).stdout, expected(PINNED));
}

#[test]
fn the_live_profile_wants_images_and_takes_them_from_options_and_file() {
    let sandbox = Sandbox::new();
    let run = sandbox.run(["--profile=live"], &input(PINNED));
    assert_fails(&run, 78, "looks at no image: name some with --image");
    let run = sandbox.run(["--profile=live", "--image=acme/x:1"], &input(PINNED));
    assert_fails(&run, 2, "`acme/x:1` names no repository");

    let live = sandbox.run(["config", "--profile=live", "--image=acme/*"], b"");
    let live = text(&live.stdout);
    assert!(live.contains("repositories: []"), "{live}");
    assert!(live.contains("- acme/*"), "{live}");
    fs::write(sandbox.path().join("c.yaml"), live).expect("a file");
    let again = sandbox.run(["config", "--config=c.yaml"], b"");
    assert_eq!(text(&again.stdout), live);
    fs::write(sandbox.path().join("bad.yaml"), "liveImages: ['a[']\n").expect("a file");
    let bad = sandbox.run(["--config=bad.yaml"], b"");
    assert_fails(&bad, 78, "`a[` is no glob");
}

#[test]
fn a_bad_config_ends_with_78() {
    let sandbox = Sandbox::new();
    let bad = |text: &str, says: &str| {
        fs::write(sandbox.path().join("c.yaml"), text).expect("a file");
        for command in ["render", "explain", "config"] {
            let run = sandbox.run([command, "--config", "c.yaml"], &input(PINNED));
            assert_fails(&run, 78, says);
            assert!(run.stderr.contains("c.yaml"), "{}", run.stderr);
        }
    };
    bad(
        "tagVariabel: CLIENT_ENV\n",
        "there is no key tagVariabel, perhaps tagVariable is meant",
    );
    bad(
        "record: {digset: x}\n",
        "there is no key record.digset, perhaps digest is meant",
    );
    bad(
        "refresher: {pins: [{variable: A, wrokload: {variable: B, fallback: c, fallbakc: d}}]}\n",
        "there is no key refresher.pins.0.wrokload, perhaps workload is meant",
    );
    bad(
        "refresher: {pins: [{variable: A, workload: {variable: B, fallback: c, fallbakc: d}}], x: 1}\n",
        "there is no key refresher.pins.0.workload.fallbakc, perhaps fallback is meant (and 1 more)",
    );
    bad("zzz: 1\n", "there is no key zzz (");
    bad("record: {state: all}\n", "lacks {image}");
    bad("registries: docker.io\n", "registries");
    bad("refresher: {pins: [{image: jobs-manager}]}\n", "variable");
    bad("repositories: []\n", "repositories");
    bad(
        "repositories: [{repository: 'docker.io/acme/x:1', image: x}]\n",
        "repository",
    );
    bad(
        "repositories: [{repository: docker.io/acme/x, image: x}]\n",
        "with a registry",
    );
    bad("repositories: [{repository: acme/x, image: ''}]\n", "image");
    bad("registries: []\n", "registries is empty");
    bad("refresher: {selector: {}}\n", "selector is empty");
    bad("tagVariable: [\n", "c.yaml");
    bad("just a text\n", "c.yaml");
}

#[test]
fn one_image_needs_no_name_in_its_annotations_and_may_be_an_official_one() {
    let sandbox = Sandbox::new();
    for repository in ["nginx", "library/nginx", "acme/x"] {
        let text = format!(
            "repositories: [{{repository: {repository}, image: x}}]\nrecord: {{digest: d, reference: r, state: s}}\n"
        );
        fs::write(sandbox.path().join("c.yaml"), text).expect("a file");
        let run = sandbox.run(["config", "--config", "c.yaml"], b"");
        assert_eq!(run.exit, Some(0), "{}", run.stderr);
    }
}

#[test]
fn a_missing_config_ends_with_78() {
    for command in ["render", "explain", "config"] {
        let run = Sandbox::new().run([command, "--config", "no-such-file"], &input(PINNED));
        assert_fails(&run, 78, "no-such-file");
    }
}

/// Nothing of the default vendor is wired in: another chart's names do as well.
#[test]
fn another_vendors_profile_works_on_its_own_chart() {
    let folder = testdata("profiles/acme");
    let path = |name: &str| folder.join(name).display().to_string();
    let stream = read(&folder.join("stream.yaml")).expect("a stream");
    let args = [
        "--config",
        &path("config.yaml"),
        "--record",
        &path("record.yaml"),
    ];
    let rendered = Sandbox::new().run(args, &stream);
    assert_eq!(rendered.exit, Some(0), "{}", rendered.stderr);

    let worker = format!(
        "registry.acme.example:5000/acme/batch/worker@sha256:{}",
        "1".repeat(64)
    );
    let redis = format!("redis@sha256:{}", "2".repeat(64));
    let expected = text(&stream)
        .replacen(
            "image: registry.acme.example:5000/acme/batch/worker:edge",
            &format!("image: {worker}"),
            1,
        )
        .replacen("image: redis:edge", &format!("image: {redis}"), 1);
    assert_eq!(text(&rendered.stdout), expected);

    let explained = Sandbox::new().run(["explain"].iter().chain(&args), &stream);
    let reasons: Vec<&str> = text(&explained.stdout)
        .lines()
        .skip(1)
        .filter_map(|line| line.split("  ").last())
        .map(str::trim)
        .collect();
    assert_eq!(
        reasons[..5],
        [
            "pinned",
            "pinned",
            "refresh-absent",          // KEEP_CANARY, by the fall-back name
            "record-unmaintained (!)", // ticks are skipped and no reference stands for redis
            "mirror",
        ]
    );
}

#[test]
fn the_default_profile_leaves_another_vendors_chart_alone() {
    let stream = read(&testdata("profiles/acme").join("stream.yaml")).expect("a stream");
    let run = Sandbox::new().run(["--no-cluster"], &stream);
    assert_eq!((run.exit, run.stdout), (Some(0), stream));
}
