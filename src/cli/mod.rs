//! The command line: options in, layers wired, exit codes out. One file for each command.

mod args;
mod config;
mod exit;
mod explain;
mod facts;
mod generate;
mod input;
mod last_error;
mod output;
mod pipeline;
mod plugin;
mod rbac;
mod record_file;
mod render;
mod report_file;
mod speech;
mod values;

use std::process::ExitCode;

use args::{Cli, Command};

/// Runs belay with the process's arguments.
#[must_use]
pub fn main() -> ExitCode {
    let Cli { command, render } = Cli::from_process();
    let exit = match command {
        None => render::run(&render),
        Some(Command::Render(args)) => render::run(&args),
        Some(Command::Explain(args)) => explain::run(&args),
        Some(Command::LastError(args)) => last_error::run(&args),
        Some(Command::Config(args)) => config::run(&args),
        Some(Command::Rbac(args)) => rbac::run(&args),
        Some(Command::Plugin(args)) => plugin::run(&args),
        Some(Command::Completions(args)) => generate::completions(&args),
        Some(Command::Man) => generate::man(),
    };
    exit.into()
}
