//! `--sabotage`: plants errors and reports whether they were caught.

use super::{ParityArgs, progress};
use crate::Error;
use crate::case::Case;
use crate::devices::NamedDevice;
use crate::sabotage::{self, Sabotage};

/// Returns whether every planted error was caught.
pub(super) fn run(args: &ParityArgs, cases: &[Case], devices: &[NamedDevice]) -> Result<bool, Error> {
    let cases = sabotage::benches(cases);
    if cases.is_empty() {
        return Err(Error::NothingToSabotage { filter: args.cases.filter.clone().unwrap_or_default() });
    }
    let bar = progress(cases.len());
    let found = sabotage::run(&cases, devices, args.cases.seed, &mut || bar.inc(1));
    bar.finish_and_clear();
    tell(&found);
    // Of all cases of the registry every fault can be planted somewhere; of others, perhaps not.
    let all = args.cases.filter.is_none() && args.cases.own.is_none();
    let missing = if all { found.never_planted(devices) } else { Vec::new() };
    missing.iter().for_each(|fault| println!("NEVER PLANTED {fault}"));
    Ok(found.is_complete() && missing.is_empty())
}

fn tell(found: &Sabotage) {
    for (fault, caught, planted) in found.kinds() {
        println!("{fault:<30} {caught:>6} of {planted:>6}");
    }
    for plant in found.plants.iter().filter(|plant| !plant.caught) {
        println!("MISSED {:?} in {} on {}", plant.fault, plant.case, plant.device);
    }
    for spoiled in &found.spoiled {
        println!("NOT PLANTED in {spoiled}");
    }
    let operations: std::collections::BTreeSet<&str> =
        found.plants.iter().map(|plant| plant.operation).collect();
    println!(
        "{} of {} planted errors caught, in {} operations.",
        found.caught(),
        found.plants.len(),
        operations.len()
    );
}
