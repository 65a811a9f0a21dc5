//! Any text as a server address.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| mcpool::fuzzing::server_address(text));
