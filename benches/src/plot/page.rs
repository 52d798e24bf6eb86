//! The generated part of the page, and the page with every row.

use super::candle::{self, Peer};
use super::reasons::{self, Reason};
use super::svg::Chart;
use crate::throughput::report;
use crate::throughput::results::Figures;
use crate::throughput::rows::Set;
use crate::throughput::targets::{Target, Verdict};
use std::fmt::Write;

/// The markers around the part, each on a line of its own.
const MARKS: [&str; 2] =
    ["<!-- h200: written by `cargo run -p benches --bin plot` -->", "<!-- h200: end -->"];

/// The file name of a drawing.
pub(super) fn file_name(chart: &str, theme: &str) -> String {
    format!("h200-{chart}-{theme}.svg")
}

/// The part's text, and the rows that missed their target without a reason.
pub(super) fn part(
    sets: &[(Set, Vec<Figures>)],
    notes: &str,
    reasons: &[Reason],
    charts: &[(&str, Chart)],
) -> (String, Vec<String>) {
    let mut text = String::new();
    for note in notes.lines() {
        let _ = writeln!(text, "- {note}");
    }
    for (name, chart) in charts {
        let [light, dark] =
            ["light", "dark"].map(|theme| format!("{}/{}", super::DRAWINGS, file_name(name, theme)));
        let _ = write!(
            text,
            "\n<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"{dark}\">\
             <img alt=\"{}\" src=\"{light}\" width=\"800\"></picture>\n",
            chart.title
        );
    }
    let rows = || sets.iter().flat_map(|(_, rows)| rows);
    let held = rows().filter(|row| Verdict::of(row) != Verdict::None).count();
    let missed: Vec<&Figures> = rows().filter(|row| Verdict::of(row).is_missed()).collect();
    let _ = writeln!(text, "\n{held} rows have a target; {} missed it.", missed.len());
    let mut unexplained = Vec::new();
    if !missed.is_empty() {
        text += "\n| operation | dtype | shape | share | least | ratio | least | µs | most | why |\n|---|---|---|--:|--:|--:|--:|--:|--:|---|\n";
    }
    for row in missed {
        let reason = reasons::find(reasons, row);
        if reason.is_none() {
            unexplained.push(format!("{} {} {}", row.op, row.dtype, row.shape));
        }
        let target = Target::of(&row.op, &row.shape);
        let percent =
            |value: Option<f64>| value.map_or("-".into(), |value| format!("{:.1} %", value * 100.0));
        let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.2}"));
        let cells = [
            row.op.clone(),
            row.dtype.clone(),
            row.shape.clone(),
            percent(row.share.filter(|_| target.share.is_some())),
            percent(target.share),
            number(row.ratio.filter(|_| target.ratio.is_some())),
            number(target.ratio),
            target.us.map_or("-".into(), |_| format!("{:.3}", row.us)),
            number(target.us),
            reason.unwrap_or("not known").to_owned(),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    (text, unexplained)
}

/// The page with every row, and with candle's times.
pub(super) fn all_rows(sets: &[(Set, Vec<Figures>)], candle: &[Peer]) -> String {
    let mut text = "# Every row measured on an H200\n\n\
        Written by `cargo run -p benches --bin plot`. [BENCHMARKING.md](../../docs/BENCHMARKING.md#what-a-row-is) explains the columns.\n"
        .to_owned();
    for (set, rows) in sets {
        let _ = write!(text, "\n## {}\n\n{}", set.name(), report::markdown(rows));
    }
    let rows: Vec<&Figures> = sets.iter().flat_map(|(_, rows)| rows).collect();
    text + &candle::table(candle, &rows)
}

/// The page with the part inserted between its markers.
pub(super) fn filled(page: &str, part: &str) -> Result<String, String> {
    let position = |mark: &str| {
        let mut found = page.match_indices(mark).map(|(at, _)| at);
        match (found.next(), found.next()) {
            (Some(at), None) => Ok(at),
            (None, _) => Err(format!("there is no line {mark}")),
            _ => Err(format!("there are two lines {mark}")),
        }
    };
    let (start, end) = (position(MARKS[0])? + MARKS[0].len(), position(MARKS[1])?);
    if end < start {
        return Err(format!("{} comes before {}", MARKS[1], MARKS[0]));
    }
    Ok(format!("{}\n\n{}\n{}", &page[..start], part.trim_end(), &page[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(op: &str, ratio: f64, share: f64) -> Figures {
        Figures { ratio: Some(ratio), share: Some(share), ..Figures::new(op, "f16", "16384x8192", 1.0) }
    }

    #[test]
    fn the_part_is_written_between_its_marks_and_again() {
        let page = format!("# A\n\n{}\nold\n{}\n\nafter\n", MARKS[0], MARKS[1]);
        let new = filled(&page, "new\n").expect("the marks are there");
        assert_eq!(new, format!("# A\n\n{}\n\nnew\n{}\n\nafter\n", MARKS[0], MARKS[1]));
        assert_eq!(filled(&new, "new\n"), Ok(new.clone()));
        assert!(filled("# A\n", "new").is_err_and(|error| error.contains("no line")));
        assert!(filled(&format!("{new}{}", MARKS[1]), "new").is_err_and(|error| error.contains("two lines")));
    }

    #[test]
    fn missed_rows_are_named_with_their_reasons() {
        let rows = vec![
            row("add", 1.2, 0.95),
            row("exp", 0.9, 0.93),
            row("silu", 1.0, 0.812),
            row("host_add", 0.1, 0.1),
            Figures::new("host_add_return_above_raw", "f32", "16x16", 0.541),
        ];
        let reasons = reasons::parse("op\tdtype\tshape\treason\nexp\t*\t*\tslow\n").expect("it is right");
        let sets = [(Set::Memory, rows)];
        let (text, unexplained) = part(&sets, "a card\n", &reasons, &[]);
        assert_eq!(unexplained, ["silu f16 16384x8192", "host_add_return_above_raw f32 16x16"]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..3], ["- a card", "", "4 rows have a target; 3 missed it."]);
        assert_eq!(lines[6], "| exp | f16 | 16384x8192 | 93.0 % | 90.0 % | 0.90 | 1.00 | - | - | slow |");
        assert_eq!(
            lines[7],
            "| silu | f16 | 16384x8192 | 81.2 % | 90.0 % | 1.00 | 1.00 | - | - | not known |"
        );
        assert_eq!(
            lines[8],
            "| host_add_return_above_raw | f32 | 16x16 | - | - | - | - | 0.541 | 0.50 | not known |"
        );
        assert!(!text.contains("| host_add | f16 |"), "{text}");
        let all = all_rows(&sets, &[]);
        assert!(all.contains("\n## memory\n") && all.contains("| host_add | f16 |"), "{all}");
    }
}
