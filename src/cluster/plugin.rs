//! Runs a credential plugin (`aws eks get-token`, `gke-gcloud-auth-plugin`) within the time limit.
//!
//! kube could run it, but waits without a limit, on the thread that would have to notice the limit,
//! and lets it inherit belay's stderr. That is Helm's pipe: a plugin that hangs and outlives belay
//! would keep it open, and Helm 3 waiting (helm-contract.md section 1.2). So belay runs it with pipes of
//! its own and kills it when the time is up.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// How often an ending process is looked at. It has closed its output, so that it ends at once or
/// has gone astray.
const LOOK: Duration = Duration::from_millis(2);

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
    /// It did not end in time, and was killed.
    TimedOut,
}

/// Runs `command` to its end. Its stdin is empty: belay's own is the manifests.
pub(super) fn run(command: &mut Command, deadline: Instant) -> Result<Finished, Unfinished> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(Unfinished::NotStarted)?;
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let finished = (|| {
        let stdout = receive(&stdout, deadline)?;
        let stderr = receive(&stderr, deadline)?;
        let status = wait(&mut child, deadline)?;
        Some(Finished {
            status,
            stdout,
            stderr,
        })
    })();
    finished.ok_or_else(|| {
        // It may have ended just now, and what it left behind is no matter of ours then.
        let _ = child.kill();
        let _ = child.wait();
        Unfinished::TimedOut
    })
}

/// Reads a pipe to its end on a thread of its own, which is left behind when the time is up.
fn collect(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before a failure is what there is; the exit status says the rest.
            let _ = pipe.read_to_end(&mut bytes);
        }
        let _ = sender.send(bytes);
    });
    receiver
}

fn receive(pipe: &mpsc::Receiver<Vec<u8>>, deadline: Instant) -> Option<Vec<u8>> {
    let left = deadline.saturating_duration_since(Instant::now());
    pipe.recv_timeout(left).ok()
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
            assert!(matches!(result, Err(Unfinished::TimedOut)), "{script}");
        }
    }
}
