//! The page of a run.

use std::borrow::Cow;

use xxhash_rust::xxh3::Xxh3;

use super::Page;
use super::data::{Column, Found, Past, PastCell, Shown, Source};
use crate::history::Earlier;
use crate::report::{DeviceReport, Report, ResultReport, Status, rerun};

impl<'a> Page<'a> {
    /// The page of a run. `origin` is the run's further options, as for [`Report::new`]; `earlier` are runs to compare
    /// with, the oldest first.
    pub fn of_run(report: &'a Report, origin: &str, earlier: &[Earlier]) -> Page<'a> {
        let facts = vec![
            ("Finished", report.date.clone()),
            ("Version", report.version.to_string()),
            ("Seed", report.seed.to_string()),
            ("Seconds", format!("{:.1}", report.seconds)),
            ("Hash of the cases", hash(report)),
        ];
        let columns = report.devices.iter().map(|device| column(device, report.seed, origin)).collect();
        let mut page = Page::new("run", facts, columns);
        page.notes.extend(report.records.iter().map(|record| {
            format!("{record}. It was made on {} ({}), {}.", record.device, record.description, record.date)
        }));
        page.notes.extend(report.differences.iter().map(ToString::to_string));
        for case in &report.cases {
            let names = [case.operation, case.dtype, &case.rule];
            let shown = page.case(&case.id, case.hash.clone(), names);
            (shown.elements, shown.operands) = (case.elements, &case.operands);
            shown.results = case.results.iter().map(result).collect();
        }
        for run in earlier {
            let past = page.past(run, report);
            page.history.push(past);
        }
        page
    }

    fn past(&mut self, earlier: &Earlier, report: &Report) -> Past {
        let cell = |change: crate::history::Change| PastCell {
            operation: self.operation(change.operation),
            dtype: self.dtype(change.dtype),
            column: change.device,
            cases: change.cases,
            failures: change.failures,
            then: change.then,
            now: change.now,
        };
        let cells = earlier.changes(report).into_iter().map(cell).collect();
        let Earlier { name, date, version, failures, .. } = earlier.clone();
        Past { name, date, version, failures, cells }
    }
}

fn column(device: &DeviceReport, seed: u64, origin: &str) -> Column {
    let DeviceReport { name, description, facts, .. } = device.clone();
    Column {
        name: name.clone(),
        sides: ["got".into(), "expected".into()],
        commands: vec![rerun(&name, "{case}", seed, origin).replace("'{case}'", "{case}")],
        devices: vec![Source { name, description, facts }],
    }
}

pub(super) fn result(result: &ResultReport) -> Shown<'_> {
    let status = match result.status {
        Status::Pass => "pass",
        Status::Known => "known",
        Status::Mismatch => "mismatch",
        Status::Error => "error",
    };
    if status == "pass" && result.worst == 0.0 && result.histogram.is_equal() {
        return Shown::Equal;
    }
    let ResultReport { worst, ulps, wrong, sample, error, histogram, .. } = result;
    Shown::Result(Box::new(Found {
        status,
        worst: *worst,
        ulps: ulps.is_finite().then_some(*ulps),
        wrong: *wrong,
        why: error.clone(),
        sample: sample.as_ref().map(Cow::Borrowed),
        histogram: histogram.counts().to_vec(),
    }))
}

/// A hash over the hashes of all cases. Two runs with the same one had the same cases with the same inputs.
fn hash(report: &Report) -> String {
    let mut hasher = Xxh3::new();
    report.cases.iter().for_each(|case| hasher.update(case.hash.as_bytes()));
    format!("{:032x}", hasher.digest128())
}
