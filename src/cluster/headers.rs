//! Whether the credentials can be sent at all: kube takes for granted that a token fits into a header
//! (5.0.0 panics over a line break).

use http::HeaderValue;
use kube::config::AuthInfo;
use secrecy::ExposeSecret as _;

use super::error::LookupError;

/// What is wrong with a text that [`fits`] not. The text is not shown: it is a token, or may hold one.
pub(super) const UNFIT: &str =
    "it holds a line break or another character that cannot stand in an HTTP header";

/// Whether an HTTP header can carry `text` (RFC 9110 section 5.5).
pub(super) fn fits(text: &str) -> bool {
    HeaderValue::try_from(text).is_ok()
}

/// Checks all that kube makes headers of. `from_helm` says that the token is Helm's.
///
/// # Errors
/// [`LookupError::Unusable`].
pub(super) fn check(user: &AuthInfo, from_helm: bool) -> Result<(), LookupError> {
    let unfit = |what: &str| {
        Err(LookupError::Unusable {
            what: what.to_owned(),
            cause: UNFIT.to_owned(),
            remedy: "write it anew, on one line".to_owned(),
        })
    };
    if let Some(secret) = &user.token
        && !fits(secret.expose_secret())
    {
        return unfit(match from_helm {
            true => "the token in HELM_KUBETOKEN",
            false => "the token of the kubeconfig's user",
        });
    }
    if let Some(provider) = &user.auth_provider
        && !provider.config.values().all(|text| fits(text))
    {
        return unfit("the auth-provider of the kubeconfig");
    }
    // kube sends these as ASCII only.
    let is_ascii = |text: &String| HeaderValue::from_str(text).is_ok();
    if !user.impersonate.iter().all(is_ascii) {
        return unfit("the user to act as (--as, HELM_KUBEASUSER)");
    }
    if !user.impersonate_groups.iter().flatten().all(is_ascii) {
        return unfit("a group to act as (--as-group, HELM_KUBEASGROUPS)");
    }
    let extra = user.impersonate_user_extra.iter().flatten();
    let mut texts = extra
        .flat_map(|(_, texts)| texts)
        .chain(&user.impersonate_uid);
    if !texts.all(is_ascii) {
        return unfit("what the kubeconfig's user acts as");
    }
    Ok(())
}
