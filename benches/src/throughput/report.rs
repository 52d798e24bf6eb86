//! Results as a table: text for a terminal, Markdown for a page.

use super::results::Figures;
use super::targets::Verdict;

const HEAD: [&str; 12] = [
    "operation",
    "dtype",
    "shape",
    "us",
    "torch us",
    "ratio",
    "GB/s",
    "share",
    "kernel us",
    "torch kernel us",
    "ratio, kernels",
    "target",
];
/// Number of name columns; the others are numbers.
const NAMES: usize = 3;

fn cells(row: &Figures) -> [String; 12] {
    let number = |value: Option<f64>, decimals: usize| {
        value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
    };
    let share = row.share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0));
    let rate = match row.tflops {
        Some(tflops) => format!("{tflops:.1} TFLOP/s"),
        None => number(row.gbps, 0),
    };
    [
        row.op.clone(),
        row.dtype.clone(),
        row.shape.clone(),
        // For short calls tenths of microseconds matter.
        number(Some(row.us), if row.us < 10.0 { 3 } else { 1 }),
        number(row.torch_us, 1),
        number(row.ratio, 2),
        rate,
        share,
        number(row.kernel_us, 1),
        number(row.torch_kernel_us, 1),
        number(row.kernel_ratio(), 2),
        Verdict::of(row).to_string(),
    ]
}

/// A table with aligned columns.
pub fn text(rows: &[Figures]) -> String {
    let lines: Vec<[String; 12]> =
        std::iter::once(HEAD.map(str::to_owned)).chain(rows.iter().map(cells)).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let columns = line.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            let left = column < NAMES || column + 1 == HEAD.len();
            if left { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        text += columns.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

/// A Markdown table.
pub fn markdown(rows: &[Figures]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(&HEAD.map(str::to_owned));
    let rule = |column: usize| {
        let name = column < NAMES || column + 1 == HEAD.len();
        if name { "---".to_owned() } else { "--:".to_owned() }
    };
    text += &line(&(0..HEAD.len()).map(rule).collect::<Vec<_>>());
    rows.iter().for_each(|row| text += &line(&cells(row)));
    text
}

#[cfg(test)]
mod tests {
    use super::super::rows::Work;
    use super::*;

    fn rows() -> Vec<Figures> {
        let mut add = Figures::new("add", "f32", "16384x8192", 403.0)
            .doing(Work::Bytes(1_610_612_736))
            .beside(Some(380.0))
            .kernels(Some(398.0), Some(378.1));
        add.share_of(4500.0);
        vec![add, Figures::new("gemm", "f16", "8x8x8", 20.0).doing(Work::Operations(1e10))]
    }

    #[test]
    fn both_forms_hold_every_cell() {
        let text = text(&rows());
        let cells: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        let add = "add f32 16384x8192 403.0 380.0 0.94 3997 88.8 % 398.0 378.1 0.95 MISSED share, ratio";
        assert_eq!(cells[1], add.split(' ').collect::<Vec<_>>(), "{text}");
        assert!(text.lines().all(|line| line.trim_end() == line), "{text}");

        let markdown = markdown(&rows());
        let lines: Vec<&str> = markdown.lines().collect();
        assert_eq!(
            lines[2],
            "| add | f32 | 16384x8192 | 403.0 | 380.0 | 0.94 | 3997 | 88.8 % | 398.0 | 378.1 | 0.95 | MISSED share, ratio |"
        );
        assert_eq!(
            lines[3],
            "| gemm | f16 | 8x8x8 | 20.0 | - | - | 500.0 TFLOP/s | - | - | - | - | not measured |"
        );
        assert!(lines.iter().all(|line| line.matches('|').count() == 13), "{markdown}");
    }
}
