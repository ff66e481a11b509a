//! `belay completions` and `belay man`, made of the option definitions.

use std::io::Write as _;

use clap::CommandFactory as _;

use super::args::{Cli, CompletionsArgs};
use super::exit::Exit;
use super::output;

/// Prints a completion script.
pub(super) fn completions(args: &CompletionsArgs) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "belay", &mut script);
    print(&script)
}

/// Prints the man page.
pub(super) fn man() -> Exit {
    let mut page = Vec::new();
    // Writing to memory cannot fail.
    let _ = clap_mangen::Man::new(Cli::command()).render(&mut page);
    print(&page)
}

fn print(text: &[u8]) -> Exit {
    match output::write(|out| out.write_all(text)) {
        Ok(()) => Exit::Done,
        Err(_) => Exit::Io,
    }
}
