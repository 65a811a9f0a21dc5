//! Figures as lines, one for each client, on scales that double.

use std::error::Error;
use std::path::Path;

use plotters::prelude::*;

use crate::Outcome;
use crate::plan::{Group, Workload};
use crate::samples::{Figure, Samples};

/// One picture: which workloads make its points, and what is counted.
struct Plot {
    file: &'static str,
    title: &'static str,
    along: &'static str,
    group: Group,
    /// What the workloads' names begin with.
    prefix: &'static str,
    figure: Figure,
    /// What a workload's place along the axis is.
    x: fn(&Workload) -> usize,
}

const PLOTS: &[Plot] = &[
    simple("simple-set", "set of 32 bytes", "simple/set/", Figure::Rate),
    simple("simple-get", "get of 32 bytes", "simple/get/", Figure::Rate),
    simple("simple-delete", "delete", "simple/delete/", Figure::Rate),
    simple(
        "simple-get-p99",
        "get of 32 bytes, time of the slowest 1 %",
        "simple/get/",
        Figure::P99,
    ),
    simple("simple-get-cpu", "get of 32 bytes, processor time", "simple/get/", Figure::Cpu),
    Plot {
        group: Group::Map,
        ..simple("map-set", "set of a map of 100 structs", "map/set-map/", Figure::Rate)
    },
    Plot {
        group: Group::Map,
        ..simple("map-get", "get of a map of 100 structs", "map/get-map/", Figure::Rate)
    },
    Plot {
        group: Group::Far,
        ..simple(
            "far-set",
            "set over a line with 1 ms of round trip, 4 connections",
            "far/set/",
            Figure::Rate,
        )
    },
    Plot {
        group: Group::Far,
        ..simple(
            "far-get",
            "get over a line with 1 ms of round trip, 4 connections",
            "far/get/",
            Figure::Rate,
        )
    },
    sizes("sizes-set-1", "set, 1 thread", "sizes/set/1/"),
    sizes("sizes-get-1", "get, 1 thread", "sizes/get/1/"),
    sizes("sizes-set-4", "set, 4 threads", "sizes/set/4/"),
    sizes("sizes-get-4", "get, 4 threads", "sizes/get/4/"),
    many("many-1", "many keys in one call, 1 server", "many/1-server/"),
    many("many-3", "many keys in one call, 3 servers", "many/3-servers/"),
];

const fn simple(
    file: &'static str,
    title: &'static str,
    prefix: &'static str,
    figure: Figure,
) -> Plot {
    Plot { file, title, along: "threads", group: Group::Simple, prefix, figure, x: |w| w.threads }
}

const fn sizes(file: &'static str, title: &'static str, prefix: &'static str) -> Plot {
    let along = "bytes in a value";
    Plot { along, group: Group::Sizes, x: |w| w.size, ..simple(file, title, prefix, Figure::Rate) }
}

const fn many(file: &'static str, title: &'static str, prefix: &'static str) -> Plot {
    Plot { along: "keys in a call", group: Group::Many, ..sizes(file, title, prefix) }
}

/// A client's points.
struct Line {
    name: String,
    colour: RGBColor,
    points: Vec<(f64, f64)>,
}

/// Draws what was measured at more than one place; the files with their groups.
pub(crate) fn draw(folder: &Path, samples: &Samples) -> Outcome<Vec<(Group, String)>> {
    let mut files = Vec::new();
    for plot in PLOTS {
        let lines = plot.lines(samples);
        if lines.iter().all(|line| line.points.len() < 2) {
            continue;
        }
        let file = format!("{}.svg", plot.file);
        plot.picture(&folder.join(&file), &lines).map_err(|e| format!("{file}: {e}"))?;
        files.push((plot.group, file));
    }
    Ok(files)
}

impl Plot {
    fn lines(&self, samples: &Samples) -> Vec<Line> {
        let workloads: Vec<_> =
            samples.workloads.iter().filter(|w| w.id.starts_with(self.prefix)).collect();
        let line = |(number, name): (usize, &String)| {
            let point = |w: &&Workload| {
                let y = samples.median(&w.id, name, self.figure).filter(|y| *y > 0.0)?;
                Some(((self.x)(w) as f64, y))
            };
            let points = workloads.iter().filter_map(point).collect();
            Line { name: name.clone(), colour: colour(number), points }
        };
        let lines = samples.clients.iter().enumerate().map(line);
        lines.filter(|line| !line.points.is_empty()).collect()
    }

    fn picture(&self, file: &Path, lines: &[Line]) -> Result<(), Box<dyn Error>> {
        let unit = match self.figure {
            Figure::Rate => "calls a second",
            _ => "µs",
        };
        let all = || lines.iter().flat_map(|line| &line.points);
        let range = |of: fn(&(f64, f64)) -> f64| {
            let (low, high) =
                all().map(of).fold((f64::MAX, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
            low / 1.1..high * 1.1
        };
        let area = SVGBackend::new(file, (860, 460)).into_drawing_area();
        area.fill(&WHITE)?;
        let (left, right) = area.split_horizontally(710);
        let mut chart = ChartBuilder::on(&left)
            .caption(self.title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(42)
            .y_label_area_size(70)
            .build_cartesian_2d(range(|p| p.0).log_scale(), range(|p| p.1).log_scale())?;
        chart
            .configure_mesh()
            .x_desc(self.along)
            .y_desc(unit)
            .x_label_formatter(&|x| format!("{x:.0}"))
            .y_label_formatter(&|y| format!("{y:.0}"))
            .light_line_style(TRANSPARENT)
            .draw()?;
        for (line, y) in lines.iter().zip((50..).step_by(22)) {
            let style = line.colour.stroke_width(2);
            chart.draw_series(LineSeries::new(line.points.iter().copied(), style).point_size(3))?;
            right.draw(&PathElement::new([(8, y), (28, y)], style))?;
            right.draw(&Text::new(line.name.clone(), (34, y - 7), ("sans-serif", 14)))?;
        }
        area.present()?;
        Ok(())
    }
}

/// Colours that also those who see fewer of them can tell apart (Okabe and Ito), in the order of the clients.
fn colour(number: usize) -> RGBColor {
    const COLOURS: [RGBColor; 8] = [
        RGBColor(0, 0, 0),
        RGBColor(213, 94, 0),
        RGBColor(230, 159, 0),
        RGBColor(204, 121, 167),
        RGBColor(0, 114, 178),
        RGBColor(86, 180, 233),
        RGBColor(0, 158, 115),
        RGBColor(120, 120, 120),
    ];
    COLOURS[number % COLOURS.len()]
}
