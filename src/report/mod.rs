//! What is told about a run, and how: one content, as JSON for programs and as text for people.

mod content;
mod excerpt;
mod reasons;
mod text;

pub use content::{Report, Settled, SiteReport};
pub use excerpt::{Place, excerpt};
pub use reasons::{reasons_markdown, reasons_text};
pub use text::{Width, decisions, explanation, page, printable};
