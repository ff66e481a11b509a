//! belay keeps the image digests that a refresher has decided through `helm upgrade`.
//!
//! The layers, from the inside out (`tests/layering.rs` holds them apart): [`image`], [`yaml`] and
//! [`file`](mod@file) know nothing else, [`manifest`] finds image sites in a stream, [`policy`] decides about each, [`edit`]
//! splices and checks, [`report`] tells, [`cluster`] asks Kubernetes, [`cli`] wires.
//!
//! Words: the *stream* is the whole input, a *document* one object in it, a *site* one image scalar,
//! the *record* what the refresher wrote down, *facts* all that was read from outside, a *decision*
//! one outcome with its reason for one site, an *edit* a span and its new text.

pub mod cli;
pub mod cluster;
pub mod edit;
pub mod file;
pub mod image;
pub mod manifest;
pub mod policy;
pub mod report;
pub mod yaml;
