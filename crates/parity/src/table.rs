//! The table on the terminal: a line per operation, a column per dtype.

use std::fmt::Write;

use reference::DType;

use crate::report::{Report, Row, rerun};

/// Failures that are listed in full; the rest is in `report.json`.
const LISTED: usize = 20;

/// The table, the failures and the totals. `origin` is what else a rerun has to be given.
pub fn render(report: &Report, origin: &str) -> String {
    let mut text = String::new();
    grid(&mut text, report, origin);
    failures(&mut text, report, origin);
    totals(&mut text, report);
    text
}

fn grid(text: &mut String, report: &Report, origin: &str) {
    let dtypes: Vec<&str> = DType::ALL
        .iter()
        .map(|dtype| dtype.name())
        .filter(|name| report.table.iter().any(|row| row.dtype == *name))
        .collect();
    let operations = report.operations();
    let width = operations.iter().map(|name| name.len()).max().unwrap_or(0).max("operation".len());
    line(text, &format!("{:width$}", "operation"), &dtypes, "  worst ulp  worst case");
    for operation in operations {
        let rows: Vec<&Row> = report.table.iter().filter(|row| row.operation == operation).collect();
        let cells: Vec<String> = dtypes
            .iter()
            .map(|name| rows.iter().find(|row| row.dtype == *name).map_or("".into(), |row| cell(row)))
            .collect();
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let worst =
            rows.iter().copied().reduce(|worst, row| if row.worst > worst.worst { row } else { worst });
        let tail = match worst {
            Some(row) if row.worst > 0.0 => {
                let ulps = rows.iter().map(|row| row.ulps).fold(0.0, f64::max);
                format!("  {}  {} on {}", number(ulps, 9), row.worst_case, row.worst_device)
            }
            _ => format!("  {:>9}", "0"),
        };
        line(text, &format!("{operation:width$}"), &cells, &tail);
    }
    let _ = writeln!(
        text,
        "Cells: the greatest error over all devices, as a part of what is allowed; = means equal bits.\n\
         A worst case again (the report has this line for each operation and dtype):\n     {}",
        rerun("DEVICE", "CASE", report.seed, origin)
    );
}

fn line(text: &mut String, first: &str, cells: &[&str], tail: &str) {
    let cells: String = cells.iter().map(|cell| format!("{cell:>7}")).collect();
    let _ = writeln!(text, "{first}{cells}{tail}");
}

fn cell(row: &Row) -> String {
    match () {
        () if row.failures > 0 => "FAIL".into(),
        () if row.worst > 0.0 => format!("{:.2}", row.worst),
        () => "=".into(),
    }
}

/// Two decimals where they fit, powers of ten elsewhere.
fn number(x: f64, width: usize) -> String {
    if x < 1e5 { format!("{x:>width$.2}") } else { format!("{x:>width$.1e}") }
}

fn failures(text: &mut String, report: &Report, origin: &str) {
    let count = report.totals.failures();
    for (case, result) in report.failures().take(LISTED) {
        let why = result.error.as_deref().unwrap_or("no reason given");
        let _ = writeln!(text, "\nFAIL {} on {}: {why}", case.id, result.device);
        let _ = writeln!(text, "     judged: {}", case.rule);
        let _ = writeln!(text, "     {}", rerun(&result.device, &case.id, report.seed, origin));
    }
    if count > LISTED {
        let _ = writeln!(text, "\n… and {} more, all in the report.", count - LISTED);
    }
    let worst = report.table.iter().filter(|row| row.worst > 0.0).max_by(|a, b| a.worst.total_cmp(&b.worst));
    if let (0, Some(row)) = (count, worst) {
        let _ =
            writeln!(text, "\nThe greatest error, {:.2} of what is allowed:\n     {}", row.worst, row.rerun);
    }
}

fn totals(text: &mut String, report: &Report) {
    let totals = report.totals;
    let devices: Vec<String> =
        report.devices.iter().map(|device| format!("{} ({:.1} s)", device.name, device.seconds)).collect();
    let _ = writeln!(
        text,
        "\n{} cases on {} in {:.1} s: {} results, {} wrong, {} errors.",
        totals.cases,
        devices.join(", "),
        report.seconds,
        totals.results,
        totals.mismatches,
        totals.errors
    );
    for record in &report.records {
        let _ = writeln!(text, "{record}.");
    }
}
