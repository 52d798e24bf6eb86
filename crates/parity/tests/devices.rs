//! Cases on all devices of this machine, and the judge's own trial.

#[path = "common/chosen.rs"]
mod chosen;

use chosen::{benches, chosen};
use parity::report::Status;
use parity::{
    Against, NamedDevice, devices, filter, record, registry, run_against, run_cases, sabotage, table,
};

fn all_devices() -> Vec<NamedDevice> {
    devices::open(&[]).expect("the devices of this machine open")
}

#[test]
fn cases_pass_on_every_device() {
    let (cases, devices) = (chosen(), all_devices());
    let mut steps = 0;
    let records = record::embedded().expect("the records that ship are whole");
    let against = Against { records: &records, whole: false, origin: "" };
    let report = run_against(&cases, &devices, 7, against, &mut || steps += 1);
    assert_eq!(report.totals.failures(), 0, "{}", table::render(&report, ""));
    assert_eq!((steps, report.totals.cases), (cases.len(), cases.len()));
    assert_eq!(report.totals.results, cases.len() * devices.len());
    // Cases come back in their order, each with a result from each device.
    for (case, found) in cases.iter().zip(&report.cases) {
        assert_eq!(case.id(), found.id);
        assert!(found.results.iter().zip(&devices).all(|(result, device)| result.device == device.name));
    }
}

#[test]
fn every_planted_error_is_caught() {
    let cases = benches();
    let found = sabotage::run(&cases, &[devices::cpu()], 7, &mut || ());
    assert!(found.spoiled.is_empty(), "{:?}", found.spoiled);
    let missed: Vec<_> = found.plants.iter().filter(|plant| !plant.caught).collect();
    assert!(missed.is_empty(), "{missed:?}");
    assert!(found.is_complete());
    // Something was planted in every operation, and every kind of fault somewhere.
    for case in registry::all() {
        assert!(
            found.plants.iter().any(|plant| plant.operation == case.op.name()),
            "nothing planted in {}",
            case.op.name()
        );
    }
    assert_eq!(found.kinds().len(), 12, "{:?}", found.kinds());
}

#[test]
fn the_same_seed_gives_the_same_report_and_another_seed_other_inputs() {
    let cases = filter::select(registry::all(), "exp/f32/*");
    let run = |seed| run_cases(&cases, &[devices::cpu()], seed, &mut || ());
    let (first, again, other) = (run(7), run(7), run(8));
    let hashes =
        |report: &parity::Report| report.cases.iter().map(|case| case.hash.clone()).collect::<Vec<_>>();
    assert_eq!(hashes(&first), hashes(&again));
    assert_ne!(hashes(&first), hashes(&other));
    let results = |report: &parity::Report| {
        report
            .cases
            .iter()
            .map(|case| (case.results[0].worst.to_bits(), case.results[0].sample.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(results(&first), results(&again));
}

#[test]
fn a_device_error_fails_its_case_and_no_other() {
    // A matrix product of integers does not exist; the reference has no answer, and the run goes on.
    let mut cases = filter::select(registry::all(), "matmul/f32/contiguous/matrix/");
    let mut broken = cases[0].clone();
    broken.operands.iter_mut().for_each(|operand| operand.dtype = reference::DType::I32);
    cases.insert(0, broken);
    let report = run_cases(&cases, &[devices::cpu()], 7, &mut || ());
    assert_eq!((report.totals.errors, report.totals.mismatches), (1, 0));
    let (case, result) = report.failures().next().expect("one failure");
    assert_eq!((case.dtypes.as_str(), result.status), ("i32", Status::Error));
    let text = table::render(&report, "");
    assert!(
        text.contains("FAIL matmul/i32/contiguous/matrix/[37,65]x[65,33] on cpu: the reference: matmul"),
        "{text}"
    );
    assert!(
        text.contains("cargo xtask parity --device cpu --filter 'matmul/i32/contiguous/matrix/"),
        "{text}"
    );
}
