//! The house holds: who imports whom, files that say their duty and stay short, nothing that panics or prints.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each room with the rooms it may import; `docs/architecture.md` draws the same.
const ROOMS: &[(&str, &[&str])] = &[
    ("types", &[]),
    ("time", &[]),
    ("stats", &[]),
    ("protocol", &["types"]),
    ("ring", &["types"]),
    ("health", &["time"]),
    ("codec", &["types"]),
    ("error", &["types", "protocol", "codec"]),
    ("net", &["types", "time", "protocol", "error"]),
    ("pool", &["types", "time", "stats", "protocol", "health", "net", "error"]),
    ("router", &["types", "time", "stats", "protocol", "ring", "health", "net", "pool", "error"]),
    ("interop", &["types", "ring", "codec"]),
    (
        "client",
        &[
            "types", "time", "stats", "protocol", "ring", "health", "codec", "pool", "router",
            "error", "interop",
        ],
    ),
    ("commands", &["types", "time", "stats", "protocol", "codec", "router", "client", "error"]),
    ("testing", &[]),
    ("fuzzing", &["types", "protocol", "codec"]),
];

/// Code lines after which a file has to be split.
const MOST_LINES: usize = 400;

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every source file with its room and text; those of tests are left out.
fn files() -> Vec<(PathBuf, String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![source()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let inside = path.strip_prefix(source()).expect("inside");
                let room = inside.components().next().expect("a name").as_os_str();
                let room = room.to_string_lossy().trim_end_matches(".rs").to_owned();
                let text = fs::read_to_string(&path).expect("text");
                found.push((path, room, text));
            }
        }
    }
    let tests: Vec<_> = found.iter().flat_map(|(path, _, text)| test_modules(path, text)).collect();
    found.retain(|(path, _, _)| !tests.contains(path));
    assert!(found.len() > 50 && tests.len() > 3, "the sources were not found");
    found
}

/// The files of the modules that only tests have.
fn test_modules(path: &Path, text: &str) -> Vec<PathBuf> {
    let folder = match path.file_name() {
        Some(name) if name == "mod.rs" || name == "lib.rs" => path.with_file_name(""),
        _ => path.with_extension(""),
    };
    let lines: Vec<&str> = text.lines().collect();
    let pairs =
        lines.windows(2).filter(|pair| pair[0].starts_with("#[cfg(") && pair[0].contains("test"));
    let names = pairs.filter_map(|pair| pair[1].strip_prefix("mod ")?.strip_suffix(';'));
    names.map(|name| folder.join(name).with_extension("rs")).collect()
}

/// The lines of code: no comments, no blank lines, nothing from the first test module on.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or(text);
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"))
}

/// The rooms that a text names as `crate::room` or in `use crate::{room…}`.
fn imports(text: &str) -> BTreeSet<String> {
    let code: Vec<&str> = code(text).collect();
    let code = code.join("\n");
    let mut rooms = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let names = match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or_default(),
            None => {
                rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
            }
        };
        for name in names.split(',') {
            let name = name.split("::").next().unwrap_or_default().trim();
            if name.starts_with(char::is_lowercase) {
                rooms.insert(name.to_owned());
            }
        }
    }
    rooms
}

#[test]
fn every_room_imports_only_from_the_floors_below() {
    for (path, room, text) in files() {
        if room == "lib" {
            continue;
        }
        let allowed = ROOMS.iter().find(|(name, _)| *name == room);
        let (_, allowed) = allowed.unwrap_or_else(|| panic!("{}: no such room", path.display()));
        for import in imports(&text) {
            assert!(
                import == room || allowed.contains(&import.as_str()),
                "{} imports {import}, which {room} may not",
                path.display()
            );
        }
    }
}

#[test]
fn the_table_of_rooms_has_no_circle() {
    for (at, (room, imports)) in ROOMS.iter().enumerate() {
        for import in *imports {
            let below = ROOMS.iter().position(|(name, _)| name == import).expect("a room");
            assert!(below < at, "{room} imports {import}, which stands above it");
        }
    }
}

#[test]
fn imports_are_found_in_every_form() {
    let text = "use crate::net::{A, B};\nfn f() { crate::pool::g() }\n// crate::router\nuse crate::{ring, codec::X};";
    let expected = ["codec", "net", "pool", "ring"].map(str::to_owned);
    assert_eq!(imports(text), BTreeSet::from(expected));
}

#[test]
fn every_file_states_its_duty_in_its_first_line_and_stays_short() {
    for (path, _, text) in files() {
        let first = text.lines().next().unwrap_or_default();
        assert!(first.starts_with("//! ") && first.len() > 20, "{}: {first}", path.display());
        let lines = code(&text).count();
        assert!(lines <= MOST_LINES, "{} has {lines} code lines", path.display());
    }
}

#[test]
fn pure_rooms_read_no_clock_and_hold_no_socket_or_thread() {
    for (path, room, text) in files() {
        if !["types", "protocol", "ring", "health", "codec", "time", "stats"]
            .contains(&room.as_str())
        {
            continue;
        }
        for line in code(&text) {
            for word in [
                "Instant::now",
                "SystemTime::now",
                "TcpStream",
                "UnixStream",
                "thread::spawn",
                "rustix::",
            ] {
                assert!(!line.contains(word), "{}: {line}", path.display());
            }
        }
    }
}

#[test]
fn no_unsafe_code_and_nothing_printed() {
    let lib = fs::read_to_string(source().join("lib.rs")).expect("lib.rs");
    assert!(lib.contains("#![forbid(unsafe_code)]"));
    for (path, _, text) in files() {
        for line in code(&text) {
            for word in ["println!", "eprintln!", "dbg!", "todo!", "unimplemented!"] {
                assert!(!line.contains(word), "{}: {line}", path.display());
            }
        }
    }
}
