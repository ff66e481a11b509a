//! Standard input.

use std::io::{self, IsTerminal as _, Read as _};

use anyhow::Context as _;

/// There is nothing to read.
#[derive(Debug, thiserror::Error)]
pub(super) enum InputError {
    /// stdin is a terminal.
    #[error(
        "stdin is a terminal: pipe manifests in (helm template … | belay), or pass belay to helm with --post-renderer; see belay --help"
    )]
    Terminal,
    /// Two options exclude each other.
    #[error(
        "--require-record needs somewhere to look: give --record FILE, or leave --no-cluster out"
    )]
    RequiredButOffline,
}

/// Reads all of stdin.
pub(super) fn read() -> anyhow::Result<Vec<u8>> {
    let mut stdin = io::stdin().lock();
    if stdin.is_terminal() {
        return Err(InputError::Terminal.into());
    }
    let mut input = Vec::new();
    stdin
        .read_to_end(&mut input)
        .context("cannot read the manifests from stdin")?;
    Ok(input)
}
