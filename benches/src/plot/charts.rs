//! The charts, and what each shows.

use super::svg::{Chart, DTYPES, Line};
use crate::throughput::results::Figures;
use crate::throughput::rows::Set;
use crate::throughput::targets::{SHAPE, Target};

/// The value that a chart shows for a row, and its target.
type Shown = (fn(&Figures) -> Option<f64>, fn(&Target) -> Option<f64>);

const RATIO: Shown = (|row| row.ratio, |target| target.ratio);
const SHARE: Shown =
    (|row| row.share.map(|share| share * 100.0), |target| target.share.map(|share| share * 100.0));

/// All charts by name; a chart without rows is omitted.
pub(super) fn all(sets: &[(Set, Vec<Figures>)]) -> Vec<(&'static str, Chart)> {
    let rows = |wanted: Set| sets.iter().filter(move |(set, _)| *set == wanted).flat_map(|(_, rows)| rows);
    let large = || rows(Set::Memory).filter(|row| row.shape == SHAPE);
    let held = rows(Set::Select).chain(rows(Set::Attention));
    let held = held.filter(|row| Target::of(&row.op, &row.shape).ratio.is_some());
    let charts = [
        ("share", share(lines(large(), SHARE, |row| row.op.clone()))),
        (
            "ratio",
            ratio(&format!("Speed beside PyTorch, {SHAPE}"), lines(large(), RATIO, |row| row.op.clone())),
        ),
        ("select", ratio("Selecting, scanning, attention: speed beside PyTorch", lines(held, RATIO, named))),
        (
            "products",
            ratio(
                "Matrix products and convolutions: speed beside PyTorch",
                lines(rows(Set::Products), RATIO, named),
            ),
        ),
    ];
    charts.into_iter().filter(|(_, chart)| !chart.lines.is_empty()).collect()
}

fn named(row: &Figures) -> String {
    format!("{} {}", row.op, row.shape)
}

/// A line for each name, in order of appearance.
fn lines<'a>(
    rows: impl Iterator<Item = &'a Figures>,
    (value, bar): Shown,
    name: impl Fn(&Figures) -> String,
) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for row in rows {
        let (name, dtype) = (name(row), DTYPES.iter().position(|dtype| *dtype == row.dtype));
        let (Some(dtype), Some(value)) = (dtype, value(row)) else { continue };
        let at = lines.iter().position(|line| line.name == name).unwrap_or_else(|| {
            let bar = bar(&Target::of(&row.op, &row.shape));
            lines.push(Line { name, bar, values: [None; 3] });
            lines.len() - 1
        });
        lines[at].values[dtype] = Some(value);
    }
    lines
}

fn share(lines: Vec<Line>) -> Chart {
    let most = values(&lines).fold(100.0, f64::max);
    let last = (most / 20.0).ceil() as u32;
    Chart {
        title: format!("Share of the copy's bytes a second, {SHAPE}"),
        axis: "per cent of the device's own copy in the same run; the thick bars are the targets".into(),
        ticks: (0..=last).map(|step| (f64::from(step * 20), format!("{} %", step * 20))).collect(),
        heavy: 100.0,
        logarithmic: false,
        decimals: 1,
        lines,
    }
}

fn ratio(title: &str, lines: Vec<Line>) -> Chart {
    // Powers of two that enclose all values, including at least a half and two.
    let least = values(&lines).fold(0.5, f64::min).log2().floor() as i32;
    let most = values(&lines).fold(2.0, f64::max).log2().ceil() as i32;
    let name =
        |power: i32| if power < 0 { format!("1/{}", 1u64 << -power) } else { (1u64 << power).to_string() };
    Chart {
        title: title.into(),
        axis: "PyTorch's time by ours: right of 1, ours is the quicker one; the thick bars are the targets"
            .into(),
        ticks: (least.max(-20)..=most.min(20)).map(|power| (2f64.powi(power), name(power))).collect(),
        heavy: 1.0,
        logarithmic: true,
        decimals: 2,
        lines,
    }
}

fn values(lines: &[Line]) -> impl Iterator<Item = f64> {
    lines.iter().flat_map(|line| line.values).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(op: &str, dtype: &str, shape: &str, ratio: f64, share: f64) -> Figures {
        Figures { ratio: Some(ratio), share: Some(share), ..Figures::new(op, dtype, shape, 1.0) }
    }

    #[test]
    fn rows_of_an_operation_are_one_line() {
        let memory = vec![
            row("copy_d2d", "u8", "536870912", 1.0, 1.0),
            row("add", "f32", SHAPE, 0.9, 0.93),
            row("add", "f32", "4096x4096", 7.0, 0.5),
            row("sum_all", "bf16", SHAPE, 5.0, 1.3),
            row("add", "bf16", SHAPE, 1.1, 0.95),
        ];
        let select = vec![row("argsort", "f16", "64x128256", 0.2, 0.1)];
        let charts = all(&[(Set::Memory, memory), (Set::Select, select)]);
        let names: Vec<&str> = charts.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["share", "ratio", "select"]);

        let share = &charts[0].1;
        assert_eq!(share.lines.len(), 2);
        assert_eq!((share.lines[0].name.as_str(), share.lines[0].bar), ("add", Some(90.0)));
        assert_eq!(share.lines[0].values, [Some(93.0), None, Some(95.0)]);
        assert_eq!(share.lines[1].bar, Some(85.0));
        assert_eq!(share.ticks.last().map(|tick| tick.0), Some(140.0));

        let ratio = &charts[1].1;
        assert_eq!(ratio.lines[1].values, [None, None, Some(5.0)]);
        let names: Vec<&str> = ratio.ticks.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["1/2", "1", "2", "4", "8"]);
        let select = &charts[2].1;
        assert_eq!(select.lines[0].name, "argsort 64x128256");
        assert_eq!(select.ticks[0], (0.125, "1/8".into()));
    }
}
