//! The paper on shared clusters names every test that stands here, and none that does not.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The tests of each peer that the paper's table names, as `peer::test`.
fn named() -> BTreeSet<String> {
    let paper = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/interop.md");
    let paper = fs::read_to_string(paper).expect("the paper");
    let (_, table) = paper.split_once("### The tests behind it").expect("its table");
    let (table, _) = table.split_once("\n## ").expect("what follows");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    rows.flat_map(|(peer, cells)| {
        let tests = cells.split('`').skip(1).step_by(2);
        tests.map(move |test| format!("{peer}::{test}"))
    })
    .collect()
}

/// The tests that stand in the files of the peers.
fn written() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live");
    let files = fs::read_dir(folder).expect("the folder").map(|file| file.expect("a file").path());
    files
        .filter(|file| file.file_stem().is_some_and(|name| name != "paper"))
        .flat_map(|file| {
            let peer = file.file_stem().expect("a name").to_string_lossy().into_owned();
            let text = fs::read_to_string(&file).expect("text");
            let tests = text.split("#[test]\nfn ").skip(1);
            let tests = tests.filter_map(|rest| rest.split_once('('));
            tests.map(|(name, _)| format!("{peer}::{name}")).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn the_paper_names_every_test_of_a_peer_and_no_other() {
    assert_eq!(named(), written());
}
