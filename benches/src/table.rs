//! Compares the times that criterion measured in this run with their targets, and prints them.

use serde::Deserialize;
use std::path::Path;
use std::time::SystemTime;
use std::{fmt, fs};

/// A result and its target.
pub struct Figure {
    /// Its name.
    pub name: String,
    /// The benchmark: its folder below criterion's, without `new`.
    pub of: String,
    /// For a ratio, the benchmark to divide by.
    pub against: Option<String>,
    /// How many operations one iteration performs.
    pub count: f64,
    /// The target: an upper limit, if any.
    pub bar: Option<Quantity>,
}

/// A number with a unit.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Quantity {
    /// Nanoseconds.
    Nanoseconds(f64),
    /// Microseconds.
    Microseconds(f64),
    /// A ratio of two times.
    Times(f64),
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nanoseconds(value) => f.pad(&format!("{value:.1} ns")),
            Self::Microseconds(value) => f.pad(&format!("{value:.2} us")),
            Self::Times(value) => f.pad(&format!("{value:.2} x")),
        }
    }
}

/// criterion's `sample.json`: the time of each sample in nanoseconds, and its number of iterations.
#[derive(Deserialize)]
struct Samples {
    iters: Vec<f64>,
    times: Vec<f64>,
}

/// Nanoseconds per iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spread {
    fastest: f64,
    median: f64,
}

impl Samples {
    fn spread(&self) -> Option<Spread> {
        let mut each: Vec<f64> =
            self.times.iter().zip(&self.iters).map(|(time, count)| time / count).collect();
        each.sort_by(f64::total_cmp);
        Some(Spread { fastest: *each.first()?, median: each[each.len() / 2] })
    }
}

/// The result of a benchmark, if it was measured since `start`.
fn measured(folder: &Path, benchmark: &str, start: SystemTime) -> Option<Spread> {
    let file = folder.join(benchmark).join("new/sample.json");
    let fresh = fs::metadata(&file).and_then(|data| data.modified()).is_ok_and(|time| time >= start);
    let text = fresh.then(|| fs::read_to_string(&file).ok())??;
    serde_json::from_str::<Samples>(&text).ok()?.spread()
}

impl Figure {
    /// The fastest and the median sample, in the result's unit.
    fn value(&self, folder: &Path, start: SystemTime) -> Option<(Quantity, Quantity)> {
        let of = measured(folder, &self.of, start)?;
        let base = match &self.against {
            Some(other) => measured(folder, other, start)?,
            None => Spread { fastest: self.count, median: self.count },
        };
        let unit = |value| match self.bar {
            _ if self.against.is_some() => Quantity::Times(value),
            Some(Quantity::Microseconds(_)) => Quantity::Microseconds(value / 1e3),
            _ => Quantity::Nanoseconds(value),
        };
        Some((unit(of.fastest / base.fastest), unit(of.median / base.median)))
    }
}

/// The table; results older than `start` are omitted. The fastest sample is compared with the target, since
/// other work on the machine can only add time.
pub fn table(figures: &[Figure], folder: &Path, start: SystemTime) -> String {
    let mut text = format!("{:<58} {:>10} {:>10} {:>10}\n", "figure", "fastest", "median", "bar");
    for figure in figures {
        let Some((fastest, median)) = figure.value(folder, start) else { continue };
        let (bar, verdict) = match figure.bar {
            Some(bar) => (bar.to_string(), if fastest < bar { "ok" } else { "MISSED" }),
            None => (String::new(), ""),
        };
        let line = format!("{:<58} {fastest:>10} {median:>10} {bar:>10} {verdict}", figure.name);
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(of: &str, against: Option<&str>, count: f64, bar: Option<Quantity>) -> Figure {
        Figure { name: of.into(), of: of.into(), against: against.map(Into::into), count, bar }
    }

    #[test]
    fn figures_against_their_bars() {
        let folder = std::env::temp_dir().join(format!("benches-table-{}", std::process::id()));
        for (name, times) in [("slow", "[300, 900, 1200]"), ("fast", "[200, 400, 600]")] {
            fs::create_dir_all(folder.join(name).join("new")).expect("a writable folder for temporary files");
            let text = format!("{{\"iters\": [1, 2, 3], \"times\": {times}, \"sampling_mode\": \"Linear\"}}");
            fs::write(folder.join(name).join("new/sample.json"), text).expect("the folder was just made");
        }
        let figures = [
            figure("slow", Some("fast"), 1.0, Some(Quantity::Times(1.75))),
            figure("slow", None, 100.0, Some(Quantity::Nanoseconds(3.0))),
            figure("fast", None, 1.0, Some(Quantity::Microseconds(0.5))),
            figure("fast", None, 1.0, None),
            figure("absent", None, 1.0, None),
        ];
        let shown = table(&figures, &folder, SystemTime::UNIX_EPOCH);
        let cells: Vec<Vec<&str>> =
            shown.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
        // Per iteration: slow 300, 400, 450; fast 200, 200, 200.
        assert_eq!(cells[0], ["slow", "1.50", "x", "2.00", "x", "1.75", "x", "ok"]);
        assert_eq!(cells[1], ["slow", "3.0", "ns", "4.0", "ns", "3.0", "ns", "MISSED"]);
        assert_eq!(cells[2], ["fast", "0.20", "us", "0.20", "us", "0.50", "us", "ok"]);
        assert_eq!(cells[3], ["fast", "200.0", "ns", "200.0", "ns"]);
        assert_eq!(cells.len(), 4);
        // Results of an earlier run are not shown.
        let later = SystemTime::now() + std::time::Duration::from_secs(3600);
        assert_eq!(table(&figures, &folder, later).lines().count(), 1);
        fs::remove_dir_all(&folder).expect("the folder is ours");
    }
}
