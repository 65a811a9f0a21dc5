//! The seeds of the fuzz targets as plain tests, each also cut short and with every byte changed once.

#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

use std::path::Path;

use mcpool::fuzzing;

/// Runs `target` on every seed of that name and on its nearest neighbours.
fn run(name: &str, target: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(name);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{folder:?}: {e}"));
    let mut count = 0;
    for file in files {
        let seed = std::fs::read(file.expect("an entry").path()).expect("a seed");
        target(&seed);
        let places = seed.len().min(120);
        for at in 0..places {
            target(&seed[..at]);
            for byte in [0, b' ', b'\r', b'\n', b'9', 0xff] {
                let mut changed = seed.clone();
                changed[at] = byte;
                target(&changed);
            }
        }
        count += 1;
    }
    assert!(count >= 10, "{name} has {count} seeds");
}

#[test]
fn no_reply_stream_breaks_the_reader() {
    run("replies", fuzzing::replies);
}

#[test]
fn no_text_breaks_the_address_parser() {
    run("server_address", |bytes| {
        if let Ok(text) = std::str::from_utf8(bytes) {
            fuzzing::server_address(text);
        }
    });
}

#[test]
fn no_stored_bytes_break_a_codec() {
    run("stored_value", fuzzing::stored_value);
}

#[test]
fn no_bytes_pass_as_a_key_that_would_end_the_command_line() {
    run("key", fuzzing::key);
}
