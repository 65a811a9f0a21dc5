//! Any bytes as a key.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| mcpool::fuzzing::key(input));
