//! What an HTTP answer means.

use std::time::Duration;

use serde_json::Value;

use super::fault::Fault;

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

/// An answer as it came.
pub(super) struct Raw {
    pub(super) status: u16,
    pub(super) retry_after: Option<Duration>,
    pub(super) media_type: String,
    pub(super) body: Vec<u8>,
}

impl Raw {
    /// Reads it: an object, that there is none, or why it is no answer.
    pub(super) fn read(&self) -> Result<Reply, Fault> {
        read(self.status, self.retry_after, &self.media_type, &self.body)
    }
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
