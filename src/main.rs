//! Starts belay.

fn main() {}
