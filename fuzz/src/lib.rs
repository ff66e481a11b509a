//! What belay must keep true of any bytes. Each function is one fuzzing target and panics where its law
//! is broken; `scripts/fuzz` feeds them.

mod libyaml;
mod record;
mod render;
mod scan;

pub use record::record;
pub use render::{SEPARATOR, render};
pub use scan::scan;
