//! Asks Kubernetes. One synchronous entrance, [`lookup()`]; what is asynchronous stays inside.
//!
//! Nothing is read, started or connected to before there is a question: a render that settles
//! everything from the stream must cost nothing and must not need a cluster. The rules are those of
//! design.md section 6: Helm tells a post-renderer neither context nor namespace, so this layer
//! works out which cluster it would ask ([`Target`]), holds that against Helm's own command line
//! ([`HelmCommandLine`]) and stops rather than asking the wrong one.

mod access;
mod address;
mod ancestry;
mod answer;
mod asker;
mod cause;
mod connection;
mod credentials;
mod environment;
mod error;
mod fault;
mod headers;
mod history;
mod kubeconfig;
mod local;
mod lookup;
mod namespace;
mod plugin;
mod proxy;
mod request;
mod resource;
mod role;
mod rule;
mod secrets;

pub use ancestry::{HelmCommandLine, Used};
pub use connection::{Connection, Target};
pub use environment::{Environment, HelmEnvironment, ProxyEnvironment, Secret};
pub use error::{LookupError, LookupErrorKind};
pub use lookup::{LONGEST_TIMEOUT, lookup};
pub use namespace::is_namespace;
pub use role::{Role, Roles, ServiceAccount, roles};
pub use rule::Rule;
