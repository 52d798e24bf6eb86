//! Results of another program against the reference, as a comparison.

use std::collections::BTreeSet;

use super::{Comparison, Finding, Known, Pair};
use crate::Error;
use crate::judge::Sample;
use crate::record::{Difference, NamedRecord};
use crate::report::{ResultReport, Status};
use crate::witness::Judged;

impl<'a> Comparison<'a> {
    /// Holds results against the reference: every element of them, not samples. `reference` is [`Judged::reference`].
    ///
    /// # Errors
    /// [`Error::NothingInCommon`] if no case has a result.
    pub fn with_reference(
        judged: &'a Judged,
        reference: &'a NamedRecord,
        known: &'a [Known],
    ) -> Result<Comparison<'a>, Error> {
        let entries = judged.record.record.entries();
        let none = BTreeSet::new();
        let pairs = entries.iter().zip(&judged.report.cases).map(|(entry, report)| {
            let result = &report.results[0];
            let manners = judged.manners.get(&entry.id).unwrap_or(&none);
            let listed = || known.iter().position(|known| known.covers_only(&entry.id, manners));
            let finding = match (result.status, result.worst > 0.0) {
                (Status::Pass, false) => Finding::Equal,
                (Status::Pass, true) => Finding::Within(result.worst),
                _ => match listed() {
                    Some(number) => Finding::Known(difference(result), number),
                    None => Finding::Differs(difference(result)),
                },
            };
            Pair { entry, finding }
        });
        Comparison::of_pairs(&judged.record, reference, pairs.collect(), known)
    }
}

fn difference(result: &ResultReport) -> Difference {
    let (units, wrong) = (result.worst, result.wrong);
    match (&result.sample, &result.error) {
        (Some(Sample { index, got, expected }), _) => {
            let place = format!("element {index}");
            Difference { place, left: got.clone(), right: expected.clone(), units, wrong }
        }
        (None, error) => {
            let left = error.clone().unwrap_or_else(|| "none".to_string());
            let (place, right) = ("result".to_string(), "one".to_string());
            Difference { place, left, right, units: f64::INFINITY, wrong: 0 }
        }
    }
}
