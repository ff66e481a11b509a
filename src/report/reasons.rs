//! The decision table's reasons, for `belay explain --reasons` and for the README.

use super::text::align;
use crate::policy::Reason;

/// One line for each reason: code, what happens, whether it is warned, the text.
#[must_use]
pub fn reasons_text() -> String {
    let header = ["REASON", "IMAGE", "WARNED", "WHY"].map(str::to_owned);
    let rows = Reason::ALL.map(cells);
    align(std::iter::once(header).chain(rows))
}

/// The same as a Markdown table.
#[must_use]
pub fn reasons_markdown() -> String {
    let mut table = String::from("| reason | image | warned | why |\n|---|---|---|---|\n");
    for reason in Reason::ALL {
        let [code, image, warned, why] = cells(reason);
        table.push_str(&format!("| `{code}` | {image} | {warned} | {why} |\n"));
    }
    table
}

fn cells(reason: Reason) -> [String; 4] {
    [
        reason.code().to_owned(),
        reason.effect().to_string(),
        if reason.is_warned() { "yes" } else { "" }.to_owned(),
        reason.text().to_owned(),
    ]
}
