//! Comparing a run with a device's known differences: [`Report::excuse`].

use std::fmt;

use serde::Serialize;

use crate::case::Case;
use crate::comparison::Known;
use crate::devices::NamedDevice;
use crate::report::{Report, Status, rows};

/// What became of an entry in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedReport {
    /// The entry's pattern of cases.
    pub case: String,
    /// Its reason.
    pub reason: String,
    /// Number of results that it explains, or for an entry with `left_out`, of its cases.
    pub results: usize,
    /// Whether its cases were not run.
    pub left_out: bool,
    /// Whether all cases ran on a device of the entry and it explains none, so that it must be removed.
    pub stale: bool,
}

impl fmt::Display for ListedReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ListedReport { case, reason, results, left_out, stale } = self;
        match (stale, left_out) {
            (true, false) => {
                write!(f, "STALE {case}: listed as a difference, and no case differs: take it out")
            }
            (true, true) => {
                write!(f, "STALE {case}: listed as left out, and there is no such case: take it out")
            }
            (false, false) => write!(f, "KNOWN {case}: {results} results: {reason}"),
            (false, true) => write!(f, "LEFT OUT {case}: {results} cases: {reason}"),
        }
    }
}

/// Removes the cases that the list leaves out on one of these devices. Also returns what became of the entries that do.
pub fn leave_out(
    cases: Vec<Case>,
    known: &[Known],
    devices: &[NamedDevice],
) -> (Vec<Case>, Vec<ListedReport>) {
    let targets: Vec<(String, String)> = devices.iter().map(platform_and_arch).collect();
    let about: Vec<&Known> = known
        .iter()
        .filter(|known| known.left_out && targets.iter().any(|target| is_on(known, target)))
        .collect();
    let mut counts = vec![0; about.len()];
    let mut kept = cases;
    kept.retain(|case| match about.iter().position(|known| known.covers(&case.id())) {
        Some(number) => {
            counts[number] += 1;
            false
        }
        None => true,
    });
    (
        kept,
        about
            .into_iter()
            .zip(counts)
            .map(|(known, cases)| ListedReport::new(known, cases, cases == 0))
            .collect(),
    )
}

impl ListedReport {
    fn new(known: &Known, results: usize, stale: bool) -> ListedReport {
        let Known { case, reason, left_out, .. } = known.clone();
        ListedReport { case, reason, results, left_out, stale }
    }
}

impl Report {
    /// Marks results with wrong elements as known if an entry of the list explains them; the first matching entry
    /// counts. Results that are missing, have another form, or are right but differ from a record are never excused.
    /// Entries about other devices are ignored. `whole` says that the run had every case, so that an entry without a
    /// result is stale. `origin` is as for [`Report::new`].
    pub fn excuse(&mut self, known: &[Known], devices: &[NamedDevice], whole: bool, origin: &str) {
        let targets: Vec<(String, String)> = devices.iter().map(platform_and_arch).collect();
        let mut counts = vec![0; known.len()];
        for case in &mut self.cases {
            for (result, target) in case.results.iter_mut().zip(&targets) {
                if result.status != Status::Mismatch || result.wrong == 0 {
                    continue;
                }
                let fits = |known: &Known| {
                    !known.left_out && is_on(known, target) && known.covers_only(&case.id, &result.manners)
                };
                if let Some(number) = known.iter().position(fits) {
                    counts[number] += 1;
                    result.status = Status::Known;
                    self.totals.mismatches -= 1;
                    self.totals.known += 1;
                }
            }
        }
        self.table = rows(&self.cases, self.seed, origin);
        let is_about = |known: &Known| !known.left_out && targets.iter().any(|target| is_on(known, target));
        let about = known.iter().zip(counts).filter(|(known, _)| is_about(known));
        let listed = about.map(|(known, results)| ListedReport::new(known, results, whole && results == 0));
        self.differences = listed.filter(|listed| listed.stale || listed.results > 0).collect();
    }
}

fn is_on(known: &Known, (platform, arch): &(String, String)) -> bool {
    known.is_on(&[(platform, arch)])
}

/// The platform and architecture of a device.
fn platform_and_arch(device: &NamedDevice) -> (String, String) {
    let facts = device.device.facts();
    let fact = |name: &str| facts.get(name).cloned().unwrap_or_default();
    (fact("platform"), fact("arch"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::comparison::Manner;
    use crate::{devices, filter, registry, run_cases};

    fn known(case: &str) -> Known {
        let (on, arch, only) = (Some("cpu".into()), None, None);
        Known { case: case.into(), on, arch, only, left_out: false, reason: "tried out".into() }
    }

    /// A run of three cases with a wrong element in the first and the second result missing.
    fn spoiled() -> Report {
        let cases = filter::select(registry::all(), "neg/f32/*/matrix/*");
        let mut report = run_cases(&cases[..3], &[devices::cpu()], 7, &mut || ());
        let wrong = &mut report.cases[0].results[0];
        (wrong.status, wrong.wrong, wrong.manners) =
            (Status::Mismatch, 1, BTreeSet::from([Manner::Vanished]));
        report.cases[1].results[0].status = Status::Error;
        (report.totals.mismatches, report.totals.errors) = (1, 1);
        report
    }

    #[test]
    fn wrong_elements_are_excused_and_missing_results_are_not() {
        let mut report = spoiled();
        report.excuse(&[known("neg/f32/*")], &[devices::cpu()], true, "");
        assert_eq!((report.totals.mismatches, report.totals.errors, report.totals.known), (0, 1, 1));
        assert_eq!((report.differences[0].results, report.differences[0].stale), (1, false));
        assert_eq!((report.table[0].known, report.table[0].failures), (1, 1));
        assert_eq!(report.failures().count(), 1);
    }

    #[test]
    fn an_entry_for_other_devices_or_kinds_does_not_apply() {
        let elsewhere = Known { on: Some("amd".into()), ..known("neg/f32/*") };
        let other = Known { only: Some(BTreeSet::from([Manner::Nan])), ..known("neg/f32/*") };
        for entry in [elsewhere, other] {
            let mut report = spoiled();
            report.excuse(&[entry], &[devices::cpu()], false, "");
            assert_eq!((report.totals.mismatches, report.totals.known), (1, 0));
        }
    }

    #[test]
    fn an_entry_that_explains_nothing_is_stale_in_a_whole_run() {
        for (whole, listed) in [(true, 1), (false, 0)] {
            let mut report = spoiled();
            let entries = [known("neg/f32/*"), known("exp/f32/*")];
            report.excuse(&entries, &[devices::cpu()], whole, "");
            let stale: Vec<_> = report.differences.iter().filter(|listed| listed.stale).collect();
            assert_eq!(stale.len(), listed);
            assert!(stale.iter().all(|entry| entry.to_string().starts_with("STALE exp/f32/*")));
        }
    }

    #[test]
    fn cases_are_left_out_where_the_list_says_so() {
        let cases = filter::select(registry::all(), "neg/f32/");
        let entries = [
            Known { left_out: true, ..known("neg/f32/transposed/*") },
            Known { left_out: true, on: Some("amd".into()), ..known("neg/*") },
            known("neg/f32/contiguous/*"),
        ];
        let (kept, listed) = leave_out(cases.clone(), &entries, &[devices::cpu()]);
        assert_eq!(listed.len(), 1);
        assert!(listed[0].results > 0 && !listed[0].stale);
        assert_eq!(kept.len() + listed[0].results, cases.len());
        assert!(kept.iter().all(|case| !case.id().starts_with("neg/f32/transposed/")));
        assert!(listed[0].to_string().starts_with("LEFT OUT neg/f32/transposed/*"));
        assert!(leave_out(Vec::new(), &entries, &[devices::cpu()]).1[0].stale);
    }
}
