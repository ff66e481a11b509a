//! Changing bytes and nothing else: which bytes an edit takes, putting the pieces together, and
//! checking the result before anybody sees it.

mod plan;
mod splice;
mod verify;

pub use plan::{Plan, Rewrite, plan};
pub use splice::{Edit, Spliced, splice};
pub use verify::{SelfCheckError, verify};
