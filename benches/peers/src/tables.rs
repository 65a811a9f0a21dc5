//! Figures in rows and columns, in the one form that reads well on a terminal and as Markdown.

use std::fmt::Write as _;

use crate::aims::{Aim, size_table};
use crate::child::Answer;
use crate::plan::Group;
use crate::samples::{Figure, Samples, spread};

/// Calls a second of every workload and client, group by group.
pub(crate) fn rates(samples: &Samples) -> String {
    let mut text = String::new();
    for group in Group::ALL {
        let figure = if group == Group::Memory { Figure::Items } else { Figure::Rate };
        if let Some(table) = table(samples, group, figure) {
            _ = write!(text, "{}, {}\n\n{table}\n", group.title(), unit(figure));
        }
    }
    text
}

/// What a figure is, for a heading.
pub(crate) fn unit(figure: Figure) -> &'static str {
    match figure {
        Figure::Rate => "calls a second (± the outermost rounds)",
        Figure::P50 => "µs that half of the calls do not exceed",
        Figure::P99 => "µs that 99 % of the calls do not exceed",
        Figure::ClientCpu => "µs of processor time a call, client",
        Figure::ServerCpu => "µs of processor time a call, server",
        Figure::Cpu => "µs of processor time a call, client and server",
        Figure::Items => "items",
    }
}

/// A figure of a group's workloads, a column for each client; `None` when nothing was measured.
pub(crate) fn table(samples: &Samples, group: Group, figure: Figure) -> Option<String> {
    let workloads: Vec<_> = samples.workloads.iter().filter(|w| w.group == group).collect();
    let measured = |client: &&String| {
        samples
            .all
            .iter()
            .any(|s| s.client == **client && workloads.iter().any(|w| w.id == s.workload))
    };
    let clients: Vec<_> = samples.clients.iter().filter(measured).collect();
    if clients.is_empty() {
        return None;
    }
    let mut rows =
        vec![["".to_owned()].into_iter().chain(clients.iter().map(|c| (*c).clone())).collect()];
    for workload in workloads {
        let mut row = vec![workload.id.clone()];
        row.extend(clients.iter().map(|client| cell(samples, &workload.id, client, figure)));
        rows.push(row);
    }
    Some(aligned(&rows))
}

fn cell(samples: &Samples, workload: &str, client: &str, figure: Figure) -> String {
    let figures = samples.figures(workload, client, figure);
    let trouble = match samples.trouble(workload, client) {
        Some(Answer::Unsupported) => "–",
        Some(_) => "failed",
        None => "",
    };
    let Some(median) = samples.median(workload, client, figure) else { return trouble.to_owned() };
    let spread = spread(&figures).filter(|_| figures.len() > 1 && matches!(figure, Figure::Rate));
    let spread = spread.map_or(String::new(), |spread| format!(" ±{spread:.0} %"));
    let trouble = if trouble.is_empty() { String::new() } else { format!(" ({trouble})") };
    format!("{}{spread}{trouble}", number(median))
}

/// The size table's times, a row for each number of threads.
pub(crate) fn size_tables(samples: &Samples) -> String {
    let mut rows = vec![vec!["threads".to_owned()]];
    rows[0].extend(samples.clients.iter().cloned());
    for threads in [1, 4] {
        let mut row = vec![threads.to_string()];
        row.extend(samples.clients.iter().map(|client| {
            size_table(samples, client, threads)
                .map_or("–".to_owned(), |seconds| format!("{:.0}", seconds * 1e6))
        }));
        rows.push(row);
    }
    aligned(&rows)
}

/// The aims with what came of them.
pub(crate) fn aims(aims: &[Aim]) -> String {
    let heading = ["mcpool's figure", "against", "aim, as a quotient", "reached", "met"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(aims.iter().map(|aim| {
        let met = match aim.met {
            Some(true) => "yes",
            Some(false) => "no",
            None => "not measured",
        };
        let reached = aim.reached.clone().unwrap_or_default();
        vec![aim.what.into(), aim.against.into(), aim.wanted.clone(), reached, met.into()]
    }));
    aligned(&rows)
}

/// Three digits that count, without a fraction from a hundred on.
fn number(figure: f64) -> String {
    match figure {
        f if f >= 100.0 => format!("{f:.0}"),
        f if f >= 10.0 => format!("{f:.1}"),
        f => format!("{f:.2}"),
    }
}

/// Rows of as many cells as the first, which is the heading; numbers to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<_> = (0..columns).map(|column| width(column).unwrap_or(0).max(3)).collect();
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let pad = " ".repeat(width - cell.chars().count());
            _ = if column == 0 {
                write!(text, "| {cell}{pad} ")
            } else {
                write!(text, "| {pad}{cell} ")
            };
        }
        text.push_str("|\n");
        if number == 0 {
            for (column, width) in widths.iter().enumerate() {
                let line = "-".repeat(width + 1);
                text += &if column == 0 { format!("| {line}") } else { format!("|{line}:") };
            }
            text.push_str("|\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["", "a"], ["get", "12.3 µs"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(aligned(&rows), "|     |       a |\n| ----|--------:|\n| get | 12.3 µs |\n");
    }
}
