//! Running cases: inputs and references once, devices side by side, judging in parallel.

use std::time::Instant;

use rayon::prelude::*;
use reference::{Array, Judge, Outcome};

use crate::case::Case;
use crate::devices::NamedDevice;
use crate::evaluate;
use crate::execute::{self, Output};
use crate::judge;
use crate::report::{CaseReport, DeviceReport, Report, ResultReport, Status};

/// Input elements that are in memory at one time, unless a single case has more.
const BATCH_ELEMENTS: usize = 1 << 21;

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
    let start = Instant::now();
    let mut seconds = vec![0.0; devices.len()];
    let mut reports = Vec::with_capacity(cases.len());
    for batch in batches(cases) {
        let prepared: Vec<Prepared<'_>> = batch.par_iter().map(|case| prepare(case, seed)).collect();
        let outputs = on_devices(&prepared, devices, &mut seconds);
        reports.par_extend(
            prepared.par_iter().zip(outputs).map(|(prepared, outputs)| judged(prepared, outputs, devices)),
        );
        batch.iter().for_each(|_| step());
    }
    let devices = devices
        .iter()
        .zip(seconds)
        .map(|(device, seconds)| device.report(seconds))
        .collect::<Vec<DeviceReport>>();
    Report::new(seed, start.elapsed().as_secs_f64(), devices, reports, "")
}

/// Consecutive cases whose inputs fit in memory together.
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

type DeviceResult = Result<Output, String>;

/// The results of a batch, by case, then by device. Each device works through the batch on a thread of its own.
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

fn judged(prepared: &Prepared<'_>, outputs: Vec<DeviceResult>, devices: &[NamedDevice]) -> CaseReport {
    let hash = prepared.case.hash(&prepared.inputs);
    let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
    let arrays =
        prepared.arrays.as_ref().map_err(String::clone).map(|arrays| arrays.iter().collect::<Vec<_>>());
    match arrays {
        Ok(arrays) => case_report(prepared.case, hash, &arrays, outputs, &names),
        Err(error) => hopeless(prepared.case, hash, &names, &error),
    }
}

/// Judges what the devices made of a case whose operands are `arrays`.
pub(crate) fn case_report(
    case: &Case,
    hash: u128,
    arrays: &[&Array],
    outputs: Vec<DeviceResult>,
    devices: &[&str],
) -> CaseReport {
    let outcome = match evaluate::outcome(case, arrays) {
        Ok(outcome) => outcome,
        Err(error) => return hopeless(case, hash, devices, &format!("the reference: {error}")),
    };
    let outputs: Vec<DeviceResult> =
        outputs.into_iter().map(|output| output.and_then(|output| well_formed(&outcome, output))).collect();
    let good: Vec<&[u8]> = outputs.iter().flatten().map(|output| output.bytes.as_slice()).collect();
    let rule = judge::rule(&outcome, case.exact);
    let mut verdicts = judge::judge(&outcome, rule, &good).into_iter();
    let results = outputs.iter().zip(devices).map(|(output, device)| match output {
        Ok(_) => ResultReport::judged(device, verdicts.next().expect("one verdict per result")),
        Err(error) => {
            let status = if error.starts_with(MALFORMED) { Status::Mismatch } else { Status::Error };
            ResultReport::failed(device, status, error.clone())
        }
    });
    let results = results.collect();
    CaseReport { rule: describe(rule), elements: outcome.len(), results, ..blank(case, hash) }
}

/// How the text begins when a result has not the right form.
const MALFORMED: &str = "the result is ";

fn well_formed(outcome: &Outcome<'_>, output: Output) -> DeviceResult {
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
        results: Vec::new(),
    }
}

/// A case that the reference has no answer for fails everywhere.
fn hopeless(case: &Case, hash: u128, devices: &[&str], error: &str) -> CaseReport {
    let failed = |device: &&str| ResultReport::failed(device, Status::Error, error.to_string());
    CaseReport { results: devices.iter().map(failed).collect(), ..blank(case, hash) }
}

/// A rule in words.
fn describe(rule: Judge) -> String {
    match rule {
        Judge::Exact => "equal bits".into(),
        Judge::Within { ulps, t: 0.0 } => format!("within {ulps} ulp"),
        Judge::Within { ulps, t } => {
            format!("within {ulps} ulp + {t:.2e} of the sum of the terms' magnitudes")
        }
    }
}
