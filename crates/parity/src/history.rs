//! Earlier runs: reports that were kept beside a new one, and what they say of its cases.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::Error;
use crate::report::{Report, SCHEMA};

/// Number of earlier reports that are kept beside a report.
pub const KEPT: usize = 8;

/// An earlier run, as its `report.json` says.
#[derive(Debug, Clone, PartialEq)]
pub struct Earlier {
    /// The file's name without its ending.
    pub name: String,
    /// When the run ended, in UTC; empty if the report is older than this field.
    pub date: String,
    /// Version of the crate.
    pub version: String,
    /// Number of failed results in the whole run.
    pub failures: usize,
    /// By the case's hash, each device's error as a fraction of what is allowed, and whether it failed.
    results: HashMap<String, Vec<EarlierResult>>,
}

/// A device's result of a case in an earlier run.
#[derive(Debug, Clone, PartialEq)]
struct EarlierResult {
    device: String,
    worst: f64,
    failed: bool,
}

/// An operation and dtype on one device, now and in an earlier run, over the cases that both have.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Operation.
    pub operation: &'static str,
    /// Dtype of the inputs.
    pub dtype: &'static str,
    /// Index of the device in the new report.
    pub device: usize,
    /// Number of cases with the same inputs in both.
    pub cases: usize,
    /// Number of them that failed in the earlier run.
    pub failures: usize,
    /// Their maximum error then, as a fraction of what is allowed.
    pub then: f64,
    /// The same in the new report.
    pub now: f64,
}

impl Earlier {
    /// Reads a report.
    ///
    /// # Errors
    /// [`Error::ReadReport`] if the file cannot be read or is no such report.
    pub fn read(path: &Path) -> Result<Earlier, Error> {
        let wrong = |what: String| Error::ReadReport { path: path.to_path_buf(), what };
        let text = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
        let file: File = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
        if file.schema != SCHEMA {
            return Err(wrong(format!("its schema is {:?}, not {SCHEMA:?}", file.schema)));
        }
        let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let result = |result: FileResult| EarlierResult {
            device: result.device,
            worst: result.worst.unwrap_or(f64::INFINITY),
            failed: matches!(result.status.as_str(), "mismatch" | "error"),
        };
        let case = |case: FileCase| (case.hash, case.results.into_iter().map(result).collect());
        Ok(Earlier {
            name,
            date: file.date,
            version: file.version,
            failures: file.totals.mismatches + file.totals.errors,
            results: file.cases.into_iter().map(case).collect(),
        })
    }

    /// What became of each operation, dtype and device that this run and `report` share, in the order of the report.
    pub fn changes(&self, report: &Report) -> Vec<Change> {
        let mut changes: Vec<Change> = Vec::new();
        let mut indices = HashMap::new();
        for case in &report.cases {
            let Some(earlier) = self.results.get(&case.hash) else { continue };
            for (device, now) in case.results.iter().enumerate() {
                let Some(then) = earlier.iter().find(|then| then.device == now.device) else { continue };
                let (operation, dtype) = (case.operation, case.dtype);
                let index = *indices.entry((operation, dtype, device)).or_insert_with(|| {
                    let (cases, failures, then, now) = (0, 0, 0.0, 0.0);
                    changes.push(Change { operation, dtype, device, cases, failures, then, now });
                    changes.len() - 1
                });
                let change = &mut changes[index];
                change.cases += 1;
                change.failures += usize::from(then.failed);
                change.then = change.then.max(then.worst);
                change.now = change.now.max(now.worst);
            }
        }
        changes
    }
}

/// Renames an earlier report at this path to the next free number: `report.json` to `report-1.json`. Of these the
/// newest [`KEPT`] stay. A file that is no report is left where it is.
///
/// # Errors
/// The file system's error.
pub fn keep(json: &Path) -> io::Result<()> {
    if Earlier::read(json).is_err() {
        return Ok(());
    }
    let kept = kept(json);
    let next = kept.last().map_or(1, |(number, _)| number + 1);
    let name = json.with_file_name(format!("{}-{next}.json", stem(json)));
    // A link stays, and leads to the new report.
    if json.is_symlink() {
        std::fs::copy(json, name).map(drop)?
    } else {
        std::fs::rename(json, name)?
    }
    let surplus = (kept.len() + 1).saturating_sub(KEPT);
    kept.iter().take(surplus).try_for_each(|(_, path)| std::fs::remove_file(path))
}

/// The kept reports beside this path, the oldest first. One that cannot be read is left out with a message.
pub fn read_kept(json: &Path) -> Vec<Earlier> {
    let read = |(_, path): (u64, PathBuf)| match Earlier::read(&path) {
        Ok(earlier) => Some(earlier),
        Err(error) => {
            eprintln!("parity: left out of the trend: {error}");
            None
        }
    };
    kept(json).into_iter().filter_map(read).collect()
}

/// Numbers and paths of the kept reports, in ascending order.
fn kept(json: &Path) -> Vec<(u64, PathBuf)> {
    let folder = json.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let prefix = format!("{}-", stem(json));
    let number = |path: &Path| {
        let name = path.file_name()?.to_str()?;
        name.strip_prefix(&prefix)?.strip_suffix(".json")?.parse::<u64>().ok()
    };
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
    let mut kept: Vec<(u64, PathBuf)> = files.filter_map(|path| Some((number(&path)?, path))).collect();
    kept.sort();
    kept
}

fn stem(json: &Path) -> String {
    json.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// What is read of a report.
#[derive(Deserialize)]
struct File {
    schema: String,
    version: String,
    #[serde(default)]
    date: String,
    totals: FileTotals,
    cases: Vec<FileCase>,
}

#[derive(Deserialize)]
struct FileTotals {
    mismatches: usize,
    errors: usize,
}

#[derive(Deserialize)]
struct FileCase {
    hash: String,
    results: Vec<FileResult>,
}

#[derive(Deserialize)]
struct FileResult {
    device: String,
    status: String,
    worst: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{devices, filter, registry, run_cases};

    fn report(filter: &str) -> Report {
        let cases = filter::select(registry::all(), filter);
        run_cases(&cases, &[devices::cpu()], 7, &mut || ())
    }

    #[test]
    fn reports_are_kept_under_numbers() {
        let folder = tempfile::tempdir().expect("a folder");
        let json = folder.path().join("full.json");
        keep(&json).expect("nothing to keep");
        let report = report("neg/f32/contiguous/one");
        for _ in 0..KEPT + 3 {
            keep(&json).expect("it can be renamed");
            report.write_json(&json).expect("it can be written");
        }
        let numbers: Vec<u64> = kept(&json).into_iter().map(|(number, _)| number).collect();
        assert_eq!(numbers, (3..3 + KEPT as u64).collect::<Vec<_>>());
        assert_eq!(read_kept(&json)[0].name, "full-3");
        // Others are not touched.
        std::fs::write(folder.path().join("full-x.json"), "{}").expect("it can be written");
        std::fs::write(&json, "{}").expect("it can be written");
        keep(&json).expect("nothing is kept");
        assert_eq!(kept(&json).len(), KEPT);
        assert!(json.exists());
        // A link stays.
        #[cfg(unix)]
        {
            let link = folder.path().join("link.json");
            std::os::unix::fs::symlink(&json, &link).expect("a link");
            report.write_json(&link).expect("it can be written");
            keep(&link).expect("it can be copied");
            assert!(link.is_symlink() && kept(&link).len() == 1);
        }
        std::fs::write(&json, "{}").expect("it can be written");
        assert!(matches!(Earlier::read(&json), Err(Error::ReadReport { .. })));
    }

    #[test]
    fn only_cases_of_both_runs_are_compared() {
        let folder = tempfile::tempdir().expect("a folder");
        let json = folder.path().join("report.json");
        let mut before = report("exp/f32/contiguous/*");
        before.cases.remove(0);
        let shared = before.cases.len();
        // The worst case of the earlier run was twice as far off, and one result was missing.
        before.cases[0].results[0].worst = f64::INFINITY;
        before.cases[0].results[0].status = crate::report::Status::Error;
        before.totals.errors = 1;
        before.write_json(&json).expect("it can be written");
        let earlier = Earlier::read(&json).expect("a report");
        assert_eq!((earlier.failures, earlier.date.as_str()), (1, before.date.as_str()));
        let now = report("exp/f32/*");
        let changes = earlier.changes(&now);
        assert_eq!(changes.len(), 1);
        let Change { operation, dtype, device, cases, failures, then, now: _ } = changes[0];
        assert_eq!((operation, dtype, device, cases, failures), ("exp", "f32", 0, shared, 1));
        assert!(then.is_infinite() && changes[0].now > 0.0 && changes[0].now <= 1.0);
        assert!(earlier.changes(&report("neg/f32/contiguous/one")).is_empty());
        // Reports from before they had a date are read, too.
        let text = std::fs::read_to_string(&json).expect("it was written");
        let mut older: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        older.as_object_mut().expect("an object").remove("date");
        std::fs::write(&json, older.to_string()).expect("it can be written");
        assert_eq!(Earlier::read(&json).expect("a report"), Earlier { date: String::new(), ..earlier });
    }
}
