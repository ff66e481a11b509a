//! YAML as text with places: where documents are cut, what the parser sees, and where each node stands.
//!
//! This layer knows no Kubernetes. It never writes YAML: whoever changes a document splices bytes.
//! The parser behind it (granit) is named in `event.rs` alone, so that it can be replaced there.

mod chunk;
mod event;
mod lines;
mod tree;

pub use chunk::{Chunk, split};
pub use event::{Event, Events, Style, SyntaxError};
pub use lines::Lines;
pub use tree::{Kind, Node, NodeId, Tree};
