//! The table of faults tells the truth: each test that it names is there, and each test of a fault stands in its row.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The tests of this project: their names, and the files, as paths from the project's root, that have one of that name.
type Tests = BTreeMap<String, BTreeSet<String>>;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn tests() -> Tests {
    let mut tests = Tests::new();
    let mut folders = vec![root().join("tests")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let file = path.strip_prefix(root()).expect("inside").display().to_string();
                for name in names(&fs::read_to_string(&path).expect("text")) {
                    tests.entry(name).or_default().insert(file.clone());
                }
            }
        }
    }
    tests
}

/// The names of the functions marked as tests.
fn names(source: &str) -> Vec<String> {
    let behind = source.split("#[test]\n").skip(1);
    let name = |text: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix("fn "))?;
        line.split('(').next().map(str::to_owned)
    };
    behind.filter_map(name).collect()
}

/// The faults that a test is for, by the beginning of its name: F002 and F003 for `f002_f003_…`.
fn faults(test: &str) -> Vec<String> {
    let is_fault = |word: &&str| {
        word.strip_prefix('f')
            .is_some_and(|n| n.len() == 3 && n.bytes().all(|b| b.is_ascii_digit()))
    };
    test.split('_').take_while(is_fault).map(str::to_uppercase).collect()
}

/// The rows of the table: the fault's number and what stands in the last column.
fn rows() -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("docs/faults.md")).expect("the table");
    let rows = text.lines().filter(|line| line.starts_with("| F"));
    let cells = |row: &str| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 3, "{row}");
        assert!(!cells[1].is_empty(), "{row}");
        (cells[0].to_owned(), cells[2].to_owned())
    };
    rows.map(cells).collect()
}

/// The pairs of file and test in a row's last column.
fn named(cell: &str) -> Vec<(&str, &str)> {
    let quoted: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
    quoted.chunks(2).map(|pair| (pair[0], *pair.get(1).unwrap_or(&""))).collect()
}

#[test]
fn every_test_that_the_table_names_exists_and_bears_its_number() {
    let (tests, rows) = (tests(), rows());
    for (fault, cell) in &rows {
        if cell.starts_with("does not apply: ") {
            continue;
        }
        let named = named(cell);
        for (file, test) in &named {
            let files =
                tests.get(*test).unwrap_or_else(|| panic!("{fault}: no test is called {test}"));
            assert!(files.contains(*file), "{fault}: {test} is in {files:?}");
        }
        let own = named.iter().filter(|(_, test)| faults(test).contains(fault));
        assert!(own.count() > 0, "{fault} has no test with its number: {cell}");
    }
}

#[test]
fn every_test_of_a_fault_stands_in_its_row() {
    let rows: BTreeMap<_, _> = rows().into_iter().collect();
    let mut numbered = 0;
    for (test, files) in &tests() {
        for fault in faults(test) {
            let cell = rows.get(&fault).unwrap_or_else(|| panic!("{test}: {fault} has no row"));
            for file in files {
                let named = named(cell);
                assert!(
                    named.contains(&(file, test)),
                    "{file} {test} is not in the row of {fault}"
                );
            }
            numbered += 1;
        }
    }
    assert!(numbered > 180, "only {numbered} were found");
}

#[test]
fn every_fault_has_one_row() {
    let rows = rows();
    let once: BTreeSet<_> = rows.iter().map(|(fault, _)| fault).collect();
    assert_eq!(once.len(), rows.len());
    assert_eq!(rows.len(), 221, "the faults of our catalogue");
}
