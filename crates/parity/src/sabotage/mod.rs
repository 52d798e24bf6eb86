//! Planting errors in good results, to test that the judge catches them.
//!
//! For every operation and dtype, a good result of each device is modified by one fault after the other. If a fault
//! goes unnoticed, the same fault in a kernel would as well.

mod faults;

use std::collections::HashSet;

use rayon::prelude::*;
use reference::{Array, Judge, Outcome};

use crate::case::{Case, Layout};
use crate::devices::NamedDevice;
use crate::evaluate;
use crate::execute;
use crate::judge;
use faults::FAULTS;

/// One planted error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plant {
    /// Id of the case.
    pub case: String,
    /// The case's operation.
    pub operation: &'static str,
    /// The device whose result it was planted in.
    pub device: String,
    /// The planted fault.
    pub fault: &'static str,
    /// Whether the judge found the error.
    pub caught: bool,
}

/// The results of a sabotage run.
#[derive(Debug, Clone, Default)]
pub struct Sabotage {
    /// Every planted error.
    pub plants: Vec<Plant>,
    /// Cases in which nothing could be planted because the result was missing or already wrong, with the reason.
    pub spoiled: Vec<String>,
}

impl Sabotage {
    /// The number of errors caught.
    pub fn caught(&self) -> usize {
        self.plants.iter().filter(|plant| plant.caught).count()
    }

    /// Whether every error was caught, and at least one was planted.
    pub fn is_complete(&self) -> bool {
        !self.plants.is_empty() && self.caught() == self.plants.len() && self.spoiled.is_empty()
    }

    /// The faults that were never planted on a device, as "fault on device".
    pub fn never_planted(&self, devices: &[NamedDevice]) -> Vec<String> {
        let planted = |fault: &str, device: &str| {
            self.plants.iter().any(|plant| plant.fault == fault && plant.device == device)
        };
        let all =
            devices.iter().flat_map(|device| FAULTS.iter().map(move |fault| (fault.name, &device.name)));
        all.filter(|(fault, device)| !planted(fault, device)).map(|(f, d)| format!("{f} on {d}")).collect()
    }

    /// The kinds of faults, each with the number caught and the number planted.
    pub fn kinds(&self) -> Vec<(&'static str, usize, usize)> {
        let mut kinds: Vec<(&'static str, usize, usize)> = Vec::new();
        for plant in &self.plants {
            let index = kinds.iter().position(|kind| kind.0 == plant.fault).unwrap_or_else(|| {
                kinds.push((plant.fault, 0, 0));
                kinds.len() - 1
            });
            kinds[index].1 += usize::from(plant.caught);
            kinds[index].2 += 1;
        }
        kinds
    }
}

/// A good result to plant faults in.
struct Bench<'a> {
    case: &'a Case,
    inputs: &'a [Vec<u8>],
    arrays: &'a [&'a Array],
    outcome: &'a Outcome<'a>,
    rule: Judge,
    result: &'a [u8],
}

impl Bench<'_> {
    fn is_wrong(&self, result: &[u8]) -> bool {
        judge::judge(self.outcome, self.rule, &[result])[0].wrong > 0
    }
}

/// The cases that faults are planted in: small ones with all kinds of values, and those that reveal a particular fault.
/// An operation without such a case contributes its first contiguous case of each dtype.
pub fn benches(cases: &[Case]) -> Vec<Case> {
    let shows = |case: &Case| match case.shape {
        "matrix" | "short-row" => case.layout == Layout::Contiguous,
        "special-row" | "2^25-ones" | "whole-row" | "whole-first" | "whole-second" => true,
        _ => false,
    };
    let shown: HashSet<&str> = cases.iter().filter(|case| shows(case)).map(|case| case.op.name()).collect();
    let mut first = HashSet::new();
    let mut chosen = |case: &&Case| {
        let contiguous = case.layout == Layout::Contiguous && !shown.contains(case.op.name());
        shows(case) || contiguous && first.insert((case.op.name(), case.dtypes()))
    };
    cases.iter().filter(|case| chosen(case)).cloned().collect()
}

/// Plants every applicable fault in the results of `cases`. `step` is called after each case.
pub fn run(cases: &[Case], devices: &[NamedDevice], seed: u64, step: &mut dyn FnMut()) -> Sabotage {
    let mut sabotage = Sabotage::default();
    for batch in cases.chunks(64) {
        let found: Vec<Sabotage> = batch.par_iter().map(|case| sabotage_case(case, devices, seed)).collect();
        for Sabotage { plants, spoiled } in found {
            sabotage.plants.extend(plants);
            sabotage.spoiled.extend(spoiled);
        }
        batch.iter().for_each(|_| step());
    }
    sabotage
}

fn sabotage_case(case: &Case, devices: &[NamedDevice], seed: u64) -> Sabotage {
    let mut sabotage = Sabotage::default();
    let inputs = case.inputs(seed);
    let prepared = evaluate::arrays(case, &inputs);
    let arrays: Vec<&Array> = prepared.iter().flatten().collect();
    let outcome = match prepared.as_ref().map_err(Clone::clone).and_then(|_| evaluate::outcome(case, &arrays))
    {
        Ok(outcome) => outcome,
        Err(error) => {
            sabotage.spoiled.push(format!("{}: the reference: {error}", case.id()));
            return sabotage;
        }
    };
    for device in devices {
        let result = match execute::run(case, &inputs, &device.device) {
            Ok(output) if output.bytes.len() == outcome.len() * outcome.dtype().size() => output.bytes,
            Ok(_) => {
                sabotage.spoiled.push(format!("{} on {}: wrong shape or dtype", case.id(), device.name));
                continue;
            }
            Err(error) => {
                sabotage.spoiled.push(format!("{} on {}: {error}", case.id(), device.name));
                continue;
            }
        };
        let rule = judge::rule(&outcome, case.exact);
        let bench =
            Bench { case, inputs: &inputs, arrays: &arrays, outcome: &outcome, rule, result: &result };
        if bench.is_wrong(&result) {
            sabotage.spoiled.push(format!("{} on {}: wrong without any sabotage", case.id(), device.name));
            continue;
        }
        for fault in FAULTS {
            if let Some(spoiled) = (fault.plant)(&bench) {
                sabotage.plants.push(Plant {
                    case: case.id(),
                    operation: case.op.name(),
                    device: device.name.clone(),
                    fault: fault.name,
                    caught: bench.is_wrong(&spoiled),
                });
            }
        }
    }
    sabotage
}
