//! Results of exported cases (see [`crate::export`]) computed by another program, such as
//! `benches/witness/torch_witness.py`.
//!
//! They are a safetensors file with one tensor per case, named by the case's hash, and metadata in `__metadata__`:
//! - `format`: [`FORMAT`]; `seed` and `filter`: those of the export, from which the cases are generated again.
//! - `not_computed`: a JSON object from hashes to reasons, for cases whose operation the program does not have.
//! - `failed`: likewise, for cases that it should have computed.
//! - `device`: the platform, such as "cuda"; and any other facts, such as versions.
//!
//! Every element of every result is judged against the reference, by the same rule as a device's. It becomes an entry
//! of a [`Record`], like a device's result.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use reference::Judge;
use tensor_core::{Device, safetensors};

use crate::case::Case;
use crate::comparison::Manner;
use crate::execute::{Output, known};
use crate::record::{Header, NamedRecord, Record, digest, entry};
use crate::report::{CaseReport, DeviceReport, Report};
use crate::run::{self, Finished};
use crate::{Error, evaluate, filter, judge, registry};

/// The format version of the file, which changes whenever a change could break a reader.
pub const FORMAT: &str = "parity-results/1";

/// An open file of results.
#[derive(Debug)]
pub struct Results {
    path: PathBuf,
    name: String,
    file: safetensors::File,
    seed: u64,
    filter: String,
    not_computed: BTreeMap<String, String>,
    failed: BTreeMap<String, String>,
}

/// Judged results.
#[derive(Debug)]
pub struct Judged {
    /// The results as a record, with an entry for each case that was computed.
    pub record: NamedRecord,
    /// Their comparison with the reference. Missing and failed results are errors in it.
    pub report: Report,
    /// The errors in a case's elements, by its id. Only cases with wrong elements are included.
    pub wrong: BTreeMap<String, Wrong>,
    /// Ids of the cases whose operation the program does not have, by its reason.
    pub not_computed: BTreeMap<String, Vec<String>>,
    /// Names of tensors that belong to no case: results for other inputs.
    pub stale: BTreeSet<String>,
}

/// The errors in a result of the right form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The kinds of difference of the wrong elements; at least one.
    pub manners: BTreeSet<Manner>,
    /// The digest of the right result, if its bits are determined: see [`crate::record::digest`].
    pub right: Option<u128>,
}

impl Results {
    /// Whether a path has the extension of such a file.
    pub fn named(path: &Path) -> bool {
        path.extension().is_some_and(|ending| ending == "safetensors")
    }

    /// Opens a file.
    ///
    /// # Errors
    /// [`Error::Results`] if the file cannot be read, is damaged, or lacks the metadata of results.
    pub fn open(path: &Path) -> Result<Results, Error> {
        let wrong = |what: String| Error::Results { path: path.to_path_buf(), what };
        let file = safetensors::File::open(path).map_err(|error| wrong(error.to_string()))?;
        let field = |name: &str| {
            file.metadata().get(name).cloned().ok_or_else(|| wrong(format!("its metadata has no {name:?}")))
        };
        let format = field("format")?;
        if format != FORMAT {
            return Err(wrong(format!("its format is {format:?}, not {FORMAT:?}")));
        }
        let seed = field("seed")?;
        let seed = seed.parse().map_err(|_| wrong(format!("its seed {seed:?} is no number")))?;
        let reasons = |name: &str| {
            let text = field(name)?;
            serde_json::from_str(&text)
                .map_err(|error| wrong(format!("its {name:?} is not a JSON object of reasons: {error}")))
        };
        let (filter, not_computed, failed) = (field("filter")?, reasons("not_computed")?, reasons("failed")?);
        let name = format!("pytorch-{}", field("device")?);
        Ok(Results { path: path.to_path_buf(), name, file, seed, filter, not_computed, failed })
    }

    /// What the program ran on: "cpu", "cuda".
    pub fn platform(&self) -> &str {
        self.file.metadata().get("device").map_or("", String::as_str)
    }

    /// The cases that were exported.
    ///
    /// # Errors
    /// [`Error::NoCase`] if the export's filter no longer matches any case.
    pub fn cases(&self) -> Result<Vec<Case>, Error> {
        self.cases_among(registry::all())
    }

    /// As [`Results::cases`], if they were exported from these cases and not from the registry.
    ///
    /// # Errors
    /// As [`Results::cases`].
    pub fn cases_among(&self, all: Vec<Case>) -> Result<Vec<Case>, Error> {
        let cases = filter::select(all, &self.filter);
        if cases.is_empty() { Err(Error::NoCase { filter: self.filter.clone() }) } else { Ok(cases) }
    }

    /// Generates the cases' inputs again and judges every result. `step` is called after each case.
    ///
    /// # Errors
    /// [`Error::Results`] if no tensor belongs to a case, as after a change of the registry.
    pub fn judge(&self, cases: &[Case], step: &mut dyn FnMut()) -> Result<Judged, Error> {
        let start = Instant::now();
        let all = run::each_case(cases, &[], self.seed, &mut [], step, |finished| {
            let hash = format!("{:032x}", finished.hash);
            let reason = self.not_computed.get(&hash).cloned();
            let finished = Finished { outputs: vec![self.output(&hash)], ..finished };
            (hash, reason, entry(&finished), self.report(&finished), wrong(&finished))
        });
        let mut not_computed: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let (mut entries, mut reports, mut wrong) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut stale: BTreeSet<String> = self.file.names().map(String::from).collect();
        for (hash, reason, entry, report, its_wrong) in all {
            stale.remove(&hash);
            if let Some(reason) = reason {
                not_computed.entry(reason).or_default().push(entry.id);
                continue;
            }
            if let Some(its_wrong) = its_wrong {
                wrong.insert(entry.id.clone(), its_wrong);
            }
            entries.push(entry);
            reports.push(report);
        }
        if stale.len() == self.file.len() {
            let what = "none of its tensors is the result of a case: export the cases again".to_string();
            return Err(Error::Results { path: self.path.clone(), what });
        }
        let record = Record::new(self.header(), entries).expect("cases have distinct ids");
        let Header { device: name, description, facts, .. } = self.header();
        let device = DeviceReport { name, description, seconds: 0.0, facts };
        let report = Report::new(self.seed, start.elapsed().as_secs_f64(), vec![device], reports, "");
        let record = NamedRecord { name: self.name.clone(), record };
        Ok(Judged { record, report, wrong, not_computed, stale })
    }

    fn report(&self, finished: &Finished<'_>) -> CaseReport {
        let Finished { case, hash, arrays, outputs } = finished;
        match arrays {
            Ok(arrays) => {
                let arrays: Vec<_> = arrays.iter().collect();
                run::case_report(case, *hash, &arrays, outputs.clone(), &[&self.name], &[])
            }
            Err(error) => run::hopeless(case, *hash, &[&self.name], error),
        }
    }

    /// The result of the case with this hash.
    fn output(&self, hash: &str) -> Result<Output, String> {
        if let Some(reason) = self.failed.get(hash) {
            return Err(format!("{} failed: {reason}", self.name));
        }
        if self.file.info(hash).is_none() {
            return Err(format!("there is no result in {}", self.path.display()));
        }
        let tensor = self.file.load(hash, &Device::Cpu).map_err(|error| error.to_string())?;
        let bytes = tensor.to_bytes().map_err(|error| error.to_string())?;
        Ok(Output { dtype: known(tensor.dtype()), shape: tensor.dims().to_vec(), bytes })
    }

    fn header(&self) -> Header {
        let mut facts = self.file.metadata().clone();
        let date = facts.remove("date").unwrap_or_default();
        for shown in ["format", "seed", "filter", "not_computed", "failed", "device", "name"] {
            facts.remove(shown);
        }
        Header {
            device: self.name.clone(),
            description: self.description(),
            facts,
            seed: self.seed,
            date,
            version: env!("CARGO_PKG_VERSION").to_string(),
        }
    }

    fn description(&self) -> String {
        let fact = |name: &str| self.file.metadata().get(name).map_or("unknown", String::as_str);
        format!("PyTorch {} on {}", fact("torch"), fact("name"))
    }
}

impl Judged {
    /// The kinds of difference of a case's wrong elements; empty if none is wrong.
    pub(crate) fn manners(&self, id: &str) -> BTreeSet<Manner> {
        self.wrong.get(id).map(|wrong| wrong.manners.clone()).unwrap_or_default()
    }

    /// A record that represents the reference in comparisons with it.
    pub fn reference(&self) -> NamedRecord {
        let Header { seed, date, version, .. } = self.record.record.header().clone();
        let (device, description) = ("reference".to_string(), "the exact results, rounded".to_string());
        let header = Header { device, description, facts: BTreeMap::new(), seed, date, version };
        let record = Record::new(header, Vec::new()).expect("no cases have distinct ids");
        NamedRecord { name: "the reference".to_string(), record }
    }
}

/// The errors in the elements of a result; `None` if the result has another form and is wrong as a whole.
fn wrong(finished: &Finished<'_>) -> Option<Wrong> {
    let (Ok(arrays), Ok(output)) = (&finished.arrays, &finished.outputs[0]) else { return None };
    let arrays: Vec<_> = arrays.iter().collect();
    let outcome = evaluate::outcome(finished.case, &arrays).ok()?;
    let output = run::well_formed(&outcome, output.clone()).ok()?;
    let (dtype, rule) = (outcome.dtype(), judge::rule(&outcome, finished.case.exact));
    let manners = outcome.iter().enumerate().filter_map(|(index, expected)| {
        let got = dtype.read(&output.bytes, index).expect("as many bytes as elements");
        (!rule.accepts(dtype, &expected, got)).then(|| Manner::of(dtype, expected.bits, got))
    });
    let manners: BTreeSet<Manner> = manners.collect();
    if manners.is_empty() {
        return None;
    }
    let right = (rule == Judge::Exact).then(|| {
        let mut bytes = Vec::with_capacity(output.bytes.len());
        outcome.iter().for_each(|expected| dtype.write(expected.bits, &mut bytes));
        digest(dtype, &bytes)
    });
    Some(Wrong { manners, right })
}
