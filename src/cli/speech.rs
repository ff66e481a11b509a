//! What belay says on stderr, and how loud. stdout is for data alone.

use anstyle::{AnsiColor, Style};
use clap::builder::BoolishValueParser;
use clap::{ArgAction, Args, ValueEnum};

use crate::report::{self, Report, Width};

/// How much to say.
#[derive(Debug, Args)]
#[command(next_help_heading = "Messages")]
pub(super) struct SpeechArgs {
    /// Say nothing but errors; beats --verbose
    #[arg(short, long, env = "BELAY_QUIET", value_parser = BoolishValueParser::new())]
    quiet: bool,
    /// Say what was decided
    #[arg(short, long, env = "BELAY_VERBOSE", action = ArgAction::Count)]
    verbose: u8,
    /// When to use colours
    #[arg(long, value_name = "WHEN", env = "BELAY_COLOR", default_value = "auto")]
    color: When,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl SpeechArgs {
    /// Takes `--color` into use.
    pub(super) fn set_color(&self) {
        let choice = match self.color {
            When::Auto => anstream::ColorChoice::Auto,
            When::Always => anstream::ColorChoice::Always,
            When::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }

    /// Whether somebody asked for what was decided.
    pub(super) fn wants_decisions(&self) -> bool {
        self.verbose > 0 && !self.quiet
    }

    /// Says why the run failed. With all causes, on one line: Helm 3 shows it inside its own message.
    pub(super) fn error(&self, message: &str) {
        say("error", AnsiColor::Red, message);
    }

    /// Shows what an error is about, below it.
    pub(super) fn show(&self, excerpt: &str) {
        excerpt.lines().for_each(plain);
    }

    /// Says what deserves a look.
    pub(super) fn warning(&self, message: &str) {
        if !self.quiet {
            say("warning", AnsiColor::Yellow, message);
        }
    }

    /// Says what was done.
    pub(super) fn tell(&self, message: &str) {
        if !self.quiet {
            plain(&format!("belay: {message}"));
        }
    }

    /// Says what was decided: warnings always, the table and notes with `-v`.
    pub(super) fn decisions(&self, report: &Report) {
        if self.wants_decisions() {
            let width = if self.verbose > 1 {
                Width::Wide
            } else {
                Width::Normal
            };
            let table = report::decisions(report, width);
            for line in table.lines() {
                plain(line);
            }
            for note in &report.notes {
                say("note", AnsiColor::Cyan, note);
            }
        }
        // The first site that stops the run is told as the error.
        for warning in report.warnings(report.refused()) {
            self.warning(&warning);
        }
    }
}

fn say(word: &str, color: AnsiColor, message: &str) {
    let style = Style::new().bold().fg_color(Some(color.into()));
    write(&format!("belay: {style}{word}:{style:#} "), message);
}

fn plain(line: &str) {
    write("", line);
}

/// The one place where belay's words leave: `start` is its own, `line` may hold names and words from
/// anywhere. A closed stderr must not turn a good run into a bad one, so nobody hears of a failure here.
fn write(start: &str, line: &str) {
    use std::io::Write as _;
    let _ = writeln!(anstream::stderr(), "{start}{}", report::printable(line));
}
