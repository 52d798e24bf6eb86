//! A run: compares every device with the reference and the records.

use std::path::{Path, PathBuf};

use super::{ParityArgs, check_writable, compile, folder, progress, registered, sabotage, say, select};
use crate::case::Case;
use crate::choice::subset;
use crate::comparison::Known;
use crate::history::{self, Earlier};
use crate::html::{self, Page};
use crate::listed;
use crate::record::{self, NamedRecord};
use crate::report::{Report, quote};
use crate::weights::Weights;
use crate::{Against, Error, devices, registry, run_against, table};

/// Returns whether all results are right.
pub(super) fn run(args: &ParityArgs) -> Result<bool, Error> {
    let weights = args.weights.as_deref().map(Weights::open).transpose()?;
    let cases = match (&weights, &args.weights) {
        (Some(weights), Some(path)) => of_weights(weights, path, args.cases.filter.as_deref())?,
        _ => registered(&args.cases, args.full)?,
    };
    let all = cases.len() + if args.full { 0 } else { registry::long().len() };
    let (cases, whole) =
        if is_subset(args) { (subset(cases), false) } else { (cases, args.cases.filter.is_none()) };
    if args.list {
        say(&cases.iter().map(|case| case.id() + "\n").collect::<String>());
        return Ok(true);
    }
    let json = args.json.clone().unwrap_or_else(|| folder::of_reports().join("report.json"));
    if !args.sabotage {
        if json.extension().is_some_and(|ending| ending == "html") {
            return Err(Error::ReportName { path: json });
        }
        check_writable(&json)?;
    }
    let records = records(args)?;
    let given = args.history.iter().map(|path| Earlier::read(path)).collect::<Result<Vec<_>, _>>()?;
    let known = args.differences.as_deref().map_or(Ok(Vec::new()), Known::read)?;
    let devices = with_implementations(devices::open(&args.device)?, args, &cases)?;
    if args.sabotage {
        return sabotage::run(args, &cases, &devices);
    }
    let (cases, left_out) = listed::leave_out(cases, &known, &devices);
    if is_subset(args) {
        say(&told(cases.len(), all));
    }
    compile(&cases, &devices)?;
    let (bar, origin) = (progress(cases.len()), origin(args));
    let mut report = match &weights {
        Some(weights) => weights.run(&cases, &devices, args.cases.seed, &origin, &mut || bar.inc(1))?,
        None => {
            let whole = whole && left_out.iter().all(|listed| listed.stale);
            let against = Against { records: &records, whole, origin: &origin };
            run_against(&cases, &devices, args.cases.seed, against, &mut || bar.inc(1))
        }
    };
    bar.finish_and_clear();
    report.excuse(&known, &devices, whole, &origin);
    report.differences.extend(left_out.into_iter().filter(|listed| whole || !listed.stale));
    let page = write(&report, &json, &origin, given)?;
    say(&table::render(&report, &origin));
    if is_subset(args) {
        say(&told(report.totals.cases, all));
    }
    say(&format!("Report: {} (for programs: {})\n", page.display(), json.display()));
    Ok(report.totals.failures() == 0 && !report.differences.iter().any(|listed| listed.stale))
}

/// Whether only a subset of the registry runs, because no option chooses cases.
fn is_subset(args: &ParityArgs) -> bool {
    let named = args.all || args.full || args.cases.filter.is_some() || args.weights.is_some();
    let named = named || args.cases.own.is_some();
    !named && !args.sabotage
}

/// Without a choice of devices, those that every case has an implementation for.
fn with_implementations(
    mut devices: Vec<devices::NamedDevice>,
    args: &ParityArgs,
    cases: &[Case],
) -> Result<Vec<devices::NamedDevice>, Error> {
    if !args.device.is_empty() {
        return Ok(devices);
    }
    devices.retain(|devices::NamedDevice { name, device }| {
        let without = cases.iter().find(|case| !case.op.runs_on(device));
        if let Some(case) = without {
            eprintln!("parity: {name} is left out: {} has no implementation for it", case.op.name());
        }
        without.is_none()
    });
    if devices.is_empty() {
        let what = "no device of this machine has an implementation of all operations".to_owned();
        return Err(Error::Cases { what });
    }
    Ok(devices)
}

fn told(chosen: usize, all: usize) -> String {
    format!(
        "subset: {chosen} of {all} cases, with every operation, dtype and layout, and every class of shape of each operation; \
         --full runs all\n"
    )
}

/// The requested cases on a checkpoint's tensors.
fn of_weights(weights: &Weights, path: &Path, filter: Option<&str>) -> Result<Vec<Case>, Error> {
    let all = weights.cases();
    for (dtype, names) in weights.left_out() {
        say(&format!("left out, as there are no operations on {dtype}: {}\n", names.join(", ")));
    }
    if all.is_empty() {
        return Err(Error::NoTensors { path: path.to_path_buf() });
    }
    select(all, filter)
}

/// The embedded records, then those given by options.
fn records(args: &ParityArgs) -> Result<Vec<NamedRecord>, Error> {
    let mut records = if args.cases.own.is_some() { Vec::new() } else { record::embedded()? };
    for path in &args.against {
        records.push(NamedRecord::read(path)?);
    }
    Ok(records)
}

/// Writes the report, and returns the path of its HTML page. An earlier report at the path is kept, and is in the page's
/// trend with those kept before and the `given` ones.
fn write(report: &Report, json: &Path, origin: &str, given: Vec<Earlier>) -> Result<PathBuf, Error> {
    let wrap = |path: &Path| {
        let path = path.to_path_buf();
        move |source| Error::Write { path, source }
    };
    history::keep(json).map_err(wrap(json))?;
    let earlier = given.into_iter().chain(history::read_kept(json)).collect::<Vec<_>>();
    report.write_json(json).map_err(wrap(json))?;
    let page = json.with_extension("html");
    html::write(&Page::of_run(report, origin, &earlier), &page).map_err(wrap(&page))?;
    Ok(page)
}

/// The further options that a rerun of one case needs.
fn origin(args: &ParityArgs) -> String {
    let option = |name: &str, path: &Path| format!(" --{name} {}", quote(&path.display().to_string()));
    let weights = args.weights.iter().map(|path| option("weights", path));
    let against = args.against.iter().map(|path| option("against", path));
    let differences = args.differences.iter().map(|path| option("differences", path));
    let full = args.full.then(|| " --full".to_owned());
    full.into_iter().chain(weights).chain(against).chain(differences).collect()
}
