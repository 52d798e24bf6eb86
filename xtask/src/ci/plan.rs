//! Which steps a run has, and why.

use super::inputs::Inputs;
use super::kernels;
use super::record::{Entry, Record};
use super::steps::Step;
use kernels_hip::hash_parts;
use std::fmt;
use std::path::PathBuf;

/// For how long a run repeats steps that have not changed, in seconds as they are on record.
pub(super) const REPEATED_S: u64 = 8 * 60;

/// What is said of a step without an entry.
const NEVER: &str = "not on record as passed";

/// What becomes of a step, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Run(String),
    /// It has not changed since that day, and runs all the same.
    Repeat(String),
    /// It has not changed since that day.
    Leave(String),
    /// This machine lacks something.
    Lack(String),
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Decision::Run(why) => write!(f, "runs ({why})"),
            Decision::Repeat(date) => write!(f, "is repeated (unchanged since {date})"),
            Decision::Leave(date) => write!(f, "is left out (unchanged since {date})"),
            Decision::Lack(why) => write!(f, "cannot run: {why}"),
        }
    }
}

/// A step and what becomes of it.
pub(super) struct Planned {
    pub(super) step: &'static Step,
    pub(super) decision: Decision,
    /// Its inputs, if it is heavy and they are known.
    pub(super) inputs: Option<Inputs>,
    /// What its command line ends with.
    pub(super) arguments: Vec<PathBuf>,
    /// Whether only a part of it runs: what changed.
    pub(super) in_part: bool,
}

/// What a run is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// Everything, changed or not.
    pub(super) full: bool,
    /// These steps alone, changed or not.
    pub(super) named: bool,
    /// The commit, by which steps are chosen that are repeated.
    pub(super) commit: &'a str,
}

/// Decides about all steps. `inputs` finds those of a heavy step; `None` if nothing is known of files, outside of a checkout.
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
        let decision = match lacking {
            Some(why) => Decision::Lack(lack(&why, entry)),
            None => decide(step, inputs.as_ref(), entry, asked),
        };
        let families = match (&decision, &inputs, entry) {
            (Decision::Run(_), Some(inputs), Some(entry))
                if step.kernels.is_some() && !asked.full && !asked.named =>
            {
                kernels::changed(&inputs.differing(&entry.inputs)).map(|families| families.join(","))
            }
            _ => None,
        };
        let in_part = families.is_some();
        arguments.extend(families.into_iter().flat_map(|families| ["--family".into(), families.into()]));
        planned.push(Planned { step, decision, inputs, arguments, in_part });
    }
    // Who names steps wants those.
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

/// The first few of many.
fn shortened(changes: &[String]) -> String {
    const SHOWN: usize = 4;
    match changes.len() {
        0 => "the entry's hash is not that of its inputs".into(),
        1..=SHOWN => changes.join(", "),
        more => format!("{} and {} more", changes[..SHOWN].join(", "), more - SHOWN),
    }
}

/// How many steps become what.
pub(super) fn counted(plan: &[Planned]) -> String {
    let count =
        |wanted: fn(&Decision) -> bool| plan.iter().filter(|planned| wanted(&planned.decision)).count();
    format!(
        "ci: {} steps: {} run, {} are repeated though unchanged, {} unchanged are left out, {} cannot run here",
        plan.len(),
        count(|decision| matches!(decision, Decision::Run(_))),
        count(|decision| matches!(decision, Decision::Repeat(_))),
        count(|decision| matches!(decision, Decision::Leave(_))),
        count(|decision| matches!(decision, Decision::Lack(_))),
    )
}

/// Chooses some of the steps that would not run, by the commit: other ones each time, the same ones for the same commit.
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
