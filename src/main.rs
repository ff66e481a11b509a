//! Starts belay.

use std::process::ExitCode;

fn main() -> ExitCode {
    belay::cli::main()
}
