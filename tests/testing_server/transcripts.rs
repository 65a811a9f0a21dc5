//! What a memcached says to what: the table that the embedded and the real one are held to.

use crate::support::transcript::Transcript;

#[path = "transcripts/items.rs"]
mod items;
#[path = "transcripts/lines.rs"]
mod lines;
#[path = "transcripts/whole.rs"]
mod whole;

/// The one transcript that depends on its commands coming in one segment.
pub(crate) const PIPELINED_DUMP: &str = "metadump stands alone";

/// What both servers must say.
pub(crate) fn transcripts() -> Vec<Transcript> {
    [lines::transcripts(), items::transcripts(), whole::transcripts()]
        .into_iter()
        .flatten()
        .collect()
}

pub(crate) fn case(name: &'static str, steps: &[(&str, &str)]) -> Transcript {
    owned(
        name,
        steps.iter().map(|(sent, expected)| ((*sent).to_owned(), (*expected).to_owned())).collect(),
    )
}

pub(crate) fn owned(name: &'static str, steps: Vec<(String, String)>) -> Transcript {
    Transcript { name, steps }
}
