//! Real Helms, with belay where each of them finds a post-renderer.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

use crate::support::{Run, Sandbox, read, run, testdata};

/// What kubectl printed of a refreshed release `edge` in namespace `tracebloc`.
const RECORD: &str = "example/record.yaml";

/// A Helm with a home of its own, in which nothing is configured.
pub(crate) struct Helm {
    pub(crate) version: &'static str,
    path: &'static Path,
    sandbox: Sandbox,
}

/// How `helm template` ended, and what belay reported of its part.
pub(crate) struct Rendered {
    pub(crate) exit: Option<i32>,
    pub(crate) manifests: String,
    pub(crate) stderr: String,
    /// Null where belay wrote none.
    pub(crate) report: Value,
}

impl Helm {
    /// All Helms of the table. One that cannot be had fails the test: nothing is skipped.
    pub(crate) fn all() -> Vec<Self> {
        static INSTALLED: OnceLock<Vec<(String, PathBuf)>> = OnceLock::new();
        INSTALLED
            .get_or_init(install_helms)
            .iter()
            .map(|(version, path)| Self {
                version,
                path,
                sandbox: Sandbox::new(),
            })
            .collect()
    }

    /// Helm 3 takes a post-renderer by path and keeps hooks from it; Helm 4 takes a plugin and does not.
    pub(crate) fn is_3(&self) -> bool {
        self.version.starts_with("3.")
    }

    /// A folder that goes with this Helm.
    pub(crate) fn folder(&self) -> &Path {
        self.sandbox.path()
    }

    /// Renders release `edge`, with belay reading the record.
    pub(crate) fn render(&self, chart: &Path, helm_args: &[&str]) -> Rendered {
        let record = format!("--record={}", testdata(RECORD).display());
        self.render_with(chart, helm_args, &[&record])
    }

    /// Renders release `edge`, with belay leaving every byte alone. What Helm makes of a chart changes as
    /// soon as there is any post-renderer, so this is what to compare with.
    pub(crate) fn render_offline(&self, chart: &Path, helm_args: &[&str]) -> Rendered {
        self.render_with(chart, helm_args, &["--no-cluster"])
    }

    /// Renders release `edge`, with belay and these arguments of its own.
    pub(crate) fn render_with(
        &self,
        chart: &Path,
        helm_args: &[&str],
        belay_args: &[&str],
    ) -> Rendered {
        let report = self.folder().join("report.json");
        let _ = std::fs::remove_file(&report);
        let report_arg = format!("--report={}", report.display());
        let passed = belay_args.iter().copied().chain([&*report_arg]);
        let passed = passed.map(|arg| format!("--post-renderer-args={arg}"));
        let mut command = self.template(chart);
        command.args(helm_args).args(passed);
        let run = run(&mut command, b"");
        Rendered {
            report: read(&report).map_or(Value::Null, |text| {
                serde_json::from_slice(&text).expect("a JSON report")
            }),
            ..Rendered::from(run)
        }
    }

    /// `helm template edge CHART` with belay as the post-renderer, to be given more arguments.
    pub(crate) fn template(&self, chart: &Path) -> Command {
        let mut command = self.sandbox.command(self.path);
        command
            .args(["template", "edge"])
            .arg(chart)
            .args(["--namespace", "tracebloc"]);
        if self.is_3() {
            // Beside a plugin of Helm 4 it would load none at all, and say so.
            command.env("HELM_PLUGINS", self.folder().join("no-plugins"));
            command.args(["--post-renderer", env!("CARGO_BIN_EXE_belay")]);
        } else {
            command.env("HELM_PLUGINS", plugins());
            command.args(["--post-renderer", "belay"]);
        }
        command
    }
}

impl From<Run> for Rendered {
    fn from(run: Run) -> Self {
        Self {
            exit: run.exit,
            manifests: String::from_utf8(run.stdout).expect("UTF-8"),
            stderr: run.stderr,
            report: Value::Null,
        }
    }
}

impl Rendered {
    /// The same, once it is clear that Helm was content.
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.exit, Some(0), "{}", self.stderr);
        self
    }

    /// `CONTAINER REASON` of each site that belay saw, sorted.
    pub(crate) fn reasons(&self) -> Vec<String> {
        let text = |site: &Value, key: &str| site[key].as_str().expect("a text").to_owned();
        let sites = self.report["sites"].as_array().expect("a report");
        let mut reasons: Vec<String> = sites
            .iter()
            .map(|site| format!("{} {}", text(site, "container"), text(site, "reason")))
            .collect();
        reasons.sort();
        reasons
    }
}

/// A chart of this repository.
pub(crate) fn chart(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn install_helms() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = read(&root.join("scripts/rig.d/helm-versions.tsv")).expect("the table of Helms");
    let table = String::from_utf8(table).expect("UTF-8");
    table
        .lines()
        .filter(|row| !row.starts_with('#'))
        .map(|row| {
            let version = row.split('\t').next().expect("a version");
            let output = Command::new(root.join("scripts/fetch-helm"))
                .arg(version)
                .stderr(Stdio::inherit())
                .output()
                .expect("scripts/fetch-helm");
            assert!(output.status.success(), "no Helm {version}");
            let path = String::from_utf8(output.stdout).expect("UTF-8");
            (version.to_owned(), path.trim_end().into())
        })
        .collect()
}

/// The plugins folder of all Helm 4s: belay installs itself there once.
fn plugins() -> &'static Path {
    static PLUGINS: OnceLock<PathBuf> = OnceLock::new();
    PLUGINS.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("helm-4-plugins");
        let mut install = Sandbox::new().belay();
        install.args(["plugin", "install", "--dir"]).arg(&folder);
        let run = run(install.current_dir("/"), b"");
        assert_eq!(run.exit, Some(0), "{}", run.stderr);
        folder
    })
}
