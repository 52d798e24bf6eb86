//! The table on the terminal: one row per operation, one column per dtype.

use std::collections::HashSet;
use std::fmt::Write;

use reference::DType;

use crate::report::{Report, Row, rerun};

/// Number of failures printed in full; the others are in `report.json`.
const LISTED: usize = 20;

/// The table, the failures and the totals. `origin` is the further options of a rerun.
pub fn render(report: &Report, origin: &str) -> String {
    let mut text = String::new();
    grid(&mut text, report, origin);
    failures(&mut text, report, origin);
    totals(&mut text, report);
    text
}

fn grid(text: &mut String, report: &Report, origin: &str) {
    let find = |operation: &str, dtype: &str| {
        report.table.iter().find(|row| row.operation == operation && row.dtype == dtype)
    };
    let tail = |operation: &str| {
        let rows = report.table.iter().filter(|row| row.operation == operation);
        let worst = rows.clone().reduce(|worst, row| if row.worst > worst.worst { row } else { worst });
        match worst {
            Some(row) if row.worst > 0.0 => {
                let ulps = rows.map(|row| row.ulps).fold(0.0, f64::max);
                format!("  {}  {} on {}", number(ulps, 9), row.worst_case, row.worst_device)
            }
            _ => format!("  {:>9}", "0"),
        }
    };
    let columns = dtypes(report.table.iter().map(|row| row.dtype));
    let cell = |operation: &str, dtype: &str| find(operation, dtype).map_or(String::new(), cell);
    cells(text, &report.operations(), &columns, "  worst ulp  worst case", cell, tail);
    let _ = writeln!(
        text,
        "Cells: the greatest error over all devices, as a fraction of what is allowed; = means equal bits.\n\
         A worst case again (the report has this line for each operation and dtype):\n     {}",
        rerun("DEVICE", "CASE", report.seed, origin)
    );
}

/// The dtypes that occur, in the order of all tables.
pub(crate) fn dtypes<'a>(occurring: impl Iterator<Item = &'a str>) -> Vec<&'static str> {
    let occurring: HashSet<&str> = occurring.collect();
    DType::ALL.iter().map(|dtype| dtype.name()).filter(|name| occurring.contains(name)).collect()
}

/// One row per operation, one column per dtype, then `tail`.
pub(crate) fn cells(
    text: &mut String,
    operations: &[&str],
    dtypes: &[&str],
    heading: &str,
    cell: impl Fn(&str, &str) -> String,
    tail: impl Fn(&str) -> String,
) {
    let width = operations.iter().map(|name| name.len()).max().unwrap_or(0).max("operation".len());
    line(text, &format!("{:width$}", "operation"), dtypes, heading);
    for operation in operations {
        let cells: Vec<String> = dtypes.iter().map(|dtype| cell(operation, dtype)).collect();
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        line(text, &format!("{operation:width$}"), &cells, &tail(operation));
    }
}

fn line(text: &mut String, first: &str, cells: &[&str], tail: &str) {
    let cells: String = cells.iter().map(|cell| format!("{cell:>7}")).collect();
    let _ = writeln!(text, "{first}{cells}{tail}");
}

fn cell(row: &Row) -> String {
    match () {
        () if row.failures > 0 => "FAIL".into(),
        () if row.known > 0 => "known".into(),
        () if row.worst > 0.0 => format!("{:.2}", row.worst),
        () => "=".into(),
    }
}

/// Two decimals if they fit, else scientific notation.
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
    let compared = report.table.iter().filter(|row| row.worst > 0.0 && row.known == 0);
    let worst = compared.max_by(|a, b| a.worst.total_cmp(&b.worst));
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
        "\n{} cases on {} in {:.1} s: {} results, {} wrong, {} errors, {} differ as listed.",
        totals.cases,
        devices.join(", "),
        report.seconds,
        totals.results,
        totals.mismatches,
        totals.errors,
        totals.known
    );
    for record in &report.records {
        let _ = writeln!(text, "{record}.");
    }
    for listed in &report.differences {
        let _ = writeln!(text, "{listed}");
    }
}
