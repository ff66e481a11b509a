//! What the last failed run said, kept for `belay last-error`: Helm 4 shows nothing of a post-renderer's
//! messages.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::exit::Exit;
use super::output;
use super::report_file::end;
use super::speech::SpeechArgs;
use crate::file;
use crate::report::{self, Report};

/// The name of the JSON schema.
const SCHEMA: &str = "belay.dev/last-error/v1";
const FILE: &str = "last-error.json";
/// Reports of two thousand images are some megabytes.
const LARGEST: u64 = 256 << 20;

/// Where a failure is kept.
#[derive(Debug, Args)]
#[command(next_help_heading = "Messages")]
pub(super) struct StateArgs {
    /// The folder that keeps the last failure [default: $XDG_STATE_HOME/belay, else
    /// ~/.local/state/belay]
    #[arg(long, value_name = "DIR", env = "BELAY_STATE")]
    state: Option<PathBuf>,
}

/// `belay last-error`
#[derive(Debug, Args)]
pub(super) struct LastErrorArgs {
    /// How to print
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        env = "BELAY_OUTPUT",
        default_value = "text"
    )]
    output: Format,
    #[command(flatten)]
    state: StateArgs,
    #[command(flatten)]
    speech: SpeechArgs,
}

/// How `belay last-error` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The time, and the report as --report writes it
    Text,
    /// JSON (schema belay.dev/last-error/v1)
    Json,
}

impl StateArgs {
    /// The folder, by the XDG base directory specification, where a relative path counts as none.
    fn folder(&self) -> Option<PathBuf> {
        let absolute = |name: &str| {
            let path = std::env::var_os(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        self.state
            .clone()
            .or_else(|| Some(absolute("XDG_STATE_HOME")?.join("belay")))
            .or_else(|| Some(absolute("HOME")?.join(".local/state/belay")))
    }
}

/// Keeps the report of a failed run.
pub(super) fn keep(report: &Report, state: &StateArgs, speech: &SpeechArgs) {
    let Some(folder) = state.folder() else {
        return;
    };
    if let Err(error) = write(&folder, report) {
        // The run has failed already, and a Job's root is read-only.
        speech.warning(&format!(
            "cannot keep this failure for belay last-error in {}: {error}",
            folder.display()
        ));
    }
}

/// Whole or not at all: another run may be reading or failing too.
fn write(folder: &Path, report: &Report) -> io::Result<()> {
    let failure = json!({
        "schema": SCHEMA,
        "time": jiff::Timestamp::now().to_string(),
        "text": report::page(report),
        "report": report,
    });
    fs::create_dir_all(folder)?;
    // For its owner only, as tempfile makes files.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    writeln!(file, "{failure:#}")?;
    file.persist(folder.join(FILE))?;
    Ok(())
}

/// Prints the last failure.
pub(super) fn run(args: &LastErrorArgs) -> Exit {
    args.speech.set_color();
    end(show(args), &args.speech)
}

fn show(args: &LastErrorArgs) -> anyhow::Result<Exit> {
    let folder = args
        .state
        .folder()
        .context("neither --state nor $XDG_STATE_HOME nor $HOME says where the last failure is")?;
    let path = folder.join(FILE);
    if !path.exists() {
        let folder = folder.display();
        args.speech
            .tell(&format!("no failed run is kept in {folder}"));
        return Ok(Exit::Done);
    }
    let unreadable = || format!("cannot read the last failure in {}", path.display());
    let bytes = file::read(&path, LARGEST, None).with_context(unreadable)?;
    let failure: Value = serde_json::from_slice(&bytes).with_context(unreadable)?;
    let text = match args.output {
        Format::Json => String::from_utf8_lossy(&bytes).into_owned(),
        Format::Text => {
            let field = |name: &str| failure[name].as_str().unwrap_or_default();
            format!("{}\n{}", field("time"), field("text"))
        }
    };
    output::print(&text)?;
    Ok(Exit::Done)
}
