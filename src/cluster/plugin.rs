//! Runs a credential plugin (`aws eks get-token`, `gke-gcloud-auth-plugin`) within the time limit.
//!
//! kube could run it, but waits without a limit, on the thread that would have to notice the limit,
//! and lets it inherit belay's stderr. That is Helm's pipe: a plugin that hangs and outlives belay
//! would keep it open, and Helm 3 waiting (helm-contract.md section 1.2). So belay runs it with pipes of
//! its own and kills it when the time is up.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// How often an ending process is looked at. It has closed its output, so that it ends at once or
/// has gone astray.
const LOOK: Duration = Duration::from_millis(2);

/// The most bytes that are taken of what a plugin prints: an ExecCredential is a token and perhaps a
/// chain of certificates, some 10 kB, and HTTP servers take headers of 1 MB at most (Go's default).
const LIMIT: usize = 1 << 20;

/// What a plugin left.
pub(super) struct Finished {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// Why there is no [`Finished`].
pub(super) enum Unfinished {
    /// It could not be started.
    NotStarted(io::Error),
    /// It printed more than any credential has, and was killed.
    TooMuch,
    /// It did not end in time, and was killed; what it wrote to stderr until then.
    TimedOut { stderr: Vec<u8> },
}

/// Runs `command` to its end. Its stdin is empty: belay's own is the manifests.
pub(super) fn run(command: &mut Command, deadline: Instant) -> Result<Finished, Unfinished> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(Unfinished::NotStarted)?;
    let stdout = Output::collect(child.stdout.take(), Keep::Beginning);
    let stderr = Output::collect(child.stderr.take(), Keep::End);
    finish(&mut child, &stdout, &stderr, deadline).inspect_err(|_| {
        // It may have ended just now, and what it left behind is no matter of ours then.
        let _ = child.kill();
        let _ = child.wait();
    })
}

fn finish(
    child: &mut Child,
    stdout: &Output,
    stderr: &Output,
    deadline: Instant,
) -> Result<Finished, Unfinished> {
    let timed_out = || Unfinished::TimedOut {
        stderr: stderr.so_far(),
    };
    stdout.ended(deadline).ok_or_else(timed_out)?;
    if stdout.so_far().len() > LIMIT {
        return Err(Unfinished::TooMuch);
    }
    stderr.ended(deadline).ok_or_else(timed_out)?;
    Ok(Finished {
        status: wait(child, deadline).ok_or_else(timed_out)?,
        stdout: stdout.so_far(),
        stderr: stderr.so_far(),
    })
}

/// Which part of a long output is wanted.
#[derive(Clone, Copy)]
enum Keep {
    /// The first [`LIMIT`] bytes and one more, by which the rest is noticed; then nobody reads on.
    Beginning,
    /// The last [`LIMIT`] bytes or so.
    End,
}

/// What comes out of a pipe. A thread of its own reads it, and is left behind when the time is up.
struct Output {
    bytes: Arc<Mutex<Vec<u8>>>,
    end: mpsc::Receiver<()>,
}

impl Output {
    fn collect(pipe: Option<impl Read + Send + 'static>, keep: Keep) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (sender, end) = mpsc::channel();
        let kept = Arc::clone(&bytes);
        thread::spawn(move || {
            // What was read before a failure is what there is; the exit status says the rest.
            let _ = pipe.map(|pipe| read(pipe, keep, &kept));
            let _ = sender.send(());
        });
        Self { bytes, end }
    }

    /// Waits for the end; None when the time is up.
    fn ended(&self, deadline: Instant) -> Option<()> {
        let left = deadline.saturating_duration_since(Instant::now());
        self.end.recv_timeout(left).ok()
    }

    fn so_far(&self) -> Vec<u8> {
        locked(&self.bytes).clone()
    }
}

fn read(mut pipe: impl Read, keep: Keep, kept: &Mutex<Vec<u8>>) -> io::Result<()> {
    let mut piece = [0; 8192];
    loop {
        let length = match pipe.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut kept = locked(kept);
        kept.extend_from_slice(&piece[..length]);
        match keep {
            Keep::Beginning if kept.len() > LIMIT => return Ok(()),
            Keep::End if kept.len() > 2 * LIMIT => {
                let surplus = kept.len() - LIMIT;
                kept.drain(..surplus);
            }
            Keep::Beginning | Keep::End => {}
        }
    }
}

/// Bytes are bytes, whatever became of the thread that held them.
fn locked(bytes: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    bytes.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait(child: &mut Child, deadline: Instant) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < deadline => thread::sleep(LOOK),
            Ok(None) | Err(_) => return None,
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn sh(script: &str, limit: Duration) -> Result<Finished, Unfinished> {
        run(
            Command::new("sh").args(["-c", script]),
            Instant::now() + limit,
        )
    }

    #[test]
    fn output_and_status_are_kept_apart() {
        let Ok(finished) = sh(
            "cat; echo out; echo err >&2; exit 3",
            Duration::from_secs(60),
        ) else {
            panic!("it did not end");
        };
        assert_eq!(finished.stdout, b"out\n");
        assert_eq!(finished.stderr, b"err\n");
        assert_eq!(finished.status.code(), Some(3));
    }

    #[test]
    fn a_plugin_that_hangs_is_left_when_the_time_is_up() {
        for script in [
            "exec sleep 600",
            "exec >/dev/null 2>&1; exec sleep 600",
            "sleep 5 & exit 0",
        ] {
            let result = sh(script, Duration::from_millis(50));
            assert!(
                matches!(result, Err(Unfinished::TimedOut { .. })),
                "{script}"
            );
        }
    }

    #[test]
    fn what_a_plugin_said_before_it_hung_is_kept() {
        let script = "echo open the browser >&2; exec sleep 600";
        let Err(Unfinished::TimedOut { stderr }) = sh(script, Duration::from_millis(500)) else {
            panic!("it ended");
        };
        assert_eq!(stderr, b"open the browser\n");
    }

    #[test]
    fn a_plugin_that_prints_without_end_is_stopped() {
        let long = Duration::from_secs(60);
        assert!(matches!(sh("exec yes", long), Err(Unfinished::TooMuch)));
        let Err(Unfinished::TimedOut { stderr }) = sh("exec yes >&2", Duration::from_millis(300))
        else {
            panic!("it ended");
        };
        assert!(stderr.len() <= 2 * LIMIT);
    }
}
