//! What must not be shown, although somebody else says it: a server that repeats the header which it
//! does not like, a plugin that prints what it was about to hand over.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube::config::AuthInfo;
use secrecy::{ExposeSecret as _, SecretString};

/// What stands for a secret.
const HIDDEN: &str = "***";

/// Shorter texts are no secrets, and to hide them would only make a message unreadable.
const SHORTEST: usize = 6;

/// The longest piece of anybody's words that is passed on.
const WORDS: usize = 300;

/// The words after which credentials follow, in lower case (RFC 9110 section 11.4).
const SCHEMES: [&str; 2] = ["bearer", "basic"];

/// How tokens begin that are known by their beginning: every JWT (`{"` in base64), and that of EKS.
const TOKENS: [&str; 2] = ["eyJ", "k8s-aws-v1."];

/// The texts that are secret in this run.
#[derive(Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    /// The credentials of `user`, as it holds them and as HTTP carries them.
    pub(super) fn of(user: &AuthInfo) -> Self {
        let text = |secret: &Option<SecretString>| {
            let secret = secret.as_ref()?;
            Some(secret.expose_secret().to_owned())
        };
        let token = text(&user.token);
        let password = text(&user.password);
        let name = user.username.as_deref().unwrap_or_default();
        let basic = password
            .as_ref()
            .map(|password| STANDARD.encode(format!("{name}:{password}")));
        let all = [token, password, basic].into_iter().flatten();
        Self(all.filter(|text| text.len() >= SHORTEST).collect())
    }

    /// Adds a text that is secret too.
    pub(super) fn with(mut self, text: Option<&str>) -> Self {
        let text = text.filter(|text| text.len() >= SHORTEST);
        self.0.extend(text.map(str::to_owned));
        self
    }

    /// Makes one line of somebody's words: short enough for a sentence and without secrets.
    pub(super) fn words(&self, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        for secret in &self.0 {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), HIDDEN).into();
            }
        }
        let mut follows = false;
        let words = text.split_whitespace().map(|word| {
            let hidden = follows || TOKENS.iter().any(|token| word.contains(token));
            let bare = word.trim_matches(|it: char| !it.is_ascii_alphanumeric());
            follows = SCHEMES.contains(&bare.to_ascii_lowercase().as_str());
            if hidden { HIDDEN } else { word }
        });
        let line = words.collect::<Vec<_>>().join(" ");
        line.chars().take(WORDS).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        Secrets::of(&AuthInfo {
            username: Some("me".to_owned()),
            password: Some("correct horse".to_owned().into()),
            token: Some("hunter2".to_owned().into()),
            ..AuthInfo::default()
        })
    }

    #[test]
    fn what_is_held_is_not_shown() {
        let basic = STANDARD.encode("me:correct horse");
        for text in ["x-hunter2-y", "say correct horse now", &basic] {
            let shown = secrets().words(text);
            assert!(shown.contains(HIDDEN), "{shown}");
            for secret in ["hunter2", "correct", &basic] {
                assert!(!shown.contains(secret), "{shown}");
            }
        }
    }

    #[test]
    fn what_looks_like_a_credential_is_not_shown() {
        for (text, shown) in [
            (
                "Authorization: Bearer abc, no",
                "Authorization: Bearer *** no",
            ),
            ("\"Basic\" abc", "\"Basic\" ***"),
            ("got eyJhbGciOi.J9.x today", "got *** today"),
            ("token=k8s-aws-v1.aHR0cHM", "***"),
            ("Token has expired", "Token has expired"),
        ] {
            assert_eq!(Secrets::default().words(text), shown);
        }
    }

    #[test]
    fn words_fit_on_a_line() {
        assert_eq!(Secrets::default().words(" a\n\tb\r\n"), "a b");
        let long = "ä".repeat(WORDS + 1);
        assert_eq!(Secrets::default().words(&long).chars().count(), WORDS);
    }
}
