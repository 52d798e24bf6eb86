//! Comparing another program's results with the reference.

use std::collections::BTreeSet;

use super::{Comparison, Finding, Known, Manner, Pair};
use crate::Error;
use crate::judge::Sample;
use crate::record::{Difference, Kind, NamedRecord};
use crate::report::{ResultReport, Status};
use crate::witness::Judged;

impl<'a> Comparison<'a> {
    /// Compares results with the reference, in all elements instead of samples. `reference` is [`Judged::reference`]. A
    /// result that is missing or has another form is never a known difference.
    ///
    /// # Errors
    /// [`Error::NothingInCommon`] if no case has a result.
    pub fn with_reference(
        judged: &'a Judged,
        reference: &'a NamedRecord,
        known: &'a [Known],
    ) -> Result<Comparison<'a>, Error> {
        let entries = judged.record.record.entries();
        let pairs = entries.iter().zip(&judged.report.cases).map(|(entry, report)| {
            let result = &report.results[0];
            let listed = || {
                let wrong = judged.wrong.get(&entry.id)?;
                known.iter().position(|known| known.covers_only(&entry.id, &wrong.manners))
            };
            let finding = match (result.status, result.worst > 0.0) {
                (Status::Pass, false) => Finding::Equal,
                (Status::Pass, true) => Finding::Within(result.worst),
                (Status::Known | Status::Mismatch | Status::Error, _) => match listed() {
                    Some(number) => Finding::Known(difference(result, judged.manners(&entry.id)), number),
                    None => Finding::Differs(difference(result, judged.manners(&entry.id))),
                },
            };
            Pair { entry, finding }
        });
        Comparison::of_pairs(&judged.record, reference, pairs.collect(), known)
    }
}

fn difference(result: &ResultReport, manners: BTreeSet<Manner>) -> Difference {
    let (units, wrong) = (result.worst, result.wrong);
    match (&result.sample, &result.error) {
        (Some(Sample { index, got, expected, .. }), _) => {
            let part = format!("element {index}");
            let (left, right, kind) = (got.clone(), expected.clone(), Kind::Elements(manners));
            Difference { part, left, right, units, wrong, kind }
        }
        (None, error) => {
            let left = error.clone().unwrap_or_else(|| "none".to_string());
            let (part, right) = ("result".to_string(), "one".to_string());
            Difference { part, left, right, units: f64::INFINITY, wrong: 0, kind: Kind::Fault }
        }
    }
}
