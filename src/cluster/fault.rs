//! What can go wrong with one request, and what is worth another try.

use std::error::Error;
use std::time::Duration;

use super::cause::{Innermost, innermost};
use super::error::LookupError;
use super::rule::Rule;
use super::secrets::Secrets;

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// No connection, or a cut one: the innermost cause.
    Transport(String),
    /// The time is up; what the try before came to, if there was one.
    TimedOut(Option<Box<Self>>),
    /// The server's certificate, or its TLS at all.
    Tls(String),
    /// 401.
    Unauthorized,
    /// 403 in the API server's own words.
    Forbidden { message: String },
    /// Another status that says no.
    Status {
        status: u16,
        cause: String,
        retry_after: Option<Duration>,
    },
    /// An answer that no API server gives.
    NotKubernetes(String),
    /// Another object than the one that was asked for.
    AnotherObject(String),
}

impl Fault {
    /// How long to wait before another try, at least; None where none would help. The statuses are
    /// those of which client-go says that the request may be repeated: 429 and the server's own
    /// failures.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Transport(_) => Some(Duration::ZERO),
            Self::Status {
                status: 429 | 500..=599,
                retry_after,
                ..
            } => Some(retry_after.unwrap_or_default()),
            _ => None,
        }
    }

    /// For a path that every API server has.
    pub(super) fn nothing_there() -> Self {
        let answer = "`404 page not found` for a path that every API server has";
        Self::NotKubernetes(answer.to_owned())
    }

    /// Reads the error about a request that got no answer.
    pub(super) fn from_error(error: &(dyn Error + 'static)) -> Self {
        match innermost(error) {
            Innermost::Tls(cause) => Self::Tls(cause),
            Innermost::Other(cause) => Self::Transport(cause),
        }
    }

    /// How telling this one is among several: the cause that does not go away first.
    fn weight(&self) -> u8 {
        match self {
            Self::Tls(_) => 0,
            Self::Unauthorized => 1,
            Self::Forbidden { .. } => 2,
            Self::AnotherObject(_) => 3,
            Self::NotKubernetes(_) => 4,
            Self::Status { .. } => 5,
            Self::Transport(_) => 6,
            Self::TimedOut(_) => 7,
        }
    }

    /// This fault with its words fit for a message: a server may say anything, also the token that it
    /// was sent.
    fn told(self, secrets: &Secrets) -> Self {
        let words = |text: String| secrets.words(&text);
        match self {
            Self::Transport(cause) => Self::Transport(words(cause)),
            Self::TimedOut(before) => {
                Self::TimedOut(before.map(|fault| Box::new(fault.told(secrets))))
            }
            Self::Tls(cause) => Self::Tls(words(cause)),
            Self::Unauthorized => Self::Unauthorized,
            // Who was refused stands in it; that is cut out first.
            Self::Forbidden { message } => Self::Forbidden { message },
            Self::Status {
                status,
                cause,
                retry_after,
            } => Self::Status {
                status,
                cause: words(cause),
                retry_after,
            },
            Self::NotKubernetes(answer) => Self::NotKubernetes(words(answer)),
            Self::AnotherObject(answer) => Self::AnotherObject(words(answer)),
        }
    }
}

/// A fault of one request, after the name that a message gives to what was asked for and the rule that
/// asking needs.
pub(super) type Failed = (String, Rule, Fault);

/// Makes one error of the faults of several requests. All missing rights are named together, so that a Role is mended once.
pub(super) fn summarize(
    faults: &[Failed],
    server: &str,
    timeout: Duration,
    secrets: &Secrets,
) -> Option<LookupError> {
    let (first, _, worst) = faults.iter().min_by_key(|(_, _, fault)| fault.weight())?;
    let server = server.to_owned();
    let asked = match faults.len() {
        1 => first.clone(),
        several => format!("{first} (and {} more)", several - 1),
    };
    let unanswered = |cause: String| LookupError::Unanswered {
        server: server.clone(),
        asked: asked.clone(),
        timeout,
        cause,
    };
    Some(match worst.clone().told(secrets) {
        Fault::Tls(cause) => LookupError::Tls { server, cause },
        Fault::Unauthorized => LookupError::Unauthorized { server, asked },
        Fault::Forbidden { message } => {
            let denied = faults
                .iter()
                .filter(|(_, _, fault)| matches!(fault, Fault::Forbidden { .. }));
            let mut rules: Vec<_> = denied.map(|(_, rule, _)| rule.clone()).collect();
            rules.sort();
            rules.dedup();
            LookupError::Forbidden {
                server,
                who: refused_user(&message).map(|user| format!("`{}`", secrets.words(&user))),
                rules,
            }
        }
        Fault::NotKubernetes(answer) => LookupError::NotKubernetes {
            server,
            asked,
            answer,
        },
        Fault::AnotherObject(answer) => LookupError::AnotherObject {
            server,
            asked,
            answer,
        },
        Fault::Status { status, cause, .. } => LookupError::Failing {
            server,
            asked,
            status,
            cause,
        },
        Fault::Transport(cause) => unanswered(cause),
        Fault::TimedOut(before) => unanswered(match before.map(|fault| *fault) {
            Some(Fault::Transport(cause)) => cause,
            Some(Fault::Status { status, cause, .. }) if cause.is_empty() => status.to_string(),
            Some(Fault::Status { status, cause, .. }) => format!("{status}, {cause}"),
            _ => "none came to its end".to_owned(),
        }),
    })
}

/// Who was refused, by the API server's own words (`forbiddenMessage` of its authorization handler):
/// `… is forbidden: User "system:serviceaccount:ns:name" cannot get resource …`.
fn refused_user(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("User \"")?;
    let (user, _) = rest.split_once('"')?;
    (!user.is_empty()).then(|| user.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refused_user_is_read_from_the_server_s_words() {
        let message = "deployments.apps \"x\" is forbidden: User \"system:serviceaccount:ci:belay\" \
                       cannot get resource \"deployments\" in API group \"apps\" in the namespace \"prod\"";
        assert_eq!(
            refused_user(message).as_deref(),
            Some("system:serviceaccount:ci:belay")
        );
        assert_eq!(refused_user("no"), None);
    }

    #[test]
    fn all_missing_rules_are_named_at_once() {
        let rule = |name: &str| Rule::Object {
            group: "apps".to_owned(),
            resource: "deployments".to_owned(),
            name: name.to_owned(),
            namespace: Some("prod".to_owned()),
        };
        let denied = || Fault::Forbidden {
            message: "User \"ci\" cannot".to_owned(),
        };
        let faults = [
            ("b".to_owned(), rule("b"), denied()),
            ("c".to_owned(), rule("c"), Fault::TimedOut(None)),
            ("a".to_owned(), rule("a"), denied()),
        ];
        let secrets = Secrets::default();
        let error = summarize(&faults, "https://x", Duration::from_secs(10), &secrets).unwrap();
        assert_eq!(
            error,
            LookupError::Forbidden {
                server: "https://x".to_owned(),
                who: Some("`ci`".to_owned()),
                rules: vec![rule("a"), rule("b")],
            }
        );
    }
}
