//! Running real programs, apart from whatever the machine has configured.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, thread};

use tempfile::TempDir;

/// Variables that would reach into a test from outside.
const FOREIGN: [&str; 8] = [
    "BELAY_", "HELM_", "KUBE", "ARGOCD_", "XDG_", "NO_COLOR", "CLICOLOR", "TERM",
];

/// A folder of its own for a test: home, working directory and place for files.
pub(crate) struct Sandbox {
    dir: TempDir,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Run {
    /// The exit code; None after a signal.
    pub(crate) exit: Option<i32>,
    /// stdout, byte for byte.
    pub(crate) stdout: Vec<u8>,
    /// stderr, which is always text.
    pub(crate) stderr: String,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        Self { dir }
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// belay, started in the sandbox with nothing configured.
    pub(crate) fn belay(&self) -> Command {
        self.command(env!("CARGO_BIN_EXE_belay"))
    }

    /// A program, started in the same way.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            if FOREIGN.iter().any(|prefix| text.starts_with(prefix)) {
                command.env_remove(&name);
            }
        }
        command
            .env("HOME", self.path())
            .current_dir(self.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

/// Runs `command` on `input`. A command that ends without reading all of it is no failure.
pub(crate) fn run(command: &mut Command, input: &[u8]) -> Run {
    let mut child = command
        .stdin(Stdio::piped())
        .spawn()
        .expect("the program to start");
    let mut stdin = child.stdin.take().expect("a pipe");
    thread::scope(|scope| {
        scope.spawn(move || {
            let _ = stdin.write_all(input);
        });
        let output = child.wait_with_output().expect("the program to end");
        Run {
            exit: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    })
}

/// A file of testdata/.
pub(crate) fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(path)
}

/// The bytes of `path`; None where there is no such file.
pub(crate) fn read(path: &Path) -> Option<Vec<u8>> {
    path.exists()
        .then(|| fs::read(path).expect("a readable file"))
}
