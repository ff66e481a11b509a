//! One GET, repeated where that helps, within the time limit.

use std::time::Duration;

use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use kube::Client;
use kube::client::Body;
use kube::core::Request;
use kube::core::params::GetParams;
use serde_json::Value;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout_at};

use super::fault::Fault;

/// The wait after the first failed try; it doubles with each.
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// The longest wait that is not the server's wish.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// The largest answer, in bytes. An object is at most 1.5 MiB in etcd (its `--max-request-bytes`), a
/// few times that in JSON, and more where somebody has raised the limit; but what is no Kubernetes
/// object may have no end.
const LARGEST: usize = 256 << 20;

/// What the API server says.
#[derive(Debug)]
pub(super) enum Reply<T = Value> {
    /// The object.
    Found(T),
    /// There is no such object.
    NotFound,
    /// There is nothing at this path: the API server's answer for a group that it does not have,
    /// but that of many other servers too.
    NothingThere,
}

/// Asks until there is an answer, or a fault that stays, or `deadline`. `convert` makes of the object
/// what is wanted of it.
///
/// One try has no time limit of its own: a slow server or a large object would lose what it has
/// sent so far, and a lost packet is repeated by TCP.
pub(super) async fn get<T: Send + 'static>(
    client: &Client,
    path: &str,
    deadline: Instant,
    convert: impl Fn(Value) -> T + Clone + Send + 'static,
) -> Result<Reply<T>, Fault> {
    let mut wait = FIRST_WAIT;
    let mut before = None;
    loop {
        let once = try_once(client, path, convert.clone());
        let fault = match timeout_at(deadline, once).await {
            Ok(Ok(reply)) => return Ok(reply),
            Ok(Err(fault)) => fault,
            Err(_) => return Err(Fault::TimedOut(before)),
        };
        let Some(least) = fault.retry_after() else {
            return Err(fault);
        };
        // Held against the time that is left: a server may name a pause that no clock can hold.
        let pause = wait.max(least);
        if pause >= deadline.saturating_duration_since(Instant::now()) {
            return Err(fault);
        }
        sleep(pause).await;
        wait = (wait * 2).min(LONGEST_WAIT);
        before = Some(Box::new(fault));
    }
}

async fn try_once<T: Send + 'static>(
    client: &Client,
    path: &str,
    convert: impl Fn(Value) -> T + Send + 'static,
) -> Result<Reply<T>, Fault> {
    let (collection, name) = path.rsplit_once('/').unwrap_or(("", path));
    let request = Request::new(collection)
        .get(name, &GetParams::default())
        .map_err(|error| Fault::Transport(error.to_string()))?;
    let response = client
        .send(request.map(Body::from))
        .await
        .map_err(|error| Fault::from_error(&error))?;
    let (head, body) = response.into_parts();
    let header = |name: &str| head.headers.get(name)?.to_str().ok();
    let retry_after = header("retry-after").and_then(seconds);
    let media_type = header("content-type").unwrap_or("no type").to_owned();
    let status = head.status.as_u16();
    let body = match Limited::new(body, LARGEST).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => {
            let what = format!("{status} and more than {} MiB", LARGEST >> 20);
            return Err(Fault::NotKubernetes(what));
        }
        Err(error) => return Err(Fault::from_error(&*error)),
    };
    // A large answer takes its time, and the time limit is kept by this thread.
    let read = move || match read(status, retry_after, &media_type, &body)? {
        Reply::Found(object) => Ok(Reply::Found(convert(object))),
        Reply::NotFound => Ok(Reply::NotFound),
        Reply::NothingThere => Ok(Reply::NothingThere),
    };
    spawn_blocking(read)
        .await
        .unwrap_or_else(|error| Err(Fault::Transport(error.to_string())))
}

/// Reads an answer. Only the API server's own words count: a proxy's 404 page must not be taken for
/// a first install, nor its 403 for a missing rule.
fn read(
    status: u16,
    retry_after: Option<Duration>,
    media_type: &str,
    body: &[u8],
) -> Result<Reply, Fault> {
    let json = serde_json::from_slice::<Value>(body).ok();
    let words_of_server = json
        .as_ref()
        .filter(|json| json["kind"].as_str() == Some("Status"))
        .map(|json| json["message"].as_str().unwrap_or_default().to_owned());
    let is_json = json.is_some();
    let not_kubernetes = || {
        let what = match is_json {
            true => "other JSON".to_owned(),
            false if is_cut(media_type) => format!("{} bytes of broken JSON", body.len()),
            false => format!("{} bytes of {media_type}", body.len()),
        };
        Fault::NotKubernetes(format!("{status} and {what}"))
    };
    match (status, words_of_server) {
        (200, None) => match json {
            Some(object) => Ok(Reply::Found(object)),
            None => Err(not_kubernetes()),
        },
        (404, Some(_)) => Ok(Reply::NotFound),
        (404, None) if body.starts_with(b"404 page not found") => Ok(Reply::NothingThere),
        (401, _) => Err(Fault::Unauthorized),
        (403, Some(message)) => Err(Fault::Forbidden { message }),
        (429 | 500..=599, message) => Err(Fault::Status {
            status,
            cause: match message.as_deref() {
                None | Some("") => media_type.to_owned(),
                Some(message) => message.to_owned(),
            },
            retry_after,
        }),
        (200..=399 | 403 | 404, _) => Err(not_kubernetes()),
        (_, message) => Err(Fault::Status {
            status,
            cause: match message {
                Some(message) if !message.is_empty() => message,
                _ => "no status that an API server answers with".to_owned(),
            },
            retry_after: None,
        }),
    }
}

fn is_cut(media_type: &str) -> bool {
    media_type.starts_with("application/json")
}

/// `Retry-After` in seconds, which is what the API server sends; a date is not.
fn seconds(text: &str) -> Option<Duration> {
    text.trim().parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, media_type: &str, body: &str) -> Result<Reply, Fault> {
        read(status, None, media_type, body.as_bytes())
    }

    #[test]
    fn only_the_api_server_s_own_404_means_that_there_is_none() {
        let status = r#"{"kind":"Status","reason":"NotFound","code":404}"#;
        assert!(matches!(
            answer(404, "application/json", status),
            Ok(Reply::NotFound)
        ));
        assert!(matches!(
            answer(404, "text/plain", "404 page not found\n"),
            Ok(Reply::NothingThere)
        ));
        for body in ["<html>404</html>", "", "{\"type\":\"error\"}"] {
            assert!(matches!(
                answer(404, "text/html", body),
                Err(Fault::NotKubernetes(_))
            ));
        }
    }

    #[test]
    fn only_the_api_server_s_own_403_means_that_a_rule_is_missing() {
        let status = r#"{"kind":"Status","message":"no","code":403}"#;
        assert!(matches!(
            answer(403, "application/json", status),
            Err(Fault::Forbidden { .. })
        ));
        assert!(matches!(
            answer(403, "text/html", "<html>"),
            Err(Fault::NotKubernetes(_))
        ));
        assert_eq!(
            answer(401, "text/html", "<html>").unwrap_err(),
            Fault::Unauthorized
        );
    }

    #[test]
    fn what_is_no_json_is_no_answer() {
        for (media_type, body) in [("application/json", "{\"kind\":"), ("text/html", "<html>")] {
            assert!(matches!(
                answer(200, media_type, body),
                Err(Fault::NotKubernetes(_))
            ));
        }
        assert!(matches!(
            answer(302, "text/html", ""),
            Err(Fault::NotKubernetes(_))
        ));
        let status = r#"{"kind":"Status","message":"odd"}"#;
        assert!(matches!(
            answer(200, "application/json", status),
            Err(Fault::NotKubernetes(_))
        ));
    }

    #[test]
    fn the_server_s_own_failures_are_worth_another_try() {
        let wait = Some(Duration::from_secs(3));
        let fault = read(429, wait, "text/plain", b"").unwrap_err();
        assert_eq!(fault.retry_after(), wait);
        for status in [500, 502, 503, 504] {
            let fault = answer(status, "text/html", "").unwrap_err();
            assert_eq!(fault.retry_after(), Some(Duration::ZERO));
        }
        for status in [400, 401, 403, 409] {
            assert_eq!(
                answer(status, "text/html", "").unwrap_err().retry_after(),
                None
            );
        }
    }
}
