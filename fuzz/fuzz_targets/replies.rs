//! Any bytes as the replies to every kind of batch.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| mcpool::fuzzing::replies(input));
