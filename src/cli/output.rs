//! Standard output.

use std::io::{self, Write as _};

/// Writes to stdout what `print` writes. A reader that has gone away (`belay | head`) is no failure of
/// belay's.
pub(super) fn write(
    print: impl FnOnce(&mut io::StdoutLock<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match print(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Writes `text` to stdout.
pub(super) fn print(text: &str) -> io::Result<()> {
    write(|out| out.write_all(text.as_bytes()))
}
