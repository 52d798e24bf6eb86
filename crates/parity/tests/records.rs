//! Records: made, held against runs, and spoiled in every way that must be seen.

#[path = "common/chosen.rs"]
mod chosen;

use std::collections::HashSet;

use chosen::{benches, chosen};
use parity::record::{
    Agreement, Allowed, Entry, Found, Kind, NamedRecord, Probe, Record, compare, record_cases,
};
use parity::report::Status;
use parity::{
    Against, Case, Report, devices, evaluate, execute, filter, judge, registry, run_against, table,
};
use reference::{DType, Judge, Value};

const SEED: u64 = 7;

fn named(entries: Vec<Entry>, like: &Record) -> NamedRecord {
    NamedRecord {
        name: "other".into(),
        record: Record::new(like.header().clone(), entries).expect("distinct ids"),
    }
}

fn cpu_record(cases: &[Case]) -> Record {
    let made = record_cases(cases, &devices::cpu(), SEED, &mut || ());
    assert_eq!(made.report.totals.failures(), 0, "{}", table::render(&made.report, ""));
    made.record
}

fn run(cases: &[Case], record: &NamedRecord, whole: bool) -> Report {
    let records = std::slice::from_ref(record);
    run_against(cases, &[devices::cpu()], SEED, Against { records, whole, origin: "" }, &mut || ())
}

#[test]
fn a_record_is_small_and_agrees_with_every_device() {
    let cases = chosen();
    let record = cpu_record(&cases);
    let text = record.to_text();
    assert!(text.len() < cases.len() * 280, "{} bytes for {} cases", text.len(), cases.len());
    assert_eq!(Record::parse(&text).as_ref(), Ok(&record));
    assert_eq!(record.entries().len(), cases.len());
    assert!(record.entries().iter().zip(&cases).all(|(entry, case)| entry.id == case.id()));
    // Both sorts of entries, and the samples of the long ones are not only their ends.
    let sampled =
        record.entries().iter().filter(|entry| matches!(entry.found, Found::Sampled { .. })).count();
    assert!(sampled > cases.len() / 30 && sampled < cases.len() / 2, "{sampled} of {}", cases.len());

    let records = [named(record.entries().to_vec(), &record)];
    let host: Vec<_> = devices::open(&["host:0".to_string(), "host:1".to_string()]).expect("always there");
    let report =
        run_against(&cases, &host, SEED, Against { records: &records, whole: true, origin: "" }, &mut || ());
    assert_eq!(report.totals.failures(), 0, "{}", table::render(&report, ""));
    let found = &report.records[0];
    assert_eq!(
        (found.covered, found.stale, found.missing, found.errors, found.differ),
        (cases.len(), 0, 0, 0, 0)
    );
    let footer = format!(
        "record other: {} cases covered, 0 stale (the case's inputs, parameters or rule changed), 0 missing, 0 differ.",
        cases.len()
    );
    assert!(table::render(&report, "").ends_with(&(footer + "\n")), "{}", table::render(&report, ""));
}

/// The entry of a case after `spoil` was at the bytes of the CPU's result; `None` if it found nothing to spoil.
fn spoiled(case: &Case, spoil: impl FnOnce(DType, &mut [u8]) -> bool) -> Option<Entry> {
    let inputs = case.inputs(SEED);
    let mut output =
        execute::run(case, &inputs, &devices::cpu().device).expect("the CPU has every operation");
    if !spoil(output.dtype, &mut output.bytes) {
        return None;
    }
    let arrays = evaluate::arrays(case, &inputs).expect("made for the case");
    let arrays: Vec<_> = arrays.iter().collect();
    let outcome = evaluate::outcome(case, &arrays).expect("the reference has every operation");
    let rule = judge::rule(&outcome, case.exact);
    Some(Entry::of_result(case.hash(&inputs), case.id(), &outcome, rule, &output.bytes))
}

fn elements(dtype: DType, bytes: &[u8]) -> Vec<u64> {
    (0..bytes.len() / dtype.size()).map(|index| dtype.read(bytes, index).expect("in range")).collect()
}

fn put(dtype: DType, bytes: &mut [u8], index: usize, bits: u64) {
    let size = dtype.size();
    bytes[index * size..][..size].copy_from_slice(&bits.to_le_bytes()[..size]);
}

/// The lowest bit of the middle element that is no NaN.
fn flip_a_bit(dtype: DType, bytes: &mut [u8]) -> bool {
    let all = elements(dtype, bytes);
    let middle =
        (all.len() / 2..all.len()).find(|index| !dtype.is_nan(all[*index]) && !dtype.is_nan(all[*index] ^ 1));
    middle.is_some_and(|index| {
        put(dtype, bytes, index, all[index] ^ 1);
        true
    })
}

/// A NaN in place of the middle number, or zero in place of a NaN.
fn plant_nan(dtype: DType, bytes: &mut [u8]) -> bool {
    let all = elements(dtype, bytes);
    if !dtype.is_float() || all.is_empty() {
        return false;
    }
    let index = all.len() / 2;
    put(dtype, bytes, index, if dtype.is_nan(all[index]) { 0 } else { dtype.encode(Value::Float(f64::NAN)) });
    true
}

/// With one sample changed by `change`, the first that it can be done to.
fn with_sample(entry: &Entry, change: impl Fn(DType, &Probe) -> Option<u64>) -> Option<Entry> {
    let mut entry = entry.clone();
    let Found::Sampled { form, probes } = &mut entry.found else { return None };
    let dtype = form.dtype;
    let (probe, bits) = probes.iter_mut().find_map(|probe| change(dtype, probe).map(|bits| (probe, bits)))?;
    probe.bits = bits;
    Some(entry)
}

/// Three times what one device may be off, in the direction that stays finite.
fn three_bounds_off(dtype: DType, probe: &Probe) -> Option<u64> {
    let Value::Float(x) = dtype.decode(probe.bits) else { return None };
    if !x.is_finite() || probe.allowed.tolerance == 0.0 {
        return None;
    }
    let moved = [x + 3.0 * probe.allowed.tolerance, x - 3.0 * probe.allowed.tolerance];
    let moved = moved.into_iter().map(|x| dtype.encode(Value::Float(x)));
    let far = |bits: &u64| matches!(dtype.decode(*bits), Value::Float(y) if y.is_finite() && (y - x).abs() > 2.5 * probe.allowed.tolerance);
    { moved }.find(far)
}

fn sample_nan(dtype: DType, probe: &Probe) -> Option<u64> {
    let number = !dtype.is_nan(probe.bits) && !probe.allowed.overflow;
    number.then(|| dtype.encode(Value::Float(f64::NAN)))
}

/// Runs with the spoiled entries on record, and demands that each of them, and nothing else, is a mismatch.
fn each_is_caught(fault: &str, cases: &[Case], record: &Record, spoiled: Vec<Entry>) {
    let planted: HashSet<String> = spoiled.iter().map(|entry| entry.id.clone()).collect();
    let good = record.entries().iter().filter(|entry| !planted.contains(&entry.id)).cloned();
    let report = run(cases, &named(good.chain(spoiled).collect(), record), true);
    let caught: HashSet<String> = report.failures().map(|(case, _)| case.id.clone()).collect();
    assert_eq!(caught, planted, "{fault}");
    assert_eq!((report.totals.mismatches, report.totals.errors), (planted.len(), 0), "{fault}");
    assert_eq!(
        (report.records[0].differ, report.records[0].covered),
        (planted.len(), cases.len()),
        "{fault}"
    );
    for (_, result) in report.failures() {
        assert_eq!((result.status, &result.differs_from[..]), (Status::Mismatch, &["other".to_string()][..]));
        assert!(
            result.error.as_ref().is_some_and(|why| why.starts_with("differs from record other: ")),
            "{result:?}"
        );
    }
}

#[test]
fn every_error_planted_in_a_record_is_caught() {
    let cases = benches();
    let record = cpu_record(&cases);
    let operations = |entries: &[Entry]| -> HashSet<String> {
        entries.iter().map(|entry| entry.operation().to_string()).collect()
    };
    let exact: Vec<Case> = cases
        .iter()
        .zip(record.entries())
        .filter(|(_, entry)| matches!(entry.found, Found::Exact { .. }))
        .map(|(case, _)| case.clone())
        .collect();

    let flipped: Vec<Entry> = exact.iter().filter_map(|case| spoiled(case, flip_a_bit)).collect();
    assert!(
        flipped.len() > exact.len() * 9 / 10 && operations(&flipped).len() > 30,
        "{} flipped",
        flipped.len()
    );
    each_is_caught("a bit flipped", &cases, &record, flipped);

    let nans: Vec<Entry> = exact.iter().filter_map(|case| spoiled(case, plant_nan)).collect();
    assert!(nans.len() > 100, "{} NaNs in exact cases", nans.len());
    each_is_caught("a NaN among exact bits", &cases, &record, nans);

    let sampled = |change: fn(DType, &Probe) -> Option<u64>| -> Vec<Entry> {
        record.entries().iter().filter_map(|entry| with_sample(entry, change)).collect()
    };
    let off = sampled(three_bounds_off);
    let within = operations(&off);
    assert!(
        off.len() > 50 && within.contains("exp") && within.contains("matmul") && within.contains("sum"),
        "{within:?}"
    );
    each_is_caught("a sample off by three bounds", &cases, &record, off);

    let nans = sampled(sample_nan);
    assert!(nans.len() > 50, "{} NaNs among samples", nans.len());
    each_is_caught("a NaN among samples", &cases, &record, nans);
}

#[test]
fn missing_stale_and_failed_entries_are_counted() {
    let cases = filter::select(registry::all(), "neg/f32/");
    let record = cpu_record(&cases);
    let without = |changed: &dyn Fn(&mut Vec<Entry>)| {
        let mut entries = record.entries().to_vec();
        changed(&mut entries);
        named(entries, &record)
    };
    let counts = |record: &NamedRecord, whole| {
        let report = run(&cases, record, whole);
        assert_eq!(report.totals.failures(), 0, "{}", table::render(&report, ""));
        let found = &report.records[0];
        (found.covered, found.stale, found.missing, found.errors)
    };
    let all = cases.len();
    assert_eq!(counts(&without(&|_| ()), true), (all, 0, 0, 0));
    assert_eq!(counts(&without(&|entries| drop(entries.remove(2))), true), (all - 1, 0, 1, 0));
    // Other inputs: the id is known, the hash is not.
    assert_eq!(counts(&without(&|entries| entries[2].hash ^= 1), true), (all - 1, 1, 0, 0));
    // A case that is gone: neither is known. A run of some cases cannot tell.
    let gone = without(&|entries| {
        entries[2].hash ^= 1;
        entries[2].id = "gone".into();
    });
    assert_eq!((counts(&gone, true), counts(&gone, false)), ((all - 1, 1, 1, 0), (all - 1, 0, 1, 0)));
    // A case that was renamed is found by its hash.
    assert_eq!(counts(&without(&|entries| entries[2].id = "renamed".into()), true), (all, 0, 0, 0));
    let failed = without(&|entries| entries[2].found = Found::Error("out of memory".into()));
    assert_eq!(counts(&failed, true), (all - 1, 0, 0, 1));
    // A rule that became another.
    let sampled = without(&|entries| {
        let Found::Exact { form, .. } = entries[2].found.clone() else { panic!("neg is exact") };
        entries[2].found = Found::Sampled { form, probes: Vec::new() };
    });
    assert_eq!(counts(&sampled, true), (all - 1, 1, 0, 0));
    // The same in other words: a record under another bound.
    assert_eq!(
        counts(&without(&|entries| entries[2].rule = "within 2 ulp".into()), true),
        (all - 1, 1, 0, 0)
    );
}

#[test]
fn a_record_does_not_say_how_far_a_run_may_be_off() {
    let cases = filter::select(registry::all(), "exp/f32/transposed");
    let record = cpu_record(&cases);
    let far: Vec<Entry> =
        record.entries().iter().filter_map(|entry| with_sample(entry, three_bounds_off)).collect();
    assert!(!far.is_empty() && far.len() == cases.len());
    for (tolerance, overflow) in [(f64::INFINITY, true), (1e30, true), (1e30, false)] {
        let mut generous = far.clone();
        for entry in &mut generous {
            let Found::Sampled { probes, .. } = &mut entry.found else { panic!("exp is not exact") };
            probes.iter_mut().for_each(|probe| probe.allowed = Allowed { tolerance, overflow });
            let agreement = compare(&record.entries()[0], entry);
            let Agreement::Differs(difference) = agreement else { panic!("{agreement:?}") };
            assert_eq!(difference.kind, Kind::Fault, "{difference:?}");
        }
        each_is_caught("a record that allows everything", &cases, &record, generous);
    }
    // Nor may it forbid: what a run allows itself holds for both.
    let mut strict = record.entries().to_vec();
    for entry in &mut strict {
        let Found::Sampled { probes, .. } = &mut entry.found else { panic!("exp is not exact") };
        probes.iter_mut().for_each(|probe| probe.allowed.tolerance = 0.0);
    }
    assert_eq!(run(&cases, &named(strict, &record), true).totals.failures(), 0);
}

#[test]
fn a_record_of_another_seed_is_not_compared() {
    let cases = filter::select(registry::all(), "neg/f32/");
    let other = record_cases(&cases, &devices::cpu(), 8, &mut || ()).record;
    let report = run(&cases, &named(other.entries().to_vec(), &other), true);
    assert!(!report.records[0].compared);
    assert_eq!((report.records[0].covered, report.records[0].stale), (0, 0));
    assert!(table::render(&report, "").ends_with("record other: made with seed 8, not compared.\n"));
}

#[test]
fn wrong_results_and_errors_are_recorded_as_they_are() {
    // A matrix product of integers does not exist; it is an entry all the same.
    let mut cases = filter::select(registry::all(), "matmul/f32/contiguous/matrix/");
    cases[0].operands.iter_mut().for_each(|operand| operand.dtype = DType::I32);
    let made = record_cases(&cases, &devices::cpu(), SEED, &mut || ());
    assert_eq!(made.report.totals.errors, 1);
    let Found::Error(error) = &made.record.entries()[0].found else { panic!("no error: {:?}", made.record) };
    assert!(error.starts_with("the reference: matmul"), "{error}");
    assert_eq!(Record::parse(&made.record.to_text()), Ok(made.record));
}

#[test]
fn digests_are_of_exact_cases_and_samples_of_the_others() {
    let cases = filter::select(registry::all(), "exp/f32/transposed");
    let record = cpu_record(&cases);
    let entry = &record.entries()[0];
    let Found::Sampled { form, probes } = &entry.found else { panic!("exp is not exact") };
    assert_eq!((form.dtype, probes.len(), probes[0].index), (DType::F32, 16, 0));
    assert_eq!(probes[15].index + 1, form.elements().unwrap());
    let inputs = cases[0].inputs(SEED);
    let arrays = evaluate::arrays(&cases[0], &inputs).unwrap();
    let outcome = evaluate::outcome(&cases[0], &[&arrays[0]]).unwrap();
    let rule = judge::rule(&outcome, false);
    assert!(matches!(rule, Judge::Within { .. }));
    for probe in probes {
        let expected = outcome.at(probe.index);
        assert!(rule.accepts(form.dtype, &expected, probe.bits));
        let tolerance = rule.tolerance(form.dtype, &expected);
        assert!(probe.allowed.tolerance >= tolerance && probe.allowed.tolerance <= tolerance * 1.002);
    }
    assert_eq!(compare(entry, entry), Agreement::Equal);
}
