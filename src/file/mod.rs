//! Reading a file that somebody named. A name may lead to anything: a pipe into which nobody writes, a
//! device without an end, a folder. So only regular files are read, up to a limit, and of pipes those
//! that a shell hands over by number (`<(…)`).

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

/// Where the descriptors that a process has inherited stand (`<(…)` is one): elsewhere a pipe is a
/// FIFO, which blocks whoever opens it until somebody writes.
const DESCRIPTORS: [&str; 2] = ["/dev/fd", "/proc/self/fd"];
/// The first three of them by name.
const STREAMS: [&str; 3] = ["/dev/stdin", "/dev/stdout", "/dev/stderr"];

/// What may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file with an end.
    Regular,
    /// An inherited pipe, whose writer decides when it ends.
    Pipe,
}

/// Why a file was not read. None of the sentences names the file: whoever asked says which it is.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be opened or read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is no file.
    #[error("it is {0}, not a file")]
    NotAFile(&'static str),
    /// It is longer than what it is read for could be.
    #[error("it is larger than {} MiB", .0 >> 20)]
    TooLarge(u64),
    /// A pipe did not end in time.
    #[error("whoever writes into it did not end in time")]
    TimedOut,
}

/// Says what `path` leads to, without opening it. `limit` is in bytes.
///
/// # Errors
/// Where it leads to nothing, to something that is no file, or to a file beyond the limit.
pub fn examine(path: &Path, limit: u64) -> Result<Kind, FileError> {
    let found = fs::metadata(path)?;
    let kind = found.file_type();
    if kind.is_file() {
        return match found.len() {
            length if length > limit => Err(FileError::TooLarge(limit)),
            _ => Ok(Kind::Regular),
        };
    }
    if is_pipe(kind) && is_inherited(path) {
        return Ok(Kind::Pipe);
    }
    Err(FileError::NotAFile(name(kind)))
}

/// Reads all of `path`, at most `limit` bytes. A pipe has until `deadline`.
///
/// # Errors
/// Those of [`examine()`], and when reading fails or takes too long.
pub fn read(path: &Path, limit: u64, deadline: Option<Instant>) -> Result<Vec<u8>, FileError> {
    let kind = examine(path, limit)?;
    let Some(deadline) = deadline.filter(|_| kind == Kind::Pipe) else {
        return read_all(path, limit);
    };
    // A thread of its own, which is left behind when the time is up.
    let (sender, receiver) = mpsc::channel();
    let path = path.to_owned();
    thread::spawn(move || sender.send(read_all(&path, limit)));
    let left = deadline.saturating_duration_since(Instant::now());
    receiver
        .recv_timeout(left)
        .unwrap_or(Err(FileError::TimedOut))
}

/// A file may have no length (those of /proc) or grow, so that the bytes are counted.
fn read_all(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    let mut most = File::open(path)?.take(limit.saturating_add(1));
    most.read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(FileError::TooLarge(limit));
    }
    Ok(bytes)
}

/// Whether `path` is the number of a descriptor that this process has inherited.
#[must_use]
pub fn is_inherited(path: &Path) -> bool {
    let folder = path.parent();
    STREAMS.iter().any(|it| path == Path::new(it))
        || DESCRIPTORS.iter().any(|it| folder == Some(Path::new(it)))
}

#[cfg(unix)]
fn is_pipe(kind: fs::FileType) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    kind.is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: fs::FileType) -> bool {
    false
}

/// What is no file, as a message calls it.
fn name(kind: fs::FileType) -> &'static str {
    match kind {
        kind if kind.is_dir() => "a folder",
        kind if is_pipe(kind) => "a named pipe",
        _ => "a device or a socket",
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::path::PathBuf;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::*;

    const LIMIT: u64 = 1 << 20;

    fn fail(path: &Path) -> String {
        read(path, LIMIT, None).unwrap_err().to_string()
    }

    #[test]
    fn a_file_is_read_also_behind_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(read(&link, LIMIT, None).unwrap(), b"x");
        assert_eq!(read(&file, 1, None).unwrap(), b"x");
        assert!(matches!(read(&file, 0, None), Err(FileError::TooLarge(0))));
    }

    #[test]
    fn a_named_pipe_a_device_and_a_folder_are_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(fail(&pipe), "it is a named pipe, not a file");
        assert_eq!(fail(folder.path()), "it is a folder, not a file");
        assert_eq!(
            fail(Path::new("/dev/zero")),
            "it is a device or a socket, not a file"
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn an_inherited_pipe_is_read_until_it_ends_or_the_time_is_up() {
        use std::os::fd::AsRawFd as _;
        let writer = |script: &str| {
            let mut child = Command::new("sh")
                .args(["-c", script])
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let pipe = child.stdout.take().unwrap();
            let path = PathBuf::from(format!("/dev/fd/{}", pipe.as_raw_fd()));
            (child, pipe, path)
        };
        let soon = |limit| Some(Instant::now() + Duration::from_millis(limit));
        let (mut child, _pipe, path) = writer("echo x");
        assert_eq!(read(&path, LIMIT, soon(60_000)).unwrap(), b"x\n");
        child.wait().unwrap();
        let (mut child, _pipe, path) = writer("exec sleep 600");
        assert!(matches!(
            read(&path, LIMIT, soon(50)),
            Err(FileError::TimedOut)
        ));
        child.kill().unwrap();
        child.wait().unwrap();
        let (mut child, _pipe, path) = writer("exec yes");
        assert!(matches!(
            read(&path, LIMIT, soon(60_000)),
            Err(FileError::TooLarge(_))
        ));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
