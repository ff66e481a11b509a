//! The mutant that is on: the one that the variable `MUTANT` names. Copied into belay by scripts/mutants.

use std::collections::HashSet;
use std::io::Write as _;
use std::sync::{Mutex, OnceLock};

static ON: OnceLock<Option<String>> = OnceLock::new();
static TRACE: OnceLock<Option<String>> = OnceLock::new();
static REACHED: OnceLock<Mutex<HashSet<String>>> = OnceLock::new();

/// Whether the mutant `name` is on. With `MUTANT_TRACE=FILE`, also notes there that it was reached.
pub fn on(name: &str) -> bool {
    let trace = TRACE.get_or_init(|| std::env::var("MUTANT_TRACE").ok());
    if let Some(path) = trace {
        let reached = REACHED.get_or_init(Mutex::default);
        if reached.lock().unwrap().insert(name.to_owned()) {
            let file = std::fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(path);
            writeln!(file.unwrap(), "{name}").unwrap();
        }
    }
    let on = ON.get_or_init(|| std::env::var("MUTANT").ok());
    on.as_deref() == Some(name)
}
