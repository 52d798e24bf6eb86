//! The page of a run.

use std::sync::LazyLock;

use parity::history::Earlier;
use parity::html::{self, Page};
use parity::report::{Status, rerun};
use parity::{Report, devices, filter, registry, run_cases};
use serde_json::{Value, json};

use super::browser::act;

/// A name that would end the script element around the data, and run a script, if it were not escaped.
const EVIL: &str = "neg/i32/</script><script>document.title='broken'</script><!--";

/// What a device says of its kernels.
const KERNELS: &str = "0123456789abcdef0123456789abcdef";

/// A run of a few operations on two devices, of which the second has a wrong result, and one with an evil id.
static REPORT: LazyLock<Report> = LazyLock::new(|| {
    let wanted = ["neg/i32/*", "exp/f16/*", "exp/f32/*", "sum/f32/contiguous/*"];
    let mut cases = registry::all();
    cases.retain(|case| {
        let id = case.id();
        wanted.iter().any(|wanted| filter::matches(wanted, &id)) && case.shape != "large"
    });
    let mut second = devices::cpu();
    second.name = "host:0".into();
    let report = run_cases(&cases, &[devices::cpu(), second], 7, &mut || ());
    assert_eq!(report.totals.failures(), 0);
    let Report { seed, seconds, mut devices, mut cases, .. } = report;
    devices[1].facts.insert("hash of the kernels".into(), KERNELS.into());
    cases[0].id = EVIL.into();
    let case = cases.iter_mut().find(|case| case.id == "exp/f32/transposed/matrix/[37,129]").unwrap();
    let wrong = &mut case.results[1];
    (wrong.status, wrong.wrong, wrong.worst) = (Status::Mismatch, 3, 1.5);
    wrong.error = Some("3 of 4773 elements are <wrong>".into());
    Report::new(seed, seconds, devices, cases, "")
});

fn page(report: &Report, earlier: &[Earlier]) -> String {
    html::render(&Page::of_run(report, "", earlier)).unwrap()
}

/// The text of a cell, from the report's own table.
fn expected(report: &Report, operation: &str, dtype: &str) -> String {
    let row = report.table.iter().find(|row| row.operation == operation && row.dtype == dtype);
    match row {
        None => String::new(),
        Some(row) if row.failures > 0 => format!("✕ {}", row.failures),
        Some(row) if row.worst > 0.0 => format!("{:.2}", row.worst),
        Some(_) => "=".into(),
    }
}

#[test]
fn the_matrix_is_that_of_the_report() {
    let (report, page) = (&*REPORT, page(&REPORT, &[]));
    let script = r##"
        see("title", document.title);
        see("sides", grid());
        await choose("device", "worst");
        see("worst", grid());
        see("verdict", textOf(one("#verdict")));
        see("count", textOf(one("#count")));
        see("loaded", performance.getEntriesByType("resource").length);
        see("roles", [one("#grid").getAttribute("role"), one("#rows td").getAttribute("role"), one("#rows th").getAttribute("role")]);
        see("reachable", all("#grid [tabindex='0']").length);
        one(".about").open = true;
        see("about", textOf(one("#about")));
    "##;
    let Some(seen) = act(&page, 1280, script) else { return };
    assert_eq!(
        (&seen["title"], &seen["loaded"], &seen["reachable"]),
        (&json!("Parity"), &json!(0), &json!(1))
    );
    assert_eq!(seen["roles"], json!(["grid", "gridcell", "rowheader"]));
    assert_eq!(seen["verdict"], "✕ 1 failure");
    let count = format!("{} cases, {} results, 1 failure", report.totals.cases, report.totals.results);
    assert_eq!(seen["count"], count.as_str());
    let rows = seen["worst"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row[0].as_str().unwrap()).collect();
    assert_eq!(names, report.operations());
    for row in rows {
        for dtype in ["i32", "f16", "f32"] {
            let text = &row[1][format!("{dtype} on all devices, sort")];
            assert_eq!(*text, expected(report, row[0].as_str().unwrap(), dtype).as_str(), "{row} {dtype}");
        }
    }
    // Side by side only the second device has the failure.
    let exp = &seen["sides"].as_array().unwrap()[1][1];
    assert_eq!(exp["f32 on host:0, sort"], "✕ 1");
    assert_ne!(exp["f32 on cpu, sort"], "✕ 1");
    let about = seen["about"].as_str().unwrap();
    for part in ["host:0", env!("CARGO_PKG_VERSION"), &report.date, KERNELS] {
        assert!(about.contains(part), "{part:?} in {about:?}");
    }
}

#[test]
fn a_cell_opens_by_a_click_and_by_keys() {
    let (report, page) = (&*REPORT, page(&REPORT, &[]));
    let script = r##"
        const panel = () => !one("#panel").hidden;
        const focused = () => document.activeElement.getAttribute("aria-label");
        see("closed", !panel());
        const failed = cell("exp", "f32 on host:0");
        failed.click();
        see("opened", panel() && failed.getAttribute("aria-selected") === "true");
        see("id", textOf(one("#panel .id")));
        see("text", textOf(one("#panel-body")));
        see("command", textOf(one("#panel .command code")));
        see("bars", all("#panel svg.chart rect").map((bar) => Number(bar.getAttribute("height")) > 0));
        see("hash", textOf(one("#panel .hash code")));
        key("Escape");
        see("escaped", !panel() && document.activeElement === failed);
        key("ArrowLeft");
        see("left", focused());
        key("Enter");
        see("entered", panel() && textOf(one("#panel-title")));
        key("ArrowUp");
        see("follows", textOf(one("#panel-title")));
        key("Home", { ctrlKey: true });
        see("home", [textOf(document.activeElement), document.activeElement.getAttribute("role")]);
        key("ArrowUp");
        key("ArrowUp");
        see("head", document.activeElement.getAttribute("role"));
        key("End", { ctrlKey: true });
        see("end", document.activeElement.getAttribute("role"));
        key("Escape");
        see("one", all("#grid [tabindex='0']").length);
    "##;
    let Some(seen) = act(&page, 1280, script) else { return };
    let case = report.cases.iter().find(|case| case.results[1].status == Status::Mismatch).unwrap();
    let sample = case.results[1].sample.as_ref().unwrap();
    let text = seen["text"].as_str().unwrap();
    for part in
        [&sample.got, &sample.expected, &case.rule, "1.50 of what is allowed", "<wrong>", "3 of 4,773"]
    {
        assert!(text.contains(part), "{part:?} in {text:?}");
    }
    assert!(sample.inputs[0].values.len() == 1 && text.contains(&sample.inputs[0].values[0]), "{text}");
    assert_eq!((&seen["id"], &seen["hash"]), (&json!(case.id), &json!(case.hash)));
    assert_eq!(seen["command"], rerun("host:0", &case.id, 7, ""));
    // A bar for each count that is not zero.
    let counts = case.results[1].histogram.counts();
    let bars: Vec<bool> = seen["bars"].as_array().unwrap().iter().map(|bar| bar.as_bool().unwrap()).collect();
    assert!(bars.len() >= counts.len() && counts.iter().sum::<u64>() == 4773);
    let shown = |index: usize| counts.get(index).is_some_and(|count| *count > 0);
    assert!(bars.iter().enumerate().all(|(index, bar)| *bar == shown(index)), "{bars:?} {counts:?}");
    for name in ["closed", "opened", "escaped"] {
        assert_eq!(seen[name], true, "{name}");
    }
    let cpu = report.cases.iter().filter(|case| case.operation == "exp" && case.dtype == "f32");
    let worst = cpu.map(|case| case.results[0].worst).fold(0.0, f64::max);
    assert_eq!(seen["left"], format!("exp f32 on cpu: {worst:.2} of what is allowed"));
    assert_eq!((&seen["entered"], &seen["follows"]), (&json!("expf32cpu"), &json!("expf32cpu")));
    assert_eq!((&seen["home"], &seen["head"]), (&json!(["negunary", "rowheader"]), &json!("columnheader")));
    assert_eq!((&seen["end"], &seen["one"]), (&json!("gridcell"), &json!(1)));
}

#[test]
fn filters_and_sorting_choose_what_is_shown() {
    let (report, page) = (&*REPORT, page(&REPORT, &[]));
    let script = r##"
        const names = () => grid().map((row) => row[0]);
        const heads = () => all("#head tr:last-child th").map((head) => head.getAttribute("aria-label"));
        await choose("find", "EXP/f16");
        see("text", [names(), heads()]);
        await choose("find", "sum/*/[37,129]/axes=0");
        see("pattern", textOf(one("#count")));
        await choose("find", "<\/script>");
        cell("neg", "i32").click();
        see("evil", textOf(one("#panel .id")));
        await choose("find", "no such case");
        see("nothing", [one("#grid").hidden, one("#nothing").hidden]);
        one("#reset").click();
        await choose("failures", true);
        see("failures", [names(), textOf(one("#count"))]);
        await choose("failures", false);
        await choose("device", "0");
        see("device", [all("td.fail").length, heads().filter((head) => head.includes("host")).length]);
        await choose("device", "each");
        await choose("family", [...one("#family").options].find((option) => option.text === "reduce").value);
        see("family", names());
        await choose("family", "");
        await choose("dtype", [...one("#dtype").options].find((option) => option.text === "i32").value);
        see("dtype", names());
        await choose("dtype", "");
        await choose("sort", "name");
        see("name", names());
        await choose("sort", "failures");
        see("sorted", names()[0]);
        const head = all("#head tr:last-child th").find((one) => one.getAttribute("aria-label").startsWith("f32 on cpu"));
        head.click();
        see("order", document.activeElement.getAttribute("aria-sort"));
        see("column", grid().map((row) => Number(row[1]["f32 on cpu, sort"])));
    "##;
    let Some(seen) = act(&page, 1280, script) else { return };
    assert_eq!(seen["text"][0], json!(["exp"]));
    assert_eq!(
        seen["text"][1],
        json!(["name, sort", "f16 on cpu, sort", "f16 on host:0, sort", "number of cases, sort"])
    );
    let pattern =
        report.cases.iter().filter(|case| filter::matches("sum/*/[37,129]/axes=0", &case.id)).count();
    assert!(
        pattern > 0 && seen["pattern"].as_str().unwrap().starts_with(&format!("{pattern} case")),
        "{seen}"
    );
    assert_eq!((&seen["evil"], &seen["nothing"]), (&json!(EVIL), &json!([true, false])));
    assert_eq!(seen["failures"], json!([["exp"], "1 case, 1 result, 1 failure"]));
    assert_eq!((&seen["device"], &seen["family"]), (&json!([0, 0]), &json!(["sum"])));
    assert_eq!((&seen["dtype"], &seen["name"]), (&json!(["neg"]), &json!(["exp", "neg", "sum"])));
    assert_eq!((&seen["sorted"], &seen["order"]), (&json!("exp"), &json!("descending")));
    // The empty cell of neg, which has none of f32 here, comes last.
    let column: Vec<f64> = seen["column"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    assert!(column.len() == 3 && column.is_sorted_by(|a, b| a >= b) && column[2] == 0.0, "{column:?}");
}

#[test]
fn earlier_runs_are_a_trend() {
    let folder = tempfile::tempdir().unwrap();
    let earlier = |name: &str, worst: f64| {
        let mut before = REPORT.clone();
        before.cases.iter_mut().flat_map(|case| &mut case.results).for_each(|result| result.worst *= worst);
        let path = folder.path().join(name);
        before.write_json(&path).unwrap();
        Earlier::read(&path).unwrap()
    };
    let (report, runs) = (&*REPORT, [earlier("first.json", 0.5), earlier("second.json", 0.25)]);
    let script = r##"
        see("marks", all("td .change").map((mark) => [mark.parentElement.getAttribute("aria-label"), textOf(mark)]));
        cell("exp", "f16 on cpu").click();
        see("rows", all("#panel .runs tbody tr").map((row) => [...row.children].slice(1).map(textOf)));
        see("dots", all("#panel svg .dot").length);
    "##;
    let Some(seen) = act(&page(report, &runs), 1280, script) else { return };
    let cases: Vec<_> =
        report.cases.iter().filter(|case| case.operation == "exp" && case.dtype == "f16").collect();
    let worst = cases.iter().map(|case| case.results[0].worst).fold(0.0, f64::max);
    let line = |factor: f64| {
        json!([format!("{:.2}", factor * worst), format!("{worst:.2}"), cases.len().to_string()])
    };
    // The newest first.
    assert_eq!((&seen["rows"], &seen["dots"]), (&json!([line(0.25), line(0.5)]), &json!(3)));
    let marks = seen["marks"].as_array().unwrap();
    assert!(!marks.is_empty() && marks.iter().all(|mark| mark[1] == "▲"), "{marks:?}");
    let label = |mark: &Value| mark[0].as_str().unwrap().ends_with(", worse than before");
    assert!(marks.iter().all(label), "{marks:?}");
}

#[test]
fn a_phone_needs_no_scrolling_to_the_side() {
    let page = page(&REPORT, &[]);
    let script = r##"
        see("width", innerWidth);
        see("page", document.documentElement.scrollWidth);
        see("grid", one("#scroll").scrollWidth);
        see("device", one("#device").value);
        const failed = cell("exp", "f32");
        failed.click();
        const box = one("#panel").getBoundingClientRect();
        see("panel", [box.left, box.right]);
        see("inside", one("#panel").scrollWidth <= one("#panel").clientWidth);
        see("focus", document.activeElement.id);
        key("Escape");
        see("back", document.activeElement === failed);
    "##;
    let Some(seen) = act(&page, 390, script) else { return };
    assert_eq!((&seen["width"], &seen["page"], &seen["grid"]), (&json!(390), &json!(390), &json!(390)));
    assert_eq!((&seen["device"], &seen["panel"]), (&json!("worst"), &json!([0, 390])));
    assert_eq!(
        (&seen["inside"], &seen["focus"], &seen["back"]),
        (&json!(true), &json!("panel"), &json!(true))
    );
}
