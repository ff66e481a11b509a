#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| belay_fuzz::scan(bytes));
