//! The report as an HTML page: a single file without scripts or external resources.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use reference::DType;

use crate::report::{self, Report, Row};

const STYLE: &str = "body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}td,th{border:1px solid #ccc;\
padding:2px 6px;text-align:right}td:first-child,th:first-child{text-align:left}.fail{background:#f99}.near{background:#fe9}\
.same{color:#999}code{background:#eee}";

/// Writes the page atomically, through a temporary file.
///
/// # Errors
/// The file system's error.
pub fn write(report: &Report, path: &Path) -> io::Result<()> {
    let page = page(report);
    report::write(path, |file| file.write_all(page.as_bytes()))
}

fn page(report: &Report) -> String {
    let totals = report.totals;
    let devices: Vec<String> =
        report.devices.iter().map(|device| format!("{} ({})", device.name, device.description)).collect();
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Parity</title><style>{STYLE}</style>\
         <h1>Parity</h1><p>{} cases, {} results, {} wrong, {} errors; seed {}; {:.1} s.</p><p>Devices: {}</p>\n",
        totals.cases,
        totals.results,
        totals.mismatches,
        totals.errors,
        report.seed,
        report.seconds,
        escape(&devices.join(", "))
    );
    for record in &report.records {
        let _ = writeln!(
            page,
            "<p>{}. It was made on {} ({}), {}.</p>",
            escape(&record.to_string()),
            escape(&record.device),
            escape(&record.description),
            escape(&record.date)
        );
    }
    for listed in &report.differences {
        let _ = writeln!(page, "<p>{}</p>", escape(&listed.to_string()));
    }
    failures(&mut page, report);
    grid(&mut page, report);
    page += "<p>Cells: the greatest error over all devices as a fraction of what is allowed; = means equal bits. The command \
             that reruns the worst case is the cell's tooltip.</p></html>\n";
    page
}

fn failures(page: &mut String, report: &Report) {
    if report.totals.failures() == 0 {
        return;
    }
    *page += "<h2>Failures</h2><ul>\n";
    for (case, result) in report.failures() {
        let why = result.error.as_deref().unwrap_or("no reason given");
        let _ = writeln!(
            page,
            "<li><code>{}</code> on {}: {}</li>",
            escape(&case.id),
            escape(&result.device),
            escape(why)
        );
    }
    *page += "</ul>\n";
}

fn grid(page: &mut String, report: &Report) {
    let heads: String = DType::ALL.iter().map(|dtype| format!("<th>{dtype}")).collect();
    let _ = writeln!(page, "<table><tr><th>operation{heads}");
    for operation in report.operations() {
        let _ = write!(page, "<tr><td>{operation}");
        for dtype in DType::ALL {
            let row = report.table.iter().find(|row| row.operation == operation && row.dtype == dtype.name());
            *page += &row.map_or("<td>".into(), cell);
        }
        page.push('\n');
    }
    *page += "</table>\n";
}

fn cell(row: &Row) -> String {
    let (class, text) = match () {
        () if row.failures > 0 => ("fail", format!("{} wrong", row.failures)),
        () if row.known > 0 => ("near", format!("{} known", row.known)),
        () if row.worst > 0.8 => ("near", format!("{:.2}", row.worst)),
        () if row.worst > 0.0 => ("", format!("{:.2}", row.worst)),
        () => ("same", "=".into()),
    };
    let title = format!("{} cases, {:.2} ulp; {}", row.cases, row.ulps, row.rerun);
    format!("<td class=\"{class}\" title=\"{}\">{text}", escape(&title))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
