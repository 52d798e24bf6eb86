//! Which of a run's cases a record covers.

use std::collections::HashSet;

use reference::Judge;
use serde::Serialize;

use super::{Entry, Found, NamedRecord, Record};
use crate::case::Case;
use crate::judge;
use crate::registry;
use crate::report::CaseReport;

/// What a record has for a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Coverage {
    /// A result for the same inputs, which is compared.
    Covered,
    /// A result for other inputs or parameters, or under another rule, which is not compared.
    Stale,
    /// Nothing.
    Missing,
    /// The recorded device's error.
    Error,
}

/// What a record has for a case, with the entry if it can be compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match<'a> {
    /// The coverage.
    pub coverage: Coverage,
    /// The entry; `Some` if and only if the case is covered.
    pub entry: Option<&'a Entry>,
}

/// A record and its role in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordReport {
    /// The record's name: "cuda-h200".
    pub name: String,
    /// The name of the device that it was made on.
    pub device: String,
    /// A description of that device.
    pub description: String,
    /// The day it was made.
    pub date: String,
    /// The seed of its inputs. A record with another seed than the run is not compared, and all counts are 0.
    pub seed: u64,
    /// Whether the seeds are equal, so that it was compared.
    pub compared: bool,
    /// Number of the run's cases with a result in the record.
    pub covered: usize,
    /// Number of cases that it has for other inputs or parameters or under another rule. In a run of all cases, also
    /// its entries for cases that no longer exist.
    pub stale: usize,
    /// Number of cases that it does not have.
    pub missing: usize,
    /// Number of cases for which its device returned an error.
    pub errors: usize,
    /// Number of results of this run, over all devices, that contradict the record.
    pub differ: usize,
}

impl Record {
    /// What the record has for a case judged by `judge`.
    pub fn find(&self, hash: u128, id: &str, judge: Judge) -> Match<'_> {
        let nothing = |coverage| Match { coverage, entry: None };
        let Some(entry) = self.get(hash, id) else {
            return nothing(match self.by_id(id) {
                Some(_) => Coverage::Stale,
                None => Coverage::Missing,
            });
        };
        match (&entry.found, judge) {
            (Found::Error(_), _) => nothing(Coverage::Error),
            _ if entry.rule != judge::describe(judge) => nothing(Coverage::Stale),
            (Found::Exact { .. }, Judge::Exact) | (Found::Sampled { .. }, Judge::Within { .. }) => {
                Match { coverage: Coverage::Covered, entry: Some(entry) }
            }
            _ => nothing(Coverage::Stale),
        }
    }
}

impl RecordReport {
    /// Counts the cases of a run. `index` is the record's index in each case; `None` if it was not compared. `whole` says
    /// that these are all cases.
    pub(crate) fn count(
        named: &NamedRecord,
        index: Option<usize>,
        cases: &[CaseReport],
        whole: bool,
    ) -> RecordReport {
        let header = named.record.header();
        let mut report = RecordReport {
            name: named.name.clone(),
            device: header.device.clone(),
            description: header.description.clone(),
            date: header.date.clone(),
            seed: header.seed,
            compared: index.is_some(),
            covered: 0,
            stale: 0,
            missing: 0,
            errors: 0,
            differ: 0,
        };
        let Some(index) = index else { return report };
        for case in cases {
            match case.records.get(index) {
                Some(Coverage::Covered) => report.covered += 1,
                Some(Coverage::Stale) => report.stale += 1,
                Some(Coverage::Error) => report.errors += 1,
                Some(Coverage::Missing) | None => report.missing += 1,
            }
            report.differ +=
                case.results.iter().filter(|result| result.differs_from.contains(&named.name)).count();
        }
        if whole {
            // A run of all cases except the long ones counts as whole.
            let long: Vec<String> = registry::long().iter().map(Case::id).collect();
            let ids: HashSet<&str> =
                cases.iter().map(|case| &case.id).chain(&long).map(String::as_str).collect();
            let hashes: HashSet<&str> = cases.iter().map(|case| case.hash.as_str()).collect();
            let unknown = |entry: &&Entry| {
                !ids.contains(entry.id.as_str()) && !hashes.contains(format!("{:032x}", entry.hash).as_str())
            };
            report.stale += named.record.entries().iter().filter(unknown).count();
        }
        report
    }
}

impl std::fmt::Display for RecordReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let RecordReport { name, seed, covered, stale, missing, errors, differ, .. } = self;
        if !self.compared {
            return write!(f, "record {name}: made with seed {seed}, not compared");
        }
        write!(
            f,
            "record {name}: {covered} cases covered, {stale} stale (the case's inputs, parameters or rule changed), {missing} missing, "
        )?;
        if *errors > 0 {
            write!(f, "{errors} errors, ")?;
        }
        write!(f, "{differ} differ")
    }
}
