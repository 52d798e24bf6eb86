//! The results of a run as data: the file `report.json`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use tensor_core::ErrorKind;

use crate::comparison::Manner;
use crate::histogram::Histogram;
use crate::judge::{Sample, Verdict};
use crate::listed::ListedReport;
use crate::record::{Coverage, RecordReport, now};

/// The format version of `report.json`, which changes whenever a change could break a reader.
pub const SCHEMA: &str = "parity-report/1";

/// A whole run.
///
/// In JSON this is an object with fields of these names. Non-finite numbers are `null`.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Version of this crate.
    pub version: &'static str,
    /// When the run ended, in UTC: "2026-01-31T12:00:00Z".
    pub date: String,
    /// Seed of the inputs.
    pub seed: u64,
    /// Wall-clock seconds of the run.
    pub seconds: f64,
    /// Cases, results and failures.
    pub totals: Totals,
    /// The devices that were tested.
    pub devices: Vec<DeviceReport>,
    /// The records that the results were compared with.
    pub records: Vec<RecordReport>,
    /// The known differences that the results were compared with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<ListedReport>,
    /// One row per operation and dtype.
    pub table: Vec<Row>,
    /// One entry per case.
    pub cases: Vec<CaseReport>,
}

/// Counts over a whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Number of cases.
    pub cases: usize,
    /// Number of results: cases times devices.
    pub results: usize,
    /// Results with a wrong element, or that differ from a record.
    pub mismatches: usize,
    /// Results that are missing because the device gave an error.
    pub errors: usize,
    /// Results with a wrong element that are listed as known differences.
    pub known: usize,
}

impl Totals {
    /// The number of failed results.
    pub fn failures(&self) -> usize {
        self.mismatches + self.errors
    }
}

/// A device.
#[derive(Debug, Clone, Serialize)]
pub struct DeviceReport {
    /// The name that `--device` takes: "cpu", "host:0", …
    pub name: String,
    /// A description of the device.
    pub description: String,
    /// Seconds spent in its operations.
    pub seconds: f64,
    /// Facts about the device and its platform: the model, versions of drivers, runtimes and compilers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, String>,
}

/// A case and each device's result.
#[derive(Debug, Clone, Serialize)]
pub struct CaseReport {
    /// Its id. `--filter` with this id runs only this case.
    pub id: String,
    /// Its hash over operation, dtypes, shapes, layouts, parameters and inputs, 32 hexadecimal digits.
    pub hash: String,
    /// Operation.
    pub operation: &'static str,
    /// Dtypes: "f32", or "f32>f16" for a cast.
    pub dtypes: String,
    /// Dtype of the inputs.
    pub dtype: &'static str,
    /// Layout class.
    pub layout: &'static str,
    /// Shape class.
    pub shape: &'static str,
    /// The rule of judgement, in words.
    pub rule: String,
    /// Number of elements of the result.
    pub elements: usize,
    /// The operands in words: dtype, stored shape, the view's steps, contents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operands: Vec<String>,
    /// One entry per device, in the order of the report's devices.
    pub results: Vec<ResultReport>,
    /// The coverage of the case by each record, in the order of the report's records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<Coverage>,
}

/// The status of a device's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Every element is right.
    Pass,
    /// Some element is wrong, and the list of known differences explains it.
    Known,
    /// Some element is wrong, or the shape or dtype is, or a record has another result.
    Mismatch,
    /// The device returned an error instead of a result.
    Error,
}

impl Status {
    /// Whether this status fails the run.
    pub fn is_failure(self) -> bool {
        matches!(self, Status::Mismatch | Status::Error)
    }
}

/// One device's result of a case.
#[derive(Debug, Clone, Serialize)]
pub struct ResultReport {
    /// The device's name.
    pub device: String,
    /// The status of the result.
    pub status: Status,
    /// Number of wrong elements.
    pub wrong: usize,
    /// Maximum error as a fraction of what is allowed; `null` if an element is wrong where nothing is allowed.
    #[serde(serialize_with = "finite")]
    pub worst: f64,
    /// Maximum error in ulp of the result's dtype.
    #[serde(serialize_with = "finite")]
    pub ulps: f64,
    /// The worst element; `null` if there is no error.
    pub sample: Option<Sample>,
    /// The failure in words; `null` if there is none.
    pub error: Option<String>,
    /// Names of the records with another result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differs_from: Vec<String>,
    /// The kinds of difference of the wrong elements.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub manners: BTreeSet<Manner>,
    /// How many elements are how far off, in ulp. It is left out if all have the reference's bits.
    #[serde(skip_serializing_if = "Histogram::is_equal")]
    pub histogram: Histogram,
}

impl ResultReport {
    /// The report of a judged result.
    pub fn judged(device: &str, verdict: Verdict) -> ResultReport {
        let Verdict { elements, wrong, worst, ulps, sample, manners, histogram } = verdict;
        let status = if wrong == 0 { Status::Pass } else { Status::Mismatch };
        let error = sample.as_ref().filter(|_| wrong > 0).map(|sample| {
            let Sample { index, got, expected, .. } = sample;
            format!("{wrong} of {elements} elements are wrong; at {index}: got {got}, expected {expected}")
        });
        ResultReport {
            device: device.to_string(),
            status,
            wrong,
            worst,
            ulps,
            sample,
            error,
            differs_from: Vec::new(),
            manners,
            histogram,
        }
    }

    /// The report of a missing or malformed result.
    pub fn failed(device: &str, status: Status, error: String) -> ResultReport {
        let device = device.to_string();
        ResultReport {
            device,
            status,
            wrong: 0,
            worst: f64::INFINITY,
            ulps: 0.0,
            sample: None,
            error: Some(error),
            differs_from: Vec::new(),
            manners: BTreeSet::new(),
            histogram: Histogram::NONE,
        }
    }

    /// Marks the result as a mismatch because a record has another result, whatever the reference says.
    pub fn differ_from(&mut self, record: &str, why: &str) {
        self.status = Status::Mismatch;
        self.differs_from.push(record.to_string());
        self.error = Some(match self.error.take() {
            Some(error) => format!("{error}; {why}"),
            None => why.to_string(),
        });
    }
}

/// All cases of an operation and dtype, over all devices.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Operation.
    pub operation: &'static str,
    /// Dtype of the inputs.
    pub dtype: &'static str,
    /// Number of cases.
    pub cases: usize,
    /// Number of failed results.
    pub failures: usize,
    /// Number of results that are wrong and listed as known.
    pub known: usize,
    /// Maximum error as a fraction of what is allowed.
    #[serde(serialize_with = "finite")]
    pub worst: f64,
    /// Maximum error in ulp.
    #[serde(serialize_with = "finite")]
    pub ulps: f64,
    /// Id of the case with the maximum error, or the first one if there is no error.
    pub worst_case: String,
    /// The device with this error.
    pub worst_device: String,
    /// The command that runs this case on this device again.
    pub rerun: String,
}

impl Report {
    /// Assembles the report of a run.
    pub fn new(
        seed: u64,
        seconds: f64,
        devices: Vec<DeviceReport>,
        cases: Vec<CaseReport>,
        origin: &str,
    ) -> Report {
        let mut totals = Totals { cases: cases.len(), ..Totals::default() };
        for result in cases.iter().flat_map(|case| &case.results) {
            totals.results += 1;
            totals.mismatches += usize::from(result.status == Status::Mismatch);
            totals.errors += usize::from(result.status == Status::Error);
            totals.known += usize::from(result.status == Status::Known);
        }
        let table = rows(&cases, seed, origin);
        Report {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            date: now(),
            seed,
            seconds,
            totals,
            devices,
            records: Vec::new(),
            differences: Vec::new(),
            table,
            cases,
        }
    }

    /// The operations of the table, in its order.
    pub fn operations(&self) -> Vec<&'static str> {
        let mut operations = Vec::new();
        for row in &self.table {
            if !operations.contains(&row.operation) {
                operations.push(row.operation);
            }
        }
        operations
    }

    /// The failed results with their cases. Known differences are not included.
    pub fn failures(&self) -> impl Iterator<Item = (&CaseReport, &ResultReport)> {
        let results =
            self.cases.iter().flat_map(|case| case.results.iter().map(move |result| (case, result)));
        results.filter(|(_, result)| result.status.is_failure())
    }

    /// Writes the report as JSON, atomically through a temporary file.
    ///
    /// # Errors
    /// The file system's error.
    pub fn write_json(&self, path: &Path) -> io::Result<()> {
        write(path, |file| Ok(serde_json::to_writer(file, self)?))
    }
}

/// The command that runs one case on one device again. `origin` is the run's further options, such as " --weights
/// FILE".
pub fn rerun(device: &str, id: &str, seed: u64, origin: &str) -> String {
    let program = crate::program::command();
    format!("{program} --device {} --filter {} --seed {seed}{origin}", word(device), quote(id))
}

/// A device's name for a shell: quoted if it is none of ours, since a record may come from anybody.
fn word(device: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ":,_-.".contains(c);
    if device.chars().all(is_plain) { device.to_owned() } else { quote(device) }
}

/// Quotes a word for a shell.
pub(crate) fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

pub(crate) fn rows(cases: &[CaseReport], seed: u64, origin: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut indices = BTreeMap::new();
    for case in cases {
        for (number, result) in case.results.iter().enumerate() {
            let index = *indices.entry((case.operation, case.dtype)).or_insert_with(|| {
                rows.push(Row {
                    operation: case.operation,
                    dtype: case.dtype,
                    cases: 0,
                    failures: 0,
                    known: 0,
                    worst: -1.0,
                    ulps: 0.0,
                    worst_case: String::new(),
                    worst_device: String::new(),
                    rerun: String::new(),
                });
                rows.len() - 1
            });
            let row = &mut rows[index];
            row.cases += usize::from(number == 0);
            row.failures += usize::from(result.status.is_failure());
            row.known += usize::from(result.status == Status::Known);
            row.ulps = row.ulps.max(result.ulps);
            if result.worst > row.worst {
                row.worst = result.worst;
                row.worst_case.clone_from(&case.id);
                row.worst_device.clone_from(&result.device);
                row.rerun = rerun(&result.device, &case.id, seed, origin);
            }
        }
    }
    rows
}

/// Writes a file as [`file::write`](tensor_core::file::write) does, and makes its folder.
pub(crate) fn write(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let failed = |source| tensor_core::Error::new("parity", ErrorKind::Io { path: path.to_owned(), source });
    let written = tensor_core::file::write(path, "parity", |put| content(&mut Put(put)).map_err(failed));
    // The caller names the path.
    written.map_err(|error| match error.kind() {
        ErrorKind::Io { source, .. } => io::Error::new(source.kind(), source.to_string()),
        _ => io::Error::other(error),
    })
}

/// A function that takes bytes, as a writer.
struct Put<'a>(&'a mut dyn FnMut(&[u8]) -> tensor_core::Result<()>);

impl Write for Put<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.0)(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Non-finite numbers become null, because JSON cannot represent them.
pub(crate) fn finite<S: serde::Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if x.is_finite() { serializer.serialize_some(x) } else { serializer.serialize_none() }
}

#[cfg(test)]
mod tests {
    use super::{rerun, write};

    #[cfg(unix)]
    #[test]
    fn links_stay_and_devices_are_written_to() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        symlink(&file, &link).expect("a link");
        for text in ["old", "new"] {
            write(&link, |out| out.write_all(text.as_bytes())).expect("it is written");
            assert_eq!(std::fs::read_to_string(&file).expect("a file"), text);
            assert!(link.is_symlink());
        }
        let null = std::path::Path::new("/dev/null");
        write(null, |out| out.write_all(b"nothing")).expect("it takes all");
        assert!(null.metadata().expect("it is there").file_type().is_char_device());
        let told = write(&file.join("below"), |_| Ok(())).expect_err("a file is no folder");
        assert_eq!(told.kind(), std::io::ErrorKind::AlreadyExists);
        let told = write(&file, |_| Err(std::io::Error::other("no more"))).expect_err("the content failed");
        assert_eq!(
            (told.to_string(), std::fs::read_to_string(&file).expect("a file")),
            ("no more".into(), "new".into())
        );
    }

    #[test]
    fn a_device_of_a_foreign_record_is_one_word_of_the_command() {
        let own = rerun("host:0:kernels", "neg/f32", 7, "");
        assert!(own.contains(" --device host:0:kernels --filter 'neg/f32'"), "{own}");
        let foreign = rerun("nvidia:0;ls $(id)", "neg/f32", 7, "");
        assert!(foreign.contains(" --device 'nvidia:0;ls $(id)' --filter "), "{foreign}");
    }
}
