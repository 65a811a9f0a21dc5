//! The papers: every link to a file of the repository leads to one.

#![allow(clippy::expect_used, clippy::panic, reason = "a test")]

use std::fs;
use std::path::{Path, PathBuf};

/// The papers of a folder and of those below it.
fn papers(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let (folders, files): (Vec<_>, Vec<_>) = paths.partition(|path| path.is_dir());
    let mut papers: Vec<_> =
        files.into_iter().filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    papers.extend(folders.iter().flat_map(|folder| papers_below(folder)));
    papers
}

fn papers_below(folder: &Path) -> Vec<PathBuf> {
    let skipped = ["target", ".git"].iter().any(|name| folder.ends_with(name));
    if skipped { Vec::new() } else { papers(folder) }
}

#[test]
fn every_link_to_a_file_leads_to_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut links = 0;
    for paper in papers(root) {
        let text = fs::read_to_string(&paper).expect("text");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            if link.is_empty() || link.contains(':') || link.contains(' ') {
                continue;
            }
            let target = paper.parent().expect("a folder").join(link);
            assert!(target.exists(), "{}: nothing is at {link}", paper.display());
            links += 1;
        }
    }
    assert!(links > 20, "{links} links were found");
}
