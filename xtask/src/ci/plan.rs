//! Which steps run, and why.

use super::inputs::Inputs;
use super::kernels;
use super::record::{Entry, Record};
use super::steps::Step;
use kernels_hip::hash_parts;
use std::fmt;
use std::path::PathBuf;

/// How many seconds of unchanged steps a run repeats, by their recorded times.
pub(super) const REPEATED_S: u64 = 8 * 60;

/// If more units of kernels changed, a run compiles a sample: all of them take longer than everything else together.
const MOST_UNITS: usize = 40;

/// The reason to run a step without an entry.
const NEVER: &str = "not on record as passed";

/// Whether a step runs, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Run(String),
    /// One unit of each family that changed is compiled, chosen by the commit. This does not count as a pass of the step.
    Sample(String),
    /// It has not changed since that day, but is repeated.
    Repeat(String),
    /// It has not changed since that day.
    Leave(String),
    /// It takes minutes, and was not asked for.
    OnlyFull,
    /// This machine lacks something.
    Lack(String),
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Decision::Run(why) => write!(f, "runs ({why})"),
            Decision::Sample(why) => write!(f, "runs for one unit of each family ({why})"),
            Decision::Repeat(date) => write!(f, "is repeated (unchanged since {date})"),
            Decision::Leave(date) => write!(f, "is left out (unchanged since {date})"),
            Decision::OnlyFull => f.write_str("is left out (--full runs it, or --only)"),
            Decision::Lack(why) => write!(f, "cannot run: {why}"),
        }
    }
}

/// A step and the decision about it.
pub(super) struct Planned {
    pub(super) step: &'static Step,
    pub(super) decision: Decision,
    /// Its inputs, if the step is heavy and they are known.
    pub(super) inputs: Option<Inputs>,
    /// Arguments that are added to its command line.
    pub(super) arguments: Vec<PathBuf>,
    /// Whether only a part of it runs: the kernel families that changed.
    pub(super) in_part: bool,
}

/// What the command line asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// Everything, changed or not.
    pub(super) full: bool,
    /// These steps alone, changed or not.
    pub(super) named: bool,
    /// What passes is written down, so nothing is sampled.
    pub(super) recorded: bool,
    /// The commit, which decides which unchanged steps are repeated.
    pub(super) commit: &'a str,
}

/// Decides about all steps. `inputs` finds the inputs of a heavy step; `None` outside a checkout, where they are unknown.
pub(super) fn plan(
    steps: &[&'static Step],
    record: &Record,
    asked: Asked<'_>,
    inputs: impl Fn(&Step) -> Option<Result<Inputs, String>>,
) -> Result<Vec<Planned>, String> {
    let mut planned = Vec::new();
    for &step in steps {
        let entry = record.0.get(step.name);
        let (mut arguments, lacking) = match (step.needs)() {
            Ok(arguments) => (arguments, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        let inputs = if step.heavy && lacking.is_none() { inputs(step).transpose()? } else { None };
        let mut decision = match lacking {
            Some(why) => Decision::Lack(lack(&why, entry)),
            None => decide(step, inputs.as_ref(), entry, asked),
        };
        let mut in_part = false;
        if let (Decision::Run(why), Some(inputs)) = (&decision, &inputs)
            && step.kernels.is_some()
            && !asked.full
            && !asked.named
        {
            let changes = entry.map(|entry| inputs.differing(&entry.inputs));
            let families = changes.as_deref().and_then(kernels::changed);
            in_part = families.is_some();
            let sampled = kernels::count(families.as_deref()) > MOST_UNITS && !asked.recorded;
            arguments
                .extend(families.into_iter().flat_map(|names| ["--family".into(), names.join(",").into()]));
            if sampled {
                arguments.extend(["--sample".into(), asked.commit.into()]);
                decision = Decision::Sample(why.clone());
            }
        }
        planned.push(Planned { step, decision, inputs, arguments, in_part });
    }
    // If steps are named, only those run: nothing is repeated.
    if !asked.named {
        repeat(&mut planned, record, asked.commit);
    }
    Ok(planned)
}

fn lack(why: &str, entry: Option<&Entry>) -> String {
    match entry {
        Some(entry) => format!("{why} (last passed on {})", entry.date),
        None => format!("{why} ({NEVER})"),
    }
}

fn decide(step: &Step, inputs: Option<&Inputs>, entry: Option<&Entry>, asked: Asked<'_>) -> Decision {
    let run = |why: &str| Decision::Run(why.into());
    match (inputs, entry) {
        _ if !step.heavy => run("always"),
        _ if asked.full => run("--full"),
        _ if asked.named => run("it was asked for"),
        _ if step.only_full => Decision::OnlyFull,
        (None, _) => run("what it depends on is not known"),
        (Some(_), None) => run(NEVER),
        (Some(inputs), Some(entry)) if entry.hash == Some(inputs.hash()) => {
            Decision::Leave(entry.date.clone())
        }
        (Some(inputs), Some(entry)) => Decision::Run(format!(
            "since {}: {}",
            entry.date,
            shortened(&inputs.changed_since(&entry.inputs))
        )),
    }
}

/// The first few changes, and the number of the others.
fn shortened(changes: &[String]) -> String {
    const SHOWN: usize = 4;
    match changes.len() {
        0 => "the entry's hash is not that of its inputs".into(),
        1..=SHOWN => changes.join(", "),
        more => format!("{} and {} more", changes[..SHOWN].join(", "), more - SHOWN),
    }
}

/// The number of steps for each decision.
pub(super) fn counted(plan: &[Planned]) -> String {
    let count =
        |wanted: fn(&Decision) -> bool| plan.iter().filter(|planned| wanted(&planned.decision)).count();
    format!(
        "ci: {} steps: {} run, {} are repeated though unchanged, {} are left out, {} cannot run here",
        plan.len(),
        count(|decision| matches!(decision, Decision::Run(_) | Decision::Sample(_))),
        count(|decision| matches!(decision, Decision::Repeat(_))),
        count(|decision| matches!(decision, Decision::Leave(_) | Decision::OnlyFull)),
        count(|decision| matches!(decision, Decision::Lack(_))),
    )
}

/// Chooses unchanged steps to repeat. The choice depends on the commit alone, so that it varies but can be reproduced.
fn repeat(planned: &mut [Planned], record: &Record, commit: &str) {
    let mut left = REPEATED_S;
    let mut order: Vec<usize> =
        (0..planned.len()).filter(|&i| matches!(planned[i].decision, Decision::Leave(_))).collect();
    order.sort_by_key(|&i| hash_parts([commit.as_bytes(), planned[i].step.name.as_bytes()]));
    for i in order {
        let Planned { step, decision, .. } = &mut planned[i];
        let seconds = record.0.get(step.name).map_or(0, |entry| entry.seconds);
        if let (Decision::Leave(date), Some(rest)) = (&*decision, left.checked_sub(seconds)) {
            *decision = Decision::Repeat(date.clone());
            left = rest;
        }
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
