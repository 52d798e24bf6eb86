//! Making a record: a device's results, which are also judged.

use std::time::Instant;

use reference::Array;

use super::{Entry, Header, Record};
use crate::Report;
use crate::case::Case;
use crate::devices::NamedDevice;
use crate::run::{self, Finished};
use crate::{evaluate, judge};

/// A record, and the judgement of its results.
#[derive(Debug, Clone)]
pub struct Made {
    /// One entry per case.
    pub record: Record,
    /// The same results, judged.
    pub report: Report,
}

/// Runs every case on the device, with inputs from `seed`. `step` is called after each case.
///
/// Wrong results and errors are recorded unchanged; the report counts them. The cases must have distinct ids, as those
/// of the registry have; panics otherwise.
pub fn record_cases(cases: &[Case], device: &NamedDevice, seed: u64, step: &mut dyn FnMut()) -> Made {
    let start = Instant::now();
    let mut seconds = [0.0];
    let devices = std::slice::from_ref(device);
    let both = run::each_case(cases, devices, seed, &mut seconds, step, |finished| {
        (entry(&finished), run::judged(finished, &[&device.name], &[]))
    });
    let (entries, reports) = both.into_iter().unzip();
    let record = Record::new(Header::of(device, seed), entries).expect("cases have distinct ids");
    let devices = vec![device.report(seconds[0])];
    Made { record, report: Report::new(seed, start.elapsed().as_secs_f64(), devices, reports, "") }
}

/// The entry of a case that ran on one device.
pub(crate) fn entry(finished: &Finished<'_>) -> Entry {
    let Finished { case, hash, arrays, outputs } = finished;
    let (hash, id) = (*hash, case.id());
    let arrays: Vec<&Array> = arrays.iter().flatten().collect();
    let outcome = match &finished.arrays {
        Ok(_) => evaluate::outcome(case, &arrays).map_err(|error| format!("the reference: {error}")),
        Err(error) => Err(error.clone()),
    };
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => return Entry::of_error(hash, id, String::new(), error),
    };
    let rule = judge::rule(&outcome, case.exact);
    match outputs[0].clone().and_then(|output| run::well_formed(&outcome, output)) {
        Ok(output) => Entry::of_result(hash, id, &outcome, rule, &output.bytes),
        Err(error) => Entry::of_error(hash, id, judge::describe(rule), error),
    }
}
