//! Any flags and bytes as a stored value, under every codec.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| mcpool::fuzzing::stored_value(input));
