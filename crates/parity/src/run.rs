//! Running cases: inputs and references are computed once, devices run in parallel, and judging is parallel too.

use std::time::Instant;

use rayon::prelude::*;
use reference::{Array, Outcome};

use crate::case::Case;
use crate::devices::NamedDevice;
use crate::evaluate;
use crate::execute::{self, Output};
use crate::judge;
use crate::record::{self, Agreement, Entry, Match, NamedRecord, RecordReport};
use crate::report::{CaseReport, DeviceReport, Report, ResultReport, Status};
use crate::worst;

/// Maximum number of input elements in memory at a time, unless a single case has more.
const BATCH_ELEMENTS: usize = 1 << 21;

/// The records that a run's results are compared with, in addition to the reference.
#[derive(Debug, Clone, Copy, Default)]
pub struct Against<'a> {
    /// The records.
    pub records: &'a [NamedRecord],
    /// Whether the run has all cases, so that a record's entry for any other case is stale.
    pub whole: bool,
    /// The options that a rerun needs for the records, such as " --against FILE".
    pub origin: &'a str,
}

/// A case with its inputs.
pub(crate) struct Prepared<'a> {
    pub(crate) case: &'a Case,
    pub(crate) inputs: Vec<Vec<u8>>,
    pub(crate) arrays: Result<Vec<Array>, String>,
}

/// Runs every case on every device, with inputs from `seed`. `step` is called after each case.
///
/// ```
/// let cases = parity::filter::select(parity::registry::all(), "neg/f32/transposed");
/// let devices = [parity::devices::cpu()];
/// let report = parity::run_cases(&cases, &devices, 7, &mut || ());
/// assert_eq!((report.totals.results, report.totals.failures()), (1, 0));
/// ```
pub fn run_cases(cases: &[Case], devices: &[NamedDevice], seed: u64, step: &mut dyn FnMut()) -> Report {
    run_against(cases, devices, seed, Against::default(), step)
}

/// As [`run_cases`], and compares every result with records. A result that differs from a record is a mismatch.
pub fn run_against(
    cases: &[Case],
    devices: &[NamedDevice],
    seed: u64,
    against: Against<'_>,
    step: &mut dyn FnMut(),
) -> Report {
    let start = Instant::now();
    let mut seconds = vec![0.0; devices.len()];
    let usable = |named: &&NamedRecord| named.record.header().seed == seed;
    let records: Vec<&NamedRecord> = against.records.iter().filter(usable).collect();
    let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
    let reports =
        each_case(cases, devices, seed, &mut seconds, step, |finished| judged(finished, &names, &records));
    let indices = against.records.iter().scan(0, |next, named| {
        let index = usable(&named).then_some(*next);
        *next += usize::from(index.is_some());
        Some((named, index))
    });
    let counts = indices.map(|(named, index)| RecordReport::count(named, index, &reports, against.whole));
    let counts = counts.collect();
    let devices = devices
        .iter()
        .zip(seconds)
        .map(|(device, seconds)| device.report(seconds))
        .collect::<Vec<DeviceReport>>();
    let report = Report::new(seed, start.elapsed().as_secs_f64(), devices, reports, against.origin);
    Report { records: counts, ..report }
}

/// A case that ran: its inputs as the reference sees them, and each device's result.
pub(crate) struct Finished<'a> {
    pub(crate) case: &'a Case,
    pub(crate) hash: u128,
    pub(crate) arrays: Result<Vec<Array>, String>,
    pub(crate) outputs: Vec<DeviceResult>,
}

/// Runs every case on every device, and returns `finish` of each, in order. `finish` runs in parallel.
pub(crate) fn each_case<T: Send>(
    cases: &[Case],
    devices: &[NamedDevice],
    seed: u64,
    seconds: &mut [f64],
    step: &mut dyn FnMut(),
    finish: impl Fn(Finished<'_>) -> T + Sync,
) -> Vec<T> {
    let mut finished = Vec::with_capacity(cases.len());
    for batch in batches(cases) {
        let prepared: Vec<Prepared<'_>> = batch.par_iter().map(|case| prepare(case, seed)).collect();
        let outputs = on_devices(&prepared, devices, seconds);
        let one = |(prepared, outputs): (Prepared<'_>, _)| {
            let Prepared { case, inputs, arrays } = prepared;
            finish(Finished { case, hash: case.hash(&inputs), arrays, outputs })
        };
        finished.par_extend(prepared.into_par_iter().zip(outputs).map(one));
        batch.iter().for_each(|_| step());
    }
    finished
}

/// Splits the cases into consecutive batches whose inputs fit in memory together.
pub(crate) fn batches(cases: &[Case]) -> Vec<&[Case]> {
    let mut batches = Vec::new();
    let (mut start, mut elements) = (0, 0);
    for (index, case) in cases.iter().enumerate() {
        let size: usize = case.operands.iter().map(|operand| operand.stored.iter().product::<usize>()).sum();
        if index > start && elements + size > BATCH_ELEMENTS {
            batches.push(&cases[start..index]);
            (start, elements) = (index, 0);
        }
        elements += size;
    }
    batches.push(&cases[start..]);
    batches
}

pub(crate) fn prepare(case: &Case, seed: u64) -> Prepared<'_> {
    let inputs = case.inputs(seed);
    let arrays = evaluate::arrays(case, &inputs).map_err(|error| format!("the reference: {error}"));
    Prepared { case, inputs, arrays }
}

pub(crate) type DeviceResult = Result<Output, String>;

/// The results of a batch, by case, then by device. Each device processes the batch on a thread of its own.
fn on_devices(
    batch: &[Prepared<'_>],
    devices: &[NamedDevice],
    seconds: &mut [f64],
) -> Vec<Vec<DeviceResult>> {
    let run = |device: &NamedDevice, seconds: &mut f64| {
        let start = Instant::now();
        let results: Vec<_> = batch
            .iter()
            .map(|prepared| execute::run(prepared.case, &prepared.inputs, &device.device))
            .collect();
        *seconds += start.elapsed().as_secs_f64();
        results
    };
    let run = &run;
    let by_device: Vec<Vec<DeviceResult>> = std::thread::scope(|scope| {
        let threads: Vec<_> = devices
            .iter()
            .zip(seconds)
            .map(|(device, seconds)| scope.spawn(move || run(device, seconds)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("panics of devices are caught in execute"))
            .collect()
    });
    let mut by_device: Vec<_> = by_device.into_iter().map(Vec::into_iter).collect();
    batch
        .iter()
        .map(|_| by_device.iter_mut().map(|results| results.next().expect("one result per case")).collect())
        .collect()
}

/// Judges the results of a case on the devices with these names.
pub(crate) fn judged(finished: Finished<'_>, names: &[&str], records: &[&NamedRecord]) -> CaseReport {
    let Finished { case, hash, arrays, outputs } = finished;
    match arrays {
        Ok(arrays) => case_report(case, hash, &arrays.iter().collect::<Vec<_>>(), outputs, names, records),
        Err(error) => hopeless(case, hash, names, &error),
    }
}

/// Judges the results of a case with operands `arrays`.
pub(crate) fn case_report(
    case: &Case,
    hash: u128,
    arrays: &[&Array],
    outputs: Vec<DeviceResult>,
    devices: &[&str],
    records: &[&NamedRecord],
) -> CaseReport {
    let outcome = match evaluate::outcome(case, arrays) {
        Ok(outcome) => outcome,
        Err(error) => return hopeless(case, hash, devices, &format!("the reference: {error}")),
    };
    let outputs: Vec<DeviceResult> =
        outputs.into_iter().map(|output| output.and_then(|output| well_formed(&outcome, output))).collect();
    let good: Vec<&[u8]> = outputs.iter().flatten().map(|output| output.bytes.as_slice()).collect();
    let rule = judge::rule(&outcome, case.exact);
    let blank = blank(case, hash);
    let found: Vec<(&str, Match<'_>)> =
        records.iter().map(|named| (named.name.as_str(), named.record.find(hash, &blank.id, rule))).collect();
    let compared = found.iter().any(|(_, found)| found.entry.is_some());
    let mut verdicts = judge::judge(&outcome, rule, &good).into_iter();
    let results = outputs.iter().zip(devices).map(|(output, device)| match output {
        Ok(output) => {
            let verdict = verdicts.next().expect("one verdict per result");
            let mut result = ResultReport::judged(device, verdict);
            if let Some(sample) = &mut result.sample {
                sample.inputs = worst::inputs(case, arrays, outcome.shape(), sample.index);
            }
            if compared {
                let entry = Entry::of_result(hash, blank.id.clone(), &outcome, rule, &output.bytes);
                hold_against(&mut result, &entry, &found);
            }
            result
        }
        Err(error) => {
            let status = if error.starts_with(MALFORMED) { Status::Mismatch } else { Status::Error };
            ResultReport::failed(device, status, error.clone())
        }
    });
    let results = results.collect();
    let records = found.iter().map(|(_, found)| found.coverage).collect();
    CaseReport { rule: judge::describe(rule), elements: outcome.len(), results, records, ..blank }
}

/// Marks a result as a mismatch if a record has another one.
fn hold_against(result: &mut ResultReport, entry: &Entry, found: &[(&str, Match<'_>)]) {
    for (name, found) in found {
        let agreement = found.entry.map(|recorded| record::hold(entry, recorded));
        if let Some(Agreement::Differs(difference)) = agreement {
            let words = difference.describe(&result.device, name);
            result.differ_from(name, &format!("differs from record {name}: {words}"));
        }
    }
}

/// The start of the error for a result of the wrong form.
const MALFORMED: &str = "the result is ";

/// Checks that a result has the outcome's form. The error begins with [`MALFORMED`].
pub(crate) fn well_formed(outcome: &Outcome<'_>, output: Output) -> DeviceResult {
    let bytes = outcome.len() * outcome.dtype().size();
    if output.dtype != outcome.dtype() || output.shape != outcome.shape() {
        let (got, wanted) = ((output.dtype, &output.shape), (outcome.dtype(), outcome.shape()));
        return Err(format!("{MALFORMED}{} {:?}, expected {} {:?}", got.0, got.1, wanted.0, wanted.1));
    }
    if output.bytes.len() != bytes {
        return Err(format!("{MALFORMED}{} bytes long, expected {bytes}", output.bytes.len()));
    }
    Ok(output)
}

fn blank(case: &Case, hash: u128) -> CaseReport {
    CaseReport {
        id: case.id(),
        hash: format!("{hash:032x}"),
        operation: case.op.name(),
        dtypes: case.dtypes(),
        dtype: case.operands[0].dtype.name(),
        layout: case.layout.name(),
        shape: case.shape,
        rule: String::new(),
        elements: 0,
        operands: case.operands.iter().map(worst::describe).collect(),
        results: Vec::new(),
        records: Vec::new(),
    }
}

/// A report for a case that the reference cannot compute: it fails on all devices.
pub(crate) fn hopeless(case: &Case, hash: u128, devices: &[&str], error: &str) -> CaseReport {
    let failed = |device: &&str| ResultReport::failed(device, Status::Error, error.to_string());
    CaseReport { results: devices.iter().map(failed).collect(), ..blank(case, hash) }
}
