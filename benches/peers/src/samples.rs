//! Everything that was measured, and what is made of several rounds: medians, spreads, ratios.

use std::fmt::Write as _;

use crate::child::Answer;
use crate::plan::Workload;

/// One measurement.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) round: usize,
    pub(crate) workload: String,
    pub(crate) client: String,
    pub(crate) answer: Answer,
    /// How many items the server held afterwards, for the workload that asks for it.
    pub(crate) items: Option<u64>,
}

/// A figure of a measurement.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Figure {
    /// Calls a second.
    Rate,
    /// Microseconds that half of the calls do not exceed.
    P50,
    /// Microseconds that 99 of 100 calls do not exceed.
    P99,
    /// Microseconds of processor time a call, of the client.
    ClientCpu,
    /// The same of the server or servers.
    ServerCpu,
    /// The same of both.
    Cpu,
    /// Items in the server.
    Items,
}

impl Sample {
    fn figure(&self, figure: Figure) -> Option<f64> {
        let Answer::Done(measured) = &self.answer else { return None };
        let figures = measured.figures;
        let per_call = |seconds: f64| seconds * 1e6 / figures.calls.max(1) as f64;
        Some(match figure {
            Figure::Rate => figures.per_second(),
            Figure::P50 => figures.p50 as f64 / 1e3,
            Figure::P99 => figures.p99 as f64 / 1e3,
            Figure::ClientCpu => per_call(measured.client_cpu),
            Figure::ServerCpu => per_call(measured.server_cpu),
            Figure::Cpu => per_call(measured.client_cpu + measured.server_cpu),
            Figure::Items => self.items? as f64,
        })
    }
}

/// All measurements of a run.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    pub(crate) all: Vec<Sample>,
    /// In the order of the columns.
    pub(crate) clients: Vec<String>,
    pub(crate) workloads: Vec<Workload>,
}

impl Samples {
    /// A figure of every round.
    pub(crate) fn figures(&self, workload: &str, client: &str, figure: Figure) -> Vec<f64> {
        let matching = self.all.iter().filter(|s| s.workload == workload && s.client == client);
        matching.filter_map(|s| s.figure(figure)).collect()
    }

    pub(crate) fn median(&self, workload: &str, client: &str, figure: Figure) -> Option<f64> {
        median(self.figures(workload, client, figure))
    }

    /// What a client answered instead of figures, if it never had any.
    pub(crate) fn trouble(&self, workload: &str, client: &str) -> Option<&Answer> {
        let mut matching = self.all.iter().filter(|s| s.workload == workload && s.client == client);
        matching.find(|s| !matches!(s.answer, Answer::Done(_))).map(|s| &s.answer)
    }

    /// Every measurement a line.
    pub(crate) fn csv(&self) -> String {
        let mut csv = String::from(
            "round,workload,client,calls_per_second,p50_us,p99_us,client_cpu_us_per_call,server_cpu_us_per_call,items,trouble\n",
        );
        for s in &self.all {
            _ = write!(csv, "{},{},{}", s.round, s.workload, s.client);
            for figure in [
                Figure::Rate,
                Figure::P50,
                Figure::P99,
                Figure::ClientCpu,
                Figure::ServerCpu,
                Figure::Items,
            ] {
                match s.figure(figure) {
                    Some(figure) => _ = write!(csv, ",{figure:.2}"),
                    None => csv.push(','),
                }
            }
            match &s.answer {
                Answer::Failed(why) => _ = writeln!(csv, ",\"{}\"", why.replace('"', "'")),
                Answer::Unsupported => csv.push_str(",unsupported\n"),
                Answer::Done(_) => csv.push_str(",\n"),
            }
        }
        csv
    }
}

/// The middle one, or the mean of the two in the middle.
pub(crate) fn median(mut figures: Vec<f64>) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    let (low, high) = (figures.len().checked_sub(1)? / 2, figures.len() / 2);
    Some((figures[low] + figures[high]) / 2.0)
}

/// How far the outermost figures are from the median, in its hundredths.
pub(crate) fn spread(figures: &[f64]) -> Option<f64> {
    let middle = median(figures.to_vec())?;
    let furthest = figures.iter().map(|f| (f - middle).abs()).fold(0.0, f64::max);
    Some(furthest / middle * 100.0)
}

/// Between which values the true median lies with a certainty of 95 %, whatever the distribution; with fewer than
/// six figures, which do not allow that certainty, the lowest and the highest of them.
pub(crate) fn interval(mut figures: Vec<f64>) -> Option<(f64, f64)> {
    figures.sort_by(f64::total_cmp);
    let n = figures.len();
    // The chance that fewer than k + 1 of n figures lie below the median, added up from the binomial distribution.
    let mut outside = 0.0;
    let mut term = 0.5_f64.powi(i32::try_from(n).ok()?);
    let mut cut = 0;
    for k in 0..n / 2 {
        outside += 2.0 * term;
        if outside > 0.05 {
            break;
        }
        cut = k + 1;
        term = term * (n - k) as f64 / (k + 1) as f64;
    }
    let cut = cut.saturating_sub(1);
    Some((*figures.get(cut)?, *figures.get(n.checked_sub(1 + cut)?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_spreads() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(spread(&[90.0, 100.0, 120.0]), Some(20.0));
    }

    #[test]
    fn an_interval_of_fifteen_leaves_out_three_on_each_side() {
        // The sign test's table: for n = 15 the 4th and the 12th figure hold the median with 96.5 %.
        assert_eq!(interval((1..=15).map(f64::from).collect()), Some((4.0, 12.0)));
        // For n = 6 the first and the last, with 96.9 %; for n = 9 the second and the eighth, with 96.1 %.
        assert_eq!(interval((1..=6).map(f64::from).collect()), Some((1.0, 6.0)));
        assert_eq!(interval((1..=9).map(f64::from).collect()), Some((2.0, 8.0)));
        assert_eq!(interval(vec![2.0, 1.0]), Some((1.0, 2.0)));
        assert_eq!(interval(vec![]), None);
    }
}
