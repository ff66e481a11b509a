//! The values of options that are more than a text.

use std::time::Duration;

use crate::cluster::{LONGEST_TIMEOUT, is_namespace};
use crate::report::printable;

/// A duration as Go and Helm write it: `10s`, `1m30s`, `500ms`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let advice = || {
        let text = printable(text);
        let most = LONGEST_TIMEOUT.as_secs() / 3600;
        format!("`{text}` is no duration above zero and up to {most}h, such as 10s or 1m30s")
    };
    let duration: jiff::SignedDuration = text.parse().map_err(|_| advice())?;
    let duration = Duration::try_from(duration).map_err(|_| advice())?;
    if duration.is_zero() || duration > LONGEST_TIMEOUT {
        Err(advice())
    } else {
        Ok(duration)
    }
}

/// A namespace's name. An empty one is no wish for the default: it is a variable that was not set.
pub(super) fn namespace(text: &str) -> Result<String, String> {
    if is_namespace(text) {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "`{}` is no namespace's name: at most 63 of a-z, 0-9 and -, with no - at either end",
            printable(text)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_go() {
        assert_eq!(duration("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("1m30s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        for bad in ["", "10", "0s", "-1s", "soon"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_duration_that_no_clock_can_hold_is_refused() {
        assert_eq!(duration("24h"), Ok(LONGEST_TIMEOUT));
        for bad in [
            "24h1ns",
            "9223372036s",
            "9223372036854775807s",
            "18446744073709551615s",
            "99999999999999999999999s",
            "2562047788015215h",
        ] {
            assert!(duration(bad).unwrap_err().contains("up to 24h"), "{bad}");
        }
    }

    #[test]
    fn a_namespace_that_there_cannot_be_is_refused() {
        assert_eq!(namespace("prod").as_deref(), Ok("prod"));
        for bad in ["", "Prod", "a/b", "a b"] {
            assert!(namespace(bad).is_err(), "{bad}");
        }
    }
}
