//! One GET or LIST, repeated where that helps, within the time limit.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use kube::Client;
use kube::client::Body;
use kube::core::Request;
use kube::core::params::{GetParams, ListParams};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout_at};

use super::answer::{Raw, Reply};
use super::fault::Fault;

/// The wait after the first failed try; it doubles with each.
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// The longest wait that is not the server's wish.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// The largest answer, in bytes: forty times what etcd stores as one object (1.5 MiB, its
/// `--max-request-bytes`), since JSON is longer and the limit can be raised. What is no Kubernetes
/// object may have no end.
const LARGEST: usize = 64 << 20;

/// The most objects of a list that one answer holds: so many of the largest make no more than
/// [`LARGEST`]. A workload keeps ten past templates unless its `revisionHistoryLimit` says otherwise.
pub(super) const PAGE: u32 = 25;

/// The most requests under way. Each is a connection, of which a process may have no more than 256
/// (macOS) or 1,024 (Linux); the API server itself works at 400 at once (its `--max-requests-inflight`).
const REQUESTS: usize = 100;

/// The most answers that are read at the same time: in memory, JSON of many small parts takes up to
/// forty times its length.
const READERS: usize = 2;

/// What is asked for.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    /// The object, or the list of kinds, at this path.
    One(String),
    /// The objects of the collection at this path.
    Many(String, ListParams),
}

/// All that requests have in common.
pub(super) struct Session {
    client: Client,
    deadline: Instant,
    /// The places for requests under way, and for answers being read.
    requests: Arc<Semaphore>,
    readers: Arc<Semaphore>,
}

impl Session {
    /// What is not answered by `deadline` has failed.
    pub(super) fn new(client: Client, deadline: Instant) -> Self {
        Self {
            client,
            deadline,
            requests: Arc::new(Semaphore::new(REQUESTS)),
            readers: Arc::new(Semaphore::new(READERS)),
        }
    }

    /// Asks until there is an answer, or a fault that stays, or the deadline. `convert` makes of the
    /// object what is wanted of it.
    ///
    /// One try has no time limit of its own: a slow server or a large object would lose what it has
    /// sent so far, and a lost packet is repeated by TCP.
    pub(super) async fn get<T: Send + 'static>(
        &self,
        wanted: &Wanted,
        convert: impl Fn(Value) -> T + Clone + Send + 'static,
    ) -> Result<Reply<T>, Fault> {
        let mut wait = FIRST_WAIT;
        let mut before = None;
        loop {
            let once = self.try_once(wanted, convert.clone());
            let fault = match timeout_at(self.deadline, once).await {
                Ok(Ok(reply)) => return Ok(reply),
                Ok(Err(fault)) => fault,
                Err(_) => return Err(Fault::TimedOut(before)),
            };
            let Some(least) = fault.retry_after() else {
                return Err(fault);
            };
            // Held against the time that is left: a server may name a pause that no clock can hold.
            let pause = wait.max(least);
            if pause >= self.deadline.saturating_duration_since(Instant::now()) {
                return Err(fault);
            }
            sleep(pause).await;
            wait = (wait * 2).min(LONGEST_WAIT);
            before = Some(Box::new(fault));
        }
    }

    async fn try_once<T: Send + 'static>(
        &self,
        wanted: &Wanted,
        convert: impl Fn(Value) -> T + Send + 'static,
    ) -> Result<Reply<T>, Fault> {
        let request = place(&self.requests).await?;
        let answer = fetch(&self.client, wanted).await?;
        drop(request);
        let reader = place(&self.readers).await?;
        // A large answer takes its time, and the time limit is kept by this thread.
        let read = move || {
            let reply = answer.read()?;
            let reply = match reply {
                Reply::Found(object) => Reply::Found(convert(object)),
                Reply::NotFound => Reply::NotFound,
                Reply::NothingThere => Reply::NothingThere,
            };
            drop(reader);
            Ok(reply)
        };
        spawn_blocking(read)
            .await
            .unwrap_or_else(|error| Err(Fault::Transport(error.to_string())))
    }
}

/// Waits for a place. They are never closed.
async fn place(places: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Fault> {
    let place = Arc::clone(places).acquire_owned().await;
    place.map_err(|error| Fault::Transport(error.to_string()))
}

async fn fetch(client: &Client, wanted: &Wanted) -> Result<Raw, Fault> {
    let request = match wanted {
        Wanted::One(path) => {
            let (collection, name) = path.rsplit_once('/').unwrap_or(("", path));
            Request::new(collection).get(name, &GetParams::default())
        }
        Wanted::Many(path, params) => Request::new(path).list(params),
    };
    let request = request.map_err(|error| Fault::Transport(error.to_string()))?;
    let response = client
        .send(request.map(Body::from))
        .await
        .map_err(|error| Fault::from_error(&error))?;
    let (head, body) = response.into_parts();
    let header = |name: &str| head.headers.get(name)?.to_str().ok();
    let status = head.status.as_u16();
    let body = match Limited::new(body, LARGEST).collect().await {
        Ok(body) => body.to_bytes().into(),
        Err(error) if error.is::<LengthLimitError>() => {
            let what = format!("{status} and more than {} MiB", LARGEST >> 20);
            return Err(Fault::NotKubernetes(what));
        }
        Err(error) => return Err(Fault::from_error(&*error)),
    };
    Ok(Raw {
        status,
        retry_after: header("retry-after").and_then(seconds),
        media_type: header("content-type").unwrap_or("no type").to_owned(),
        body,
    })
}

/// `Retry-After` in seconds, which is what the API server sends; a date is not.
fn seconds(text: &str) -> Option<Duration> {
    text.trim().parse().ok().map(Duration::from_secs)
}
