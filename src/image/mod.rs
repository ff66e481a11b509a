//! Image references and digests: what a name says, and what it is compared by.
//!
//! This layer knows nothing of YAML, Kubernetes or files.

mod digest;
mod reference;

pub use digest::{Digest, InvalidDigest};
pub use reference::{Pin, Reference, Repository};
