//! The house holds: who imports whom, files that say their duty and stay short, pure rooms, nothing printed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each room with the rooms it may import, from the ground up; `docs/architecture.md` draws the same.
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
    ("benching", &["time", "protocol", "codec", "client"]),
];

/// Code lines after which a file has to be split.
const MOST_LINES: usize = 400;

/// Rooms that see no socket, no thread and no clock: what they need is passed in.
const PURE: [&str; 7] = ["types", "time", "stats", "protocol", "ring", "health", "codec"];

/// A file below `src/`.
struct Source {
    /// Relative to `src/`.
    path: PathBuf,
    text: String,
    /// Whether it belongs to a module that only tests have.
    test: bool,
}

impl Source {
    fn all() -> Vec<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut found = Vec::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "rs") {
                    let text = fs::read_to_string(&path).expect("text");
                    let path = path.strip_prefix(&root).expect("inside").to_owned();
                    found.push(Self { path, text, test: false });
                }
            }
        }
        let tests: Vec<_> = found.iter().flat_map(Self::test_modules).collect();
        for file in &mut found {
            file.test = tests
                .iter()
                .any(|t| file.path.starts_with(t) || file.path == t.with_extension("rs"));
        }
        found
    }

    /// Those that are part of the library.
    fn library() -> Vec<Self> {
        let files: Vec<_> = Self::all().into_iter().filter(|file| !file.test).collect();
        assert!(files.len() > 50, "the sources were not found");
        files
    }

    /// The file's place in the tree of modules, `["net", "dial"]` for `net/dial.rs`; empty for the root.
    fn module(&self) -> Vec<String> {
        let path = self.path.with_extension("");
        let mut names: Vec<_> = path.iter().map(|n| n.to_string_lossy().into_owned()).collect();
        if names.last().is_some_and(|name| name == "mod" || name == "lib") {
            names.pop();
        }
        names
    }

    /// The first name of [`Self::module`].
    fn room(&self) -> String {
        self.module().into_iter().next().unwrap_or_default()
    }

    /// The modules in files of their own that only tests have.
    fn test_modules(&self) -> Vec<PathBuf> {
        let lines: Vec<&str> = self.text.lines().collect();
        let declared = lines.windows(2).filter(|pair| is_for_tests(pair[0]));
        let names = declared.filter_map(|pair| pair[1].strip_prefix("mod ")?.strip_suffix(';'));
        let folder: PathBuf = self.module().iter().collect();
        names.map(|name| folder.join(name)).collect()
    }

    /// The lines of code: no comments, no blank lines, no modules for tests.
    fn code(&self) -> Vec<&str> {
        let mut code = Vec::new();
        let mut lines = self.text.lines().peekable();
        while let Some(line) = lines.next() {
            if is_for_tests(line) && lines.peek().is_some_and(|next| next.starts_with("mod ")) {
                let inline = lines.next().is_some_and(|declared| declared.ends_with('{'));
                if inline {
                    lines.by_ref().find(|line| *line == "}").expect("the module's end");
                }
                continue;
            }
            let line = line.trim();
            if !line.is_empty() && !line.starts_with("//") {
                code.push(line);
            }
        }
        code
    }

    /// What it names directly below the crate's root: as `crate::x`, in `crate::{x::y, z}`, or by as many `super::`.
    fn imports(&self) -> BTreeSet<String> {
        let code = self.code().join("\n");
        let up = "super::".repeat(self.module().len());
        let roots = ["crate::", &up].into_iter().filter(|root| !root.is_empty());
        roots
            .flat_map(|root| code.match_indices(root).map(|(at, _)| &code[at + root.len()..]))
            .flat_map(first_names)
            .collect()
    }
}

fn is_for_tests(line: &str) -> bool {
    line == "#[cfg(test)]" || line.starts_with("#[cfg(all(test, ")
}

/// The names that a path, or a list of paths in braces, begins with.
fn first_names(paths: &str) -> Vec<String> {
    let name = |path: &str| -> String {
        path.trim_start().chars().take_while(|c| c.is_alphanumeric() || "_*".contains(*c)).collect()
    };
    let Some(list) = paths.strip_prefix('{') else { return vec![name(paths)] };
    let mut names = vec![name(list)];
    let mut depth = 1;
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            ',' if depth == 1 => names.push(name(&list[at + 1..])),
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[test]
fn every_room_imports_only_from_the_floors_below() {
    for file in Source::library().iter().filter(|file| !file.module().is_empty()) {
        let (path, room) = (file.path.display(), file.room());
        let (_, allowed) = ROOMS
            .iter()
            .find(|(name, _)| *name == room)
            .unwrap_or_else(|| panic!("{path}: the table has no room {room}"));
        for import in file.imports() {
            assert!(
                import == room || allowed.contains(&import.as_str()),
                "{path} imports {import}, which {room} may not"
            );
        }
    }
}

#[test]
fn the_table_of_rooms_has_no_circle_and_no_room_that_is_gone() {
    let rooms: BTreeSet<String> = Source::library().iter().map(Source::room).collect();
    for (at, (room, imports)) in ROOMS.iter().enumerate() {
        assert!(rooms.contains(*room), "there is no {room}");
        for import in *imports {
            let below = ROOMS.iter().position(|(name, _)| name == import).expect("a room");
            assert!(below < at, "{room} imports {import}, which stands above it");
        }
    }
}

#[test]
fn the_architecture_paper_draws_the_same_table() {
    let paper = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/architecture.md");
    let paper = fs::read_to_string(paper).expect("the paper");
    let cells = paper.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    let drawn: BTreeSet<(String, BTreeSet<String>)> = cells
        .filter(|cells| cells.len() == 6 && cells[2].starts_with('`'))
        .map(|cells| {
            let room = cells[2].trim_matches('`').trim_end_matches('/').trim_end_matches(".rs");
            let imports = cells[4].split(", ").filter(|name| *name != "–").map(str::to_owned);
            (room.to_owned(), imports.collect())
        })
        .collect();
    let built = ROOMS.iter().map(|(room, imports)| {
        (String::from(*room), imports.iter().map(|name| String::from(*name)).collect())
    });
    assert_eq!(drawn, built.collect());
}

#[test]
fn imports_are_found_in_every_form() {
    let text = "\
        //! crate::comment\n\
        #[cfg(test)]\nmod tests;\n\
        #[cfg(test)]\nmod inline {\n    use crate::test;\n}\n\
        use crate::net::{A, B};\n\
        use crate::{ring, codec::{X, Y}, error::*, Client};\n\
        use super::sibling;\n\
        use super::super::{time};\n\
        fn f() { crate::pool::g() }\n";
    let file = Source { path: "router/single.rs".into(), text: text.to_owned(), test: false };
    let expected = ["net", "ring", "codec", "error", "Client", "time", "pool"].map(str::to_owned);
    assert_eq!(file.imports(), BTreeSet::from(expected));
    assert_eq!(file.code().len(), 5);
    assert_eq!(file.test_modules(), [Path::new("router/single/tests")]);
}

#[test]
fn every_file_states_its_duty_in_its_first_line() {
    for file in Source::all() {
        let first = file.text.lines().next().unwrap_or_default();
        assert!(first.starts_with("//! ") && first.len() > 20, "{}: {first}", file.path.display());
    }
}

#[test]
fn no_file_is_too_long() {
    for file in Source::library() {
        let lines = file.code().len();
        assert!(lines <= MOST_LINES, "{} has {lines} lines of code", file.path.display());
    }
}

#[test]
fn pure_rooms_read_no_clock_and_hold_no_socket_or_thread() {
    const IMPURE: [&str; 7] = [
        "Instant::now",
        "SystemTime::now",
        "TcpStream",
        "UnixStream",
        "thread::spawn",
        "thread::Builder",
        "rustix::",
    ];
    let files = Source::library();
    for file in files.iter().filter(|file| PURE.contains(&file.room().as_str())) {
        assert_lacks(file, &IMPURE);
    }
}

#[test]
fn no_unsafe_code_and_nothing_printed() {
    let files = Source::library();
    let root = files.iter().find(|file| file.path == Path::new("lib.rs")).expect("lib.rs");
    assert!(root.code().contains(&"#![forbid(unsafe_code)]"));
    for file in &files {
        assert_lacks(file, &["print!(", "println!(", "dbg!(", "todo!(", "unimplemented!("]);
    }
}

fn assert_lacks(file: &Source, words: &[&str]) {
    for line in file.code() {
        for word in words {
            assert!(!line.contains(word), "{} has {word}: {line}", file.path.display());
        }
    }
}
