//! Addresses as messages show them.

/// `address` without the user, the password, the query and the fragment that it may hold.
///
/// A password that should have been escaped may hold `/`, `?`, `#`, `@` and `://` itself. Whatever
/// stands before the last `@` counts as secret then: rather too little is shown than too much.
pub(super) fn without_credentials(address: &str) -> String {
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
        _ => (None, address),
    };
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let rest = rest.trim_end_matches('/');
    match scheme {
        Some(scheme) => format!("{scheme}://{rest}"),
        None => rest.to_owned(),
    }
}

/// Whether this is a URL's scheme (RFC 3986 section 3.1), and not `user:pass`.
fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_what_is_secret() {
        for (address, shown) in [
            ("https://two:6443/base/?q", "https://two:6443/base"),
            ("https://user:hunter2@two/base/?q", "https://two/base"),
            ("two:6443", "two:6443"),
            ("user:hunter2@two:6443", "two:6443"),
            ("https://two/?token=hunter2", "https://two"),
            ("https://two/#hunter2", "https://two"),
            ("", ""),
        ] {
            assert_eq!(without_credentials(address), shown);
        }
    }

    #[test]
    fn a_password_of_any_characters_is_not_shown() {
        for password in [
            "hunter2/x",
            "hunter2?x",
            "hunter2#x",
            "hunter2@x",
            "x@hunter2",
            "x/hunter2",
            "?hunter2",
            "a://hunter2",
            "#hunter2/@",
            "hunter2 x",
        ] {
            for address in [
                format!("https://me:{password}@two:1"),
                format!("me:{password}@two:1"),
                format!("socks5://{password}@two:1"),
            ] {
                let shown = without_credentials(&address);
                assert!(!shown.contains("hunter2"), "{address}: {shown}");
                assert!(shown.ends_with("two:1"), "{address}: {shown}");
            }
        }
    }
}
